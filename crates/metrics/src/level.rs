//! What was measured at one level.

use std::collections::BTreeMap;

use fizeau_core::{FailureClass, PerSec, Seconds, TokenSource, Tokens};
use serde::Serialize;

use crate::Distribution;

/// What was measured at one level: the part of `summary.json` that comes from tapes alone.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LevelSummary {
    /// How many requests went out, and how they ended.
    pub requests: RequestCounts,
    /// How many tokens went in and came out.
    pub tokens: TokenCounts,
    /// Latencies, of completed requests only.
    pub metrics: MetricTable,
    /// Spread of the inter-token latency.
    pub jitter: Jitter,
    /// Rates.
    pub throughput: Throughput,
}

/// How many requests went out, and how they ended.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct RequestCounts {
    /// All that were released.
    pub sent: u64,
    /// Those that succeeded by the strict rule.
    pub completed: u64,
    /// All others; `sent` is the sum of both.
    pub failed: u64,
    /// The failed ones by class.
    pub by_class: BTreeMap<FailureClass, u64>,
}

/// How many tokens went in and came out, of completed requests.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct TokenCounts {
    /// Prompt tokens; absent if neither server nor plan knew them.
    pub input: Option<Tokens>,
    /// Generated tokens.
    pub output: Tokens,
    /// The worst source that any completed request's count came from; absent if none completed.
    pub source: Option<TokenSource>,
    /// Generation events; tokens per event is `output / events`.
    pub events: u64,
    /// Prompt tokens that the server took from a prefix cache; absent if it did not say.
    pub cached_input: Option<Tokens>,
    /// Completed requests whose output had another length than was asked under [`fizeau_core::EosRule::Ignore`].
    pub output_length_differs: u64,
}

/// Latencies, in milliseconds.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct MetricTable {
    /// Send start to first token.
    #[serde(rename = "ttft_ms")]
    pub ttft: Distribution,
    /// Intended release to first token.
    #[serde(rename = "ttft_scheduled_ms")]
    pub ttft_scheduled: Distribution,
    /// Send start to the first token that a reader would see.
    #[serde(rename = "first_visible_ms")]
    pub first_visible: Distribution,
    /// Mean pace of a request after its first event.
    #[serde(rename = "tpot_ms")]
    pub tpot: Distribution,
    /// Inter-token latency, pooled over requests, weighted by tokens.
    #[serde(rename = "itl_ms")]
    pub itl: Distribution,
    /// Inter-chunk latency, pooled over requests.
    #[serde(rename = "icl_ms")]
    pub icl: Distribution,
    /// Send start to last token.
    #[serde(rename = "e2el_ms")]
    pub e2el: Distribution,
    /// Intended release to last token.
    #[serde(rename = "e2el_scheduled_ms")]
    pub e2el_scheduled: Distribution,
    /// Intended release to send start, of all requests that were sent.
    #[serde(rename = "send_lateness_ms")]
    pub send_lateness: Distribution,
    /// The making of a connection, of requests that made one.
    #[serde(rename = "connect_ms")]
    pub connect: Distribution,
}

/// Spread of the inter-token latency.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Jitter {
    /// p99 / p50 of ITL; absent where either is, or where p50 is zero.
    pub itl_tail_ratio: Option<f64>,
    /// Share of inter-chunk gaps that are zero: events that came in one read. From 0 to 1.
    pub zero_gap_share: Option<f64>,
}

/// Rates over a window.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Throughput {
    /// Which part of the level the rates are over.
    pub window: Window,
    /// How long the window is.
    #[serde(rename = "duration_s")]
    pub duration: Seconds,
    /// Requests completed in the window per second.
    pub requests_per_s: PerSec,
    /// Tokens received in the window per second.
    pub output_tokens_per_s: PerSec,
    /// Prompt and generated tokens per second; absent if prompt lengths are unknown.
    pub total_tokens_per_s: Option<PerSec>,
    /// Requests that met every per-request goal; absent if no goal was given.
    #[serde(flatten)]
    pub goodput: Option<Goodput>,
}

/// Goodput: what met every goal.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Goodput {
    /// Requests per second that met every goal.
    #[serde(rename = "goodput_per_s")]
    pub rate: PerSec,
    /// Their share of all *sent*; a failed request is a bad one. From 0 to 1.
    #[serde(rename = "good_share")]
    pub share: f64,
}

/// Which part of a level rates are over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Window {
    /// From the first release to the last end.
    WholeRun,
}
