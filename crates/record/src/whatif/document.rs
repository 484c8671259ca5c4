//! A what-if as `whatif.json`.

use std::collections::BTreeMap;

use fizeau_core::LevelLoad;
use fizeau_metrics::Verdict;
use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer, Serialize};

use super::{NotRunReason, VariantLevel, WhatIf, WhatIfVariant, variant_letter};
use crate::text::slo_words;
use crate::{Json, JsonError, SweepDocument};

/// `whatif.json` (schema `fizeau.whatif/2`): several configurations side by side.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WhatIfDocument {
    #[cfg_attr(feature = "schema", schemars(extend("const" = WHAT_IF)))]
    #[serde(deserialize_with = "present_schema")]
    schema: String,
    version: String,
    /// What all have in common; where they differ null with the reason, so that it need not be a whole [`RunSetup`](crate::RunSetup).
    setup: Json,
    /// The worst verdict of all that ran.
    pub verdict: Verdict,
    /// The goals in words; null if there were none.
    pub slo: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    slo_reason: Option<String>,
    /// Which configuration gives most within the goals, in a sentence.
    pub answer: String,
    /// The configurations, in the order given.
    pub variants: Vec<VariantDocument>,
    /// Output tokens per second and device against p99 E2EL.
    pub frontier: Vec<VariantLevel>,
}

/// The schema of `whatif.json`.
pub(crate) const WHAT_IF: &str = "fizeau.whatif/2";

/// A document of an earlier schema is read as one of the present.
fn present_schema<'de, D: Deserializer<'de>>(schema: D) -> Result<String, D::Error> {
    IgnoredAny::deserialize(schema).map(|_| WHAT_IF.to_owned())
}

/// One configuration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Variant"))]
pub struct VariantDocument {
    letter: String,
    /// What sets it apart from the others, by name.
    pub settings: BTreeMap<String, String>,
    /// How many devices it takes; null where nothing ran.
    pub devices: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    devices_reason: Option<String>,
    operating_point: Option<PointOfVariant>,
    #[serde(skip_serializing_if = "Option::is_none")]
    operating_point_reason: Option<String>,
    /// What came of it; null where nothing did.
    pub sweep: Option<SweepDocument>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sweep_reason: Option<String>,
}

/// Where a configuration is to run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "WhatIfPoint"))]
struct PointOfVariant {
    level: usize,
    load: LevelLoad,
    output_tokens_per_s_per_device: f64,
}

impl TryFrom<&WhatIf> for WhatIfDocument {
    type Error = JsonError;

    fn try_from(of: &WhatIf) -> Result<Self, JsonError> {
        Ok(Self {
            schema: WHAT_IF.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            setup: of.common_setup()?,
            verdict: of.verdict(),
            slo: of.slo.as_ref().map(slo_words),
            slo_reason: of.slo.is_none().then(|| "no goal was given".to_owned()),
            answer: of.answer(),
            variants: of.variants.iter().enumerate().map(variant).collect(),
            frontier: of.frontier.clone(),
        })
    }
}

impl VariantDocument {
    /// Its settings in a line: `tp 2, weights fp8`; empty where nothing sets it apart.
    #[must_use]
    pub fn name(&self) -> String {
        let words: Vec<String> =
            self.settings.iter().map(|(name, value)| format!("{name} {value}")).collect();
        words.join(", ")
    }
}

fn variant((index, of): (usize, &WhatIfVariant)) -> VariantDocument {
    let sweep = of.sweep();
    let operating_point = sweep.and_then(|sweep| {
        let level = sweep.operating_point().level()?;
        let report = sweep.levels().get(level)?;
        let output_tokens_per_s_per_device = of.per_device(report);
        Some(PointOfVariant { level, load: report.load, output_tokens_per_s_per_device })
    });
    let reason = || match &of.outcome {
        Ok(sweep) => sweep.operating_words(),
        Err(reason) => reason.to_string(),
    };
    let reason_of_none = |reason: &NotRunReason| match reason {
        NotRunReason::Impossible(reason) => reason.clone(),
        NotRunReason::Interrupted => reason.to_string(),
    };
    VariantDocument {
        letter: variant_letter(index),
        settings: of.settings.iter().map(|(flag, value)| (flag.clone(), value.clone())).collect(),
        devices: of.devices,
        devices_reason: of.devices.is_none().then(|| "no configuration ran".to_owned()),
        operating_point_reason: operating_point.is_none().then(reason),
        operating_point,
        sweep: sweep.map(SweepDocument::from),
        sweep_reason: of.outcome.as_ref().err().map(reason_of_none),
    }
}
