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

impl MeasuredMean {
    /// # Errors
    /// That it is less than the `bound` of what it is about, by more than rounding explains: no cause leads from there to here.
    pub(super) fn above(&self, bound: Millis, what: &str) -> Result<(), String> {
        let (mean, least) = (self.mean.get(), bound.get());
        match least > mean * ROUNDED {
            true => Err(format!(
                "the mean of {mean:.2} ms is less than the {least:.2} ms that {what} takes at the very best"
            )),
            false => Ok(()),
        }
    }
}

impl<'a> LevelFacts<'a> {
    /// # Errors
    /// The reason, in plain words, why nothing can be explained: no request completed, it has no lengths, or it does not fit.
    pub(super) fn of(report: &'a LevelReport, system: &System) -> Result<Self, String> {
        const NO_LENGTHS: &str = "it is not known how long its requests were";
        let summary = &report.summary;
        let completed = summary.requests.completed;
        if completed == 0 {
            return Err("no request completed".to_owned());
        }
        let each = |all: Tokens| Tokens::new((all.get() as f64 / completed as f64).round() as u64);
        let over_time =
            summary.over_time.as_ref().ok_or("it is not known how many were in flight")?;
        let input = each(summary.tokens.input.ok_or(NO_LENGTHS)?);
        let output = each(summary.tokens.output);
        if input.get() == 0 || output.get() == 0 {
            return Err(NO_LENGTHS.to_owned());
        }
        let in_flight = over_time.in_flight.mean;
        let whole = NonZeroU64::new(in_flight.round() as u64).unwrap_or(NonZeroU64::MIN);
        let cached = summary.tokens.cached_share.unwrap_or_default() * input.get() as f64;
        let load = UniformLoad::new(input, output, whole).with_cached(Tokens::new(cached as u64));
        system.answer(&load).map_err(|error| error.to_string())?;
        Ok(Self {
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

/// What the rounding of published figures explains.
const ROUNDED: f64 = 1.005;

/// Fewer than this in flight on average are one at a time.
const MORE_THAN_ONE: f64 = 1.05;

/// Why what a level takes beyond its expectation is not split.
pub(super) const NOT_APART: &str = "without a level of one request in flight the engine's overhead and other requests cannot be told \
     apart";

pub(super) fn millis(time: Seconds) -> Millis {
    Millis::new(time.get() * 1e3)
}
