//! What charts are drawn from: figures, curves and goals of a run as plain data, the same for the page, for pictures and for
//! whoever draws their own.

mod build;
#[cfg(any(feature = "html", feature = "pictures"))]
pub(crate) mod description;
mod detail;

pub use detail::{ChartDetail, ChartServer, ChartStep, ChartTimeSeries};

use serde::Serialize;

use crate::ChartFigures;

/// A run as its charts show it: levels with figures and intervals, the frontier, the speed of light, the goals.
///
/// Everything that is not known is `None` and stays away from a chart. It serializes as the data that the page carries.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ChartRun {
    /// What tells it from the others on a page: the name that the caller gave; empty where it stands alone.
    pub name: String,
    /// Model, hardware and engine, as far as they are known, in one line.
    pub title: String,
    /// How many devices it took; absent where that is not known.
    pub devices: Option<u64>,
    /// Its levels, in the order of the report.
    pub levels: Vec<ChartLevel>,
    /// The levels of the frontier of request throughput against p99 E2EL, by rising throughput.
    pub frontier: Vec<usize>,
    /// The level to run at, where there is one.
    pub operating: Option<usize>,
    /// What the hardware could do; absent where model or device are not known.
    pub light: Option<ChartSpeedOfLight>,
    /// The goals that are latencies or throughputs a chart can show as a line.
    pub goals: Vec<ChartGoal>,
}

/// A level.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ChartLevel {
    /// In words: `concurrency 64`, `4 requests/s`.
    pub load: String,
    /// The load as a short label: `64`, or `4/s` beside levels of another kind.
    pub label: String,
    /// `concurrency` or `requests_per_s`; `unknown` where another tool's file does not say.
    pub load_kind: &'static str,
    /// The load as a number; of one that is not known as many as there were requests, which says nothing.
    pub load_value: f64,
    /// How it stands to the others.
    #[serde(rename = "place")]
    pub position: ChartLevelPosition,
    /// Why it is compared with nothing, in plain words; absent where it is compared.
    pub left_out: Option<String>,
    /// The verdict: `valid`, `suspect` or `invalid`.
    pub verdict: &'static str,
    /// Whether the queue of an open loop grew to the end.
    pub saturated: bool,
    /// Its figures, by the names of the columns of [`LevelTable`](crate::LevelTable): `requests_per_s`, `output_tps`,
    /// `output_tps_per_device`, `user_tps`, `p50_ttft_ms`, `p99_e2el_ms`, ...
    pub figures: ChartFigures,
    /// The share of the bound of output throughput that was reached, 0 to 1; absent without a bound.
    pub light_share: Option<f64>,
    /// What its tapes show; absent where they were not read.
    pub detail: Option<ChartDetail>,
    /// Steps of its engines beside their bounds, some of them where they are many; empty where none was told, or there is no bound.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<ChartStep>,
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

/// The speed of light as curves over the number of requests in flight, which rises along each.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ChartSpeedOfLight {
    /// What nothing can beat.
    pub bound: ChartCurve,
    /// What the roofline model expects.
    pub expected: ChartCurve,
    /// What the calibration predicts; empty without one.
    pub calibrated: ChartCurve,
}

/// A curve of what could be.
pub type ChartCurve = Vec<ChartCurvePoint>;

/// One place on it; latencies are means.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ChartCurvePoint {
    /// Requests in flight.
    pub concurrency: u64,
    /// Time to first token.
    pub ttft_ms: f64,
    /// Time per output token.
    pub tpot_ms: f64,
    /// End-to-end latency.
    pub e2el_ms: f64,
    /// Completed requests per second.
    pub requests_per_s: f64,
    /// Output tokens per second.
    pub output_tps: f64,
    /// Output tokens per second of a device.
    pub output_tps_per_device: f64,
    /// Tokens per second of one user.
    pub user_tps: f64,
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
