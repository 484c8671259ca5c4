//! What `GET /metrics` says, under the names that vLLM gives it (`vllm/v1/metrics/loggers.py`).

mod exposition;

use fizeau_core::{Stamp, Tokens};
use fizeau_roofline::PassWork;

pub(super) use exposition::CONTENT_TYPE;

use super::truth::{TruthFinish, TruthRecord};
use crate::pass::EnginePass;
use crate::serve::{Emission, Gauges};
use exposition::{Exposition, Histogram};

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
/// How far the edges of lengths go where the engine takes any: to the longest contexts that there are.
const LONG: u64 = 1 << 20;

/// Counters and histograms since the server began, in constant memory. Times are of the engine's schedule, on the server's
/// clock: what a client sees is that and how late the server was.
#[derive(Debug)]
pub(super) struct Metrics {
    prompt_tokens: u64,
    generation_tokens: u64,
    /// What steps asked of each device.
    work: PassWork,
    stopped: u64,
    cut: u64,
    aborted: u64,
    failed: u64,
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

impl Metrics {
    /// Of requests of up to `longest` tokens.
    pub(super) fn new(longest: Option<Tokens>) -> Self {
        let longest = longest.map_or(LONG, Tokens::get);
        let request = || Histogram::of_times(&REQUEST);
        Self {
            prompt_tokens: 0,
            generation_tokens: 0,
            work: PassWork::default(),
            stopped: 0,
            cut: 0,
            aborted: 0,
            failed: 0,
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
        match record.scheduled_ns.last() {
            Some(before) => self.between.add(emission.at.saturating_since(*before).as_nanos()),
            None => {
                self.prompt_tokens += record.prompt_tokens;
                self.first_token.add(emission.at.saturating_since(record.arrived_ns).as_nanos());
            }
        }
        if emission.last {
            let first = record.scheduled_ns.first().copied().unwrap_or(emission.at);
            self.finished(record, first, emission);
        }
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

    /// All of it and the engine's `gauges`, as text.
    pub(super) fn render(&self, model: &str, gauges: &Gauges) -> String {
        let mut out = Exposition::new(&[("engine", "0"), ("model_name", model)]);
        state(&mut out, gauges);
        self.counters(&mut out);
        self.latencies(&mut out);
        out.into_text()
    }

    fn counters(&self, out: &mut Exposition) {
        let Self { prompt_tokens, generation_tokens, .. } = *self;
        let prompt = "Number of prefill tokens processed.";
        let generation = "Number of generation tokens processed.";
        out.counter("vllm:prompt_tokens_total", prompt, prompt_tokens);
        out.counter("vllm:generation_tokens_total", generation, generation_tokens);
        // vLLM has these where it was started with --enable-mfu-metrics (`vllm/v1/metrics/perf.py`).
        let read = self.work.bytes.get() - self.work.written.get();
        for (what, help, count) in [
            ("flops", "floating-point operations per GPU", self.work.flops.get()),
            ("read_bytes", "bytes read from memory per GPU", read),
            ("write_bytes", "bytes written to memory per GPU", self.work.written.get()),
        ] {
            let name = format!("vllm:estimated_{what}_per_gpu_total");
            out.counter_of(&name, &format!("Estimated number of {help}."), count);
        }
        out.counters(
            "vllm:request_success_total",
            "Count of successfully processed requests.",
            "finished_reason",
            &[
                ("stop", self.stopped),
                ("length", self.cut),
                ("abort", self.aborted),
                ("error", self.failed),
            ],
        );
        out.histogram("vllm:request_prompt_tokens", prompt, &self.prompt_length);
        out.histogram("vllm:request_generation_tokens", generation, &self.generation_length);
    }

    fn latencies(&self, out: &mut Exposition) {
        let all = [
            ("time_to_first_token", "time to first token in seconds", &self.first_token),
            ("inter_token_latency", "inter-token latency in seconds", &self.between),
            // The older name of the same.
            ("time_per_output_token", "time per output token in seconds", &self.between),
            (
                "request_time_per_output_token",
                "time_per_output_token_seconds per request",
                &self.per_token,
            ),
            ("e2e_request_latency", "e2e request latency in seconds", &self.whole),
            ("request_queue_time", "time spent in WAITING phase for request", &self.queue),
            ("request_inference_time", "time spent in RUNNING phase for request", &self.inference),
            ("request_prefill_time", "time spent in PREFILL phase for request", &self.prefill),
            ("request_decode_time", "time spent in DECODE phase for request", &self.decode),
        ];
        for (name, help, histogram) in all {
            let (name, help) = (format!("vllm:{name}_seconds"), format!("Histogram of {help}."));
            out.histogram(&name, &help, histogram);
        }
    }
}

/// What the engine says of itself.
fn state(out: &mut Exposition, gauges: &Gauges) {
    let Gauges { running, waiting, blocks, blocks_used, .. } = *gauges;
    let running_help = "Number of requests in model execution batches.";
    out.gauge("vllm:num_requests_running", running_help, running as f64);
    let waiting_help = "Number of requests waiting to be processed.";
    out.gauge("vllm:num_requests_waiting", waiting_help, waiting as f64);
    let usage = if blocks == 0 { 0.0 } else { blocks_used as f64 / blocks as f64 };
    let usage_help = "KV-cache usage. 1 means 100 percent usage.";
    out.gauge("vllm:kv_cache_usage_perc", usage_help, usage);
    let queries_help = "Prefix cache queries, in terms of number of queried tokens.";
    out.counter("vllm:prefix_cache_queries_total", queries_help, gauges.prefix_queries);
    let hits_help = "Prefix cache hits, in terms of number of cached tokens.";
    out.counter("vllm:prefix_cache_hits_total", hits_help, gauges.prefix_hits);
    let preemptions_help = "Cumulative number of preemption from the engine.";
    out.counter("vllm:num_preemptions_total", preemptions_help, gauges.preemptions);
    // vLLM has these only where it drafts.
    if gauges.drafted > 0 {
        let drafted_help = "Number of draft tokens.";
        out.counter("vllm:spec_decode_num_draft_tokens_total", drafted_help, gauges.drafted);
        let accepted_help = "Number of accepted tokens.";
        out.counter("vllm:spec_decode_num_accepted_tokens_total", accepted_help, gauges.accepted);
    }
}
