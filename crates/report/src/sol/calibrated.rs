//! What a calibration predicts, beside the bound and the expectation.

use fizeau_core::{Estimate, PerSec, Seconds};
use fizeau_roofline::{OutsideRegime, Prediction, Scope};
use serde::Serialize;

use super::figures::Number;
use super::grid::Grid;
use super::quantity::row;

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
pub(crate) enum CalibratedBlock {
    Predicted(Box<Predicted>),
    Refused { refused: String },
}

#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) struct Predicted {
    ttft_ms: Range,
    tpot_ms: Range,
    output_tokens_per_s: Range,
    requests_per_s: Range,
    constants_of: String,
}

/// A figure, and the interval that holds nine in ten measured ones.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "PredictedRange"))]
struct Range {
    value: Number,
    low: Number,
    high: Number,
}

impl Calibrated<'_> {
    pub(crate) fn block(&self) -> CalibratedBlock {
        match self.prediction {
            Ok(of) => CalibratedBlock::Predicted(Box::new(Predicted {
                ttft_ms: Range::ms(&of.ttft),
                tpot_ms: Range::ms(&of.tpot),
                output_tokens_per_s: Range::rate(&of.output_tokens_per_s),
                requests_per_s: Range::rate(&of.requests_per_s),
                constants_of: self.scope.to_string(),
            })),
            Err(outside) => CalibratedBlock::Refused { refused: outside.to_string() },
        }
    }

    /// The figures as a table, or none where they are refused.
    pub(super) fn table(&self) -> Option<Vec<String>> {
        let of = self.prediction.ok()?;
        let head = format!("calibrated on {}", self.scope);
        let mut grid = Grid::new(&[&head, "likely", "1 in 20 below", "1 in 20 above"]);
        let mut add = |name: &str, of: [f64; 3]| grid.row(row(name, of.into_iter()));
        let ms = |of: &Estimate<Seconds>| spread(of).map(|time| time.get() * 1e3);
        let rate = |of: &Estimate<PerSec>| spread(of).map(PerSec::get);
        add("TTFT with all under way, ms", ms(&of.ttft));
        add("TPOT, ms", ms(&of.tpot));
        add("E2EL, ms", ms(&of.e2el));
        add("output tokens/s", rate(&of.output_tokens_per_s));
        add("requests/s", rate(&of.requests_per_s));
        Some(grid.lines())
    }

    /// Why there is no table.
    pub(super) fn refusal(&self) -> Option<String> {
        self.prediction.err().map(ToString::to_string)
    }
}

impl Range {
    fn ms(of: &Estimate<Seconds>) -> Self {
        let [value, low, high] = spread(of).map(Number::ms);
        Self { value, low, high }
    }

    fn rate(of: &Estimate<PerSec>) -> Self {
        let [value, low, high] = spread(of).map(|rate| Number(rate.get()));
        Self { value, low, high }
    }
}

/// The figure, and the ends of its interval.
fn spread<T: Copy + PartialOrd>(of: &Estimate<T>) -> [T; 3] {
    [of.value(), of.low(), of.high()]
}
