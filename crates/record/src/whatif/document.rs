//! A what-if as `whatif.json`.

use std::collections::BTreeMap;

use fizeau_core::{LevelLoad, document};
use fizeau_metrics::Verdict;
use serde::{Deserialize, Serialize};

use super::{NotRunReason, VariantLevel, WhatIf, WhatIfVariant, variant_letter};
use crate::text::slo_words;
use crate::{Json, JsonError, SweepDocument, SweepReport};

/// The schema of `whatif.json`.
pub(crate) const WHAT_IF: &str = "fizeau.whatif/2";

document! {
    /// `whatif.json` (schema `fizeau.whatif/2`): several configurations side by side.
    pub struct WhatIfDocument of WHAT_IF, fn with(of: &WhatIf, common: Json) {} {
        /// What all have in common; where they differ null with the reason, so that it need not be a whole [`RunSetup`](crate::RunSetup).
        setup: Json = common,
        /// The worst verdict of all that ran.
        pub verdict: Verdict = of.verdict(),
        /// The goals in words; null if there were none.
        pub slo, slo_reason: String = of.slo.as_ref().map(slo_words).ok_or("no goal was given"),
        /// Which configuration gives most within the goals, in a sentence.
        pub answer: String = of.answer(),
        /// The configurations, in the order given.
        pub variants: Vec<VariantDocument> =
            of.variants.iter().enumerate().map(|(index, one)| VariantDocument::of(index, one)).collect(),
        /// Output tokens per second and device against p99 E2EL.
        pub frontier: Vec<VariantLevel> = of.frontier.clone(),
    }
}

document! {
    /// One configuration.
    pub struct VariantDocument as "Variant", fn of(index: usize, of: &WhatIfVariant) {
        let ran = of.sweep();
        let reason = || match &of.outcome {
            Ok(sweep) => sweep.operating_words(),
            Err(reason) => reason.to_string(),
        };
    } {
        letter: String = variant_letter(index),
        /// What sets it apart from the others, by name.
        pub settings: BTreeMap<String, String> = of.settings.iter().cloned().collect(),
        /// How many devices it takes; null where nothing ran.
        pub devices, devices_reason: u64 = of.devices.ok_or("no configuration ran"),
        operating_point, operating_point_reason: PointOfVariant =
            ran.and_then(|sweep| PointOfVariant::of(of, sweep)).ok_or_else(reason),
        /// What came of it; null where nothing did.
        pub sweep, sweep_reason: SweepDocument = match &of.outcome {
            Ok(sweep) => Ok(sweep.into()),
            Err(NotRunReason::Impossible(reason)) => Err(reason.clone()),
            Err(reason @ NotRunReason::Interrupted) => Err(reason.to_string()),
        },
    }
}

/// Where a configuration is to run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "WhatIfPoint"))]
struct PointOfVariant {
    level: usize,
    load: LevelLoad,
    output_tokens_per_s_per_device: f64,
}

impl PointOfVariant {
    fn of(variant: &WhatIfVariant, sweep: &SweepReport) -> Option<Self> {
        let level = sweep.operating_point().level()?;
        let report = sweep.levels().get(level)?;
        let output_tokens_per_s_per_device = variant.per_device(report);
        Some(Self { level, load: report.load, output_tokens_per_s_per_device })
    }
}

impl TryFrom<&WhatIf> for WhatIfDocument {
    type Error = JsonError;

    fn try_from(of: &WhatIf) -> Result<Self, JsonError> {
        Ok(Self::with(of, of.common_setup()?))
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
