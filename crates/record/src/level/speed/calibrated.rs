//! What a calibration predicts, beside the bound and the expectation.

use crate::LevelReference;
use std::num::NonZeroU64;

use fizeau_core::{Estimate, PerSec, Seconds, document};
use fizeau_roofline::{
    ErrorSummary, MeasuredFigures, OutsideRegime, Prediction, RequestLengths, Scope,
};
use serde::{Deserialize, Serialize, Serializer};

/// What a calibration expects of the engine, beside what was measured of it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct CalibratedComparison {
    /// The prediction, or why there is none.
    pub prediction: Result<Prediction, OutsideRegime>,
    /// For which devices and engines its constants were fitted.
    pub scope: Scope,
    /// Measured output over the predicted; none where nothing was measured or predicted. Above 1 the engine does better than expected.
    pub output_share: Option<f64>,
    /// How far times per output token were off of model families that the fit had not seen; none where it saw one only.
    pub tpot_left_out: Option<ErrorSummary>,
    /// The same of times to first token.
    pub ttft_left_out: Option<ErrorSummary>,
}

impl CalibratedComparison {
    pub(super) fn of(
        reference: LevelReference<'_>,
        lengths: &RequestLengths,
        concurrency: NonZeroU64,
        measured: &MeasuredFigures,
    ) -> Option<Self> {
        let predictor = reference.predictor?;
        let prediction = reference.predict(lengths, concurrency)?;
        let expected = prediction.as_ref().ok().map(|of| of.output_tokens_per_s.value().get());
        let share = measured.output_tokens_per_s.zip(expected);
        let errors = predictor.errors();
        Some(Self {
            output_share: share.map(|(came, expected)| came.get() / expected),
            scope: predictor.scope().clone(),
            tpot_left_out: errors.model_left_out,
            ttft_left_out: errors.ttft_model_left_out,
            prediction,
        })
    }
}

/// A prediction, and whose constants it is made with.
#[derive(Debug, Clone, Copy)]
pub struct CalibratedPrediction<'a> {
    /// The prediction, or why there is none.
    pub prediction: Result<&'a Prediction, &'a OutsideRegime>,
    /// For which devices and engines its constants were fitted.
    pub scope: &'a Scope,
}

/// The prediction as JSON: each figure with its interval, or why it is refused.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum CalibratedBlock {
    /// What is predicted.
    Predicted(Box<PredictedFigures>),
    /// There is no prediction.
    Refused {
        /// Why, in plain words.
        refused: String,
    },
}

document! {
    /// What a calibration predicts of requests.
    #[non_exhaustive]
    pub struct PredictedFigures, fn of(of: &Prediction, scope: &Scope) {} {
        /// Time to first token with all under way.
        pub ttft_ms: PredictedRange = PredictedRange::ms(&of.ttft),
        /// Time per output token; absent where requests end with their first.
        pub tpot_ms?: PredictedRange =
            (of.e2el.value() > of.ttft.value()).then(|| PredictedRange::ms(&of.tpot)),
        /// Generated tokens per second.
        pub output_tokens_per_s: PredictedRange = PredictedRange::rate(&of.output_tokens_per_s),
        /// Completed requests per second.
        pub requests_per_s: PredictedRange = PredictedRange::rate(&of.requests_per_s),
        /// For which devices and engines the constants were fitted.
        pub constants_of: String = scope.to_string(),
    }
}

/// A figure, and the interval that holds nine in ten measured ones.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct PredictedRange {
    /// The likely one.
    pub value: JsonNumber,
    /// One in twenty is below.
    pub low: JsonNumber,
    /// One in twenty is above.
    pub high: JsonNumber,
}

/// A number without a fraction where it has none, and null where it is not finite.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(from = "Option<f64>")]
pub struct JsonNumber(
    /// The number.
    pub f64,
);

impl JsonNumber {
    /// A time in milliseconds.
    #[must_use]
    pub fn ms(time: Seconds) -> Self {
        Self(time.get() * 1e3)
    }
}

impl From<Option<f64>> for JsonNumber {
    fn from(number: Option<f64>) -> Self {
        Self(number.unwrap_or(f64::NAN))
    }
}

/// By hand, since a derived one writes every `f64` with a fraction.
impl Serialize for JsonNumber {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            value if value.fract() == 0.0 && value.abs() < 1e15 => {
                serializer.serialize_i64(value as i64)
            }
            value => serializer.serialize_f64(value),
        }
    }
}

#[cfg(feature = "schema")]
fizeau_core::written_as!(JsonNumber, Option<f64>);

impl CalibratedPrediction<'_> {
    /// It as JSON has it.
    #[must_use]
    pub fn block(&self) -> CalibratedBlock {
        match self.prediction {
            Ok(of) => CalibratedBlock::Predicted(Box::new(PredictedFigures::of(of, self.scope))),
            Err(outside) => CalibratedBlock::Refused { refused: outside.to_string() },
        }
    }
}

impl PredictedRange {
    fn ms(of: &Estimate<Seconds>) -> Self {
        let [value, low, high] = value_and_ends(of).map(JsonNumber::ms);
        Self { value, low, high }
    }

    fn rate(of: &Estimate<PerSec>) -> Self {
        let [value, low, high] = value_and_ends(of).map(|rate| JsonNumber(rate.get()));
        Self { value, low, high }
    }
}

/// The figure, and the ends of its interval.
fn value_and_ends<T: Copy + PartialOrd>(of: &Estimate<T>) -> [T; 3] {
    [of.value(), of.low(), of.high()]
}
