//! The charts of a trade-off: throughput against a latency, and what a user sees against what a device gives.

use fizeau_metrics::{Metric, Statistic};
use fizeau_pareto::Objective::{Maximize, Minimize};

use super::sheet::Sheet;
use super::speed_of_light::AxisReach;
use super::tradeoff::Tradeoff;
use crate::charts::description::ChartDescription;
use crate::{ChartCurvePoint, ChartRun};

/// Requests per second against the tail of a latency: right and down is better.
pub(super) fn frontier(runs: &[ChartRun], latency: Metric) -> Result<Sheet, String> {
    let of_light: fn(&ChartCurvePoint) -> (f64, f64) = match latency {
        Metric::Ttft => |at| (at.requests_per_s, at.ttft_ms),
        Metric::Tpot => |at| (at.requests_per_s, at.tpot_ms),
        _ => |at| (at.requests_per_s, at.e2el_ms),
    };
    let entry = latency.entry();
    let [chart, ..] = ChartDescription::all();
    let tradeoff = Tradeoff {
        title: format!("{} against throughput", entry.name[0]),
        across: "requests_per_s".to_owned(),
        up: latency.column(Statistic::P99).unwrap_or_default(),
        across_title: chart.across(),
        up_title: format!("p99 {}", entry.label),
        directions: [Maximize, Minimize],
        of_light,
        reach: [AxisReach { down: 0.0, up: 3.0 }, AxisReach { down: 0.0, up: 1.2 }],
        light_note: "Down and to the right is better. Speed-of-light curves show mean latencies",
    };
    tradeoff.sheet(runs)
}

/// Tokens per second of a user against those of a device: right and up is better.
pub(super) fn interactivity(runs: &[ChartRun]) -> Result<Sheet, String> {
    let per_device = "output_tps_per_device";
    let mut levels = runs.iter().flat_map(|run| &run.levels);
    let is_known = levels.any(|level| level.figures.get(per_device).is_some());
    let of_light: fn(&ChartCurvePoint) -> (f64, f64) = match is_known {
        true => |at| (at.user_tps, at.output_tps_per_device),
        false => |at| (at.user_tps, at.output_tps),
    };
    let [_, chart, ..] = ChartDescription::all();
    let up = if is_known { per_device } else { "output_tps" };
    let tradeoff = Tradeoff {
        title: chart.title.to_owned(),
        across: "user_tps".to_owned(),
        up: up.to_owned(),
        across_title: chart.across(),
        up_title: chart.up(up),
        directions: [Maximize, Maximize],
        of_light,
        // Each device gives most where its users are slowest, and goes on doing so however slow they are.
        reach: [AxisReach { down: 0.5, up: 3.0 }, AxisReach { down: 0.0, up: 3.0 }],
        light_note: "Up and to the right is better. Speed-of-light curves show mean latencies",
    };
    tradeoff.sheet(runs)
}
