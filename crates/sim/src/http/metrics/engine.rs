//! What is counted of one engine.

use fizeau_core::{Stamp, Tokens};
use fizeau_roofline::PassWork;

use super::Histogram;
use crate::http::truth::{TruthFinish, TruthRecord};
use crate::pass::EnginePass;
use crate::serve::Emission;

/// vLLM's edges, in seconds: of times to a first token,
const FIRST_TOKEN: [f64; 22] = [
    0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0,
    20.0, 40.0, 80.0, 160.0, 640.0, 2560.0,
];
/// of times between tokens,
const BETWEEN: [f64; 19] = [
    0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0, 20.0,
    40.0, 80.0,
];
/// and of whole requests and their parts.
const REQUEST: [f64; 21] = [
    0.3, 0.5, 0.8, 1.0, 1.5, 2.0, 2.5, 5.0, 10.0, 15.0, 20.0, 30.0, 40.0, 50.0, 60.0, 120.0, 240.0,
    480.0, 960.0, 1920.0, 7680.0,
];
/// Its edges of the tokens of an iteration.
const ITERATION: [u64; 13] = [1, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384];
/// How far the edges of lengths go where the engine takes any: to the longest contexts that there are.
const LONG: u64 = 1 << 20;

/// Counters and histograms of one engine.
#[derive(Debug)]
pub(super) struct EngineMetrics {
    pub(super) prompt_tokens: u64,
    /// Of these, those that were found in its cache.
    pub(super) cached_tokens: u64,
    pub(super) generation_tokens: u64,
    /// What steps asked of each device.
    pub(super) work: PassWork,
    stopped: u64,
    cut: u64,
    aborted: u64,
    failed: u64,
    iterations: Histogram,
    /// The iteration that gave tokens last: when, and of how many tokens so far.
    last_iteration: Option<(Stamp, u64)>,
    first_token: Histogram,
    /// Between the emissions of one request; with speculative decoding these have several tokens.
    between: Histogram,
    per_token: Histogram,
    whole: Histogram,
    queue: Histogram,
    inference: Histogram,
    prefill: Histogram,
    decode: Histogram,
    prompt_length: Histogram,
    generation_length: Histogram,
}

/// A histogram's name, what it is of, and where it is.
type NamedHistogram = (&'static str, &'static str, fn(&EngineMetrics) -> &Histogram);

impl EngineMetrics {
    /// All but [`EngineMetrics::iteration_tokens`].
    pub(super) const HISTOGRAMS: [NamedHistogram; 11] = [
        ("vllm:request_prompt_tokens", "Number of prefill tokens processed.", |of| {
            &of.prompt_length
        }),
        ("vllm:request_generation_tokens", "Number of generation tokens processed.", |of| {
            &of.generation_length
        }),
        (
            "vllm:time_to_first_token_seconds",
            "Histogram of time to first token in seconds.",
            |of| &of.first_token,
        ),
        (
            "vllm:inter_token_latency_seconds",
            "Histogram of inter-token latency in seconds.",
            |of| &of.between,
        ),
        // The older name of the same.
        (
            "vllm:time_per_output_token_seconds",
            "Histogram of time per output token in seconds.",
            |of| &of.between,
        ),
        (
            "vllm:request_time_per_output_token_seconds",
            "Histogram of time_per_output_token_seconds per request.",
            |of| &of.per_token,
        ),
        (
            "vllm:e2e_request_latency_seconds",
            "Histogram of e2e request latency in seconds.",
            |of| &of.whole,
        ),
        (
            "vllm:request_queue_time_seconds",
            "Histogram of time spent in WAITING phase for request.",
            |of| &of.queue,
        ),
        (
            "vllm:request_inference_time_seconds",
            "Histogram of time spent in RUNNING phase for request.",
            |of| &of.inference,
        ),
        (
            "vllm:request_prefill_time_seconds",
            "Histogram of time spent in PREFILL phase for request.",
            |of| &of.prefill,
        ),
        (
            "vllm:request_decode_time_seconds",
            "Histogram of time spent in DECODE phase for request.",
            |of| &of.decode,
        ),
    ];

    /// Of requests of up to `longest` tokens.
    pub(super) fn new(longest: Option<Tokens>) -> Self {
        let longest = longest.map_or(LONG, Tokens::get);
        let request = || Histogram::of_times(&REQUEST);
        Self {
            prompt_tokens: 0,
            cached_tokens: 0,
            generation_tokens: 0,
            work: PassWork::default(),
            stopped: 0,
            cut: 0,
            aborted: 0,
            failed: 0,
            iterations: Histogram::of_counts_at(&ITERATION),
            last_iteration: None,
            first_token: Histogram::of_times(&FIRST_TOKEN),
            between: Histogram::of_times(&BETWEEN),
            per_token: Histogram::of_times(&BETWEEN),
            whole: request(),
            queue: request(),
            inference: request(),
            prefill: request(),
            decode: request(),
            prompt_length: Histogram::of_counts(longest),
            generation_length: Histogram::of_counts(longest),
        }
    }

    /// Notes that tokens of a request leave: `record` is as it was before, and all times are the server's.
    pub(super) fn emitted(&mut self, record: &TruthRecord, emission: &Emission) {
        self.generation_tokens += emission.count;
        let mut worked_on = emission.count;
        match record.scheduled_ns.last() {
            Some(before) => self.between.add(emission.at.saturating_since(*before).as_nanos()),
            None => {
                let cached = emission.timing.cached_tokens.get().min(record.prompt_tokens);
                worked_on += record.prompt_tokens - cached;
                self.prompt_tokens += record.prompt_tokens;
                self.cached_tokens += cached;
                self.first_token.add(emission.at.saturating_since(record.arrived_ns).as_nanos());
            }
        }
        self.iterated(emission.at, worked_on);
        if emission.last {
            let first = record.scheduled_ns.first().copied().unwrap_or(emission.at);
            self.finished(record, first, emission);
        }
    }

    /// Notes tokens of the iteration that ended at `at`.
    fn iterated(&mut self, at: Stamp, tokens: u64) {
        match &mut self.last_iteration {
            Some((last, so_far)) if *last == at => *so_far += tokens,
            last => {
                let before = last.replace((at, tokens));
                before.into_iter().for_each(|(_, tokens)| self.iterations.add(tokens));
            }
        }
    }

    /// The tokens of each iteration that gave any, as vLLM counts them: those that it generated, and prompts with their first token
    /// whole, but for what a cache had.
    pub(super) fn iteration_tokens(&self) -> Histogram {
        let mut all = self.iterations.clone();
        self.last_iteration.into_iter().for_each(|(_, tokens)| all.add(tokens));
        all
    }

    fn finished(&mut self, record: &TruthRecord, first: Stamp, last: &Emission) {
        let admitted = last.timing.admitted;
        let nanos = |from: Stamp, to: Stamp| to.saturating_since(from).as_nanos();
        let tokens = last.index + last.count;
        match record.finish_reason {
            Some(TruthFinish::Stop) => self.stopped += 1,
            Some(TruthFinish::Length) => self.cut += 1,
            // No success, and so nothing that the histograms are of.
            Some(TruthFinish::Error) => return self.failed += 1,
            Some(TruthFinish::Abort) | None => return self.aborted += 1,
        }
        self.whole.add(nanos(record.arrived_ns, last.at));
        self.queue.add(nanos(record.arrived_ns, admitted));
        self.inference.add(nanos(admitted, last.at));
        self.prefill.add(nanos(admitted, first));
        self.decode.add(nanos(first, last.at));
        if let Some(mean) = nanos(first, last.at).checked_div(tokens.saturating_sub(1)) {
            self.per_token.add(mean);
        }
        self.prompt_length.add(record.prompt_tokens);
        self.generation_length.add(tokens);
    }

    /// Requests that ended, by why they did.
    pub(super) fn ends(&self) -> [(&'static str, u64); 4] {
        [
            ("stop", self.stopped),
            ("length", self.cut),
            ("abort", self.aborted),
            ("error", self.failed),
        ]
    }

    /// Notes what a step asked of each device.
    pub(super) fn worked(&mut self, pass: &EnginePass) {
        self.work.flops = self.work.flops + pass.work.flops;
        self.work.bytes = self.work.bytes + pass.work.bytes;
        self.work.written = self.work.written + pass.work.written;
    }

    /// Notes that a request was given up by its client.
    pub(super) const fn aborted(&mut self) {
        self.aborted += 1;
    }
}
