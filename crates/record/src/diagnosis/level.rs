//! What a diagnosis needs to know of a level.

use std::num::NonZeroU64;

use fizeau_core::{Millis, Seconds, Tokens};
use fizeau_metrics::{Metric, Statistic};
use fizeau_roofline::{System, UniformLoad};

use crate::LevelReport;

/// A level that answered at all.
pub(super) struct LevelFacts<'a> {
    pub(super) report: &'a LevelReport,
    /// Requests of the mean lengths, as many as were in flight.
    pub(super) load: UniformLoad,
    pub(super) in_flight: f64,
    pub(super) decoding: f64,
    pub(super) requests_per_s: f64,
}

/// A mean that was measured.
#[derive(Clone, Copy)]
pub(super) struct MeasuredMean {
    pub(super) mean: Millis,
    /// At 95 %; none where the sample is too small.
    pub(super) ends: Option<[Millis; 2]>,
}

impl<'a> LevelFacts<'a> {
    /// None of a level without completed requests, or without lengths.
    pub(super) fn of(report: &'a LevelReport, system: &System) -> Option<Self> {
        let summary = &report.summary;
        let completed = summary.requests.completed;
        let each = |all: Tokens| Tokens::new((all.get() as f64 / completed as f64).round() as u64);
        let over_time = summary.over_time.as_ref()?;
        let (input, output) = (each(summary.tokens.input?), each(summary.tokens.output));
        if completed == 0 || input.get() == 0 || output.get() == 0 {
            return None;
        }
        let in_flight = over_time.in_flight.mean;
        let whole = NonZeroU64::new(in_flight.round() as u64).unwrap_or(NonZeroU64::MIN);
        let load = UniformLoad::new(input, output, whole);
        // A load that does not fit is explained nowhere.
        system.answer(&load).ok()?;
        Some(Self {
            report,
            load,
            in_flight,
            decoding: over_time.decoding.mean.max(1.0),
            requests_per_s: summary.throughput.requests_per_s.get(),
        })
    }

    pub(super) fn mean(&self, figure: Metric) -> Option<MeasuredMean> {
        let summary = &self.report.summary;
        let mean = Millis::new(figure.measured(Statistic::Mean, summary)?);
        let ends = figure.interval(Statistic::Mean, summary);
        Some(MeasuredMean { mean, ends: ends.map(|ends| [ends.low, ends.high].map(Millis::new)) })
    }

    /// Whether one request at a time was in flight, which no other delays.
    pub(super) fn is_alone(&self) -> bool {
        self.in_flight < MORE_THAN_ONE
    }

    pub(super) fn is(&self, other: &Self) -> bool {
        std::ptr::eq(self.report, other.report)
    }
}

/// Fewer than this in flight on average are one at a time.
const MORE_THAN_ONE: f64 = 1.05;

/// Why what a level takes beyond its expectation is not split.
pub(super) const NOT_APART: &str = "without a level of one request in flight the engine's overhead and other requests cannot be told \
     apart";

pub(super) fn millis(time: Seconds) -> Millis {
    Millis::new(time.get() * 1e3)
}
