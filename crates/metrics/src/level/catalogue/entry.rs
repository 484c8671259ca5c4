//! What the catalogue says of one figure.

use fizeau_core::{Interval, Millis, Nanos, PerSec};

use crate::level::latencies::{Latencies, SummaryOfBoth};
use crate::level::{RateIntervals, RequestCounts, RequestRates, Throughput};
use crate::series::SentRequest;
use crate::{Distribution, RateDistribution, RequestMetrics, SampleSupport};

/// What a figure of a level is made from, and read off.
#[derive(Debug, Clone, Copy)]
pub(in crate::level) enum Source {
    /// A latency that each request has one of, kept in the order of sending, so that there are intervals; and that of a request by
    /// itself.
    Series(fn(&SentRequest) -> Option<Millis>, fn(&RequestMetrics) -> Option<Millis>),
    /// One that is kept in no order.
    Each(fn(&RequestMetrics) -> Option<Nanos>),
    /// What is pooled over the gaps or the arrivals of all requests.
    Pooled(fn(&Latencies, &SummaryOfBoth) -> Distribution),
    /// A rate over the level.
    Rate(fn(&Throughput) -> Option<PerSec>, Ends<PerSec>),
    /// A share.
    Share(fn(&Throughput) -> Option<f64>, Ends<f64>),
    /// A share of how requests ended.
    Count(fn(&RequestCounts) -> Option<f64>),
    /// Rates of single requests, and that of a request by itself.
    OfRequests(fn(&RequestRates) -> &RateDistribution, Option<RateOf>),
}

/// The interval of a rate or a share.
pub(in crate::level) type Ends<T> = fn(&RateIntervals) -> Option<SampleSupport<Interval<T>>>;

/// A rate of a request.
pub(in crate::level) type RateOf = fn(&RequestMetrics) -> Option<PerSec>;

/// The columns of a figure in the tables of levels that people read: of a latency its median and its 99th percentile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct TableColumns {
    /// What stands above all of them: `TTFT ms`, `out tok`.
    pub group: &'static str,
    /// What stands above the one of a rate or a share; above those of a latency stands the statistic.
    pub head: &'static str,
    /// How much each is needed, and how much its interval: where there is no room the least goes first, and what has none never.
    pub ranks: [[Option<u8>; 2]; 2],
}

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
    /// The name in full, as charts and wide tables have it: `Time to first token`; of a rate with its unit apart: `requests`, `/s`.
    pub name: [&'static str; 2],
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
    /// Its columns in tables for people; none where it has none of its own there.
    pub table: Option<TableColumns>,
    pub(super) is_live: bool,
    pub(super) is_goal: bool,
    pub(super) is_bounded: bool,
}

impl MetricEntry {
    pub(super) const fn new(label: &'static str, unit: &'static str, source: Source) -> Self {
        Self {
            key: "",
            label,
            unit,
            name: [label, unit],
            definition: "",
            json: ["", ""],
            source,
            column: None,
            exposition: None,
            table: None,
            is_live: false,
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

    /// The name in full, and its unit.
    pub(super) const fn spelled(mut self, name: &'static str, unit: &'static str) -> Self {
        self.name = [name, unit];
        self
    }

    /// The columns of tables for people: the group, the head of a single one, and how much each and its interval are needed.
    pub(super) const fn tabled(
        mut self,
        group: &'static str,
        head: &'static str,
        ranks: [[Option<u8>; 2]; 2],
    ) -> Self {
        self.table = Some(TableColumns { group, head, ranks });
        self
    }

    /// It is followed while a run goes on.
    pub(super) const fn live(mut self) -> Self {
        self.is_live = true;
        self
    }

    /// With MLPerf's bounds.
    pub(super) const fn bounded(mut self) -> Self {
        self.is_bounded = true;
        self
    }
}
