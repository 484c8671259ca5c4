//! GenAI-Perf, which AIPerf followed.
//!
//! It rounds the inter-token latency of each request to whole nanoseconds, merges events that came in one read
//! into one response, and stops at an error event. A reply that ended early without one is a reply like any other
//! to it, so nothing is told of a run with a failed request that had output. Percentiles are numpy's,
//! deviations divide by n. The request rate counts all requests in its file, those without a response too.

use fizeau_core::{Channel, Stamp, Tape};

use super::PeerUnit;
use super::aiperf::statistics;
use super::report::Sheet;
use super::run::{self, Run};
use super::sample::{Column, Sample};

/// One instant a read: events that came together are one response. Events of an unknown read (0) have their stamps.
fn responses(tape: &Tape) -> impl Iterator<Item = Stamp> {
    let mut before = None;
    let text = tape.arrivals.iter().filter(|event| event.channel != Channel::Silent);
    let reads = text.map(|event| (event.read, event.at));
    reads.filter(move |read| before.replace(*read) != Some(*read)).map(|(_, at)| at)
}

/// The last of them: of those that came together the last has no other instant.
fn last_response(tape: &Tape) -> Option<Stamp> {
    let mut last = tape.arrivals.iter().rev();
    last.find(|event| event.channel != Channel::Silent).map(|event| event.at)
}

fn ttft(tape: &Tape) -> Option<f64> {
    run::after_sending(tape, responses(tape).next()?)
}

fn latency(tape: &Tape) -> Option<f64> {
    run::after_sending(tape, last_response(tape)?)
}

/// Needs two responses and two tokens.
fn itl(tape: &Tape) -> Option<f64> {
    let mut responses = responses(tape);
    let first = responses.next()?;
    responses.next()?;
    let decoding = last_response(tape)?.since(first)?;
    let each = run::per_later_token(decoding.as_nanos() as f64, run::counted(tape))?;
    Some(each.round_ties_even() / 1e9)
}

pub(super) fn figures(run: &Run<'_>) -> Sheet {
    let mut sheet = Sheet::default();
    let duration = run::span(run.good(), run::sent, run::last_output);
    let per_second = PeerUnit::PerSecond;
    if run.tapes.iter().any(|tape| !tape.is_success() && !tape.arrivals.is_empty()) {
        let reason = "it stops at a broken reply or takes it for a whole one";
        sheet.absent("request_throughput.avg", per_second, reason);
        return sheet;
    }
    if run.failed() == 0 {
        let rate = run.completed() as f64 / duration;
        sheet.ours("request_throughput.avg", per_second, rate, "rps");
    } else {
        let reason =
            "whether it counts a failed request depends on what its replay file holds of it";
        sheet.absent("request_throughput.avg", per_second, reason);
    }
    sheet.duration(duration);
    sheet.tokens(run.sum(run::counted));
    let output = run.sum(run::counted) as f64 / duration;
    sheet.ours("output_token_throughput.avg", per_second, output, "output_tps");
    let reason = "how it pairs figures that not every reply has is not known";
    sheet.absent("request_goodput.avg", per_second, reason);
    let millis = |figure: fn(&Tape) -> Option<f64>| -> Sample {
        run.good().filter_map(figure).map(|seconds| seconds * 1e3).collect()
    };
    let second = |tape: &Tape| run::gaps(responses(tape)).next();
    statistics(&mut sheet, "time_to_first_token", &Column::millis(&millis(ttft), Some("ttft")));
    statistics(&mut sheet, "time_to_second_token", &Column::millis(&millis(second), None));
    statistics(&mut sheet, "request_latency", &Column::millis(&millis(latency), Some("e2el")));
    statistics(&mut sheet, "inter_token_latency", &Column::millis(&millis(itl), Some("tpot")));
    let speed: Sample = run.good().filter_map(|tape| Some(1.0 / itl(tape)?)).collect();
    let speed = Column::linear(&speed, per_second, None);
    statistics(&mut sheet, "output_token_throughput_per_user", &speed);
    sheet
}
