//! Metrics that nobody but their owner knows.

use fizeau_core::Nanos;
use serde::{Deserialize, Serialize};

use super::together::sum_of_gauges;
use crate::exposition::MetricKind;
use crate::samples::{Combine, History};
use crate::window::{CounterOver, EdgePages, GaugeOver, Window};

/// What a metric that was asked for by its name comes to over a window, all its series added.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub enum NamedFigure {
    /// It only grows: by how much it did.
    Counter(CounterOver),
    /// It goes up and down.
    Gauge(GaugeOver),
}

impl NamedFigure {
    /// What all of `histories` together say of the metric `name`, as it stands on a page or without its `_total`; none where no page has
    /// it. It is a counter where a page declares it as one, or declares nothing and its name ends as those of counters do. A value of a gauge
    /// stands for at most `hold` on either side of its page.
    pub fn over<'a>(
        histories: impl IntoIterator<Item = &'a History>,
        name: &str,
        window: Window,
        hold: Nanos,
    ) -> Option<Self> {
        let each = histories.into_iter().filter_map(|one| Self::of(one, name, window, hold));
        each.reduce(|so_far, more| match (so_far, more) {
            (Self::Counter(one), Self::Counter(other)) => Self::Counter(one + other),
            (Self::Gauge(one), Self::Gauge(other)) => Self::Gauge(sum_of_gauges(one, other)),
            // Two programs that call different things alike: the first page is meant.
            (first, _) => first,
        })
    }

    fn of(history: &History, name: &str, window: Window, hold: Nanos) -> Option<Self> {
        let total = format!("{name}_total");
        let has = |metric: &&str| history.all_of(metric).next().is_some();
        let metric = [name, &total].into_iter().find(has)?;
        let series = history.all_of(metric);
        if is_counter(history.kind(metric), metric) {
            let edges = EdgePages::of(&history.fetches(), window)?;
            let grown = series.filter_map(|series| CounterOver::of_series(&edges, series));
            return grown.reduce(|sum, more| sum + more).map(Self::Counter);
        }
        let points = Combine::Sum.of(series.map(|series| (series, 1.0)));
        GaugeOver::of(&points, window, hold).map(Self::Gauge)
    }

    /// By how much it grew, or its mean over time.
    #[must_use]
    pub const fn value(&self) -> f64 {
        match self {
            Self::Counter(grown) => grown.delta,
            Self::Gauge(over) => over.mean,
        }
    }
}

fn is_counter(kind: MetricKind, metric: &str) -> bool {
    let is_named_so = || ["_total", "_count", "_sum"].iter().any(|end| metric.ends_with(end));
    kind == MetricKind::Counter || kind != MetricKind::Gauge && is_named_so()
}
