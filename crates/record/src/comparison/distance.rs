//! How far the frontier of a sweep was pushed.

use fizeau_core::{Estimate, document};
use fizeau_metrics::{Metric, Statistic, Verdict};
use fizeau_pareto::{
    Axis, FrontierComparison, FrontierComparisonSpec, FrontierGains, NoComparison, UncertainPoints,
    compare_frontiers,
};
use serde::{Deserialize, Serialize};

use crate::{LevelStatus, SummaryDocument};

/// Where the draws for intervals begin: the same two sweeps always give the same ends.
const SEED: u64 = 1849;

/// A level of a sweep as a point that may lie on its frontier.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FrontierPoint {
    /// Completed requests per second.
    pub requests_per_s: Estimate<f64>,
    /// The 99th percentile of end-to-end latency in milliseconds, or the greatest where it is withheld.
    pub p99_e2el_ms: Estimate<f64>,
}

/// How far the candidate's frontier of requests per second against p99 end-to-end latency is beyond the baseline's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct FrontierDistance {
    /// The change of requests per second at equal latency.
    pub requests_per_s: FrontierChange,
    /// The change of latency at equal requests per second.
    pub p99_e2el_ms: FrontierChange,
}

document! {
    /// How a figure changed where the other of both frontiers is equal, in the mean over what both cover.
    #[non_exhaustive]
    pub struct FrontierChange {
        /// The relative change: 0.2 is 20 % more.
        pub change: Option<f64>,
        /// Its 95 % interval, an end of which is null where it is open; null where some level lacks an interval.
        pub change_ci: Option<[Option<f64>; 2]>,
        /// Why there is no change.
        pub change_reason?: String,
        /// The least and the greatest equal figure, in the other figure's unit.
        pub over: Option<[f64; 2]>,
    }
}

impl FrontierPoint {
    /// The place of a level by its `summary.json`; none of what is partial, invalid, or lacks a figure.
    pub(crate) fn of_summary(summary: &SummaryDocument) -> Option<Self> {
        let is_partial = summary.status() != LevelStatus::Finished;
        if is_partial || summary.validity.verdict == Verdict::Invalid {
            return None;
        }
        let estimate = |metric: Metric, statistic| {
            let value = metric.measured(statistic, &summary.summary)?;
            Some(Estimate::widened(value, metric.interval(statistic, &summary.summary)))
        };
        // The greatest stands in for a percentile that is withheld.
        let tail = estimate(Metric::E2el, Statistic::P99);
        let tail = tail.or_else(|| estimate(Metric::E2el, Statistic::Max))?;
        let requests_per_s = estimate(Metric::RequestsPerSec, Statistic::Value)?;
        Some(Self { requests_per_s, p99_e2el_ms: tail })
    }
}

impl FrontierDistance {
    /// The distance between two sweeps; none where one has fewer than two levels, which is no frontier.
    #[must_use]
    pub fn between(baseline: &[FrontierPoint], candidate: &[FrontierPoint]) -> Option<Self> {
        if baseline.len().min(candidate.len()) < 2 {
            return None;
        }
        let figures = |point: &FrontierPoint| [point.requests_per_s, point.p99_e2el_ms];
        let mut all = baseline.iter().chain(candidate).flat_map(figures);
        let has_intervals = all.all(|figure| figure.interval().is_some());
        let (a, b) = (points(baseline)?, points(candidate)?);
        let FrontierComparison { at_equal_first, at_equal_second, .. } =
            compare_frontiers(&a, &b, &FrontierComparisonSpec::new(SEED)).ok()?;
        let of = |gains: &FrontierGains, sign: f64| FrontierChange::of(gains, sign, has_intervals);
        // A gain in latency is a fall.
        Some(Self {
            requests_per_s: of(&at_equal_second, 1.0),
            p99_e2el_ms: of(&at_equal_first, -1.0),
        })
    }
}

impl FrontierChange {
    fn of(gains: &FrontierGains, sign: f64, has_intervals: bool) -> Self {
        let ends = |low: f64, high: f64| {
            let [low, high] = if sign < 0.0 { [-high, -low] } else { [low, high] };
            [low, high].map(|end| Some(end).filter(|end| end.is_finite()))
        };
        let missing = |why: &NoComparison| Self {
            change: None,
            change_ci: None,
            change_reason: Some(why.to_string()),
            over: gains.range,
        };
        match &gains.mean {
            Err(why) => missing(why),
            Ok(mean) => Self {
                // Adding 0 makes -0 of no change 0 again.
                change: Some(mean.value() * sign + 0.0),
                change_ci: has_intervals.then(|| ends(mean.low(), mean.high())),
                change_reason: None,
                over: gains.range,
            },
        }
    }
}

fn points(levels: &[FrontierPoint]) -> Option<UncertainPoints> {
    let axes = vec![Axis::maximize("requests_per_s"), Axis::minimize("p99_e2el_ms")];
    let mut points = UncertainPoints::new(axes).ok()?;
    for level in levels {
        points.push(&[drawn(&level.requests_per_s)?, drawn(&level.p99_e2el_ms)?]).ok()?;
    }
    Some(points)
}

/// As the crate that depends on nothing has it: exact where there is no interval.
fn drawn(figure: &Estimate<f64>) -> Option<fizeau_pareto::FigureEstimate> {
    fizeau_pareto::FigureEstimate::new(figure.value(), figure.low(), figure.high()).ok()
}
