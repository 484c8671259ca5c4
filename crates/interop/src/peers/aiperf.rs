//! AIPerf.
//!
//! Its inter-token latency is what others call TPOT, and its inter-chunk latency what they call ITL. The
//! duration runs from the first sending to the last content, both of requests that succeeded: what failed is in
//! no figure but the error counts. Percentiles are numpy's, deviations divide by n.

use fizeau_core::{Nanos, Tape};

use super::report::Sheet;
use super::request::PeerRequest;
use super::run::{self, Run};
use super::sample::{Column, Sample};
use super::{PeerStatistic, PeerUnit, PeerValue};

const PERCENTILES: [u8; 9] = [1, 5, 10, 25, 50, 75, 90, 95, 99];

/// Needs a first event and n > 1. Of one event with several tokens it is zero.
pub(super) fn inter_token(request: &PeerRequest) -> Option<f64> {
    let decoding = request.time_to_last()? - request.time_to_text()?;
    run::per_later_token(decoding, request.counted)
}

/// What AIPerf has of one request, in milliseconds.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct AiPerfRequest {
    pub(crate) time_to_first_token: Option<f64>,
    pub(crate) request_latency: Option<f64>,
    pub(crate) inter_token_latency: Option<f64>,
    pub(crate) inter_chunk_latencies: Vec<f64>,
    pub(crate) output_tokens: u64,
}

impl AiPerfRequest {
    pub(crate) fn of(tape: &Tape) -> Self {
        let request = PeerRequest::of(tape);
        let millis = |seconds: Option<f64>| seconds.map(|seconds| seconds * 1e3);
        let gaps = run::spans(run::with_text(tape)).map(Nanos::as_millis_f64);
        Self {
            time_to_first_token: millis(request.time_to_text()),
            request_latency: millis(request.time_to_last()),
            inter_token_latency: millis(inter_token(&request)),
            inter_chunk_latencies: gaps.collect(),
            output_tokens: request.counted,
        }
    }
}

pub(super) fn figures(run: &Run) -> Sheet {
    let mut sheet = Sheet::default();
    counts(&mut sheet, run);
    let millis = |figure: &dyn Fn(&PeerRequest) -> Option<f64>| -> Sample {
        run.good().filter_map(figure).map(|seconds| seconds * 1e3).collect()
    };
    let visible = |request: &PeerRequest| request.after_sending(request.first_visible?);
    let second = |request: &PeerRequest| request.text.first_gap();
    let ms = PeerUnit::Millis;
    record(
        &mut sheet,
        "time_to_first_token",
        &Column::millis(&millis(&PeerRequest::time_to_text), Some("ttft")),
    );
    record(
        &mut sheet,
        "time_to_first_output_token",
        &Column::millis(&millis(&visible), Some("first_visible")),
    );
    record(&mut sheet, "time_to_second_token", &Column::millis(&millis(&second), None));
    record(
        &mut sheet,
        "request_latency",
        &Column::millis(&millis(&PeerRequest::time_to_last), Some("e2el")),
    );
    record(&mut sheet, "inter_token_latency", &Column::millis(&millis(&inter_token), Some("tpot")));
    record(&mut sheet, "inter_chunk_latency", &Column::millis(run.text_gaps(), Some("icl")));
    per_user(&mut sheet, run);
    let sweep = "how it weighs the edges of the run is not known";
    sheet.absent("effective_concurrency.avg", PeerUnit::Count, sweep);
    let nearest = "which of two equally near ranks it takes is not known";
    sheet.absent("adj_request_latency.p99", ms, nearest);
    sheet
}

fn counts(sheet: &mut Sheet, run: &Run) {
    let duration = run::span(run.good(), |request| request.sent, PeerRequest::last_output);
    let (input, output) = (run.sum(|request| request.input), run.sum(|request| request.counted));
    let (completed, failed) = (run.completed(), run.failed());
    let rate = |count: u64| count as f64 / duration;
    let (count, per_second) = (PeerUnit::Count, PeerUnit::PerSecond);
    sheet.ours("request_count.avg", count, completed, "completed");
    sheet.ours("error_request_count.avg", count, failed, "failed");
    let all = (completed + failed) as f64;
    sheet.put("request_error_rate.avg", PeerUnit::Percent, failed as f64 / all * 100.0);
    sheet.ours("benchmark_duration.avg", PeerUnit::Seconds, duration, "duration_s");
    sheet.ours("request_throughput.avg", per_second, rate(completed), "rps");
    sheet.ours("total_isl.avg", count, input, "input_tokens");
    sheet.ours("total_osl.avg", count, output, "output_tokens");
    sheet.ours("output_token_throughput.avg", per_second, rate(output), "output_tps");
    let total = rate(input.saturating_add(output));
    sheet.ours("total_token_throughput.avg", per_second, total, "total_tps");
    let good = run.good().filter(|request| is_good(run, request)).count() as f64;
    let needs_goals =
        |value: f64| run.goals().map_or_else(PeerValue::Absent, |_| PeerValue::from(value));
    sheet.put("good_request_count.avg", count, needs_goals(good));
    sheet.ours("goodput.avg", per_second, needs_goals(good / duration), "goodput_per_s");
    let share = needs_goals(good / all);
    sheet.ours("good_request_fraction.avg", PeerUnit::Share, share, "good_share");
}

/// A request without a figure that has a goal is not good.
fn is_good(run: &Run, request: &PeerRequest) -> bool {
    run.met([request.time_to_text(), inter_token(request), request.time_to_last()]) == [true; 3]
}

/// Rates of single requests: of decoding alone, of the whole, and of the prompt.
fn per_user(sheet: &mut Sheet, run: &Run) {
    let rates = |figure: &dyn Fn(&PeerRequest) -> Option<f64>| -> Sample {
        run.good().filter_map(figure).collect()
    };
    let decode = rates(&|request| Some(1.0 / inter_token(request)?));
    let whole = rates(&|request| Some(request.counted as f64 / request.time_to_last()?));
    let prefill = rates(&|request| Some(request.input as f64 / request.time_to_text()?));
    let unit = PeerUnit::PerSecond;
    record(sheet, "output_token_throughput_per_user", &Column::linear(&decode, unit, None));
    record(sheet, "e2e_output_token_throughput", &Column::linear(&whole, unit, None));
    record(sheet, "prefill_throughput_per_user", &Column::linear(&prefill, unit, None));
}

fn record(sheet: &mut Sheet, tag: &str, column: &Column<'_>) {
    statistics(sheet, tag, column);
    sheet.of(column, PeerStatistic::Count, format!("{tag}.count"));
}

/// The statistics of a record, GenAI-Perf's too: `time_to_first_token.p99`.
pub(super) fn statistics(sheet: &mut Sheet, tag: &str, column: &Column<'_>) {
    let mut put = |statistic, word: &str| sheet.of(column, statistic, format!("{tag}.{word}"));
    put(PeerStatistic::Mean, "avg");
    for percent in PERCENTILES {
        put(PeerStatistic::Percentile(percent), &format!("p{percent}"));
    }
    put(PeerStatistic::Min, "min");
    put(PeerStatistic::Max, "max");
    put(PeerStatistic::Std, "std");
}
