//! llama.cpp's own account of a reply, on all its routes.

use fizeau_core::{ServerTiming, Tokens, Usage};
use serde::Deserialize;

use super::json::{counted, seconds};
use super::tally::Tally;

/// `timings`, in milliseconds and tokens.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Timings {
    prompt_ms: Option<f64>,
    predicted_ms: Option<f64>,
    prompt_n: Tally,
    predicted_n: Tally,
    pub(super) cache_n: Tally,
}

impl Timings {
    pub(super) fn to_timing(&self) -> ServerTiming {
        ServerTiming {
            queue: None,
            prefill: self.prompt_ms.and_then(|ms| seconds(ms / 1e3)),
            decode: self.predicted_ms.and_then(|ms| seconds(ms / 1e3)),
        }
    }

    /// The counts beside the times: they are there even where the server gives no usage.
    pub(super) fn to_usage(&self) -> Option<Usage> {
        let processed = self.prompt_n.tokens()?;
        counted(Usage {
            prompt_tokens: Some(processed + self.cache_n.tokens().unwrap_or(Tokens::ZERO)),
            completion_tokens: self.predicted_n.tokens(),
            cached_tokens: self.cache_n.tokens(),
            reasoning_tokens: None,
        })
    }
}
