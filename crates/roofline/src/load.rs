//! What is asked of an endpoint.

use std::num::NonZeroU64;

use fizeau_core::Tokens;

/// A load of requests that are all alike. Where lengths vary, use [`crate::Bound::over`]: the bound at the
/// mean lengths does not bound a mix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UniformLoad {
    /// Length of a prompt, `I`; at least 1.
    pub input_tokens: Tokens,
    /// Tokens generated per request, `O`; at least 1.
    pub output_tokens: Tokens,
    /// How many requests are under way at once, `N`.
    pub concurrency: NonZeroU64,
    /// Tokens of each prompt that are cached already and need not be computed, `g`; fewer than the prompt's.
    pub cached_tokens: Tokens,
}

impl UniformLoad {
    /// Requests of `input` and `output` tokens, `concurrency` at once, nothing cached.
    #[must_use]
    pub const fn new(input: Tokens, output: Tokens, concurrency: NonZeroU64) -> Self {
        Self {
            input_tokens: input,
            output_tokens: output,
            concurrency,
            cached_tokens: Tokens::ZERO,
        }
    }

    /// The same load with the first `cached` tokens of each prompt in the cache already. The last token of a prompt is
    /// computed in any case.
    #[must_use]
    pub const fn with_cached(self, cached: Tokens) -> Self {
        Self { cached_tokens: cached, ..self }
    }

    /// `I`, `O` and `g` as the formulas take them.
    pub(crate) fn lengths(&self) -> (f64, f64, f64) {
        let cached = self.cached_tokens.get().min(self.input_tokens.get().saturating_sub(1));
        (self.input_tokens.get() as f64, self.output_tokens.get() as f64, cached as f64)
    }

    /// What a request lacks: a prompt or an output.
    pub(crate) fn lacks(&self) -> Option<&'static str> {
        match (self.input_tokens, self.output_tokens) {
            (Tokens::ZERO, _) => Some("input tokens"),
            (_, Tokens::ZERO) => Some("output tokens"),
            _ => None,
        }
    }
}
