//! EvalScope's `perf`.
//!
//! Percentiles are by nearest rank and rounded to four decimals, means in milliseconds to two. A snapshot of August 2026
//! (fde259d) took the value at index floor(n p), a rank too high where n p is whole, and rounded to two: those are the rows
//! marked `(fde259d)`. A reply of one token has no TPOT; one of zero, all tokens in one event, is in the mean of TPOT and not
//! in its percentiles. Rates are over the time from the first sending to the last end of any request.
//!
//! Source: `perf/utils/benchmark_util.py` and `perf/utils/db_util.py` of EvalScope 1.14.1.

use super::report::Sheet;
use super::request::PeerRequest;
use super::run::{self, Run};
use super::sample::{Column, Sample};
use super::{PeerStatistic, PeerUnit};
use fizeau_metrics::PercentileRule;

fn tpot(request: &PeerRequest) -> Option<f64> {
    let decoding = request.time_to_last()? - request.ttft()?;
    run::per_later_token(decoding, request.reported_or_counted())
}

pub(super) fn figures(run: &Run) -> Sheet {
    let mut sheet = Sheet::default();
    let duration = run::span(run.requests.iter(), |request| request.sent, |request| request.end);
    let (input, output) =
        (run.sum(|request| request.input), run.sum(PeerRequest::reported_or_counted));
    let (count, per_second) = (PeerUnit::Count, PeerUnit::PerSecond);
    sheet.ours("Test Duration (s)", PeerUnit::Seconds, rounded(duration, 1e4), "duration_s");
    sheet.ours("Total Requests", count, run.requests.len() as u64, "sent");
    sheet.ours("Success Requests", count, run.completed(), "completed");
    sheet.ours("Failed Requests", count, run.failed(), "failed");
    match run.settings.max_concurrency {
        Some(cap) => sheet.put("Concurrency", count, u64::from(cap)),
        None => sheet.absent("Concurrency", count, "it is what was configured, not measured"),
    }
    sheet.tokens(output);
    let rate = |count: u64| rounded(count as f64 / duration, 1e4);
    sheet.ours("Req Throughput (req/s)", per_second, rate(run.completed()), "rps");
    sheet.ours("Output Throughput (tok/s)", per_second, rate(output), "output_tps");
    let total = input.saturating_add(output);
    sheet.ours("Total Throughput (tok/s)", per_second, rate(total), "total_tps");
    let values = |figure: &dyn Fn(&PeerRequest) -> Option<f64>, scale: f64| -> Sample {
        run.good().filter_map(figure).map(|seconds| seconds * scale).collect()
    };
    let (ttfts, tpots) = (values(&PeerRequest::ttft, 1e3), values(&tpot, 1e3));
    // All tokens in one event: the zero is in the mean, and in no percentile.
    let paced = values(&|request| tpot(request).filter(|&pace| pace > 0.0), 1e3);
    let latencies = values(&PeerRequest::time_to_last, 1.0);
    let seconds = Column::linear(&latencies, PeerUnit::Seconds, Some("e2el"));
    // Without a success there is no mean; of no gaps it is 0.
    let nothing = (run.completed() > 0).then_some(0.0);
    let mut mean = |name: &str, column: &Column<'_>, parts: f64| {
        let read = |value: Option<f64>| value.or(nothing).map(|value| rounded(value, parts));
        sheet.of_as(column, PeerStatistic::Mean, format!("Avg {name}"), read);
    };
    let (ttft, icl) =
        (Column::millis(&ttfts, Some("ttft")), Column::millis(run.event_gaps(), Some("icl")));
    mean("TTFT (ms)", &ttft, 1e2);
    mean("TPOT (ms)", &Column::millis(&tpots, Some("tpot")), 1e2);
    mean("ITL (ms)", &icl, 1e2);
    mean("Latency (s)", &seconds, 1e4);
    percentiles(&mut sheet, "TTFT (ms)", &ttft);
    percentiles(&mut sheet, "TPOT (ms)", &Column::millis(&paced, Some("tpot")));
    percentiles(&mut sheet, "ITL (ms)", &icl);
    percentiles(&mut sheet, "Latency (s)", &seconds);
    sheet
}

/// `TTFT (ms) 99%` by either rule.
fn percentiles(sheet: &mut Sheet, name: &str, column: &Column<'_>) {
    let now = Column { rule: PercentileRule::NearestRank, ..*column };
    let then = Column { rule: PercentileRule::FloorIndex, ..*column };
    for percent in [1, 5, 10, 25, 50, 75, 90, 95, 99] {
        let row = format!("{name} {percent}%");
        let percentile = PeerStatistic::Percentile(percent);
        sheet.of_as(&now, percentile, row.clone(), |value| Some(rounded(value?, 1e4)));
        let row = format!("{row} (fde259d)");
        sheet.of_as(&then, percentile, row, |value| Some(rounded(value?, 1e2)));
    }
}

fn rounded(value: f64, parts: f64) -> f64 {
    (value * parts).round_ties_even() / parts
}
