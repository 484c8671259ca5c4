//! Hugging Face's inference-benchmarker.
//!
//! The run begins with the request that *ends* first, however late that one was sent. Percentiles are linear.

use fizeau_core::Stamp;

use super::report::Sheet;
use super::request::PeerRequest;
use super::run::{self, Run};
use super::sample::{Column, Sample};
use super::{PeerStatistic, PeerUnit};

pub(super) fn figures(run: &Run) -> Sheet {
    let mut sheet = Sheet::default();
    let duration = duration(run);
    let output = run.sum(|request| request.counted);
    let (count, per_second) = (PeerUnit::Count, PeerUnit::PerSecond);
    sheet.ours("total_requests", count, run.requests.len() as u64, "sent");
    sheet.ours("successful_requests", count, run.completed(), "completed");
    sheet.ours("failed_requests", count, run.failed(), "failed");
    sheet.ours("total_tokens", count, output, "output_tokens");
    sheet.put("duration_ms", PeerUnit::Millis, duration * 1e3);
    sheet.ours("request_rate", per_second, run.completed() as f64 / duration, "rps");
    sheet.ours("token_throughput_secs", per_second, output as f64 / duration, "output_tps");
    let millis = |figure: fn(&PeerRequest) -> Option<f64>| -> Sample {
        run.good().filter_map(figure).map(|seconds| seconds * 1e3).collect()
    };
    latency(&mut sheet, "time_to_first_token_ms", &millis(PeerRequest::ttft), "ttft");
    latency(&mut sheet, "e2e_latency_ms", &millis(PeerRequest::time_to_end), "e2el");
    // What it makes of a reply of one event or one token is not known.
    if run.good().all(|request| request.events.count > 1 && request.counted > 1) {
        latency(&mut sheet, "inter_token_latency_ms", &millis(itl), "tpot");
    } else {
        let reason = "how it treats a reply of one event or one token is not known";
        sheet.absent("inter_token_latency_ms.avg", PeerUnit::Millis, reason);
    }
    sheet
}

/// The gaps after the first event over all tokens but one.
fn itl(request: &PeerRequest) -> Option<f64> {
    run::per_later_token(request.gaps, request.counted)
}

/// From the sending of the request that ended first to the last end.
fn duration(run: &Run) -> f64 {
    let first = run.requests.iter().min_by_key(|request| request.end);
    let last: Option<Stamp> = run.requests.iter().map(|request| request.end).max();
    let span = first.zip(last).and_then(|(first, last)| last.since(first.sent));
    span.map_or(0.0, run::secs)
}

fn latency(sheet: &mut Sheet, key: &str, sample: &Sample, ours: &'static str) {
    let column = Column::millis(sample, Some(ours));
    for percent in [50, 60, 70, 80, 90, 95, 99] {
        sheet.of(&column, PeerStatistic::Percentile(percent), format!("{key}.p{percent}"));
    }
    sheet.of(&column, PeerStatistic::Mean, format!("{key}.avg"));
}
