//! inference-perf.
//!
//! All tokens of an event get its instant, so a gap within an event is zero and the gaps between events are whole. A
//! reply has a TTFT and a TPOT only with two tokens or more. The time runs over all requests, failed ones included;
//! goodput is a share of those that succeeded. Percentiles are numpy's.

use super::report::Sheet;
use super::request::PeerRequest;
use super::run::{self, Run};
use super::sample::{Column, Sample, Values};
use super::{PeerStatistic, PeerUnit};

fn ttft(request: &PeerRequest) -> Option<f64> {
    request.after_sending(request.tokened.first?)
}

fn tpot(request: &PeerRequest) -> Option<f64> {
    run::per_later_token(run::secs(request.tokened.span()?), request.counted)
}

/// Latency over all tokens; zero without any.
fn normalized(request: &PeerRequest) -> Option<f64> {
    let tokens = request.counted;
    Some(if tokens > 0 { request.time_to_end()? / tokens as f64 } else { 0.0 })
}

pub(super) fn figures(run: &Run) -> Sheet {
    let mut sheet = Sheet::default();
    let seconds = |figure: fn(&PeerRequest) -> Option<f64>| -> Sample {
        run.good().filter_map(figure).collect()
    };
    let gaps = run.steps.token_gaps();
    sheet.ours("successes.count", PeerUnit::Count, run.completed(), "completed");
    sheet.ours("failures.count", PeerUnit::Count, run.failed(), "failed");
    latency(
        &mut sheet,
        "request_latency",
        &linear(&seconds(PeerRequest::time_to_end), Some("e2el")),
    );
    latency(&mut sheet, "normalized_time_per_output_token", &linear(&seconds(normalized), None));
    latency(&mut sheet, "time_per_output_token", &linear(&seconds(tpot), Some("tpot")));
    latency(&mut sheet, "time_to_first_token", &linear(&seconds(ttft), Some("ttft")));
    latency(&mut sheet, "inter_token_latency", &linear(&gaps, None));
    let duration = run::span(run.requests.iter(), |request| request.sent, |request| request.end);
    let (input, output) = (run.sum(|request| request.input), run.sum(|request| request.counted));
    // It gives zero where no time passed.
    let rate = |count: u64| if duration > 0.0 { count as f64 / duration } else { 0.0 };
    sheet.duration(duration);
    sheet.tokens(output);
    let mut throughput = |key: &str, value: f64, ours: &'static str| {
        let name = format!("successes.throughput.{key}");
        sheet.ours(name, PeerUnit::PerSecond, value, ours);
    };
    throughput("output_tokens_per_sec", rate(output), "output_tps");
    throughput("requests_per_sec", rate(run.completed()), "rps");
    let total = input.saturating_add(output);
    let per_second = PeerUnit::PerSecond;
    sheet.put("successes.throughput.input_tokens_per_sec", per_second, rate(input));
    sheet.ours("successes.throughput.total_tokens_per_sec", per_second, rate(total), "total_tps");
    goodput(&mut sheet, run);
    sheet
}

/// Over the time of the successful requests alone. A request without a figure that has a goal is not good.
fn goodput(sheet: &mut Sheet, run: &Run) {
    if let Err(reason) = run.goals() {
        return sheet.absent("goodput_percentage", PeerUnit::Percent, reason);
    }
    let is_good = |request: &&PeerRequest| {
        run.met([ttft(request), tpot(request), request.time_to_end()]) == [true; 3]
    };
    let good = run.good().filter(is_good).count() as f64;
    let duration = run::span(run.good(), |request| request.sent, |request| request.end);
    let share = good / run.completed() as f64 * 100.0;
    sheet.put("goodput_percentage", PeerUnit::Percent, share);
    sheet.ours("request_goodput", PeerUnit::PerSecond, good / duration, "goodput_per_s");
}

fn linear<'a>(sample: impl Into<Values<'a>>, ours: Option<&'static str>) -> Column<'a> {
    Column::linear(sample, PeerUnit::Seconds, ours)
}

fn latency(sheet: &mut Sheet, key: &str, column: &Column<'_>) {
    let mut put = |statistic, word: &str| {
        sheet.of(column, statistic, format!("successes.latency.{key}.{word}"));
    };
    put(PeerStatistic::Mean, "mean");
    put(PeerStatistic::Min, "min");
    put(PeerStatistic::Percentile(50), "median");
    for percent in [90, 95, 99] {
        put(PeerStatistic::Percentile(percent), &format!("p{percent}"));
    }
    put(PeerStatistic::Max, "max");
}
