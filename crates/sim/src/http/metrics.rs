//! What `GET /metrics` says, under the names that vLLM gives it: `vllm/v1/metrics/loggers.py` and `buckets.py` at commit 139b1c3f,
//! `vllm/v1/spec_decode/metrics.py` at 016a8587.

mod engine;
mod exposition;

use std::borrow::Cow;
use std::iter;

use fizeau_core::Tokens;

pub(super) use exposition::CONTENT_TYPE;

use super::truth::TruthRecord;
use crate::pass::EnginePass;
use crate::serve::{Emission, Gauges};
use engine::EngineMetrics;
use exposition::{Exposition, Histogram};

/// Counters and histograms of each engine since the server began, in constant memory. Times are of the engines' schedule, on the
/// server's clock: what a client sees is that and how late the server was.
#[derive(Debug)]
pub(super) struct Metrics {
    /// By rank.
    engines: Vec<EngineMetrics>,
}

impl Metrics {
    /// Of so many engines, and requests of up to `longest` tokens.
    pub(super) fn new(engines: usize, longest: Option<Tokens>) -> Self {
        Self { engines: (0..engines).map(|_| EngineMetrics::new(longest)).collect() }
    }

    fn of_rank(&mut self, rank: u32) -> Option<&mut EngineMetrics> {
        self.engines.get_mut(rank as usize)
    }

    /// Notes that tokens of a request leave: `record` is as it was before, and all times are the server's.
    pub(super) fn emitted(&mut self, record: &TruthRecord, emission: &Emission) {
        let of = self.of_rank(emission.rank);
        of.into_iter().for_each(|engine| engine.emitted(record, emission));
    }

    /// Notes what a step asked of each device.
    pub(super) fn worked(&mut self, pass: &EnginePass) {
        self.of_rank(pass.rank).into_iter().for_each(|engine| engine.worked(pass));
    }

    /// Notes that a request of the engine of that rank was given up by its client.
    pub(super) fn aborted(&mut self, rank: u32) {
        self.of_rank(rank).into_iter().for_each(EngineMetrics::aborted);
    }

    /// All of it and the `gauges` of each engine, as text.
    pub(super) fn render(&self, model: &str, gauges: &[Gauges]) -> String {
        let mut out = Exposition::new(self.engines.len(), model);
        state(&mut out, gauges);
        drafting(&mut out, gauges);
        self.counters(&mut out);
        self.histograms(&mut out);
        out.into_text()
    }

    fn each(&self, of: impl Fn(&EngineMetrics) -> f64) -> impl Iterator<Item = f64> {
        self.engines.iter().map(of)
    }

    fn counters(&self, out: &mut Exposition) {
        let family = ("vllm:prompt_tokens_total", "Number of prefill tokens processed.");
        out.counter(family, self.each(|engine| engine.prompt_tokens as f64));
        let family = ("vllm:prompt_tokens_by_source_total", "Number of prompt tokens by source.");
        let sources = self.engines.iter().map(|engine| {
            let cached = engine.cached_tokens;
            let computed = engine.prompt_tokens - cached;
            [("local_compute", computed), ("local_cache_hit", cached), ("external_kv_transfer", 0)]
        });
        out.by((family, "counter"), "source", sources);
        let family = (
            "vllm:prompt_tokens_cached_total",
            "Number of cached prompt tokens (local + external).",
        );
        out.counter(family, self.each(|engine| engine.cached_tokens as f64));
        let family = ("vllm:generation_tokens_total", "Number of generation tokens processed.");
        out.counter(family, self.each(|engine| engine.generation_tokens as f64));
        // vLLM has these where it was started with --enable-mfu-metrics (`vllm/v1/metrics/perf.py`).
        out.counter(
            (
                "vllm:estimated_flops_per_gpu_total",
                "Estimated number of floating-point operations per GPU.",
            ),
            self.each(|engine| engine.work.flops.get()),
        );
        out.counter(
            (
                "vllm:estimated_read_bytes_per_gpu_total",
                "Estimated number of bytes read from memory per GPU.",
            ),
            self.each(|engine| engine.work.bytes.get() - engine.work.written.get()),
        );
        out.counter(
            (
                "vllm:estimated_write_bytes_per_gpu_total",
                "Estimated number of bytes written to memory per GPU.",
            ),
            self.each(|engine| engine.work.written.get()),
        );
        let family = ("vllm:request_success_total", "Count of successfully processed requests.");
        let ends = self.engines.iter().map(EngineMetrics::ends);
        out.by((family, "counter"), "finished_reason", ends);
    }

    fn histograms(&self, out: &mut Exposition) {
        let iterations = self.engines.iter().map(|engine| Cow::Owned(engine.iteration_tokens()));
        let family =
            ("vllm:iteration_tokens_total", "Histogram of number of tokens per engine_step.");
        out.histogram(family, iterations);
        for (name, help, of) in EngineMetrics::HISTOGRAMS {
            let each = self.engines.iter().map(|engine| Cow::Borrowed(of(engine)));
            out.histogram((name, help), each);
        }
    }
}

/// What the engines say of themselves.
fn state(out: &mut Exposition, gauges: &[Gauges]) {
    let each = |of: fn(&Gauges) -> f64| gauges.iter().map(of);
    out.gauge(
        ("vllm:num_requests_running", "Number of requests in model execution batches."),
        each(|gauges| gauges.running as f64),
    );
    out.gauge(
        ("vllm:num_requests_waiting", "Number of requests waiting to be processed."),
        each(|gauges| gauges.waiting as f64),
    );
    let family = (
        "vllm:num_requests_waiting_by_reason",
        "Number of waiting requests by reason: for capacity, or deferred by transient constraints.",
    );
    let reasons = gauges.iter().map(|&Gauges { waiting, deferred, .. }| {
        [("capacity", waiting.saturating_sub(deferred)), ("deferred", deferred)]
    });
    out.by((family, "gauge"), "reason", reasons);
    out.gauge(
        ("vllm:kv_cache_usage_perc", "KV-cache usage. 1 means 100 percent usage."),
        each(|gauges| gauges.blocks_used as f64 / gauges.blocks.max(1) as f64),
    );
    if gauges.iter().all(|gauges| gauges.blocks > 0) {
        // Of the many labels that vLLM has here those that say how large the cache is.
        let labels = gauges.iter().map(|&Gauges { blocks, cache_tokens, .. }| {
            vec![
                ("block_size", (cache_tokens / blocks.max(1)).to_string()),
                ("kv_cache_size_tokens", cache_tokens.to_string()),
                ("num_gpu_blocks", blocks.to_string()),
            ]
        });
        let family = ("vllm:cache_config_info", "Information of the LLMEngine CacheConfig");
        out.info(family, labels);
    }
    out.counter(
        (
            "vllm:prefix_cache_queries_total",
            "Prefix cache queries, in terms of number of queried tokens.",
        ),
        each(|gauges| gauges.prefix_queries as f64),
    );
    out.counter(
        ("vllm:prefix_cache_hits_total", "Prefix cache hits, in terms of number of cached tokens."),
        each(|gauges| gauges.prefix_hits as f64),
    );
    // A cache outside the engine, which there is none of.
    for (what, help) in [("queries", "queried"), ("hits", "cached")] {
        let name = format!("vllm:external_prefix_cache_{what}_total");
        let help = format!("External prefix cache {what}, in terms of number of {help} tokens.");
        out.counter((&name, &help), each(|_| 0.0));
    }
    out.counter(
        ("vllm:num_preemptions_total", "Cumulative number of preemption from the engine."),
        each(|gauges| gauges.preemptions as f64),
    );
}

/// What vLLM has only where it drafts.
fn drafting(out: &mut Exposition, gauges: &[Gauges]) {
    if gauges.iter().all(|gauges| gauges.accepted_by_position.is_empty() && gauges.drafted == 0) {
        return;
    }
    let each = |of: fn(&Gauges) -> f64| gauges.iter().map(of);
    out.counter(
        ("vllm:spec_decode_num_drafts_total", "Number of spec decoding drafts."),
        each(|gauges| gauges.drafts as f64),
    );
    out.counter(
        ("vllm:spec_decode_num_draft_tokens_total", "Number of draft tokens."),
        each(|gauges| gauges.drafted as f64),
    );
    out.counter(
        ("vllm:spec_decode_num_accepted_tokens_total", "Number of accepted tokens."),
        each(|gauges| gauges.accepted as f64),
    );
    let by_position =
        gauges.iter().map(|gauges| iter::zip(0.., gauges.accepted_by_position.iter().copied()));
    let family = (
        "vllm:spec_decode_num_accepted_tokens_per_pos_total",
        "Accepted tokens per draft position.",
    );
    out.by::<u32>((family, "counter"), "position", by_position);
}
