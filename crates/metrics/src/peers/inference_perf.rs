//! inference-perf.
//!
//! All tokens of an event get its instant, so a gap within an event is zero and the gaps between events are whole. A
//! reply has a TTFT and a TPOT only with two tokens or more. The time runs over all requests, failed ones included;
//! goodput is a share of those that succeeded. Percentiles are numpy's.

use fizeau_core::{Stamp, Tape};

use super::report::Sheet;
use super::run::{self, Run};
use super::sample::{Column, Sample};
use super::{PeerFigure, PeerStatistic, PeerUnit};

/// The instant of each token, if there are two at least.
fn token_times(tape: &Tape) -> Vec<Stamp> {
    let each = tape.arrivals.iter();
    let times = each.flat_map(|event| std::iter::repeat_n(event.at, event.tokens as usize));
    let times: Vec<Stamp> = times.collect();
    if times.len() > 1 { times } else { Vec::new() }
}

fn ttft(tape: &Tape) -> Option<f64> {
    run::after_sending(tape, *token_times(tape).first()?)
}

fn tpot(tape: &Tape) -> Option<f64> {
    let times = token_times(tape);
    let decoding = times.last()?.since(*times.first()?)?;
    run::per_later_token(run::secs(decoding), run::counted(tape))
}

/// Latency over all tokens; zero without any.
fn normalized(tape: &Tape) -> Option<f64> {
    let tokens = run::counted(tape);
    Some(if tokens > 0 { run::to_end(tape)? / tokens as f64 } else { 0.0 })
}

pub(super) fn figures(run: &Run<'_>) -> Vec<PeerFigure> {
    let mut sheet = Sheet::default();
    let seconds =
        |figure: fn(&Tape) -> Option<f64>| -> Sample { run.good().filter_map(figure).collect() };
    let gaps = run.good().flat_map(|tape| run::gaps(token_times(tape).into_iter())).collect();
    sheet.ours("successes.count", PeerUnit::Count, run.completed(), "completed");
    sheet.ours("failures.count", PeerUnit::Count, run.failed(), "failed");
    latency(&mut sheet, "request_latency", &seconds(run::to_end), Some("e2el"));
    latency(&mut sheet, "normalized_time_per_output_token", &seconds(normalized), None);
    latency(&mut sheet, "time_per_output_token", &seconds(tpot), Some("tpot"));
    latency(&mut sheet, "time_to_first_token", &seconds(ttft), Some("ttft"));
    latency(&mut sheet, "inter_token_latency", &gaps, None);
    let duration = run::span(run.tapes.iter().copied(), run::sent, run::end);
    let (input, output) = (run.sum(run::input), run.sum(run::counted));
    // It gives zero where no time passed.
    let rate = |count: u64| if duration > 0.0 { count as f64 / duration } else { 0.0 };
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
    sheet.0
}

/// Over the time of the successful requests alone. A request without a figure that has a goal is not good.
fn goodput(sheet: &mut Sheet, run: &Run<'_>) {
    let goals = match run.goals() {
        Ok(goals) => goals,
        Err(reason) => return sheet.absent("goodput_percentage", PeerUnit::Percent, reason),
    };
    let is_good = |tape: &&Tape| {
        let met =
            [(goals.ttft, ttft(tape)), (goals.tpot, tpot(tape)), (goals.e2el, run::to_end(tape))];
        met.into_iter().all(|(goal, seconds)| {
            goal.is_none_or(|goal| seconds.is_some_and(|seconds| seconds * 1e3 <= goal.get()))
        })
    };
    let good = run.good().filter(is_good).count() as f64;
    let duration = run::span(run.good(), run::sent, run::end);
    let share = good / run.completed() as f64 * 100.0;
    sheet.put("goodput_percentage", PeerUnit::Percent, share);
    sheet.ours("request_goodput", PeerUnit::PerSecond, good / duration, "goodput_per_s");
}

fn latency(sheet: &mut Sheet, key: &str, sample: &Sample, ours: Option<&'static str>) {
    let column = Column::linear(sample, PeerUnit::Seconds, ours);
    let mut put = |statistic, word: &str| {
        sheet.of(&column, statistic, format!("successes.latency.{key}.{word}"));
    };
    put(PeerStatistic::Mean, "mean");
    put(PeerStatistic::Min, "min");
    put(PeerStatistic::Percentile(50), "median");
    for percent in [90, 95, 99] {
        put(PeerStatistic::Percentile(percent), &format!("p{percent}"));
    }
    put(PeerStatistic::Max, "max");
}
