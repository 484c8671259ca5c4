//! What the catalogue says of one figure.

use fizeau_core::{Interval, Millis, Nanos, PerSec};

use crate::level::latencies::Latencies;
use crate::level::{RateIntervals, RequestRates, Throughput};
use crate::series::Sent;
use crate::{Distribution, RateDistribution, RequestMetrics, Support};

/// What a figure of a level is made from, and read off.
#[derive(Debug, Clone, Copy)]
pub(in crate::level) enum Source {
    /// A latency that each request has one of, kept in the order of sending, so that there are intervals; and that of a request by
    /// itself.
    Series(fn(&Sent) -> Option<Millis>, fn(&RequestMetrics) -> Option<Millis>),
    /// One that is kept in no order.
    Each(fn(&RequestMetrics) -> Option<Nanos>),
    /// What is pooled over the gaps or the arrivals of all requests.
    Pooled(fn(&Latencies) -> Distribution),
    /// A rate over the level.
    Rate(fn(&Throughput) -> Option<PerSec>, Ends<PerSec>),
    /// A share.
    Share(fn(&Throughput) -> Option<f64>, Ends<f64>),
    /// Rates of single requests, and that of a request by itself.
    OfRequests(fn(&RequestRates) -> &RateDistribution, Option<RateOf>),
}

/// The interval of a rate or a share.
pub(in crate::level) type Ends<T> = fn(&RateIntervals) -> Option<Support<Interval<T>>>;

/// A rate of a request.
pub(in crate::level) type RateOf = fn(&RequestMetrics) -> Option<PerSec>;

/// What the catalogue says of one figure.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct MetricEntry {
    /// The name in goals: `ttft`, `rps`, `good_share`.
    pub key: &'static str,
    /// The name for people: `TTFT`, `output TPS`, `good share`.
    pub label: &'static str,
    /// The unit of its figures and limits: `ms`, `req/s`, `tok/s`; empty for a share.
    pub unit: &'static str,
    /// What it is, in a sentence.
    pub definition: &'static str,
    /// The object of a level's JSON that it is in, and its key there: `metrics` and `ttft_ms`.
    pub json: [&'static str; 2],
    pub(super) source: Source,
    /// The column of a table of levels, of a latency what stands behind the statistic's name: `output_tps`, `ttft_ms`; none where
    /// such a table leaves it out.
    pub column: Option<&'static str>,
    /// The name of the metric for monitoring systems, in base units: `fizeau_ttft_seconds`; none where it is left out there.
    pub exposition: Option<&'static str>,
    pub(super) is_goal: bool,
    pub(super) is_bounded: bool,
}

impl MetricEntry {
    pub(super) const fn new(label: &'static str, unit: &'static str, source: Source) -> Self {
        Self {
            key: "",
            label,
            unit,
            definition: "",
            json: ["", ""],
            source,
            column: None,
            exposition: None,
            is_goal: false,
            is_bounded: false,
        }
    }

    pub(super) const fn named(
        mut self,
        key: &'static str,
        json: [&'static str; 2],
        definition: &'static str,
    ) -> Self {
        (self.key, self.json, self.definition) = (key, json, definition.trim_ascii());
        self
    }

    /// Goals and comparisons may be about it.
    pub(super) const fn goal(mut self) -> Self {
        self.is_goal = true;
        self
    }

    /// The column of tables of levels; of a latency what stands behind the name of the statistic.
    pub(super) const fn column(mut self, name: &'static str) -> Self {
        self.column = Some(name);
        self
    }

    /// The name of the metric for monitoring, with its base unit at the end.
    pub(super) const fn exposed(mut self, name: &'static str) -> Self {
        self.exposition = Some(name);
        self
    }

    /// With MLPerf's bounds.
    pub(super) const fn bounded(mut self) -> Self {
        self.is_bounded = true;
        self
    }
}
