//! GenAI-Perf, which AIPerf followed.
//!
//! It rounds the inter-token latency of each request to whole nanoseconds, merges events that came in one read
//! into one response, and stops at an error event. A reply that ended early without one is a reply like any other
//! to it, so nothing is told of a run with a failed request that had output. Percentiles are numpy's,
//! deviations divide by n. The request rate counts all requests in its file, those without a response too.

use fizeau_core::{Arrival, Stamp};

use super::PeerUnit;
use super::aiperf::statistics;
use super::report::Sheet;
use super::request::PeerRequest;
use super::run::{self, Run};
use super::sample::{Column, Sample};

/// Whether `event` begins a response: events that came in one read are one, those of an unknown read (0) by their stamps.
pub(super) fn is_next_response(last: &mut Option<(u32, Stamp)>, event: &Arrival) -> bool {
    let read = (event.read, event.at);
    last.replace(read) != Some(read)
}

fn ttft(request: &PeerRequest) -> Option<f64> {
    request.after_sending(request.responses.first?)
}

fn latency(request: &PeerRequest) -> Option<f64> {
    request.after_sending(request.responses.last?)
}

/// Needs two responses and two tokens.
fn itl(request: &PeerRequest) -> Option<f64> {
    let decoding = request.responses.span().filter(|_| request.responses.count > 1)?;
    let each = run::per_later_token(decoding.as_nanos() as f64, request.counted)?;
    Some(each.round_ties_even() / 1e9)
}

pub(super) fn figures(run: &Run) -> Sheet {
    let mut sheet = Sheet::default();
    let duration = run::span(run.good(), |request| request.sent, PeerRequest::last_output);
    let per_second = PeerUnit::PerSecond;
    if run.requests.iter().any(|request| !request.is_success && request.events.count > 0) {
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
    sheet.tokens(run.sum(|request| request.counted));
    let output = run.sum(|request| request.counted) as f64 / duration;
    sheet.ours("output_token_throughput.avg", per_second, output, "output_tps");
    let reason = "how it pairs figures that not every reply has is not known";
    sheet.absent("request_goodput.avg", per_second, reason);
    let millis = |figure: fn(&PeerRequest) -> Option<f64>| -> Sample {
        run.good().filter_map(figure).map(|seconds| seconds * 1e3).collect()
    };
    let second = |request: &PeerRequest| request.responses.first_gap();
    statistics(&mut sheet, "time_to_first_token", &Column::millis(&millis(ttft), Some("ttft")));
    statistics(&mut sheet, "time_to_second_token", &Column::millis(&millis(second), None));
    statistics(&mut sheet, "request_latency", &Column::millis(&millis(latency), Some("e2el")));
    statistics(&mut sheet, "inter_token_latency", &Column::millis(&millis(itl), Some("tpot")));
    let speed: Sample = run.good().filter_map(|request| Some(1.0 / itl(request)?)).collect();
    let speed = Column::linear(&speed, per_second, None);
    statistics(&mut sheet, "output_token_throughput_per_user", &speed);
    sheet
}
