//! What a calibration predicts, beside the bound and the expectation.

use fizeau_core::{PerSec, Seconds};
use fizeau_roofline::{Interval, OutsideRegime, Prediction, Scope};
use serde::Serialize;

use super::number::JsonNumber as Number;

/// A prediction, and whose constants it is made with.
#[derive(Debug, Clone, Copy)]
pub struct Calibrated<'a> {
    /// The prediction, or why there is none.
    pub prediction: Result<&'a Prediction, &'a OutsideRegime>,
    /// For which devices and engines its constants were fitted.
    pub scope: &'a Scope,
}

/// The prediction as JSON: each figure with its interval, or why it is refused.
#[derive(Debug, Serialize)]
#[serde(untagged)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum CalibratedBlock {
    /// What is predicted.
    Predicted(Box<Predicted>),
    /// There is no prediction.
    Refused {
        /// Why, in plain words.
        refused: String,
    },
}

#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
/// What a calibration predicts of requests.
pub struct Predicted {
    /// Time to first token with all under way.
    pub ttft_ms: PredictedRange,
    /// Time per output token.
    pub tpot_ms: PredictedRange,
    /// Generated tokens per second.
    pub output_tokens_per_s: PredictedRange,
    /// Completed requests per second.
    pub requests_per_s: PredictedRange,
    /// For which devices and engines the constants were fitted.
    pub constants_of: String,
}

/// A figure, and the interval that holds nine in ten measured ones.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PredictedRange {
    /// The likely one.
    pub value: Number,
    /// One in twenty is below.
    pub low: Number,
    /// One in twenty is above.
    pub high: Number,
}

impl Calibrated<'_> {
    /// It as JSON has it.
    #[must_use]
    pub fn block(&self) -> CalibratedBlock {
        match self.prediction {
            Ok(of) => CalibratedBlock::Predicted(Box::new(Predicted {
                ttft_ms: PredictedRange::ms(&of.ttft),
                tpot_ms: PredictedRange::ms(&of.tpot),
                output_tokens_per_s: PredictedRange::rate(&of.output_tokens_per_s),
                requests_per_s: PredictedRange::rate(&of.requests_per_s),
                constants_of: self.scope.to_string(),
            })),
            Err(outside) => CalibratedBlock::Refused { refused: outside.to_string() },
        }
    }
}

impl PredictedRange {
    fn ms(of: &Interval<Seconds>) -> Self {
        let Interval { value, low, high, .. } = *of;
        Self { value: Number::ms(value), low: Number::ms(low), high: Number::ms(high) }
    }

    fn rate(of: &Interval<PerSec>) -> Self {
        let [value, low, high] = [of.value, of.low, of.high].map(|rate| Number(rate.get()));
        Self { value, low, high }
    }
}
