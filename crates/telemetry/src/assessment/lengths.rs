//! How long requests are, on average, by a server's counters.

use std::num::NonZeroU64;

use fizeau_core::Tokens;
use fizeau_roofline::UniformLoad;
use serde::{Deserialize, Serialize};

use super::{Work, whole};
use crate::server::ServerWindow;

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
    /// By the requests that ended and the cache in use; where few ended, by the ratio of prompts to what is generated and the cache.
    pub(super) fn of(server: &ServerWindow, work: &Work) -> Option<Self> {
        if work.prompts <= 0.0 || work.generated <= 0.0 {
            return None;
        }
        let held = held_tokens(server).filter(|_| work.running > 0.0);
        let by_cache = held.map(|held| held / work.running).filter(|context| *context >= 1.0);
        let ended = server.requests.as_ref().map_or(0.0, |told| told.figure.delta);
        let ratio = work.prompts / work.generated;
        let (input, output) = match by_cache {
            Some(context) if ended < ENOUGH_ENDED => {
                let output = context / (ratio + 0.5);
                (output * ratio, output)
            }
            _ if ended >= 1.0 => (work.prompts / ended, work.generated / ended),
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

/// Tokens in the KV cache.
fn held_tokens(server: &ServerWindow) -> Option<f64> {
    let capacity = server.kv_capacity_tokens?.get() as f64;
    Some(capacity * server.kv_use.as_ref()?.figure.mean)
}
