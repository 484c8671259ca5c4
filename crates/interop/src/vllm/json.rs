//! The result file, key by key in vLLM's order.

use fizeau_core::PerSec;
use serde_json::Value;

use super::object::Object;
use super::{VllmRequestRate, VllmResult, VllmRun, figures::rate};

/// How much of each request goes into the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum VllmDetail {
    /// Totals alone, for whoever writes no file.
    Totals,
    /// Totals, latencies and queue times, as vLLM writes by default.
    #[default]
    Brief,
    /// With lengths, times to first token, gaps, start times, texts and errors of each request
    /// (`--save-detailed`).
    Full,
}

/// The lists of a full file, in its order.
const REQUESTS: [&str; 9] = [
    "input_lens",
    "output_lens",
    "ttfts",
    "itls",
    "latencies",
    "start_times",
    "queue_times",
    "generated_texts",
    "errors",
];

impl VllmRequestRate {
    /// As files have it: `"inf"` where it was not limited.
    pub(crate) fn field(self) -> Value {
        match self {
            Self::Limited(rate) => rate.get().into(),
            Self::Unlimited | Self::Ramp { .. } => "inf".into(),
        }
    }
}

impl VllmRun {
    /// What was asked, of so many requests, in the keys that both of vLLM's clients begin with; `own` are those that one of them has
    /// besides.
    pub(crate) fn requested(&self, requests: u64, own: &[&'static str]) -> Object {
        let mut object = Object::default();
        object.set("date", self.date.as_str());
        object.set("endpoint_type", self.backend.as_str());
        object.set("backend", self.backend.as_str());
        object.set("label", self.label.clone());
        object.set("model_id", self.model_id.as_str());
        object.set("tokenizer_id", self.tokenizer_id.clone());
        object.set("num_prompts", requests);
        own.iter().for_each(|key| object.set(*key, Value::Null));
        for (key, value) in &self.metadata {
            object.set(key.clone(), value.as_str());
        }
        object.set("request_rate", self.request_rate.field());
        // JSON has no infinity; Python reads the word, as it does the rate's.
        let is_even = self.burstiness.is_infinite();
        object.set("burstiness", if is_even { "inf".into() } else { Value::from(self.burstiness) });
        object.set("max_concurrency", self.max_concurrency);
        if let VllmRequestRate::Ramp { strategy, start, end } = self.request_rate {
            object.set("ramp_up_strategy", strategy.as_str());
            object.set("ramp_up_start_rps", start.get());
            object.set("ramp_up_end_rps", end.get());
        }
        object
    }
}

impl VllmResult {
    /// The content of the result file: one object, on one line, with as much of each request as the result was made for.
    #[must_use]
    pub fn to_json(&self) -> String {
        self.fields().to_line()
    }

    /// The same, field by field.
    pub(crate) fn fields(&self) -> Object {
        let mut object = self.run.requested(self.num_prompts(), &[]);
        self.totals(&mut object);
        match self.detail {
            // These two stay in vLLM's file whether or not details were asked for.
            VllmDetail::Totals => {}
            VllmDetail::Brief => self.requests.put(&mut object, &["latencies", "queue_times"]),
            VllmDetail::Full => self.requests.put(&mut object, &REQUESTS),
        }
        object.set("max_output_tokens_per_s", self.peak_tokens.get());
        object.set("max_concurrent_requests", self.peak_concurrency);
        // The real-time factor of audio input, which is not sent here.
        object.set("rtfx", 0.0);
        self.probes(&mut object);
        self.stats(&mut object);
        object
    }

    fn totals(&self, object: &mut Object) {
        let per_s = |count: u64| rate(count as f64, self.duration).get();
        let (input, output) = (self.input_tokens.get(), self.output_tokens.get());
        object.set("duration", self.duration.get());
        object.set("completed", self.completed);
        object.set("failed", self.failed);
        object.set("total_input_tokens", input);
        object.set("total_output_tokens", output);
        object.set("request_throughput", per_s(self.completed));
        object.set("request_goodput", self.goodput.map(PerSec::get));
        object.set("output_throughput", per_s(output));
        object.set("total_token_throughput", per_s(input.saturating_add(output)));
    }

    /// What vLLM's `--probe-request-rate` adds; only where there was a probe.
    fn probes(&self, object: &mut Object) {
        let Some(probes) = &self.probes else { return };
        object.set("probe_completed", probes.completed);
        object.set("probe_failed", probes.failed);
        object.set("probe_median_e2el_ms", probes.median);
        object.set("probe_p99_e2el_ms", probes.p99);
        object.set("probe_max_e2el_ms", probes.max);
    }

    fn stats(&self, object: &mut Object) {
        for (metric, stats) in &self.stats {
            let key = metric.key();
            object.set(format!("mean_{key}_ms"), stats.mean);
            object.set(format!("median_{key}_ms"), stats.median);
            object.set(format!("std_{key}_ms"), stats.std);
            for (percentile, value) in &stats.percentiles {
                let key = format!("p{}_{key}_ms", percentile.get());
                object.set(key, *value);
            }
        }
    }
}
