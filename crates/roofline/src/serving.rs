//! How an engine is set up, as far as speed depends on it.

use std::num::NonZeroU64;

use fizeau_core::{Bytes, Choice, NamedChoice, Tokens};

/// The engine's settings that decide how many sequences run at once.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Serving {
    /// Share of a device's usable memory that weights and cache may take, above 0 and at most 1. Default 0.9, as
    /// vLLM's `gpu_memory_utilization`.
    pub memory_share: f64,
    /// Memory of each device that is taken besides, within that share: activations, graphs, communication buffers.
    /// Default 0.
    pub reserve: Bytes,
    /// Tokens of a cache block: a sequence takes whole blocks. Default 16.
    pub block: Tokens,
    /// The most sequences that run at once in each attention group; none: as many as fit. Default none.
    pub max_sequences: Option<NonZeroU64>,
    /// The most tokens of a pass in each attention group, within which the prompts that come in together share its weights.
    /// Default [`Serving::BATCHED_TOKENS`].
    pub max_batched_tokens: Tokens,
    /// What a sequence is given room for when it is admitted.
    pub admission: Admission,
    /// Whose the cached tokens of prompts are.
    pub prefix: Prefix,
    /// The most tokens that a decode step yields to a sequence, for bounds: 1, and one more for each that is drafted
    /// ([`crate::Speculation`]). Default 1.
    pub tokens_per_step: NonZeroU64,
}

/// Whether prompts share their cached tokens, which decides how often these are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Prefix {
    /// All prompts begin alike, as with a system prompt: kept once.
    #[default]
    Shared,
    /// Each prompt has its own, as with the turns of a conversation.
    Own,
}

impl Choice for Prefix {
    const CHOICES: &'static [NamedChoice<Self>] = &[
        NamedChoice::new("shared", Self::Shared, "All prompts have one prefix"),
        NamedChoice::new("own", Self::Own, "Each prompt has its own"),
    ];
}

/// The part of a sequence's cache that is reserved at admission.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Admission {
    /// What it has by now; later it may be preempted. On average `I + O / 2`: vLLM, SGLang.
    #[default]
    AsItGrows,
    /// All that it may come to, `I + O`: TensorRT-LLM's guaranteed no-evict.
    Whole,
}

impl Serving {
    /// The tokens of a pass where nothing else is said, as vLLM's `max_num_batched_tokens` when it serves.
    pub const BATCHED_TOKENS: Tokens = Tokens::new(8_192);
}

impl Default for Serving {
    fn default() -> Self {
        Self {
            memory_share: 0.9,
            reserve: Bytes::new(0.0),
            block: Tokens::new(16),
            max_sequences: None,
            max_batched_tokens: Self::BATCHED_TOKENS,
            admission: Admission::AsItGrows,
            prefix: Prefix::Shared,
            tokens_per_step: NonZeroU64::MIN,
        }
    }
}
