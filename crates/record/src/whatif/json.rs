//! A what-if as `whatif.json`.

use std::collections::BTreeMap;

use fizeau_metrics::Verdict;
use serde::{Serialize, Serializer};

use super::{NotRun, Spot, Variant, WhatIf, variant_letter};
use crate::{LoadPoint, SweepReport};

/// The file as it is written: the schema's names in the schema's order.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Document<'a> {
    #[cfg_attr(feature = "schema", schemars(extend("const" = "fizeau.whatif/1")))]
    schema: &'static str,
    version: &'static str,
    /// What all have in common.
    setup: serde_json::Value,
    verdict: Verdict,
    slo: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    slo_reason: Option<&'static str>,
    answer: String,
    variants: Vec<VariantJson<'a>>,
    /// Output tokens per second and device against p99 E2EL.
    frontier: &'a [Spot],
}

#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Variant"))]
struct VariantJson<'a> {
    letter: String,
    settings: BTreeMap<&'a str, &'a str>,
    devices: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    devices_reason: Option<&'static str>,
    operating_point: Option<Operating>,
    #[serde(skip_serializing_if = "Option::is_none")]
    operating_point_reason: Option<String>,
    sweep: Option<&'a SweepReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sweep_reason: Option<String>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "WhatIfPoint"))]
struct Operating {
    level: usize,
    load: LoadPoint,
    output_tokens_per_s_per_device: f64,
}

#[cfg(feature = "schema")]
fizeau_core::written_as!(WhatIf, Document<'static>);

impl Serialize for WhatIf {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let document = Document {
            schema: "fizeau.whatif/1",
            version: env!("CARGO_PKG_VERSION"),
            setup: self.common_setup().map_err(serde::ser::Error::custom)?,
            verdict: self.verdict(),
            slo: self.slo.as_ref().map(super::answer::slo_words),
            slo_reason: self.slo.is_none().then_some("no goal was given"),
            answer: self.answer(),
            variants: self.variants.iter().enumerate().map(variant).collect(),
            frontier: &self.frontier,
        };
        document.serialize(to)
    }
}

fn variant((index, of): (usize, &Variant)) -> VariantJson<'_> {
    let sweep = of.sweep();
    let operating_point = sweep.and_then(|sweep| {
        let level = sweep.operating_point().level()?;
        let report = sweep.levels().get(level)?;
        let output_tokens_per_s_per_device = of.per_device(report);
        Some(Operating { level, load: report.load, output_tokens_per_s_per_device })
    });
    let reason = || match &of.outcome {
        Ok(sweep) => sweep.operating_words(),
        Err(reason) => reason.to_string(),
    };
    let reason_of_none = |reason: &NotRun| match reason {
        NotRun::Impossible(reason) => reason.clone(),
        NotRun::Interrupted => reason.to_string(),
    };
    VariantJson {
        letter: variant_letter(index),
        settings: of.settings.iter().map(|(flag, value)| (&**flag, &**value)).collect(),
        devices: of.devices,
        devices_reason: of.devices.is_none().then_some("nothing ran"),
        operating_point_reason: operating_point.is_none().then(reason),
        operating_point,
        sweep,
        sweep_reason: of.outcome.as_ref().err().map(reason_of_none),
    }
}
