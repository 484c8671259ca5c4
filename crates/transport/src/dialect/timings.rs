//! llama.cpp's own account of a reply, on all its routes.

use fizeau_core::{ServerTiming, Tokens, Usage};
use serde::Deserialize;

use super::json::{counted, seconds};

/// `timings`, in milliseconds and tokens.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Timings {
    prompt_ms: Option<f64>,
    predicted_ms: Option<f64>,
    prompt_n: Option<u64>,
    predicted_n: Option<u64>,
    pub(super) cache_n: Option<u64>,
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
        let processed = self.prompt_n?;
        counted(Usage {
            prompt_tokens: Some(Tokens::new(processed) + Tokens::new(self.cache_n.unwrap_or(0))),
            completion_tokens: self.predicted_n.map(Tokens::new),
            cached_tokens: self.cache_n.map(Tokens::new),
            reasoning_tokens: None,
        })
    }
}
