//! `vllm bench serve`, written in Python, and what its descendants share with it.
//!
//! Means are over requests (of gaps: over the gaps of all requests), deviations divide by n, percentiles are
//! numpy's, an empty sample counts as zero. The peaks are by one-second buckets from the first sending on.

use fizeau_core::Stamp;

use super::buckets::{RequestSpan, peaks};
use super::gaps::{GapSample, StepColumn};
use super::report::Sheet;
use super::request::{InstantEnds, PeerRequest};
use super::run::{self, Run};
use super::sample::{Column, Sample, Values};
use super::{PeerStatistic, PeerUnit, PeerValue};

/// What vLLM's clients and SGLang's take differently from a reply.
#[derive(Clone, Copy)]
pub(super) struct Reading {
    pub(super) ttft: fn(&PeerRequest) -> Option<f64>,
    pub(super) latency: fn(&PeerRequest) -> Option<f64>,
    pub(super) tokens: fn(&PeerRequest) -> u64,
    pub(super) events: fn(&PeerRequest) -> InstantEnds,
    /// Their steps.
    pub(super) steps: for<'r> fn(&'r Run) -> &'r StepColumn,
    /// The gaps between those of each reply, in milliseconds.
    pub(super) gaps: for<'r> fn(&'r Run) -> &'r GapSample,
}

impl Reading {
    /// Time after the first token over all tokens but one; none of a single token.
    pub(super) fn tpot(&self, request: &PeerRequest) -> Option<f64> {
        let after_first = (self.latency)(request)? - (self.ttft)(request)?;
        run::per_later_token(after_first, (self.tokens)(request))
    }

    /// Whether a successful request met the goal of each metric: TTFT, TPOT (zero of a single token), latency. True
    /// where there is no goal.
    pub(super) fn meets(&self, run: &Run, request: &PeerRequest) -> [bool; 3] {
        let pace = Some(self.tpot(request).unwrap_or(0.0));
        run.met([(self.ttft)(request), pace, (self.latency)(request)])
    }

    pub(super) fn good(&self, run: &Run) -> u64 {
        run.good().filter(|request| self.meets(run, request) == [true; 3]).count() as u64
    }

    pub(super) fn flights(&self, run: &Run) -> Vec<RequestSpan> {
        let flight = |request: &PeerRequest| {
            let lasted = (self.latency)(request).unwrap_or(0.0);
            let lasted = fizeau_core::Nanos::from_secs_f64(lasted).unwrap_or_default();
            RequestSpan { sent: request.sent, over: request.sent + lasted }
        };
        run.good().map(flight).collect()
    }

    /// When all events came, one reply after the other.
    pub(super) fn instants<'r>(&self, run: &'r Run) -> impl Iterator<Item = Stamp> + use<'r> {
        (self.steps)(run).instants(run.good().map(self.events))
    }

    /// Three samples, in milliseconds: TTFT, TPOT, latency.
    pub(super) fn samples(&self, run: &Run) -> [Sample; 3] {
        let each = |figure: &dyn Fn(&PeerRequest) -> Option<f64>| -> Sample {
            run.good().filter_map(figure).map(|seconds| seconds * 1e3).collect()
        };
        [each(&self.ttft), each(&|request| self.tpot(request)), each(&self.latency)]
    }

    /// The two peaks by one-second buckets.
    pub(super) fn peaks(&self, run: &Run, sheet: &mut Sheet) {
        let peaks = peaks(&self.flights(run), self.instants(run));
        let (tokens, requests) = (peaks.tokens, peaks.requests);
        let name = "max_output_tokens_per_s";
        sheet.ours(name, PeerUnit::PerSecond, tokens, "peak_output_tps");
        let name = "max_concurrent_requests";
        sheet.ours(name, PeerUnit::Count, requests, "peak_in_flight");
    }
}

/// Mean, median, deviation and percentiles of a sample in milliseconds; zeros of an empty one.
pub(super) fn stats<'a>(
    sheet: &mut Sheet,
    key: &str,
    sample: impl Into<Values<'a>>,
    percentiles: &[u8],
    ours: &'static str,
) {
    let column = Column::millis(sample, Some(ours));
    let mut put = |statistic, word: &str| {
        let name = format!("{word}_{key}_ms");
        sheet.of_as(&column, statistic, name, |value| Some(value.unwrap_or(0.0)));
    };
    put(PeerStatistic::Mean, "mean");
    put(PeerStatistic::Percentile(50), "median");
    put(PeerStatistic::Std, "std");
    for percent in percentiles {
        put(PeerStatistic::Percentile(*percent), &format!("p{percent}"));
    }
}

/// A rate that needs goals.
pub(super) fn goodput(run: &Run, value: f64) -> PeerValue {
    run.goals().map_or_else(PeerValue::Absent, |_| value.into())
}

pub(super) const READING: Reading = Reading {
    ttft: PeerRequest::ttft,
    latency: PeerRequest::time_to_last,
    tokens: PeerRequest::reported_or_counted,
    events: |request| request.events,
    steps: |run| run.steps.events(),
    gaps: |run| run.event_gaps(),
};

/// TTFT counts from the sending, which a cap on requests in flight delays; the wait for it is `client_queue_time`.
/// `e2el_including_client_queue` is the sum of both; its file has it only under a cap and a finite rate, and tapes tell of no rate, so
/// that it is here wherever there is a cap.
pub(super) fn figures(run: &Run) -> Sheet {
    let mut sheet = Sheet::default();
    totals(&mut sheet, run, &READING);
    READING.peaks(run, &mut sheet);
    let [ttft, tpot, e2el] = READING.samples(run);
    stats(&mut sheet, "ttft", &ttft, &[90, 95, 99], "ttft");
    stats(&mut sheet, "tpot", &tpot, &[90, 95, 99], "tpot");
    stats(&mut sheet, "itl", (READING.gaps)(run), &[90, 95, 99], "icl");
    stats(&mut sheet, "e2el", &e2el, &[90, 95, 99], "e2el");
    if run.settings.max_concurrency.is_some() {
        let queued: Sample = run.good().map(|request| request.queued().as_millis_f64()).collect();
        stats(&mut sheet, "client_queue_time", &queued, &[90, 95, 99], "release_lateness");
        let from_due = run.good().filter_map(|request| {
            Some(request.queued().as_millis_f64() + (READING.latency)(request)? * 1e3)
        });
        let name = "e2el_including_client_queue";
        stats(&mut sheet, name, &from_due.collect::<Sample>(), &[90, 95, 99], "e2el_scheduled");
    }
    sheet
}

/// Counts and rates. Failed requests are in no numerator; their time stays in the duration.
pub(super) fn totals(sheet: &mut Sheet, run: &Run, reading: &Reading) {
    let (input, output) = (run.sum(|request| request.input), run.sum(reading.tokens));
    let duration = run.issuing();
    let rate = |count: u64| count as f64 / duration;
    sheet.ours("duration", PeerUnit::Seconds, duration, "duration_s");
    sheet.ours("completed", PeerUnit::Count, run.completed(), "completed");
    sheet.ours("failed", PeerUnit::Count, run.failed(), "failed");
    sheet.ours("total_input_tokens", PeerUnit::Count, input, "input_tokens");
    sheet.ours("total_output_tokens", PeerUnit::Count, output, "output_tokens");
    sheet.ours("request_throughput", PeerUnit::PerSecond, rate(run.completed()), "rps");
    let good = goodput(run, rate(reading.good(run)));
    sheet.ours("request_goodput", PeerUnit::PerSecond, good, "goodput_per_s");
    sheet.ours("output_throughput", PeerUnit::PerSecond, rate(output), "output_tps");
    let total = rate(input.saturating_add(output));
    sheet.ours("total_token_throughput", PeerUnit::PerSecond, total, "total_tps");
}
