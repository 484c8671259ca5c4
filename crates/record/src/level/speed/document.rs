//! The part `speed_of_light` of `summary.json`.

use std::num::NonZeroU64;

use fizeau_core::{Millis, document};
use fizeau_roofline::{
    Bound, BoundShare, BoundViolation, ErrorSummary, Expected, Figures, InputRemedy,
    LimitingResources,
};

use super::{
    CalibratedBlock, CalibratedComparison, CalibratedPrediction, DataSheetBound, EvenRouting,
    SpeedOfLightComparison,
};
#[cfg(feature = "schema")]
use crate::reasons::listed;
use crate::reasons::reasons;

document! {
    /// The level beside what its hardware could do.
    pub(crate) struct LightDocument as "SpeedOfLight", from |light: &SpeedOfLightComparison| {} {
        concurrency: NonZeroU64 = light.concurrency,
        bound: BoundDocument = (&light.bound).into(),
        expected, expected_reason: ExpectedDocument = light.expected.as_ref().map(Into::into).map_err(Clone::clone),
        calibrated: Option<CalibratedBlock> = light.calibrated.as_ref().map(|of| {
            CalibratedPrediction { prediction: of.prediction.as_ref(), scope: &of.scope }.block()
        }),
        /// Where there is a prediction: what of it was reached, and how far off its calibration is.
        of_calibrated?: OfCalibratedDocument = light.calibrated.as_ref().and_then(OfCalibratedDocument::of),
        calibrated_reason?: String = calibrated.is_none().then(|| NO_CALIBRATION.to_owned()),
        share: SharesDocument = (&light.shares).into(),
        /// Where the bound is made of measured figures: the same by the device's data sheet.
        data_sheet?: DataSheetDocument = light.data_sheet.as_ref().map(Into::into),
        /// Of a mixture of experts alone: what is left of the bound where each token chooses its experts for itself.
        even_routing?: EvenRoutingDocument = light.even_routing.as_ref().map(Into::into),
        phases: PhasesDocument = light.into(),
        cache_fill: Option<f64> = light.cache_fill(),
        // Null too where the model's config was not read whole, so that what is beyond the bound decides nothing.
        impossible: Option<ViolationDocument> = light.violation.as_ref().filter(|of| of.is_proof()).map(Into::into),
    }
}

const NO_CALIBRATION: &str =
    "no calibration of this engine was given; a report of this run with one has the prediction";

document! {
    /// What was reached of a prediction, and how far off such predictions are: as shares, 0.1 is 10 %.
    struct OfCalibratedDocument as "OfCalibrated", fn with(output: f64, calibrated: &CalibratedComparison) {
        let off = |errors: Option<ErrorSummary>| errors.map(|errors| [errors.mean, errors.median]);
    } {
        /// Measured output over the predicted.
        output_share: f64 = output,
        /// Of families that were left out of the fit: the mean error of times per output token, and the median.
        tpot_off?: [f64; 2] = off(calibrated.tpot_left_out),
        /// The same of times to first token.
        ttft_off?: [f64; 2] = off(calibrated.ttft_left_out),
    }
}

impl OfCalibratedDocument {
    fn of(calibrated: &CalibratedComparison) -> Option<Self> {
        Some(Self::with(calibrated.output_share?, calibrated))
    }
}

document! {
    /// The bound, which nothing can beat.
    struct BoundDocument as "Bound", from |bound: &Bound| {} {
        ttft_ms: Millis = bound.ttft.to_millis(),
        /// Of a sequence that has the devices to itself.
        #[serde(alias = "tpot_ms")]
        tpot_alone_ms: Millis = bound.single_tpot.to_millis(),
        full_batch_step_ms: Millis = bound.tpot.to_millis(),
        e2el_ms: Millis = bound.e2el.to_millis(),
        requests_per_s: f64 = bound.requests_per_s.get(),
        output_tokens_per_s: f64 = bound.output_tokens_per_s.get(),
        batch: f64 = bound.batch,
        limited_by: String = bound.limited_by.as_str().to_owned(),
    }
}

document! {
    /// The expectation of the roofline model.
    struct ExpectedDocument as "Expected", from |expected: &Expected| {
        let Expected { figures, max_batch, limited_by, .. } = expected;
        let Figures { ttft, step, e2el, output_tokens_per_s, requests_per_s, batch, .. } = figures;
    } {
        ttft_ms: Millis = ttft.to_millis(),
        tpot_ms: Millis = step.to_millis(),
        e2el_ms: Millis = e2el.to_millis(),
        requests_per_s: f64 = requests_per_s.get(),
        output_tokens_per_s: f64 = output_tokens_per_s.get(),
        batch: f64 = *batch,
        /// Null where the requests keep nothing, so that any number fits.
        max_batch: Option<f64> = max_batch.is_finite().then_some(*max_batch),
        limited_by: LimitsDocument = limited_by.into(),
    }
}

document! {
    /// The output by the data sheet of the device, and the share of it that was reached.
    struct DataSheetDocument as "DataSheetBound", from |sheet: &DataSheetBound| {} {
        device: String = sheet.device.clone(),
        output_tokens_per_s: f64 = sheet.output_tokens_per_s.get(),
        share: Option<f64> = sheet.share.map(BoundShare::get),
    }
}

document! {
    /// The output where all experts are chosen equally often, and the share of it that was reached.
    struct EvenRoutingDocument as "EvenRouting", from |even: &EvenRouting| {} {
        output_tokens_per_s: f64 = even.output_tokens_per_s.get(),
        share: Option<f64> = even.share.map(BoundShare::get),
    }
}

document! {
    /// What limits each phase.
    struct LimitsDocument as "Limits", from |limits: &LimitingResources| {} {
        prefill: String = limits.prefill.as_str().to_owned(),
        decode: String = limits.decode.as_str().to_owned(),
    }
}

document! {
    /// The share of the bound that was reached, 0 to 1.
    #[serde(remote = "Self")]
    #[cfg_attr(feature = "schema", schemars(transform = listed::<Self>))]
    struct SharesDocument as "Shares", from |shares: &fizeau_roofline::SpeedOfLightShares| {} {
        ttft: Option<f64> = shares.ttft.map(BoundShare::get),
        tpot: Option<f64> = shares.tpot_alone.map(BoundShare::get),
        e2el: Option<f64> = shares.e2el.map(BoundShare::get),
        requests_per_s: Option<f64> = shares.requests_per_s.map(BoundShare::get),
        output_tokens_per_s: Option<f64> = shares.output_tokens_per_s.map(BoundShare::get),
    }
}

document! {
    /// The share of the bound by phase, 0 to 1: prefill is the time to first token, decode a step over the sequences that were
    /// decoding, the whole the output's rate.
    #[serde(remote = "Self")]
    #[cfg_attr(feature = "schema", schemars(transform = listed::<Self>))]
    struct PhasesDocument as "Phases", from |light: &SpeedOfLightComparison| {
        let SpeedOfLightComparison { shares, decode: step, .. } = light;
    } {
        prefill: Option<f64> = shares.ttft.map(BoundShare::get),
        decode: Option<f64> = step.map(|step| step.share.get()),
        whole: Option<f64> = shares.output_tokens_per_s.map(BoundShare::get),
        decode_batch: Option<f64> = step.map(|step| step.batch),
        decode_step_ms: Option<Millis> = step.map(|step| step.step.to_millis()),
    }
}

const NOTHING: &str = "nothing was measured to compare with";

reasons!(SharesDocument, |of| {
    ttft, tpot, e2el, requests_per_s, output_tokens_per_s => NOTHING
});

reasons!(PhasesDocument, |of| { prefill, decode, whole => NOTHING });

document! {
    /// What was measured beyond the bound.
    struct ViolationDocument as "Excess", from |violation: &BoundViolation| {} {
        figure: String = violation.figure.as_str().to_owned(),
        measured: f64 = violation.measured,
        bound: f64 = violation.bound,
        times: f64 = violation.times,
        text: String = violation.to_string(),
        /// Each by itself would explain it.
        would_have_to_be: Vec<RemedyDocument> = violation.remedies.iter().map(Into::into).collect(),
    }
}

document! {
    /// What would explain it.
    struct RemedyDocument as "Remedy", from |remedy: &InputRemedy| {} {
        input: String = remedy.input.as_str().to_owned(),
        given: f64 = remedy.given,
        needed: f64 = remedy.needed,
        text: String = remedy.to_string(),
    }
}
