//! The limits of an engine.

use fizeau_core::Tokens;

/// Prompt tokens per step unless said otherwise: vLLM's default `max_num_batched_tokens` for online serving
/// on large GPUs.
const DEFAULT_PREFILL_BUDGET: Tokens = Tokens::new(8_192);

/// The limits of an [`crate::Engine`]. Once made it is consistent: any job up to
/// [`EngineConfig::max_context`] can be served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EngineConfig {
    slots: usize,
    kv_capacity: Tokens,
    prefill_budget: Tokens,
    max_context: Tokens,
}

impl EngineConfig {
    /// `slots` sequences at a time (vLLM's `max_num_seqs`) and `kv_capacity` tokens of key-value cache among
    /// them. One request may fill the whole cache, and a step reads at most 8,192 prompt tokens.
    ///
    /// # Errors
    /// If there are no slots, or the cache cannot hold a request of one prompt token and one output token.
    pub fn new(slots: usize, kv_capacity: Tokens) -> Result<Self, ConfigError> {
        if slots == 0 {
            return Err(ConfigError::NoSlots);
        }
        let config = Self {
            slots,
            kv_capacity,
            prefill_budget: DEFAULT_PREFILL_BUDGET,
            max_context: kv_capacity,
        };
        config.with_max_context(kv_capacity)
    }

    /// The same with at most `budget` prompt tokens in a step. Tokens being decoded do not count against it.
    ///
    /// # Errors
    /// If `budget` is zero: no prompt could ever be read.
    pub fn with_prefill_budget(self, budget: Tokens) -> Result<Self, ConfigError> {
        if budget == Tokens::ZERO {
            return Err(ConfigError::NoPrefillBudget);
        }
        Ok(Self { prefill_budget: budget, ..self })
    }

    /// The same with at most `tokens` for prompt and output of one request together (vLLM's `max_model_len`).
    ///
    /// # Errors
    /// If that is below two tokens, or above the key-value capacity: such a request could never be served.
    pub fn with_max_context(self, tokens: Tokens) -> Result<Self, ConfigError> {
        if tokens.get() < 2 {
            return Err(ConfigError::ContextTooSmall(tokens));
        }
        if tokens > self.kv_capacity {
            return Err(ConfigError::KvBelowOneRequest {
                kv_capacity: self.kv_capacity,
                max_context: tokens,
            });
        }
        Ok(Self { max_context: tokens, ..self })
    }

    /// Sequences that can run at a time.
    #[must_use]
    pub const fn slots(&self) -> usize {
        self.slots
    }

    /// Tokens that the key-value cache can hold.
    #[must_use]
    pub const fn kv_capacity(&self) -> Tokens {
        self.kv_capacity
    }

    /// Prompt tokens that a step can read.
    #[must_use]
    pub const fn prefill_budget(&self) -> Tokens {
        self.prefill_budget
    }

    /// Tokens that one request may have, prompt and output together.
    #[must_use]
    pub const fn max_context(&self) -> Tokens {
        self.max_context
    }
}

/// Why limits do not make an engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// A request needs a prompt token and an output token.
    #[error("a context of {0} tokens holds no request: it needs at least 2")]
    ContextTooSmall(Tokens),
    /// One request alone would overflow the cache.
    #[error(
        "a key-value cache of {kv_capacity} tokens cannot hold one request of {max_context}: \
         make the cache larger or the context smaller"
    )]
    KvBelowOneRequest {
        /// Tokens that the cache holds.
        kv_capacity: Tokens,
        /// Tokens that one request may have.
        max_context: Tokens,
    },
    /// No prompt could be read.
    #[error("a prefill budget of 0 tokens reads no prompt: it needs at least 1")]
    NoPrefillBudget,
    /// Nothing could run.
    #[error("an engine with 0 slots runs nothing: it needs at least 1")]
    NoSlots,
}
