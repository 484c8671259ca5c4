//! Metrics of levels.

use std::sync::LazyLock;

use fizeau_core::{FailureClass, PerSec};
use fizeau_metrics::{Distribution, Metric as LevelFigure, RateDistribution, Statistic};
use fizeau_roofline::BoundShare;

use super::run::{VERDICTS, is};
use super::{MetricFamily, MetricKind, MetricValue};
use crate::columns::{failed, figures_of};
use crate::telemetry::{TelemetryExport, exported};
use crate::{ChartFigures, TableRun};
use fizeau_record::{FrontierPosition, LevelReport, SweepReport};

/// A metric of a level.
#[derive(Clone, Copy)]
struct Metric {
    name: &'static str,
    help: &'static str,
    source: Source,
}

/// A label more, and the value that has it.
type LabelledValue = (&'static str, String, f64);

/// Where it comes from.
#[derive(Clone, Copy)]
enum Source {
    /// A figure of the catalogue: of latencies and rates of requests all of the sample.
    Figure(LevelFigure),
    /// What servers and devices told.
    Reported(&'static TelemetryExport),
    /// A column of the table of levels.
    Column(&'static str),
    Number(fn(&Level<'_>) -> Option<f64>),
    /// Several numbers, told apart by a label.
    Numbers(fn(&Level<'_>) -> Vec<LabelledValue>),
}

/// A level, with what is known of it within its run.
struct Level<'a> {
    report: &'a LevelReport,
    place: &'a FrontierPosition,
    is_operating: bool,
    figures: ChartFigures,
}

use Source::{Column, Number, Numbers};

const fn metric(name: &'static str, help: &'static str, source: Source) -> Metric {
    Metric { name, help, source }
}

/// Every metric, in the order in which they are shown.
static METRICS: LazyLock<Vec<Metric>> = LazyLock::new(|| {
    let of = |figure: LevelFigure| {
        let (name, help) = (figure.entry().exposition?, figure.entry().definition);
        Some(Metric { name, help, source: Source::Figure(figure) })
    };
    let (latencies, rates): (Vec<LevelFigure>, Vec<LevelFigure>) =
        LevelFigure::ALL.iter().partition(|figure| figure.is_latency());
    let rates = rates.into_iter().flat_map(|figure| {
        let device = (figure == LevelFigure::TotalTokensPerSec).then_some(PER_DEVICE);
        of(figure).into_iter().chain(device)
    });
    let figures = rates.chain(latencies.into_iter().filter_map(of));
    let told = exported().map(|of| Metric {
        name: of.metric,
        help: of.about,
        source: Source::Reported(of),
    });
    FIRST.iter().copied().chain(figures).chain(LAST.iter().copied()).chain(told).collect()
});

const PER_DEVICE: Metric = metric(
    "fizeau_device_output_tokens_per_second",
    "Output tokens of one device.",
    Column("output_tps_per_device"),
);

#[rustfmt::skip] // A metric a line.
const FIRST: &[Metric] = &[
    metric("fizeau_level_verdict", "1 for the verdict of the level, 0 for the others.", Numbers(verdicts)),
    metric("fizeau_on_frontier", "1 if no other level beats it, else 0.", Number(|of| Some(is(*of.place == FrontierPosition::Frontier)))),
    metric("fizeau_operating_point", "1 for the level to run at, else 0.", Number(|of| Some(is(of.is_operating)))),
    metric("fizeau_saturated", "1 if the queue of an open loop grew to the end, else 0.", Number(|of| Some(is(of.report.is_saturated())))),
    metric(
        "fizeau_level_duration_seconds",
        "From the first release to the last end.",
        Number(|of| Some(of.report.summary.throughput.duration.get())),
    ),
    metric("fizeau_requests", "Requests that were sent, by how they ended.", Numbers(outcomes)),
    metric("fizeau_failed_requests", "Failed requests by class.", Numbers(failures)),
];

#[rustfmt::skip] // A metric a line.
const LAST: &[Metric] = &[
    metric(
        "fizeau_in_flight_requests",
        "Requests in flight, as the mean over time.",
        Number(|of| Some(of.report.summary.over_time?.in_flight.mean)),
    ),
    metric(
        "fizeau_in_flight_requests_peak",
        "The most requests in flight at any instant.",
        Number(|of| Some(of.report.summary.over_time?.in_flight.peak as f64)),
    ),
    metric("fizeau_speed_of_light_ratio", "The share of the speed of light that was reached, 0 to 1.", Numbers(speed_of_light_shares)),
    metric("fizeau_usd_per_million_output_tokens", "US dollars, for all of the devices' time.", Column("cost_per_million_output")),
    metric(
        "fizeau_warm_up_requests",
        "Requests sent before the level, in no other metric.",
        Number(|of| Some(of.report.warm_up?.sent as f64)),
    ),
];

/// The names of all metrics of a level.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    METRICS.iter().map(|metric| metric.name)
}

pub(super) fn families(report: &SweepReport, run: &str) -> Vec<MetricFamily> {
    let table = TableRun::of(report, run);
    let operating = report.operating_point().level();
    let level = |(index, (level, place))| Level {
        report: level,
        place,
        is_operating: operating == Some(index),
        figures: figures_of(&table, level),
    };
    let levels: Vec<Level<'_>> = report.with_positions().enumerate().map(level).collect();
    let model = &report.setup().endpoint.model;
    METRICS.iter().map(|metric| metric.family(&levels, &[("run", run), ("model", model)])).collect()
}

impl Metric {
    fn family(&self, levels: &[Level<'_>], own: &[(&'static str, &str)]) -> MetricFamily {
        let kind = match self.source {
            Source::Figure(of) if of.statistics().len() > 1 => MetricKind::Summary,
            Source::Figure(_) | Source::Reported(_) | Column(_) | Number(_) | Numbers(_) => {
                MetricKind::Gauge
            }
        };
        let mut family = MetricFamily::new(self.name, self.help, kind);
        for level in levels {
            let own = own.iter().map(|(name, value)| (*name, (*value).to_owned()));
            let labels: Vec<(&str, String)> = own.chain(load(level.report)).collect();
            for (label, value) in self.source.values(level) {
                let labels = labels.iter().cloned().chain(label).collect();
                family.add(labels, value);
            }
        }
        family
    }
}

impl Source {
    /// Its values, each with the label that it has besides.
    fn values(self, level: &Level<'_>) -> Vec<(Option<(&'static str, String)>, MetricValue)> {
        let alone =
            |value: Option<MetricValue>| value.map(|value| (None, value)).into_iter().collect();
        match self {
            Self::Figure(figure) => alone(of_figure(figure, level.report)),
            Column(name) => {
                alone(level.figures.get(name).map(|figure| MetricValue::Number(figure.value)))
            }
            Self::Reported(of) => {
                let told = level.report.telemetry.as_deref();
                let series = told.map(|said| of.series(said)).unwrap_or_default();
                let one = |(label, number)| (label, MetricValue::Number(number));
                series.into_iter().map(one).collect()
            }
            Number(of) => alone(of(level).map(MetricValue::Number)),
            Numbers(of) => {
                let one = |(name, label, value)| (Some((name, label)), MetricValue::Number(value));
                of(level).into_iter().map(one).collect()
            }
        }
    }
}

fn load(level: &LevelReport) -> [(&'static str, String); 2] {
    [("load_kind", level.load.kind().key().to_owned()), ("load", level.load.value().to_string())]
}

fn verdicts(level: &Level<'_>) -> Vec<LabelledValue> {
    let own = level.report.validity.verdict;
    VERDICTS.map(|verdict| ("verdict", verdict.as_str().to_owned(), is(verdict == own))).into()
}

fn outcomes(level: &Level<'_>) -> Vec<LabelledValue> {
    let counts = &level.report.summary.requests;
    let of = |outcome: &str, count: u64| ("outcome", outcome.to_owned(), count as f64);
    vec![
        of("completed", counts.completed),
        of("failed", failed(level.report)),
        of("cancelled", counts.cancelled()),
    ]
}

fn failures(level: &Level<'_>) -> Vec<LabelledValue> {
    let classes = level.report.summary.requests.by_class.iter();
    let classes = classes.filter(|(class, _)| **class != FailureClass::Cancelled);
    classes.map(|(class, count)| ("class", class.to_string(), *count as f64)).collect()
}

fn speed_of_light_shares(level: &Level<'_>) -> Vec<LabelledValue> {
    let Some(light) = level.report.speed_of_light.comparison() else { return Vec::new() };
    // Beside the headline of a mixture of experts, which is that of balanced routing.
    let of_bound = light.even_routing.and(light.shares.output_tokens_per_s);
    let shares = [
        ("ttft", light.shares.ttft),
        ("tpot", light.shares.tpot_alone),
        ("e2el", light.shares.e2el),
        ("requests_per_s", light.shares.requests_per_s),
        ("output_tokens_per_s", level.report.speed_of_light.output_share()),
        ("output_tokens_per_s_of_bound", of_bound),
    ];
    let known =
        shares.into_iter().filter_map(|(name, share)| Some((name, share.map(BoundShare::get)?)));
    known.map(|(name, share)| ("figure", name.to_owned(), share)).collect()
}

fn of_figure(figure: LevelFigure, level: &LevelReport) -> Option<MetricValue> {
    let summary = &level.summary;
    if let Some(sample) = figure.distribution(summary) {
        return latency(sample);
    }
    match figure.rates(summary) {
        Some(of) => rates(of),
        None => figure.measured(Statistic::Value, summary).map(MetricValue::Number),
    }
}

/// The sample in seconds, with the quantiles that it supports.
fn latency(of: &Distribution) -> Option<MetricValue> {
    let quantiles = [
        (0.5, Statistic::P50),
        (0.9, Statistic::P90),
        (0.95, Statistic::P95),
        (0.99, Statistic::P99),
        (0.999, Statistic::P999),
    ];
    let known = |(share, statistic)| Some((share, of.statistic(statistic)?.get() / 1e3));
    Some(MetricValue::Sample {
        count: of.n,
        sum: of.mean?.get() / 1e3 * of.n as f64,
        quantiles: quantiles.into_iter().filter_map(known).collect(),
    })
}

fn rates(of: &RateDistribution) -> Option<MetricValue> {
    let quantiles = [(0.01, of.p1), (0.05, of.p5), (0.1, of.p10), (0.5, of.p50), (0.9, of.p90)];
    let known = |(share, rate): (f64, Option<PerSec>)| Some((share, rate?.get()));
    Some(MetricValue::Sample {
        count: of.n,
        sum: of.mean?.get() * of.n as f64,
        quantiles: quantiles.into_iter().filter_map(known).collect(),
    })
}
