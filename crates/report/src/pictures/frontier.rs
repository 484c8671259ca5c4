//! The charts of a trade-off: throughput against a latency, and what a user sees against what a device gives.

use fizeau_pareto::Direction::{Maximize, Minimize};

use super::light::Reach;
use super::sheet::Sheet;
use super::tradeoff::Tradeoff;
use crate::{ChartCurvePoint, ChartRun};

/// The latency that throughput is drawn against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Latency {
    E2el,
    Ttft,
    Tpot,
}

fizeau_core::words! {
    Latency::words {
        E2el = "end-to-end latency", Ttft = "time to first token", Tpot = "time per output token",
    }
}

fizeau_core::words! {
    Latency::short {
        E2el = "p99 E2EL", Ttft = "p99 TTFT", Tpot = "p99 TPOT",
    }
}

fizeau_core::words! {
    Latency::figure {
        E2el = "p99_e2el_ms", Ttft = "p99_ttft_ms", Tpot = "p99_tpot_ms",
    }
}

/// Requests per second against the tail of a latency: right and down is better.
pub(super) fn frontier(runs: &[ChartRun], latency: Latency) -> Result<Sheet, String> {
    let of_light: fn(&ChartCurvePoint) -> (f64, f64) = match latency {
        Latency::E2el => |at| (at.requests_per_s, at.e2el_ms),
        Latency::Ttft => |at| (at.requests_per_s, at.ttft_ms),
        Latency::Tpot => |at| (at.requests_per_s, at.tpot_ms),
    };
    let tradeoff = Tradeoff {
        title: format!("Throughput against {}", latency.words()),
        across: "requests_per_s",
        up: latency.figure(),
        across_title: "Requests per second".to_owned(),
        up_title: latency.short().to_owned(),
        directions: [Maximize, Minimize],
        of_light,
        reach: [Reach { down: 0.0, up: 3.0 }, Reach { down: 0.0, up: 1.2 }],
        light_note: "Right and down is better. Curves of what could be are of mean latencies",
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
    let whose = if is_known { "a device" } else { "all devices" };
    let tradeoff = Tradeoff {
        title: format!("Tokens per second: what a user sees against what {whose} gives"),
        across: "user_tps",
        up: if is_known { per_device } else { "output_tps" },
        across_title: "Tokens per second of a user (1 / p50 TPOT)".to_owned(),
        up_title: format!("Output tokens per second of {whose}"),
        directions: [Maximize, Maximize],
        of_light,
        // Each device gives most where its users are slowest, and goes on doing so however slow they are.
        reach: [Reach { down: 0.5, up: 3.0 }, Reach { down: 0.0, up: 3.0 }],
        light_note: "Right and up is better. Curves of what could be are of mean latencies",
    };
    tradeoff.sheet(runs)
}
