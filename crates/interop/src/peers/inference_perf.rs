//! inference-perf.
//!
//! All tokens of an event get its instant, so a gap within an event is zero and the gaps between events are whole. A
//! reply has a TTFT and a TPOT only with two tokens or more. The time runs over all requests, failed ones included;
//! goodput is a share of those that succeeded. Percentiles are numpy's.

use fizeau_core::{Stamp, Tape};

use super::report::Sheet;
use super::run::{self, Run};
use super::sample::{Column, Repeated, Sample, Values};
use super::{PeerStatistic, PeerUnit};

/// The instants at which tokens came and how many at each, if there are two tokens at least. An event may claim any number, so
/// that there is no room for an instant of each.
fn token_times(tape: &Tape) -> impl DoubleEndedIterator<Item = (Stamp, u64)> {
    let times = tape.arrivals.iter().map(|event| (event.at, u64::from(event.tokens)));
    let count = times.clone().fold(0, |sum: u64, (_, tokens)| sum.saturating_add(tokens));
    times.filter(move |(_, tokens)| count > 1 && *tokens > 0)
}

fn ttft(tape: &Tape) -> Option<f64> {
    run::after_sending(tape, token_times(tape).next()?.0)
}

fn tpot(tape: &Tape) -> Option<f64> {
    let (first, last) = (token_times(tape).next()?.0, token_times(tape).next_back()?.0);
    run::per_later_token(run::secs(last.since(first)?), run::counted(tape))
}

/// The gaps between tokens, and how often each is there: those within an event are zero.
fn gaps(tape: &Tape) -> impl Iterator<Item = (f64, u64)> {
    let mut before = None;
    token_times(tape).flat_map(move |(at, tokens)| {
        let between = before.replace(at).map(|before| (run::secs(at.saturating_since(before)), 1));
        [Some((0.0, tokens - 1)), between].into_iter().flatten()
    })
}

/// Latency over all tokens; zero without any.
fn normalized(tape: &Tape) -> Option<f64> {
    let tokens = run::counted(tape);
    Some(if tokens > 0 { run::to_end(tape)? / tokens as f64 } else { 0.0 })
}

pub(super) fn figures(run: &Run<'_>) -> Sheet {
    let mut sheet = Sheet::default();
    let seconds =
        |figure: fn(&Tape) -> Option<f64>| -> Sample { run.good().filter_map(figure).collect() };
    let gaps: Repeated = run.good().flat_map(gaps).collect();
    sheet.ours("successes.count", PeerUnit::Count, run.completed(), "completed");
    sheet.ours("failures.count", PeerUnit::Count, run.failed(), "failed");
    latency(&mut sheet, "request_latency", &linear(&seconds(run::to_end), Some("e2el")));
    latency(&mut sheet, "normalized_time_per_output_token", &linear(&seconds(normalized), None));
    latency(&mut sheet, "time_per_output_token", &linear(&seconds(tpot), Some("tpot")));
    latency(&mut sheet, "time_to_first_token", &linear(&seconds(ttft), Some("ttft")));
    let none = Sample::default();
    let gaps = Column { sample: Values::Repeated(&gaps), ..linear(&none, None) };
    latency(&mut sheet, "inter_token_latency", &gaps);
    let duration = run::span(run.tapes.iter().copied(), run::sent, run::end);
    let (input, output) = (run.sum(run::input), run.sum(run::counted));
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
fn goodput(sheet: &mut Sheet, run: &Run<'_>) {
    if let Err(reason) = run.goals() {
        return sheet.absent("goodput_percentage", PeerUnit::Percent, reason);
    }
    let is_good = |tape: &&Tape| run.met([ttft(tape), tpot(tape), run::to_end(tape)]) == [true; 3];
    let good = run.good().filter(is_good).count() as f64;
    let duration = run::span(run.good(), run::sent, run::end);
    let share = good / run.completed() as f64 * 100.0;
    sheet.put("goodput_percentage", PeerUnit::Percent, share);
    sheet.ours("request_goodput", PeerUnit::PerSecond, good / duration, "goodput_per_s");
}

const fn linear<'a>(sample: &'a Sample, ours: Option<&'static str>) -> Column<'a> {
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
