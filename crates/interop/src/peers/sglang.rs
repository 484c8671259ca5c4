//! SGLang's `bench_serving` over an OpenAI route.
//!
//! Latency runs to the last line of the stream, usage and end marker included, and so does TPOT. Where the
//! server reports no usage, the length that was *asked for* passes for the one that came. Its first token is
//! the first text.

use super::PeerUnit;
use super::report::Sheet;
use super::request::PeerRequest;
use super::run::Run;
use super::vllm::{self, Reading};

const READING: Reading = Reading {
    ttft: PeerRequest::time_to_text,
    latency: PeerRequest::time_to_end,
    tokens: |request| request.reported.unwrap_or(request.requested),
    events: |request| request.text,
    steps: |run| run.steps.text(),
    gaps: |run| run.text_gaps(),
};

pub(super) fn figures(run: &Run) -> Sheet {
    let mut sheet = Sheet::default();
    let (input, output) = (run.sum(|request| request.input), run.sum(READING.tokens));
    let duration = run.issuing();
    let rate = |count: u64| count as f64 / duration;
    sheet.ours("duration", PeerUnit::Seconds, duration, "duration_s");
    sheet.ours("completed", PeerUnit::Count, run.completed(), "completed");
    sheet.ours("total_input_tokens", PeerUnit::Count, input, "input_tokens");
    sheet.ours("total_output_tokens", PeerUnit::Count, output, "output_tokens");
    let retokenized = "it encodes the text again, which a tape need not hold";
    sheet.absent("total_output_tokens_retokenized", PeerUnit::Count, retokenized);
    sheet.ours("request_throughput", PeerUnit::PerSecond, rate(run.completed()), "rps");
    sheet.put("input_throughput", PeerUnit::PerSecond, rate(input));
    sheet.ours("output_throughput", PeerUnit::PerSecond, rate(output), "output_tps");
    let total = rate(input.saturating_add(output));
    sheet.ours("total_throughput", PeerUnit::PerSecond, total, "total_tps");
    let [ttft, tpot, e2el] = READING.samples(run);
    // Unlike the others it has no zero for a run without a success: numpy then gives no number.
    if e2el.len() > 0 {
        vllm::stats(&mut sheet, "e2e_latency", &e2el, &[90, 95, 99], "e2el");
    }
    vllm::stats(&mut sheet, "ttft", &ttft, &[90, 95, 99], "ttft");
    vllm::stats(&mut sheet, "tpot", &tpot, &[90, 95, 99], "tpot");
    let itl = (READING.gaps)(run);
    vllm::stats(&mut sheet, "itl", itl, &[90, 95, 99], "icl");
    sheet.put("max_itl_ms", PeerUnit::Millis, itl.max().unwrap_or(0.0));
    let concurrency = e2el.sum() / 1e3 / duration;
    sheet.ours("concurrency", PeerUnit::Count, concurrency, "mean_in_flight");
    READING.peaks(run, &mut sheet);
    let share = "the longest time above a share of its own peak: that share is on no tape";
    sheet.absent("(steady state)", PeerUnit::PerSecond, share);
    goodput(&mut sheet, run, duration);
    sheet
}

/// Attainment is of all requests sent; a reply of one token has a TPOT of zero here.
fn goodput(sheet: &mut Sheet, run: &Run, duration: f64) {
    let good = READING.good(run) as f64;
    let sent = run.requests.len() as f64;
    let rate = vllm::goodput(run, good / duration);
    sheet.ours("request_goodput", PeerUnit::PerSecond, rate, "goodput_per_s");
    let share = vllm::goodput(run, good / sent);
    sheet.ours("slo_attainment", PeerUnit::Share, share, "good_share");
    let goals = run.goals().unwrap_or_default();
    let by_metric = [("ttft", goals.ttft), ("tpot", goals.tpot), ("e2el", goals.e2el)];
    for (i, (key, goal)) in by_metric.into_iter().enumerate() {
        if goal.is_some() {
            let meets = |request: &_| READING.meets(run, request).get(i).copied().unwrap_or(false);
            let met = run.good().filter(|request| meets(request)).count() as f64;
            let name = format!("slo_attainment_by_metric.{key}");
            sheet.put(name, PeerUnit::Share, met / sent);
        }
    }
}
