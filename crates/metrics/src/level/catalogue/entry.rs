//! What the catalogue says of one figure.

use fizeau_core::{Interval, Millis, Nanos, PerSec};

use crate::level::latencies::Latencies;
use crate::level::{RateIntervals, RequestRates, Throughput};
use crate::series::Sent;
use crate::{Distribution, RateDistribution, RequestMetrics, Support};

/// What a figure of a level is made from, and read off.
#[derive(Clone, Copy)]
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

/// One figure.
#[derive(Clone, Copy)]
pub(super) struct Entry {
    /// The word in goals and comparisons.
    pub(super) key: &'static str,
    pub(super) label: &'static str,
    pub(super) unit: &'static str,
    pub(super) definition: &'static str,
    /// The object of a level's JSON, and the key in it.
    pub(super) json: [&'static str; 2],
    pub(super) source: Source,
    pub(super) column: Option<&'static str>,
    pub(super) exposition: Option<&'static str>,
    pub(super) is_goal: bool,
    pub(super) is_bounded: bool,
}

impl Entry {
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
        (self.key, self.json, self.definition) = (key, json, definition);
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
