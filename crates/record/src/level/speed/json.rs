//! The part `speed_of_light` of `summary.json`.

use fizeau_roofline::{Bound, Excess, Expected, Figures, Limits, Remedy, Share};
use serde::Serialize;
use serde::ser::{SerializeMap, SerializeStruct, Serializer};

use super::Calibrated;
use super::{Light, SpeedOfLight};

/// Null where there is no bound, since the reason is a sibling of the whole.
impl Serialize for SpeedOfLight {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let Some(light) = self.light() else {
            return to.serialize_none();
        };
        let mut fields = to.serialize_struct("SpeedOfLight", 7)?;
        fields.serialize_field("concurrency", &light.concurrency)?;
        fields.serialize_field("bound", &BoundJson::of(&light.bound))?;
        match &light.expected {
            Ok(expected) => fields.serialize_field("expected", &ExpectedJson::of(expected))?,
            Err(reason) => {
                fields.serialize_field("expected", &())?;
                fields.serialize_field("expected_reason", reason)?;
            }
        }
        match &light.calibrated {
            Some((prediction, scope)) => {
                let calibrated = Calibrated { prediction: prediction.as_ref(), scope };
                fields.serialize_field("calibrated", &calibrated.block())?;
            }
            None => {
                fields.serialize_field("calibrated", &())?;
                fields.serialize_field("calibrated_reason", "no calibration was given")?;
            }
        }
        fields.serialize_field("share", &SharesJson(&light.shares))?;
        fields.serialize_field("phases", &PhasesJson(light))?;
        fields.serialize_field("cache_fill", &light.cache_fill())?;
        fields.serialize_field("impossible", &light.excess.as_ref().map(ExcessJson::of))?;
        fields.end()
    }
}

#[cfg(feature = "schema")]
fizeau_core::written_as!(SpeedOfLight, Option<LightSchema>);

#[cfg(feature = "schema")]
struct LightSchema;

#[cfg(feature = "schema")]
fizeau_core::object_schema!(
    LightSchema,
    "SpeedOfLight",
    "The level beside what its hardware could do.",
    |o| o
        .field::<f64>("concurrency")
        .field::<BoundJson>("bound")
        .or_reason::<ExpectedJson>("expected")
        .or_reason::<super::CalibratedBlock>("calibrated")
        .field::<SharesJson<'_>>("share")
        .field::<PhasesJson<'_>>("phases")
        .field::<Option<f64>>("cache_fill")
        .field::<Option<ExcessJson>>("impossible")
);

#[cfg(feature = "schema")]
fizeau_core::object_schema!(
    SharesJson<'_>,
    "Shares",
    "The share of the bound that was reached, 0 to 1.",
    |o| o.each(
        &["ttft", "tpot", "e2el", "requests_per_s", "output_tokens_per_s"],
        fizeau_core::schema::ObjectSchema::or_reason::<f64>
    )
);

#[cfg(feature = "schema")]
fizeau_core::object_schema!(
    PhasesJson<'_>,
    "Phases",
    "The share of the bound by phase, 0 to 1.",
    |o| o
        .each(&["prefill", "decode", "whole"], fizeau_core::schema::ObjectSchema::or_reason::<f64>)
        .each(
            &["decode_batch", "decode_step_ms"],
            fizeau_core::schema::ObjectSchema::field::<Option<f64>>
        )
);

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Bound"))]
struct BoundJson {
    ttft_ms: f64,
    tpot_ms: f64,
    full_batch_step_ms: f64,
    e2el_ms: f64,
    requests_per_s: f64,
    output_tokens_per_s: f64,
    batch: f64,
    limited_by: &'static str,
}

impl BoundJson {
    fn of(bound: &Bound) -> Self {
        Self {
            ttft_ms: bound.ttft.to_millis().get(),
            tpot_ms: bound.single_tpot.to_millis().get(),
            full_batch_step_ms: bound.tpot.to_millis().get(),
            e2el_ms: bound.e2el.to_millis().get(),
            requests_per_s: bound.requests_per_s.get(),
            output_tokens_per_s: bound.output_tokens_per_s.get(),
            batch: bound.batch,
            limited_by: bound.limited_by.as_str(),
        }
    }
}

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Expected"))]
struct ExpectedJson {
    ttft_ms: f64,
    tpot_ms: f64,
    e2el_ms: f64,
    requests_per_s: f64,
    output_tokens_per_s: f64,
    batch: f64,
    /// Null where the requests keep nothing, so that any number fits.
    max_batch: Option<f64>,
    limited_by: LimitsJson,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Limits"))]
struct LimitsJson {
    prefill: &'static str,
    decode: &'static str,
}

impl ExpectedJson {
    fn of(expected: &Expected) -> Self {
        let Expected { figures, max_batch, limited_by, .. } = expected;
        let Figures { ttft, tpot, e2el, output_tokens_per_s, requests_per_s, batch, .. } = figures;
        let Limits { prefill, decode, .. } = limited_by;
        Self {
            ttft_ms: ttft.to_millis().get(),
            tpot_ms: tpot.to_millis().get(),
            e2el_ms: e2el.to_millis().get(),
            requests_per_s: requests_per_s.get(),
            output_tokens_per_s: output_tokens_per_s.get(),
            batch: *batch,
            max_batch: max_batch.is_finite().then_some(*max_batch),
            limited_by: LimitsJson { prefill: prefill.as_str(), decode: decode.as_str() },
        }
    }
}

struct SharesJson<'a>(&'a fizeau_roofline::SpeedOfLight);

impl Serialize for SharesJson<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let shares = self.0;
        let each = [
            ("ttft", shares.ttft),
            ("tpot", shares.tpot),
            ("e2el", shares.e2el),
            ("requests_per_s", shares.requests_per_s),
            ("output_tokens_per_s", shares.output_tokens_per_s),
        ];
        in_map(to, &each)
    }
}

/// Prefill is the time to first token, decode a step over the sequences that were decoding, the whole the output's rate.
struct PhasesJson<'a>(&'a Light);

impl Serialize for PhasesJson<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let Light { shares, decode, .. } = self.0;
        let each = [
            ("prefill", shares.ttft),
            ("decode", decode.map(|decode| decode.share)),
            ("whole", shares.output_tokens_per_s),
        ];
        #[derive(Serialize)]
        struct Decoding {
            decode_batch: Option<f64>,
            decode_step_ms: Option<f64>,
        }
        #[derive(Serialize)]
        struct Phases<'a> {
            #[serde(flatten)]
            shares: Named<'a>,
            #[serde(flatten)]
            decoding: Decoding,
        }
        let decoding = Decoding {
            decode_batch: decode.map(|decode| decode.batch),
            decode_step_ms: decode.map(|decode| decode.step.to_millis().get()),
        };
        Phases { shares: Named(&each), decoding }.serialize(to)
    }
}

struct Named<'a>(&'a [(&'static str, Option<Share>)]);

impl Serialize for Named<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        in_map(to, self.0)
    }
}

fn in_map<S: Serializer>(
    to: S,
    shares: &[(&'static str, Option<Share>)],
) -> Result<S::Ok, S::Error> {
    let mut map = to.serialize_map(None)?;
    for (name, share) in shares {
        map.serialize_entry(name, &share.map(Share::get))?;
        if share.is_none() {
            let reason = "nothing was measured to compare with";
            map.serialize_entry(&format!("{name}_reason"), reason)?;
        }
    }
    map.end()
}

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Excess"))]
struct ExcessJson {
    figure: &'static str,
    measured: f64,
    bound: f64,
    times: f64,
    text: String,
    /// Each by itself would explain it.
    would_have_to_be: Vec<RemedyJson>,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Remedy"))]
struct RemedyJson {
    input: &'static str,
    given: f64,
    needed: f64,
    text: String,
}

impl ExcessJson {
    fn of(excess: &Excess) -> Self {
        let remedy = |remedy: &Remedy| RemedyJson {
            input: remedy.input.as_str(),
            given: remedy.given,
            needed: remedy.needed,
            text: remedy.to_string(),
        };
        Self {
            figure: excess.figure.as_str(),
            measured: excess.measured,
            bound: excess.bound,
            times: excess.times,
            text: excess.to_string(),
            would_have_to_be: excess.remedies.iter().map(remedy).collect(),
        }
    }
}
