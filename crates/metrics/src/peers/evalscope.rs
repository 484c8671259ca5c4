//! EvalScope's `perf`.
//!
//! Percentiles are by nearest rank and rounded to four decimals. A snapshot of August 2026 (fde259d) took the
//! value at index floor(n p), a rank too high where n p is whole, and rounded to two: those are the rows marked
//! `(fde259d)`. A reply of one token has no TPOT. Rates are over the time from the first sending to the last
//! end of any request.

use fizeau_core::Tape;

use super::report::Sheet;
use super::run::{self, Run};
use super::sample::Sample;
use super::{PeerFigure, PeerUnit};

fn tpot(tape: &Tape) -> Option<f64> {
    let decoding = run::to_last(tape)? - run::ttft(tape)?;
    run::per_later_token(decoding, run::reported_or_counted(tape))
}

pub(super) fn figures(run: &Run<'_>) -> Vec<PeerFigure> {
    let mut sheet = Sheet::default();
    let duration = run::span(run.tapes.iter().copied(), run::sent, run::end);
    let (input, output) = (run.sum(run::input), run.sum(run::reported_or_counted));
    let (count, per_second) = (PeerUnit::Count, PeerUnit::PerSecond);
    sheet.put("Test Duration (s)", PeerUnit::Seconds, duration);
    sheet.put("Total Requests", count, run.tapes.len() as u64);
    sheet.ours("Success Requests", count, run.completed(), "completed");
    sheet.ours("Failed Requests", count, run.failed(), "failed");
    match run.settings.max_concurrency {
        Some(cap) => sheet.put("Concurrency", count, u64::from(cap)),
        None => sheet.absent("Concurrency", count, "it is what was configured, not measured"),
    }
    let rate = |count: u64| count as f64 / duration;
    sheet.ours("Req Throughput (req/s)", per_second, rate(run.completed()), "rps");
    sheet.ours("Output Throughput (tok/s)", per_second, rate(output), "output_tps");
    let total = input.saturating_add(output);
    sheet.put("Total Throughput (tok/s)", per_second, rate(total));
    let values = |figure: &dyn Fn(&Tape) -> Option<f64>, scale: f64| -> Sample {
        run.good().filter_map(figure).map(|seconds| seconds * scale).collect()
    };
    let gaps = run.good().flat_map(|tape| run::gaps(run::events(tape)));
    let gaps: Sample = gaps.map(|seconds| seconds * 1e3).collect();
    let ms = PeerUnit::Millis;
    column(&mut sheet, "TTFT (ms)", ms, &values(&run::ttft, 1e3), "ttft");
    column(&mut sheet, "TPOT (ms)", ms, &values(&tpot, 1e3), "tpot");
    column(&mut sheet, "ITL (ms)", ms, &gaps, "icl");
    column(&mut sheet, "Latency (s)", PeerUnit::Seconds, &values(&run::to_last, 1.0), "e2el");
    sheet.0
}

/// `Avg TTFT (ms)`, then `TTFT (ms) 99%` by either rule.
fn column(sheet: &mut Sheet, name: &str, unit: PeerUnit, sample: &Sample, ours: &'static str) {
    sheet.ours(format!("Avg {name}"), unit, sample.mean(), ours);
    for percent in [1, 5, 10, 25, 50, 75, 90, 95, 99] {
        let row = format!("{name} {percent}%");
        let now = sample.nearest_rank(percent).map(|value| rounded(value, 1e4));
        let then = sample.floor_index(percent).map(|value| rounded(value, 1e2));
        sheet.ours(row.clone(), unit, now, ours);
        sheet.ours(format!("{row} (fde259d)"), unit, then, ours);
    }
}

fn rounded(value: f64, parts: f64) -> f64 {
    (value * parts).round_ties_even() / parts
}
