//! MLPerf's LoadGen, in the server scenario.
//!
//! Latencies count from the instant that was drawn for the query, so that they are our scheduled ones. LoadGen knows no failed
//! query, so nothing is told of a run with one. The first token's instant is the system's own word to it; here it is that of
//! the client. A percentile is the value at index floor(n p). Rates run from the start of the schedule to the end of the query
//! that was issued last; that of queries leaves one out. A reply of one token is an error to it.
//!
//! Source: `loadgen.cc`, `logging.cc` and `results.cc` (mlcommons/inference). Divisions of whole nanoseconds are not cut here.

use fizeau_core::Stamp;

use super::report::Sheet;
use super::request::PeerRequest;
use super::run::{self, Run};
use super::sample::{Column, Sample};
use super::{PeerStatistic, PeerUnit};
use fizeau_metrics::PercentileRule;

const PERCENTILES: [u8; 5] = [50, 90, 95, 97, 99];

/// From the instant that was drawn for a query.
fn after_schedule(request: &PeerRequest, at: Stamp) -> Option<f64> {
    at.since(request.intended).map(run::secs)
}

fn to_end(request: &PeerRequest) -> Option<f64> {
    after_schedule(request, request.end)
}

fn to_first_token(request: &PeerRequest) -> Option<f64> {
    after_schedule(request, request.first_token?)
}

pub(super) fn figures(run: &Run) -> Sheet {
    let mut sheet = Sheet::default();
    let (samples, tokens) = ("Completed samples per second", "Completed tokens per second");
    if run.failed() > 0 {
        let reason = "it has no failed queries, and some failed here";
        sheet.absent(samples, PeerUnit::PerSecond, reason);
        sheet.absent(tokens, PeerUnit::PerSecond, reason);
        return sheet;
    }
    let duration = duration(run);
    sheet.duration(duration);
    sheet.tokens(run.sum(|request| request.counted));
    let but_one = run.completed().saturating_sub(1) as f64;
    sheet.ours(samples, PeerUnit::PerSecond, duration.map(|time| but_one / time), "rps");
    let nanos = |figure: &dyn Fn(&PeerRequest) -> Option<f64>| -> Sample {
        run.good().filter_map(figure).map(|seconds| seconds * 1e9).collect()
    };
    latency(&mut sheet, ["latency", "latency"], &nanos(&to_end), "e2el_scheduled");
    let first = ["First Token latency", "first token latency"];
    latency(&mut sheet, first, &nanos(&to_first_token), "ttft_scheduled");
    if run.good().any(|request| request.counted < 2) {
        let reason = "a reply of fewer than two tokens is an error to it";
        sheet.absent("Mean Time to Output Token (ns)", PeerUnit::Nanos, reason);
        sheet.absent(tokens, PeerUnit::PerSecond, reason);
        return sheet;
    }
    let tpot = |request: &PeerRequest| {
        let decoding = request.end.since(request.first_token?)?;
        run::per_later_token(run::secs(decoding), request.counted)
    };
    let each = ["Time to Output Token", "time to output token"];
    latency(&mut sheet, each, &nanos(&tpot), "tpot");
    let output = run.sum(|request| request.counted) as f64;
    sheet.ours(tokens, PeerUnit::PerSecond, duration.map(|time| output / time), "output_tps");
    sheet
}

/// From the first instant of the schedule to the end of the query that was issued last; none of no queries.
fn duration(run: &Run) -> Option<f64> {
    let first = run.good().map(|request| request.intended).min()?;
    let last_sent = run.good().max_by_key(|request| request.sent)?;
    Some(run::secs(last_sent.end.since(first)?))
}

/// `[in the lines of extremes and mean, in those of percentiles]`
fn latency(sheet: &mut Sheet, [title, word]: [&str; 2], sample: &Sample, ours: &'static str) {
    let column = Column::linear(sample, PeerUnit::Nanos, Some(ours));
    let column = Column { rule: PercentileRule::FloorIndex, ..column };
    let mut put = |statistic, name| sheet.of(&column, statistic, name);
    put(PeerStatistic::Min, format!("Min {title} (ns)"));
    put(PeerStatistic::Max, format!("Max {title} (ns)"));
    put(PeerStatistic::Mean, format!("Mean {title} (ns)"));
    for percent in PERCENTILES {
        let name = format!("{percent}.00 percentile {word} (ns)");
        put(PeerStatistic::Percentile(percent), name);
    }
}
