//! What charts are drawn from: figures, curves and goals of a run as plain data, the same for the page, for pictures and for
//! whoever draws their own.

#[cfg(any(feature = "html", feature = "pictures"))]
pub(crate) mod description;
mod detail;

pub use detail::{ChartDetail, ChartServer, ChartStep, ChartTimeSeries};

use fizeau_core::document;
use fizeau_metrics::{Comparison, Goal};
use fizeau_record::{
    FrontierPosition, LevelReport, SpeedOfLightCurve, SpeedOfLightFigures, SpeedOfLightPoint,
    SweepReport,
};
use fizeau_roofline::BoundShare;
use serde::Serialize;

use crate::columns::figures_of;
use crate::{ChartFigures, Shown, TableRun};

document! {
    /// A run as its charts show it: levels with figures and intervals, the frontier, the speed of light, the goals.
    ///
    /// Everything that is not known is `None` and stays away from a chart. It serializes as the data that the page carries.
    #[derive(Debug, Clone, PartialEq)]
    #[non_exhaustive]
    pub view ChartRun,
    /// What the charts of `report` show; `called` tells it from others beside it.
    #[must_use]
    pub fn of(report: &SweepReport, called: &str) {
        let run = TableRun::of(report, called);
        let places = report.with_positions().enumerate();
        let rate = |index: &usize| {
            report.levels().get(*index).map(|level| level.summary.throughput.requests_per_s.get())
        };
        let mut rising = report.frontier();
        rising.sort_by(|a, b| rate(a).unwrap_or(0.0).total_cmp(&rate(b).unwrap_or(0.0)));
    } {
        /// What tells it from the others on a page: the name that the caller gave; empty where it stands alone.
        pub name: String = called.to_owned(),
        /// Model, hardware and engine, as far as they are known, in one line.
        pub title: String = report.title(),
        /// How many devices it took; absent where that is not known.
        pub devices: Option<u64> = report.devices(),
        /// Its levels, in the order of the report.
        pub levels: Vec<ChartLevel> =
            places.map(|(index, (level, place))| ChartLevel::of(level, place, Shown(report).label_of(index), &run)).collect(),
        /// The levels of the frontier of request throughput against p99 E2EL, by rising throughput.
        pub frontier: Vec<usize> = rising,
        /// The level to run at, where there is one.
        pub operating: Option<usize> = report.operating_point().level(),
        /// What the hardware could do; absent where model or device are not known.
        pub light: Option<ChartSpeedOfLight> = report.curve().map(ChartSpeedOfLight::from),
        /// The goals that are latencies or throughputs a chart can show as a line.
        pub goals: Vec<ChartGoal> =
            report.slo().iter().flat_map(|slo| slo.goals.iter().filter_map(ChartGoal::of)).collect(),
    }
}

document! {
    /// A level.
    #[derive(Debug, Clone, PartialEq)]
    #[non_exhaustive]
    pub view ChartLevel,
    fn of(level: &LevelReport, place: &FrontierPosition, short: String, run: &TableRun<'_>) {} {
        /// In words: `concurrency 64`, `4 requests/s`.
        pub load: String = level.load.to_string(),
        /// The load as a short label: `64`, or `4/s` beside levels of another kind.
        pub label: String = short,
        /// `concurrency` or `requests_per_s`; `unknown` where another tool's file does not say.
        pub load_kind: &'static str = level.load.kind().key(),
        /// The load as a number; of one that is not known as many as there were requests, which says nothing.
        pub load_value: f64 = level.load.value(),
        /// How it stands to the others.
        pub position as "place": ChartLevelPosition = match place {
            FrontierPosition::Frontier => ChartLevelPosition::Frontier,
            FrontierPosition::Dominated { .. } => ChartLevelPosition::Dominated,
            FrontierPosition::LeftOut { .. } => ChartLevelPosition::LeftOut,
        },
        /// Why it is compared with nothing, in plain words; absent where it is compared.
        pub left_out: Option<String> = match place {
            FrontierPosition::LeftOut { reason } => Some(reason.clone()),
            FrontierPosition::Frontier | FrontierPosition::Dominated { .. } => None,
        },
        /// The verdict: `valid`, `suspect` or `invalid`.
        pub verdict: &'static str = level.validity.verdict.as_str(),
        /// Whether the queue of an open loop grew to the end.
        pub saturated: bool = level.is_saturated(),
        /// Its figures, by the names of the columns of [`LevelTable`](crate::LevelTable): `requests_per_s`, `output_tps`,
        /// `output_tps_per_device`, `user_tps`, `p50_ttft_ms`, `p99_e2el_ms`, ...
        pub figures: ChartFigures = figures_of(run, level),
        /// The share of the speed of light in output throughput that was reached, 0 to 1: of the bound, of a mixture of experts at even
        /// routing; absent without one.
        pub light_share: Option<f64> = level.speed_of_light.output_share().map(BoundShare::get),
        /// What its tapes show; absent where they were not read.
        pub detail: Option<ChartDetail> = ChartDetail::of(level),
        /// Steps of its engines beside their bounds, some of them where they are many; empty where none was told, or there is no bound.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        pub steps: Vec<ChartStep> = ChartStep::all(level),
    }
}

/// How a level stands to the others of its run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ChartLevelPosition {
    /// No other beats it.
    Frontier,
    /// Another is at least as good in both and better in one.
    Dominated,
    /// It is compared with nothing.
    LeftOut,
}

document! {
    /// The speed of light as curves over the number of requests in flight, which rises along each.
    #[derive(Debug, Clone, PartialEq)]
    pub view ChartSpeedOfLight, from |of: &SpeedOfLightCurve| {
        let devices = of.devices().max(1);
        let curve = |figures: fn(&SpeedOfLightPoint) -> Option<SpeedOfLightFigures>| {
            let point = |point| Some(ChartCurvePoint::of(point, figures(point)?, devices));
            of.points().iter().filter_map(point).collect()
        };
    } {
        /// What nothing can beat.
        pub bound: ChartCurve = curve(|point| Some(point.bound)),
        /// What the roofline model expects.
        pub expected: ChartCurve = curve(|point| point.expected),
        /// What the calibration predicts; empty without one.
        pub calibrated: ChartCurve = curve(|point| point.calibrated),
    }
}

/// A curve of what could be.
pub type ChartCurve = Vec<ChartCurvePoint>;

document! {
    /// One place on it; latencies are means.
    #[derive(Debug, Clone, Copy, PartialEq)]
    #[non_exhaustive]
    pub view ChartCurvePoint, fn of(point: &SpeedOfLightPoint, figures: SpeedOfLightFigures, devices: u64) {
        let tps = figures.output_tokens_per_s.get();
    } {
        /// Requests in flight.
        pub concurrency: u64 = point.concurrency.get(),
        /// Time to first token.
        pub ttft_ms: f64 = figures.ttft.to_millis().get(),
        /// Time per output token.
        pub tpot_ms: f64 = figures.tpot.to_millis().get(),
        /// End-to-end latency.
        pub e2el_ms: f64 = figures.e2el.to_millis().get(),
        /// Completed requests per second.
        pub requests_per_s: f64 = figures.requests_per_s.get(),
        /// Output tokens per second.
        pub output_tps: f64 = tps,
        /// Output tokens per second of a device.
        pub output_tps_per_device: f64 = tps / devices as f64,
        /// Tokens per second of one user.
        pub user_tps: f64 = 1.0 / figures.tpot.get(),
    }
}

/// A goal as a line of a chart.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ChartGoal {
    /// The figure that it is about, by the name of its column: `p99_ttft_ms`.
    pub figure: String,
    /// Its metric alone: `ttft`, `tpot`, `itl`, `e2el`.
    pub metric: String,
    /// The limit, in the figure's unit.
    pub limit: f64,
    /// The loose end of a range.
    pub loosest: Option<f64>,
    /// In words: `p99 TTFT < 500 ms`.
    pub text: String,
}

impl ChartGoal {
    /// A goal that is an upper limit of a latency: the others are no line of any chart.
    fn of(goal: &Goal) -> Option<Self> {
        let upper = matches!(goal.comparison, Comparison::Less | Comparison::LessOrEqual);
        let column = goal.metric.column(goal.statistic);
        Some(Self {
            figure: column.filter(|_| goal.metric.is_latency() && upper)?,
            metric: goal.metric.entry().key.to_owned(),
            limit: goal.limit,
            loosest: goal.loosest,
            text: goal.describe(),
        })
    }
}
