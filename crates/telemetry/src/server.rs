//! What a server said over a window, in typed figures.

mod copies;
mod host;
mod named;
mod timeline;
mod together;
mod view;

use std::collections::BTreeMap;

use fizeau_core::{Nanos, Tokens};
use serde::de::Error as _;
use serde::{Deserialize, Serialize};

use crate::figure::Reported;
use crate::samples::History;
use crate::vocabulary::{Exporter, Meaning};
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

/// What a server's own metrics come to over a window. What it does not say is absent. Several engines of one server, such as
/// data-parallel ranks, are one: requests and tokens added, shares of the KV cache weighted by its capacity.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ServerWindow {
    /// Whose metrics those are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exporter: Option<Exporter>,
    /// Engines that tell themselves apart.
    pub engines: u32,
    /// Pages whose values are of the window.
    pub pages: u32,
    /// Pages that did not come in the window.
    pub missing_pages: u32,
    /// Why the last of them did not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing_why: Option<String>,
    /// Requests in the running batch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub running: Option<ReportedGauge>,
    /// Requests that wait.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiting: Option<ReportedGauge>,
    /// Likewise by reason.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub waiting_by_reason: BTreeMap<String, ReportedGauge>,
    /// The share of the KV cache in use, 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kv_use: Option<ReportedGauge>,
    /// How much the KV cache holds, all engines together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kv_capacity_tokens: Option<Tokens>,
    /// Preemptions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preemptions: Option<ReportedCounter>,
    /// Tokens found in the prefix cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prefix_hits: Option<ReportedCounter>,
    /// Tokens looked up in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prefix_queries: Option<ReportedCounter>,
    /// Tokens found in a cache outside the engine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub external_prefix_hits: Option<ReportedCounter>,
    /// Tokens looked up there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub external_prefix_queries: Option<ReportedCounter>,
    /// Tokens of prompts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt_tokens: Option<ReportedCounter>,
    /// Likewise by where their keys and values came from.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub prompt_tokens_by_source: BTreeMap<String, ReportedCounter>,
    /// Tokens of prompts that came from a cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt_tokens_cached: Option<ReportedCounter>,
    /// Generated tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generation_tokens: Option<ReportedCounter>,
    /// Requests that ended well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requests: Option<ReportedCounter>,
    /// Tokens of the prompt of each of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_prompt_tokens: Option<ReportedHistogram>,
    /// Tokens that each of them generated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_generation_tokens: Option<ReportedHistogram>,
    /// Time to first token.
    #[serde(rename = "ttft_ms", default, skip_serializing_if = "Option::is_none")]
    pub ttft: Option<ReportedHistogram>,
    /// Inter-token latency.
    #[serde(rename = "itl_ms", default, skip_serializing_if = "Option::is_none")]
    pub itl: Option<ReportedHistogram>,
    /// Time per output token of each request.
    #[serde(rename = "tpot_ms", default, skip_serializing_if = "Option::is_none")]
    pub tpot: Option<ReportedHistogram>,
    /// End-to-end latency.
    #[serde(rename = "e2el_ms", default, skip_serializing_if = "Option::is_none")]
    pub e2el: Option<ReportedHistogram>,
    /// Time in the queue.
    #[serde(rename = "queue_ms", default, skip_serializing_if = "Option::is_none")]
    pub queue_time: Option<ReportedHistogram>,
    /// From being scheduled to the first token. Of a preempted request both this and the queue are of the last time.
    #[serde(rename = "prefill_ms", default, skip_serializing_if = "Option::is_none")]
    pub prefill_time: Option<ReportedHistogram>,
    /// From the first token to the last.
    #[serde(rename = "decode_ms", default, skip_serializing_if = "Option::is_none")]
    pub decode_time: Option<ReportedHistogram>,
    /// From being scheduled to the end.
    #[serde(rename = "inference_ms", default, skip_serializing_if = "Option::is_none")]
    pub inference_time: Option<ReportedHistogram>,
    /// Tokens that one iteration works on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iteration_tokens: Option<ReportedHistogram>,
    /// Iterations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iterations: Option<ReportedCounter>,
    /// Rounds of drafting.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drafts: Option<ReportedCounter>,
    /// Drafted tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub draft_tokens: Option<ReportedCounter>,
    /// Those that were accepted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accepted_tokens: Option<ReportedCounter>,
    /// Likewise by position in the draft, from 0.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty", deserialize_with = "by_number")]
    #[cfg_attr(feature = "schema", schemars(with = "BTreeMap<String, ReportedCounter>"))]
    pub accepted_by_position: BTreeMap<u32, ReportedCounter>,
    /// Floating-point operations of one GPU by the engine's own estimate, the mean over engines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimated_flops_per_gpu: Option<ReportedCounter>,
    /// Bytes that one GPU read, likewise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimated_read_bytes_per_gpu: Option<ReportedCounter>,
    /// Bytes that one GPU wrote, likewise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimated_write_bytes_per_gpu: Option<ReportedCounter>,
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
    /// What the pages of one server say of `window`. A gauge's value stands for at most `hold` on either side of its page: twice
    /// the interval of scraping is a good choice.
    #[must_use]
    pub fn of(history: &History, window: Window, hold: Nanos) -> Self {
        let view = View::new(history, window, hold);
        let counter = |meaning| view.counter(meaning);
        let per_gpu = |meaning| view.counter_mean(meaning);
        let histogram = |meaning| view.histogram(meaning);
        Self {
            exporter: view.exporter(),
            engines: view.engines(),
            pages: view.pages(),
            missing_pages: u32::try_from(view.missing().count()).unwrap_or(u32::MAX),
            missing_why: view.missing().next_back().map(|failure| failure.why.to_string()),
            running: view.gauge(Meaning::Running),
            waiting: view.gauge(Meaning::Waiting),
            waiting_by_reason: view.gauges_by(Meaning::WaitingByReason, "reason"),
            kv_use: view.kv_use(),
            kv_capacity_tokens: view.kv_capacity(),
            preemptions: counter(Meaning::Preemptions),
            prefix_hits: counter(Meaning::PrefixHits),
            prefix_queries: counter(Meaning::PrefixQueries),
            external_prefix_hits: counter(Meaning::ExternalPrefixHits),
            external_prefix_queries: counter(Meaning::ExternalPrefixQueries),
            prompt_tokens: view.prompt_tokens(),
            prompt_tokens_by_source: view.counters_by(Meaning::PromptTokensBySource, "source"),
            prompt_tokens_cached: counter(Meaning::PromptTokensCached),
            generation_tokens: counter(Meaning::GenerationTokens),
            requests: counter(Meaning::Requests),
            request_prompt_tokens: histogram(Meaning::RequestPromptTokens),
            request_generation_tokens: histogram(Meaning::RequestGenerationTokens),
            ttft: histogram(Meaning::Ttft),
            itl: histogram(Meaning::Itl),
            tpot: histogram(Meaning::Tpot),
            e2el: histogram(Meaning::E2el),
            queue_time: histogram(Meaning::QueueTime),
            prefill_time: histogram(Meaning::PrefillTime),
            decode_time: histogram(Meaning::DecodeTime),
            inference_time: histogram(Meaning::InferenceTime),
            iteration_tokens: histogram(Meaning::IterationTokens),
            iterations: counter(Meaning::Iterations),
            drafts: counter(Meaning::Drafts),
            draft_tokens: counter(Meaning::DraftTokens),
            accepted_tokens: counter(Meaning::AcceptedTokens),
            accepted_by_position: view.counters_by(Meaning::AcceptedByPosition, "position"),
            estimated_flops_per_gpu: per_gpu(Meaning::EstimatedFlops),
            estimated_read_bytes_per_gpu: per_gpu(Meaning::EstimatedReadBytes),
            estimated_write_bytes_per_gpu: per_gpu(Meaning::EstimatedWriteBytes),
        }
    }

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

    /// Tokens that a round of drafting gives, the one that needs no draft among them.
    #[must_use]
    pub fn tokens_per_draft(&self) -> Option<f64> {
        share(self.accepted_tokens.as_ref(), self.drafts.as_ref()).map(|accepted| accepted + 1.0)
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
