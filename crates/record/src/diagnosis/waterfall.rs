//! The way from a bound to a measurement.

use fizeau_core::Millis;
use serde::{Deserialize, Serialize};

use super::TryFirst;
use super::level::MeasuredMean;

/// Why a time is longer than the least that a data sheet allows, in the order in which causes stand between bound and measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub enum SlowdownCause {
    /// None: what the data sheet allows at best.
    DataSheet,
    /// None: what a probe found the devices to allow at best, where no data sheet of them is known.
    AsProbed,
    /// The silicon gives less than its data sheet.
    Silicon,
    /// Operators that run one after the other, cut as engines cut them.
    Algorithm,
    /// What devices have to tell each other.
    Collectives,
    /// Launches of kernels, scheduling, sampling, the front end: what a step costs where nothing queues.
    LaunchesAndSteps,
    /// That and other requests together, where no level has one request in flight to tell them apart.
    EngineOrQueue,
    /// Other requests: their prompts between the steps of this one, and its wait for a place.
    BatchAndQueue,
    /// What none of these explains.
    Unexplained,
}

fizeau_core::words! {
    /// For a reader, in a few words.
    pub SlowdownCause::title, all {
        DataSheet = "hardware bound (data sheet)", AsProbed = "hardware bound (as probed)", Silicon = "this silicon, as probed", Algorithm = "no overlap (roofline)",
        Collectives = "collectives", LaunchesAndSteps = "engine overhead",
        EngineOrQueue = "engine at lightest load",
        BatchAndQueue = "batch and queue", Unexplained = "not explained",
    }
}

impl SlowdownCause {
    /// Whether it is no cause but what the hardware allows, which the others come on top of.
    #[must_use]
    pub const fn is_bound(self) -> bool {
        matches!(self, Self::DataSheet | Self::AsProbed)
    }
}

/// What a cause adds to a time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct WaterfallStep {
    /// The cause.
    pub cause: SlowdownCause,
    /// What it adds; below zero where it takes away, as silicon does that is faster than its data sheet.
    pub adds_ms: Millis,
    /// That over what was measured.
    pub share: f64,
    /// The least and the most that it may be, where that is known.
    pub range_ms: Option<[Millis; 2]>,
    /// What says so, in one sentence.
    pub evidence: String,
}

/// From a bound to a measured mean, cause by cause. The steps add up to the measurement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Waterfall {
    /// The causes, the bound first.
    pub steps: Vec<WaterfallStep>,
    /// The mean that was measured.
    pub measured_ms: Millis,
    /// Where the true mean lies, at 95 %; null where the sample is too small.
    pub measured_interval_ms: Option<[Millis; 2]>,
    /// What to try first.
    pub try_first: TryFirst,
}

/// A waterfall under construction, which knows how far it has come.
pub(super) struct WaterfallBuilder {
    measured: MeasuredMean,
    reached: f64,
    steps: Vec<WaterfallStep>,
}

impl WaterfallBuilder {
    pub(super) fn to(measured: MeasuredMean) -> Self {
        Self { measured, reached: 0.0, steps: Vec::new() }
    }

    /// What is left to be explained.
    pub(super) fn left(&self) -> Millis {
        Millis::new(self.measured.mean.get() - self.reached)
    }

    /// The least and the most that may be left: from the interval of the measured mean, and the ranges of what was explained. None where
    /// the mean has no interval.
    pub(super) fn left_range(&self) -> Option<[Millis; 2]> {
        let [low, high] = self.measured.ends?.map(Millis::get);
        let off = |end: usize| -> f64 {
            let ranged = self.steps.iter();
            let ranged = ranged.filter_map(|step| Some((step.range_ms?[end], step.adds_ms)));
            ranged.map(|(end, adds)| end.get() - adds.get()).sum()
        };
        let ends = [low - (self.reached + off(1)), high - (self.reached + off(0))];
        Some(ends.map(Millis::new))
    }

    /// Adds what is left as `cause`, with the range that it may be in, or why there is none.
    pub(super) fn rest(&mut self, cause: SlowdownCause, evidence: String) -> &mut WaterfallStep {
        let range = self.left_range();
        let evidence = match range {
            Some(_) => evidence,
            None => format!("{evidence}; {NO_INTERVAL}"),
        };
        let step = self.add(cause, self.left(), evidence);
        step.range_ms = range;
        step
    }

    /// Goes on to `total`.
    pub(super) fn up_to(
        &mut self,
        cause: SlowdownCause,
        total: Millis,
        evidence: String,
    ) -> &mut WaterfallStep {
        self.add(cause, Millis::new(total.get() - self.reached), evidence)
    }

    /// Goes on by `adds`.
    pub(super) fn add(
        &mut self,
        cause: SlowdownCause,
        adds: Millis,
        evidence: String,
    ) -> &mut WaterfallStep {
        self.reached += adds.get();
        let share = adds.get() / self.measured.mean.get();
        let at = self.steps.len();
        self.steps.push(WaterfallStep { cause, adds_ms: adds, share, range_ms: None, evidence });
        &mut self.steps[at]
    }

    /// Closes with what nothing explains, and says what to try first.
    pub(super) fn finish(mut self, advice: impl FnOnce(&[WaterfallStep]) -> TryFirst) -> Waterfall {
        let left = self.left();
        if left.get().abs() > self.measured.mean.get() * NEGLIGIBLE {
            let evidence = match left.get() > 0.0 {
                true => {
                    "neither the model of the hardware nor the lightest level of this run accounts for it"
                }
                false => {
                    "the measured time is shorter than expected; check whether the model, the devices and the deployment are as stated"
                }
            };
            self.rest(SlowdownCause::Unexplained, evidence.to_owned());
        }
        let try_first = advice(&self.steps);
        Waterfall {
            steps: self.steps,
            measured_ms: self.measured.mean,
            measured_interval_ms: self.measured.ends,
            try_first,
        }
    }
}

/// Why what is left has no range.
const NO_INTERVAL: &str =
    "no range, since the level is too small a sample for an interval of its mean";

/// The share of a measurement below which nothing is said of what is left.
const NEGLIGIBLE: f64 = 0.005;
