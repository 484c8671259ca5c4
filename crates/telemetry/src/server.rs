//! What a server said over a window, in typed figures.

mod copies;
mod host;
mod named;
mod timeline;
mod together;
mod view;

use std::collections::BTreeMap;

use fizeau_core::{Nanos, Tokens, document};
use serde::Deserialize;
use serde::de::Error as _;

use crate::figure::Reported;
use crate::samples::History;
use crate::vocabulary::{Exporter, MetricMeaning};
use crate::window::{CounterOver, GaugeOver, HistogramOver, Window};
use view::View;

pub use named::NamedFigure;
pub use timeline::{ServerTimeline, TimelinePoint};

/// A counter's growth and its metric.
pub type ReportedCounter = Reported<CounterOver>;
/// A gauge and its metric.
pub type ReportedGauge = Reported<GaugeOver>;
/// A histogram and its metric.
pub type ReportedHistogram = Reported<HistogramOver>;

document! {
    /// What a server's own metrics come to over a window. What it does not say is absent. Several engines of one server, such as
    /// data-parallel ranks, are one: requests and tokens added, shares of the KV cache weighted by its capacity.
    #[derive(Default)]
    #[non_exhaustive]
    pub struct ServerWindow,
    /// What the pages of one server say of `window`. A gauge's value stands for at most `hold` on either side of its page: twice
    /// the interval of scraping is a good choice.
    #[must_use]
    pub fn of(history: &History, window: Window, hold: Nanos) {
        let view = View::new(history, window, hold);
    } {
        /// Whose metrics those are.
        pub exporter?: Exporter = view.exporter(),
        /// Engines that tell themselves apart.
        pub engines: u32 = view.engines(),
        /// Pages whose values are of the window.
        pub pages: u32 = view.pages(),
        /// Pages that did not come in the window.
        pub missing_pages: u32 = u32::try_from(view.missing().count()).unwrap_or(u32::MAX),
        /// Why the last of them did not.
        pub missing_why?: String = view.missing().next_back().map(|failure| failure.why.to_string()),
        /// Requests in the running batch.
        pub running?: ReportedGauge = view.running(),
        /// Requests that wait.
        pub waiting?: ReportedGauge = view.gauge(MetricMeaning::Waiting),
        /// Likewise by reason.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        pub waiting_by_reason: BTreeMap<String, ReportedGauge> = view.gauges_by(MetricMeaning::WaitingByReason, "reason"),
        /// The share of the KV cache in use, 0 to 1.
        pub kv_use?: ReportedGauge = view.kv_use(),
        /// How much the KV cache holds, all engines together.
        pub kv_capacity_tokens?: Tokens = view.kv_capacity(),
        /// Preemptions.
        pub preemptions?: ReportedCounter = view.counter(MetricMeaning::Preemptions),
        /// Tokens found in the prefix cache; by vLLM 0.8 and TensorRT-LLM blocks, so that only their share of queries can be compared.
        pub prefix_hits?: ReportedCounter = view.counter(MetricMeaning::PrefixHits),
        /// Tokens looked up in it, likewise.
        pub prefix_queries?: ReportedCounter = view.prefix_queries(),
        /// Tokens found in a cache outside the engine.
        pub external_prefix_hits?: ReportedCounter = view.counter(MetricMeaning::ExternalPrefixHits),
        /// Tokens looked up there.
        pub external_prefix_queries?: ReportedCounter = view.counter(MetricMeaning::ExternalPrefixQueries),
        /// Tokens of prompts.
        pub prompt_tokens?: ReportedCounter = view.prompt_tokens(),
        /// Likewise by where their keys and values came from.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        pub prompt_tokens_by_source: BTreeMap<String, ReportedCounter> = view.counters_by(MetricMeaning::PromptTokensBySource, "source"),
        /// Tokens of prompts that came from a cache.
        pub prompt_tokens_cached?: ReportedCounter = view.counter(MetricMeaning::PromptTokensCached),
        /// Generated tokens.
        pub generation_tokens?: ReportedCounter = view.counter(MetricMeaning::GenerationTokens),
        /// Requests that ended well.
        pub requests?: ReportedCounter = view.counter(MetricMeaning::Requests),
        /// Tokens of the prompt of each of them.
        pub request_prompt_tokens?: ReportedHistogram = view.histogram(MetricMeaning::RequestPromptTokens),
        /// Tokens that each of them generated.
        pub request_generation_tokens?: ReportedHistogram = view.histogram(MetricMeaning::RequestGenerationTokens),
        /// Time to first token.
        pub ttft as "ttft_ms"?: ReportedHistogram = view.histogram(MetricMeaning::Ttft),
        /// Inter-token latency.
        pub itl as "itl_ms"?: ReportedHistogram = view.histogram(MetricMeaning::Itl),
        /// Time per output token of each request.
        pub tpot as "tpot_ms"?: ReportedHistogram = view.histogram(MetricMeaning::Tpot),
        /// End-to-end latency.
        pub e2el as "e2el_ms"?: ReportedHistogram = view.histogram(MetricMeaning::E2el),
        /// Time in the queue.
        pub queue_time as "queue_ms"?: ReportedHistogram = view.histogram(MetricMeaning::QueueTime),
        /// From being scheduled to the first token. Of a preempted request both this and the queue are of the last time.
        pub prefill_time as "prefill_ms"?: ReportedHistogram = view.histogram(MetricMeaning::PrefillTime),
        /// From the first token to the last.
        pub decode_time as "decode_ms"?: ReportedHistogram = view.histogram(MetricMeaning::DecodeTime),
        /// From being scheduled to the end.
        pub inference_time as "inference_ms"?: ReportedHistogram = view.histogram(MetricMeaning::InferenceTime),
        /// Tokens that one iteration works on.
        pub iteration_tokens?: ReportedHistogram = view.histogram(MetricMeaning::IterationTokens),
        /// Iterations.
        pub iterations?: ReportedCounter = view.counter(MetricMeaning::Iterations),
        /// Rounds of drafting.
        pub drafts?: ReportedCounter = view.counter(MetricMeaning::Drafts),
        /// Drafted tokens.
        pub draft_tokens?: ReportedCounter = view.counter(MetricMeaning::DraftTokens),
        /// Those that were accepted.
        pub accepted_tokens?: ReportedCounter = view.counter(MetricMeaning::AcceptedTokens),
        /// Likewise by position in the draft, from 0.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty", deserialize_with = "by_number")]
        #[cfg_attr(feature = "schema", schemars(with = "BTreeMap<String, ReportedCounter>"))]
        pub accepted_by_position: BTreeMap<u32, ReportedCounter> = view.counters_by(MetricMeaning::AcceptedByPosition, "position"),
        /// Tokens that a round of drafting gives a request, the one that needs no draft among them, as the engine averages it; the mean
        /// over engines.
        pub accept_length?: ReportedGauge = view.accept_length(),
        /// Floating-point operations of one GPU by the engine's own estimate, the mean over engines.
        pub estimated_flops_per_gpu?: ReportedCounter = view.counter_mean(MetricMeaning::EstimatedFlops),
        /// Bytes that one GPU read, likewise.
        pub estimated_read_bytes_per_gpu?: ReportedCounter = view.counter_mean(MetricMeaning::EstimatedReadBytes),
        /// Bytes that one GPU wrote, likewise.
        pub estimated_write_bytes_per_gpu?: ReportedCounter = view.counter_mean(MetricMeaning::EstimatedWriteBytes),
    }
}

/// Keys of JSON are texts, and serde hands them on as such where the document is a part of another.
fn by_number<'de, D: serde::Deserializer<'de>>(
    from: D,
) -> Result<BTreeMap<u32, ReportedCounter>, D::Error> {
    let by: BTreeMap<String, ReportedCounter> = BTreeMap::deserialize(from)?;
    let numbered = |(key, told): (String, ReportedCounter)| {
        key.parse().map(|key| (key, told)).map_err(D::Error::custom)
    };
    by.into_iter().map(numbered).collect()
}

impl ServerWindow {
    /// Whether there is anything that a server said.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.exporter.is_none()
    }

    /// The share of prompt tokens that the prefix cache had, 0 to 1: hits over queries, and of a server that does not count these
    /// cached tokens over all; none without any.
    #[must_use]
    pub fn prefix_hit_share(&self) -> Option<f64> {
        hits(self.prefix_hits.as_ref(), self.prefix_queries.as_ref())
            .or_else(|| hits(self.prompt_tokens_cached.as_ref(), self.prompt_tokens.as_ref()))
    }

    /// The share of prompt tokens that were not computed, 0 to 1, since a cache in the engine or outside of it had them.
    #[must_use]
    pub fn cached_share(&self) -> Option<f64> {
        let told = hits(self.prompt_tokens_cached.as_ref(), self.prompt_tokens.as_ref());
        let by_lookup = || {
            let outside =
                hits(self.external_prefix_hits.as_ref(), self.external_prefix_queries.as_ref());
            let inside = hits(self.prefix_hits.as_ref(), self.prefix_queries.as_ref());
            let missed = |part: Option<f64>| 1.0 - part.unwrap_or(0.0).clamp(0.0, 1.0);
            inside.or(outside)?;
            Some(1.0 - missed(inside) * missed(outside))
        };
        told.map(|share| share.clamp(0.0, 1.0)).or_else(by_lookup)
    }

    /// The share of drafted tokens that was accepted, 0 to 1.
    #[must_use]
    pub fn accepted_share(&self) -> Option<f64> {
        share(self.accepted_tokens.as_ref(), self.draft_tokens.as_ref())
    }

    /// Tokens that a step gives each request that decodes, at least 1: all that were generated over those that no draft gave, so that
    /// steps without a draft count too; of an engine that does not count accepted tokens the length that it averages. TensorRT-LLM counts
    /// generated tokens as requests end and accepted ones step by step, which in a short window are not of the same steps, so that of it
    /// the length comes first. None where neither is told.
    #[must_use]
    pub fn tokens_per_step(&self) -> Option<f64> {
        let counted = || {
            let generated = self.generation_tokens.as_ref()?.figure.delta;
            Some(generated / (generated - self.accepted_tokens.as_ref()?.figure.delta))
        };
        let averaged = || Some(self.accept_length.as_ref()?.figure.mean);
        let is_known = |tokens: &f64| tokens.is_finite() && *tokens >= 1.0;
        let (counted, averaged) = (counted().filter(is_known), averaged().filter(is_known));
        match self.exporter {
            Some(Exporter::TensorrtLlm) => averaged.or(counted),
            _ => counted.or(averaged),
        }
    }

    /// The mean number of tokens that an iteration works on.
    #[must_use]
    pub fn mean_iteration_tokens(&self) -> Option<f64> {
        self.iteration_tokens.as_ref()?.figure.mean
    }

    /// How often any counter began anew in the window: the server, or one engine of it, was restarted.
    #[must_use]
    pub fn resets(&self) -> u32 {
        let counters = [
            &self.prompt_tokens,
            &self.generation_tokens,
            &self.requests,
            &self.preemptions,
            &self.iterations,
        ];
        counters.into_iter().flatten().map(|told| told.figure.resets).max().unwrap_or(0)
    }
}

fn share(part: Option<&ReportedCounter>, whole: Option<&ReportedCounter>) -> Option<f64> {
    let share = part?.figure.delta / whole?.figure.delta;
    Some(share).filter(|share| share.is_finite())
}

/// The same of what a cache had: one that was never asked, since it is off, had nothing.
fn hits(part: Option<&ReportedCounter>, whole: Option<&ReportedCounter>) -> Option<f64> {
    let (found, asked) = (part?.figure.delta, whole?.figure.delta);
    if found == 0.0 && asked == 0.0 { Some(0.0) } else { share(part, whole) }
}
