//! A run's figures as metrics of a monitoring system: Prometheus text, and OTLP as JSON.

mod level;
mod otlp;
mod prometheus;
mod run;
use fizeau_record::SweepReport;

/// A run's figures as metrics: for a Pushgateway, an OTLP endpoint, or a file that is scraped.
///
/// Names follow the conventions of Prometheus: they begin with `fizeau_`, units are at their end and are base units (seconds,
/// not milliseconds), a share is a `_ratio`. All series of a level have the labels `run`, `model`, `load_kind`
/// (`concurrency` or `requests_per_s`) and `load`. What is not known has no series. There are no timestamps in it.
#[derive(Debug, Clone, PartialEq)]
pub struct Exposition {
    families: Vec<MetricFamily>,
}

/// A metric with all of its series.
#[derive(Debug, Clone, PartialEq)]
struct MetricFamily {
    /// Its name, unit and all.
    name: &'static str,
    /// What it is, in one line.
    help: &'static str,
    /// What its values are.
    kind: MetricKind,
    /// Its series, no two with the same labels.
    series: Vec<MetricSeries>,
}

/// What the values of a metric are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MetricKind {
    /// Numbers.
    Gauge,
    /// Samples: count, sum and quantiles.
    Summary,
}

/// One series.
#[derive(Debug, Clone, PartialEq)]
struct MetricSeries {
    /// Names and values of its labels.
    labels: Vec<(&'static str, String)>,
    /// Its value.
    value: MetricValue,
}

/// What a series shows.
#[derive(Debug, Clone, PartialEq)]
enum MetricValue {
    /// A finite number.
    Number(f64),
    /// A sample.
    Sample {
        /// How many values.
        count: u64,
        /// Their sum.
        sum: f64,
        /// Quantiles (0 to 1) that the sample supports, rising, and their values.
        quantiles: Vec<(f64, f64)>,
    },
}

impl Exposition {
    /// The figures of `report`; `run` tells it from others in one system, such as the name of its folder.
    #[must_use]
    pub fn of(report: &SweepReport, run: &str) -> Self {
        let mut families = run::families(report, run);
        families.extend(level::families(report, run));
        families.retain(|family| !family.series.is_empty());
        Self { families }
    }

    /// The names of all metrics that there can be.
    pub fn names() -> impl Iterator<Item = &'static str> {
        run::NAMES.into_iter().chain(level::names())
    }
}

impl MetricFamily {
    const fn new(name: &'static str, help: &'static str, kind: MetricKind) -> Self {
        Self { name, help, kind, series: Vec::new() }
    }

    /// One more series, unless there is one with its labels: a system would refuse them all.
    fn add(&mut self, labels: Vec<(&'static str, String)>, value: MetricValue) {
        let is_finite = match &value {
            MetricValue::Number(number) => number.is_finite(),
            MetricValue::Sample { sum, .. } => sum.is_finite(),
        };
        if is_finite && self.series.iter().all(|series| series.labels != labels) {
            self.series.push(MetricSeries { labels, value });
        }
    }
}
