//! From arguments to when the requests of a trace leave.

use fizeau::workload::TracePacing;

use crate::args::{ArrivalArgs, ReplayArgs};
use crate::exit::{Fail, refuse_given};

/// When the requests of a trace leave. What paces other data sets does not pace a trace.
pub(crate) fn pacing(
    args: &ArrivalArgs,
    replay: &ReplayArgs,
    is_capped: bool,
) -> Result<TracePacing, Fail> {
    let is_unlimited = args.request_rate == Some(f64::INFINITY);
    refuse_if!(
        args.request_rate.is_some() && !is_unlimited,
        "--request-rate: a trace has its own times: --trace-speedup X replays them faster, --ignore-trace-times or \
         --request-rate inf without them"
    );
    refuse_if!(
        is_unlimited && replay.trace_speedup.is_some(),
        "--trace-speedup: --request-rate inf sends all at once, whatever the times of the trace"
    );
    let other = [
        (args.ramp_up_strategy.is_some(), "--ramp-up-strategy"),
        (args.request_rate_series.is_some(), "--request-rate-series"),
        (args.burst.is_some(), "--burst"),
        (args.diurnal.is_some(), "--diurnal"),
    ];
    refuse_given(&other, |flag| format!("{flag}: a trace has its own times"))?;
    match replay.ignore_trace_times {
        _ if is_unlimited => Ok(TracePacing::ClosedLoop),
        false => Ok(TracePacing::TimeStamps { speed_up: speed_up(replay.trace_speedup)? }),
        true if is_capped => Ok(TracePacing::ClosedLoop),
        true => Err(usage!(
            "--ignore-trace-times: say how many requests are in flight at a time: --max-concurrency N, or --request-rate inf"
        )),
    }
}

fn speed_up(factor: Option<f64>) -> Result<f64, Fail> {
    match factor.unwrap_or(1.0) {
        factor if (1e-6..=1e9).contains(&factor) => Ok(factor),
        factor => {
            bail!("--trace-speedup {factor}: give a factor from 1e-6 to 1e9; 2 is twice as fast")
        }
    }
}
