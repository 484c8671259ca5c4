//! What cannot run, and what is nearest to it and can.

use fizeau_core::Tokens;

use super::EngineConfig;

/// Why an engine cannot run so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// No sequence may run.
    #[error("an engine that runs 0 sequences at once (max_num_seqs) runs nothing: the least is 1")]
    NoSequences,
    /// Blocks hold nothing.
    #[error("a block of 0 tokens holds nothing: the least is 1, the usual 16")]
    EmptyBlock,
    /// A step could not fill a block.
    #[error(
        "a budget of {budget} tokens a step is below one block of {block}: the least is {block}"
    )]
    BudgetBelowBlock {
        /// Tokens of a step.
        budget: Tokens,
        /// Tokens of a block.
        block: Tokens,
    },
    /// A step could not decode all that runs.
    #[error(
        "a budget of {budget} tokens a step does not let {sequences} sequences decode {each} each: \
         the least budget is {least}"
    )]
    BudgetBelowSequences {
        /// Tokens of a step.
        budget: Tokens,
        /// Sequences that may run at once.
        sequences: u64,
        /// Tokens that each brings to a step.
        each: u64,
        /// The least budget that does.
        least: Tokens,
    },
    /// A request needs a prompt token and an output token.
    #[error("a context of {0} tokens holds no request: it needs at least 2")]
    ContextTooSmall(Tokens),
    /// One request alone would overflow the cache.
    #[error(
        "a key-value cache of {blocks} blocks of {block} tokens cannot hold one request of {max_context}: it takes \
         {needed} blocks, or a context of at most {holds}"
    )]
    KvBelowOneRequest {
        /// Blocks of the cache.
        blocks: u64,
        /// Tokens of a block.
        block: Tokens,
        /// Tokens that one request may have.
        max_context: Tokens,
        /// Blocks that such a request takes.
        needed: u64,
        /// Tokens that the cache holds.
        holds: Tokens,
    },
    /// Nobody may wait, and every job does until the next step.
    #[error("a queue of 0 requests (max_waiting) takes none at all: the least is 1")]
    NoQueue,
    /// Drafts without a token.
    #[error(
        "a draft of 0 tokens drafts nothing: the least is 1, or leave speculative decoding out"
    )]
    EmptyDraft,
    /// No group at all.
    #[error("an engine of 0 attention groups runs nothing: the least is 1")]
    NoGroups,
    /// Sizes that are no rising list.
    #[error("the captured batch size {size} comes after {before}: list each once, from 1, rising")]
    CapturedNotRising {
        /// The size.
        size: u64,
        /// The one before it; 0 at the beginning of the list.
        before: u64,
    },
}

pub(super) fn check(config: &EngineConfig) -> Result<(), ConfigError> {
    let (budget, block) = (config.max_batched_tokens, config.block);
    if config.max_num_seqs == 0 {
        return Err(ConfigError::NoSequences);
    }
    if config.groups == 0 {
        return Err(ConfigError::NoGroups);
    }
    if block == Tokens::ZERO {
        return Err(ConfigError::EmptyBlock);
    }
    if budget < block {
        return Err(ConfigError::BudgetBelowBlock { budget, block });
    }
    let sequences = config.max_num_seqs;
    let each = config.drafts.as_ref().map_or(1, |drafts| 1 + u64::from(drafts.length));
    let least = Tokens::new(sequences.saturating_mul(each));
    if budget < least {
        return Err(ConfigError::BudgetBelowSequences { budget, sequences, each, least });
    }
    if config.max_waiting == Some(0) {
        return Err(ConfigError::NoQueue);
    }
    if config.drafts.as_ref().is_some_and(|drafts| drafts.length == 0) {
        return Err(ConfigError::EmptyDraft);
    }
    let (blocks, holds) = (config.blocks, config.kv_capacity());
    let max_context = config.max_context.unwrap_or(holds);
    if max_context.get() < 2 {
        return Err(ConfigError::ContextTooSmall(max_context));
    }
    if max_context > holds {
        let needed = max_context.get().div_ceil(block.get());
        return Err(ConfigError::KvBelowOneRequest { blocks, block, max_context, needed, holds });
    }
    let mut before = 0;
    for &size in &config.captured {
        if size <= before {
            return Err(ConfigError::CapturedNotRising { size, before });
        }
        before = size;
    }
    Ok(())
}
