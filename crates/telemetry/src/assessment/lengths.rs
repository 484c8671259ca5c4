//! How long requests are, on average, by a server's metrics.

use std::num::NonZeroU64;

use fizeau_core::Tokens;
use fizeau_roofline::{System, UniformLoad};
use serde::{Deserialize, Serialize};

use super::{Work, whole};
use crate::server::{ReportedHistogram, ServerWindow};

/// The mean context of a running request, and how it is known.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ContextEstimate {
    /// In tokens.
    pub tokens: f64,
    /// How that is known.
    pub source: ContextSource,
}

/// How a mean context is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum ContextSource {
    /// The tokens in the KV cache over the requests that run.
    KvCache,
    /// A prompt and half of what is generated, by the requests that ended.
    RequestLengths,
}

/// What a request has, on average.
pub(super) struct MeanLengths {
    pub(super) input: f64,
    pub(super) output: f64,
    context: ContextEstimate,
}

/// So many requests must have ended for their number to stand for those that began.
const ENOUGH_ENDED: f64 = 10.0;

impl MeanLengths {
    /// By the requests that ended; where few did, by the ratio of prompts to what is generated and the cache in use. None where only
    /// counters tell while so many more or fewer requests run than before that those which began are not those which ended.
    ///
    /// How full the cache is says how long contexts are where all layers keep all of them. Where some have windows or states, vLLM's
    /// kinds of layers share one pool of blocks, of which a context takes several shares, and SGLang tells the fuller of two pools.
    pub(super) fn of(server: &ServerWindow, work: &Work, system: &System) -> Option<Self> {
        if work.prompts <= 0.0 || work.generated <= 0.0 {
            return None;
        }
        let tells = work.running > 0.0 && system.model().keeps_whole_contexts();
        let held = held_tokens(server).filter(|_| tells);
        let by_cache = held.map(|held| held / work.running).filter(|context| *context >= 1.0);
        let ended = server.requests.as_ref().map_or(0.0, |told| told.figure.delta);
        let ratio = work.prompts / work.generated;
        let (input, output) = match (by_cache, of_each(server)) {
            (Some(context), _) if ended < ENOUGH_ENDED => {
                let output = context / (ratio + 0.5);
                (output * ratio, output)
            }
            (_, Some(told)) => told,
            _ if ended >= 1.0 && change_of_running(server) <= ended / 2.0 => {
                (work.prompts / ended, work.generated / ended)
            }
            _ => return None,
        };
        let context = match by_cache {
            Some(tokens) => ContextEstimate { tokens, source: ContextSource::KvCache },
            None => {
                let tokens = input + output / 2.0;
                ContextEstimate { tokens, source: ContextSource::RequestLengths }
            }
        };
        Some(Self { input: input.max(1.0), output: output.max(1.0), context })
    }

    pub(super) const fn context(&self) -> ContextEstimate {
        self.context
    }

    /// As many such requests as may come, of whose prompts that share is cached.
    pub(super) fn load(&self, cached: f64) -> Option<UniformLoad> {
        let (input, output) = (whole(self.input), whole(self.output));
        let cached = Tokens::new((self.input * cached) as u64);
        Some(UniformLoad::new(input, output, NonZeroU64::new(1 << 32)?).with_cached(cached))
    }
}

/// The mean prompt and output of the requests that ended, where the server has them of each.
fn of_each(server: &ServerWindow) -> Option<(f64, f64)> {
    let mean = |told: &Option<ReportedHistogram>| told.as_ref()?.figure.mean;
    mean(&server.request_prompt_tokens).zip(mean(&server.request_generation_tokens))
}

/// By how much the running requests changed at the most; 0 where that is not known.
fn change_of_running(server: &ServerWindow) -> f64 {
    let ends = server.running.as_ref().and_then(|told| told.figure.peak.zip(told.figure.min));
    ends.map_or(0.0, |(peak, least)| peak - least)
}

/// Tokens in the KV cache.
fn held_tokens(server: &ServerWindow) -> Option<f64> {
    let capacity = server.kv_capacity_tokens?.get() as f64;
    Some(capacity * server.kv_use.as_ref()?.figure.mean)
}
