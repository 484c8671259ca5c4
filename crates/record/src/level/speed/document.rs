//! The part `speed_of_light` of `summary.json`.

use std::num::NonZeroU64;

use fizeau_core::Millis;
use fizeau_roofline::{Bound, BoundShare, BoundViolation, ErrorSummary, Expected, Figures};
use serde::{Deserialize, Serialize};

use super::{CalibratedBlock, CalibratedComparison, CalibratedPrediction, SpeedOfLightComparison};
#[cfg(feature = "schema")]
use crate::reasons::listed;
use crate::reasons::reasons;

/// The level beside what its hardware could do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "SpeedOfLight"))]
pub(crate) struct LightDocument {
    concurrency: NonZeroU64,
    bound: BoundDocument,
    expected: Option<ExpectedDocument>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expected_reason: Option<String>,
    calibrated: Option<CalibratedBlock>,
    /// Where there is a prediction: what of it was reached, and how far off its calibration is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    of_calibrated: Option<OfCalibratedDocument>,
    #[serde(skip_serializing_if = "Option::is_none")]
    calibrated_reason: Option<String>,
    share: SharesDocument,
    /// Where the bound is made of measured figures: the same by the device's data sheet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    data_sheet: Option<DataSheetDocument>,
    /// Of a mixture of experts alone: what is left of the bound where each token chooses its experts for itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    even_routing: Option<EvenRoutingDocument>,
    phases: PhasesDocument,
    cache_fill: Option<f64>,
    impossible: Option<ViolationDocument>,
}

/// What was reached of a prediction, and how far off such predictions are: as shares, 0.1 is 10 %.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "OfCalibrated"))]
struct OfCalibratedDocument {
    /// Measured output over the predicted.
    output_share: f64,
    /// Of families that were left out of the fit: the mean error of times per output token, and the median.
    #[serde(skip_serializing_if = "Option::is_none")]
    tpot_off: Option<[f64; 2]>,
    /// The same of times to first token.
    #[serde(skip_serializing_if = "Option::is_none")]
    ttft_off: Option<[f64; 2]>,
}

impl OfCalibratedDocument {
    fn of(calibrated: &CalibratedComparison) -> Option<Self> {
        let off = |errors: Option<ErrorSummary>| errors.map(|errors| [errors.mean, errors.median]);
        Some(Self {
            output_share: calibrated.output_share?,
            tpot_off: off(calibrated.tpot_left_out),
            ttft_off: off(calibrated.ttft_left_out),
        })
    }
}

/// The bound, which nothing can beat.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Bound"))]
struct BoundDocument {
    ttft_ms: Millis,
    /// Of a sequence that has the devices to itself.
    #[serde(alias = "tpot_ms")]
    tpot_alone_ms: Millis,
    full_batch_step_ms: Millis,
    e2el_ms: Millis,
    requests_per_s: f64,
    output_tokens_per_s: f64,
    batch: f64,
    limited_by: String,
}

/// The expectation of the roofline model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Expected"))]
struct ExpectedDocument {
    ttft_ms: Millis,
    tpot_ms: Millis,
    e2el_ms: Millis,
    requests_per_s: f64,
    output_tokens_per_s: f64,
    batch: f64,
    /// Null where the requests keep nothing, so that any number fits.
    max_batch: Option<f64>,
    limited_by: LimitsDocument,
}

/// The output by the data sheet of the device, and the share of it that was reached.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "DataSheetBound"))]
struct DataSheetDocument {
    device: String,
    output_tokens_per_s: f64,
    share: Option<f64>,
}

/// The output where all experts are chosen equally often, and the share of it that was reached.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "EvenRouting"))]
struct EvenRoutingDocument {
    output_tokens_per_s: f64,
    share: Option<f64>,
}

/// What limits each phase.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Limits"))]
struct LimitsDocument {
    prefill: String,
    decode: String,
}

/// The share of the bound that was reached, 0 to 1.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self")]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(rename = "Shares", transform = listed::<Self>)
)]
struct SharesDocument {
    ttft: Option<f64>,
    tpot: Option<f64>,
    e2el: Option<f64>,
    requests_per_s: Option<f64>,
    output_tokens_per_s: Option<f64>,
}

/// The share of the bound by phase, 0 to 1: prefill is the time to first token, decode a step over the sequences that were
/// decoding, the whole the output's rate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self")]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(rename = "Phases", transform = listed::<Self>)
)]
struct PhasesDocument {
    prefill: Option<f64>,
    decode: Option<f64>,
    whole: Option<f64>,
    decode_batch: Option<f64>,
    decode_step_ms: Option<Millis>,
}

const NOTHING: &str = "nothing was measured to compare with";

reasons!(SharesDocument, |of| {
    ttft, tpot, e2el, requests_per_s, output_tokens_per_s => NOTHING
});

reasons!(PhasesDocument, |of| { prefill, decode, whole => NOTHING });

/// What was measured beyond the bound.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Excess"))]
struct ViolationDocument {
    figure: String,
    measured: f64,
    bound: f64,
    times: f64,
    text: String,
    /// Each by itself would explain it.
    would_have_to_be: Vec<RemedyDocument>,
}

/// What would explain it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Remedy"))]
struct RemedyDocument {
    input: String,
    given: f64,
    needed: f64,
    text: String,
}

impl From<&SpeedOfLightComparison> for LightDocument {
    fn from(light: &SpeedOfLightComparison) -> Self {
        let calibrated = light.calibrated.as_ref().map(|of| {
            CalibratedPrediction { prediction: of.prediction.as_ref(), scope: &of.scope }.block()
        });
        let no_calibration = || {
            "no calibration of this engine was given; a report of this run with one has the prediction"
                .to_owned()
        };
        Self {
            concurrency: light.concurrency,
            bound: BoundDocument::from(&light.bound),
            expected: light.expected.as_ref().ok().map(ExpectedDocument::from),
            expected_reason: light.expected.as_ref().err().cloned(),
            calibrated_reason: calibrated.is_none().then(no_calibration),
            calibrated,
            of_calibrated: light.calibrated.as_ref().and_then(OfCalibratedDocument::of),
            share: SharesDocument::from(&light.shares),
            data_sheet: light.data_sheet.as_ref().map(|sheet| DataSheetDocument {
                device: sheet.device.clone(),
                output_tokens_per_s: sheet.output_tokens_per_s.get(),
                share: sheet.share.map(BoundShare::get),
            }),
            even_routing: light.even_routing.map(|even| EvenRoutingDocument {
                output_tokens_per_s: even.output_tokens_per_s.get(),
                share: even.share.map(BoundShare::get),
            }),
            phases: PhasesDocument::from(light),
            cache_fill: light.cache_fill(),
            impossible: light.violation.as_ref().map(ViolationDocument::from),
        }
    }
}

impl From<&Bound> for BoundDocument {
    fn from(bound: &Bound) -> Self {
        Self {
            ttft_ms: bound.ttft.to_millis(),
            tpot_alone_ms: bound.single_tpot.to_millis(),
            full_batch_step_ms: bound.tpot.to_millis(),
            e2el_ms: bound.e2el.to_millis(),
            requests_per_s: bound.requests_per_s.get(),
            output_tokens_per_s: bound.output_tokens_per_s.get(),
            batch: bound.batch,
            limited_by: bound.limited_by.as_str().to_owned(),
        }
    }
}

impl From<&Expected> for ExpectedDocument {
    fn from(Expected { figures, max_batch, limited_by, .. }: &Expected) -> Self {
        let Figures { ttft, step, e2el, output_tokens_per_s, requests_per_s, batch, .. } = figures;
        Self {
            ttft_ms: ttft.to_millis(),
            tpot_ms: step.to_millis(),
            e2el_ms: e2el.to_millis(),
            requests_per_s: requests_per_s.get(),
            output_tokens_per_s: output_tokens_per_s.get(),
            batch: *batch,
            max_batch: max_batch.is_finite().then_some(*max_batch),
            limited_by: LimitsDocument {
                prefill: limited_by.prefill.as_str().to_owned(),
                decode: limited_by.decode.as_str().to_owned(),
            },
        }
    }
}

impl From<&fizeau_roofline::SpeedOfLightShares> for SharesDocument {
    fn from(shares: &fizeau_roofline::SpeedOfLightShares) -> Self {
        Self {
            ttft: shares.ttft.map(BoundShare::get),
            tpot: shares.tpot_alone.map(BoundShare::get),
            e2el: shares.e2el.map(BoundShare::get),
            requests_per_s: shares.requests_per_s.map(BoundShare::get),
            output_tokens_per_s: shares.output_tokens_per_s.map(BoundShare::get),
        }
    }
}

impl From<&SpeedOfLightComparison> for PhasesDocument {
    fn from(SpeedOfLightComparison { shares, decode, .. }: &SpeedOfLightComparison) -> Self {
        Self {
            prefill: shares.ttft.map(BoundShare::get),
            decode: decode.map(|decode| decode.share.get()),
            whole: shares.output_tokens_per_s.map(BoundShare::get),
            decode_batch: decode.map(|decode| decode.batch),
            decode_step_ms: decode.map(|decode| decode.step.to_millis()),
        }
    }
}

impl From<&BoundViolation> for ViolationDocument {
    fn from(violation: &BoundViolation) -> Self {
        let remedies = violation.remedies.iter().map(|remedy| RemedyDocument {
            input: remedy.input.as_str().to_owned(),
            given: remedy.given,
            needed: remedy.needed,
            text: remedy.to_string(),
        });
        Self {
            figure: violation.figure.as_str().to_owned(),
            measured: violation.measured,
            bound: violation.bound,
            times: violation.times,
            text: violation.to_string(),
            would_have_to_be: remedies.collect(),
        }
    }
}
