//! How an engine is set up.

use fizeau_core::{Choice, NamedChoice, Nanos, Tokens};
use fizeau_roofline::{Admission, Serving};

use super::speculation::EngineDrafts;

/// How an [`crate::Engine`] is set up: the names and defaults are vLLM's where it has them.
///
/// ```
/// use fizeau_core::Tokens;
/// use fizeau_sim::{EngineConfig, Policy};
/// let config = EngineConfig::new(256, Tokens::new(400_000));
/// assert_eq!(config.blocks, 25_000);
/// let prefill_first = EngineConfig { policy: Policy::PrefillFirst, ..config };
/// prefill_first.check()?;
/// # Ok::<(), fizeau_sim::ConfigError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct EngineConfig {
    /// The most sequences that run at once, of each of the [`EngineConfig::groups`] (vLLM's `max_num_seqs`).
    pub max_num_seqs: u64,
    /// The most tokens of one step, those that are decoded and those of prompts together (vLLM's `max_num_batched_tokens`).
    /// Default 8,192, vLLM's for online serving on GPUs of 70 GiB and more but the A100; on others it has 2,048
    /// (`vllm/engine/arg_utils.py` at commit 99d7eb5d).
    pub max_batched_tokens: Tokens,
    /// Tokens of a block of the key-value cache. Default 16.
    pub block: Tokens,
    /// How many such blocks there are, in each group.
    pub blocks: u64,
    /// The most tokens of one request, prompt and output together (vLLM's `max_model_len`); none: as many as the cache holds.
    pub max_context: Option<Tokens>,
    /// What a step does first.
    pub policy: Policy,
    /// Whether a prompt may be read over several steps.
    pub chunking: Chunking,
    /// What a sequence is given room for when it is admitted; one that grows beyond what there is preempts another.
    pub admission: Admission,
    /// Whether blocks are found again by what they hold.
    pub prefix_caching: PrefixCaching,
    /// The order in which jobs are admitted. Preemption takes the reverse order.
    pub order: AdmissionOrder,
    /// The most jobs that wait, those included that came since the last step began; further ones are refused. None: no limit.
    pub max_waiting: Option<u64>,
    /// Sizes for which the engine has captured a graph, rising, in tokens of one group: one for each sequence that decodes, and
    /// those of its draft. A step that only decodes is padded to the next of them. Empty: nothing is padded.
    pub captured: Vec<u64>,
    /// Speculative decoding; none: a token a step.
    pub drafts: Option<EngineDrafts>,
    /// Groups of attention data parallelism: each has a queue, slots and blocks of its own, and all step together. Default 1.
    pub groups: u64,
    /// What a front end takes for a request before it can be scheduled: reading it, making tokens of its prompt. Default 0.
    pub front_end: Nanos,
    /// For so long of that the next request cannot begin with it. Default 0: requests do not wait for each other in the front end.
    pub front_end_per_request: Nanos,
    /// What chance is drawn from: the same seed gives the same run.
    pub seed: u64,
}

/// What a step does first where there are both prompts to read and tokens to decode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Policy {
    /// Tokens are decoded in each step, and what is left of the budget goes to prompts: vLLM (V1), SGLang's mixed chunks.
    #[default]
    Mixed,
    /// As long as a prompt can be read a step reads prompts and nothing else, and decoding waits: SGLang's default, vLLM V0's.
    PrefillFirst,
}

impl Choice for Policy {
    const CHOICES: &'static [NamedChoice<Self>] = &[
        NamedChoice::new(
            "mixed",
            Self::Mixed,
            "Each step decodes, and reads prompts with the rest of its tokens: vLLM, and SGLang's mixed chunks",
        ),
        NamedChoice::new(
            "prefill-first",
            Self::PrefillFirst,
            "Prompts are read first while decoding waits: SGLang's default",
        ),
    ];
}

/// Whether a prompt may be read over several steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Chunking {
    /// A prompt takes what is left of a step's budget, and goes on in the next.
    #[default]
    Chunked,
    /// A prompt is read in one step. If the next one does not fit into the budget beside the sequences that decode they wait, and
    /// the step reads prompts alone; one that is longer than the budget is read by itself.
    Whole,
}

/// Whether blocks are found again by what they hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum PrefixCaching {
    /// A block is forgotten as its sequence ends.
    #[default]
    Off,
    /// A block keeps its hash until it is needed for another; those used least lately go first. What a step reads of a prompt is
    /// known as soon as it is planned, so that jobs admitted to the same step share it, as in vLLM (V1); what is decoded, at the
    /// end of its step.
    ///
    /// Of models with states (Mamba, gated delta nets) as of any other: a prompt goes on from the end of any block, as though
    /// each kept the state there, in no memory. Engines keep states at few places, and those take room.
    On,
}

/// The order in which jobs are admitted. Preemption takes the reverse order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum AdmissionOrder {
    /// Who came first.
    #[default]
    Arrival,
    /// Who has the lower [`crate::Priority`]; of equals, who came first.
    Priority,
}

impl Choice for AdmissionOrder {
    const CHOICES: &'static [NamedChoice<Self>] = &[
        NamedChoice::new("fcfs", Self::Arrival, "The one that came first"),
        NamedChoice::new(
            "priority",
            Self::Priority,
            "The one with the lower priority number; of equals the one that came first",
        ),
    ];
}

impl EngineConfig {
    /// The sizes that vLLM captures up to `most`: 1, 2, 4, multiples of 8 below 256, and of 16 from there on. No step has more tokens
    /// than all its sequences with their drafts, so that the list ends with the first size that holds these
    /// (`vllm/config/vllm.py` at commit 000fc94b, `_set_cudagraph_sizes`).
    ///
    /// ```
    /// use fizeau_core::Tokens;
    /// use fizeau_sim::EngineConfig;
    /// let config = EngineConfig::new(12, Tokens::ZERO);
    /// assert_eq!(config.captured_up_to(512), [1, 2, 4, 8, 16]);
    /// ```
    #[must_use]
    pub fn captured_up_to(&self, most: u64) -> Vec<u64> {
        /// Far beyond what any engine captures.
        const LARGEST: u64 = 1 << 20;
        let each = self.drafts.as_ref().map_or(1, |drafts| 1 + u64::from(drafts.length));
        let used = self.max_num_seqs.saturating_mul(each).min(LARGEST);
        let steps = [1, 2, 4].into_iter().chain((8..256).step_by(8)).chain((256..).step_by(16));
        let mut before = 0;
        steps
            .take_while(|&size| {
                let is_used = before < used;
                before = size;
                is_used && size <= most
            })
            .collect()
    }

    /// `max_num_seqs` sequences at a time and a cache of `kv_tokens` tokens, rounded down to whole blocks; everything else by
    /// default.
    #[must_use]
    pub fn new(max_num_seqs: u64, kv_tokens: Tokens) -> Self {
        let block = Tokens::new(16);
        Self {
            max_num_seqs,
            max_batched_tokens: Serving::BATCHED_TOKENS,
            block,
            blocks: kv_tokens.get() / block.get(),
            max_context: None,
            policy: Policy::default(),
            chunking: Chunking::default(),
            admission: Admission::default(),
            prefix_caching: PrefixCaching::default(),
            order: AdmissionOrder::default(),
            max_waiting: None,
            captured: Vec::new(),
            drafts: None,
            groups: 1,
            front_end: Nanos::ZERO,
            front_end_per_request: Nanos::ZERO,
            seed: 0,
        }
    }

    /// Tokens that the cache of one group can hold.
    #[must_use]
    pub const fn kv_capacity(&self) -> Tokens {
        Tokens::new(self.blocks.saturating_mul(self.block.get()))
    }

    /// The most tokens of one request: what was asked for, or what the cache of one group holds if that is less.
    #[must_use]
    pub fn longest_job(&self) -> Tokens {
        let holds = self.kv_capacity();
        self.max_context.map_or(holds, |asked| asked.min(holds))
    }

    /// Whether an engine can run so.
    ///
    /// # Errors
    /// If it cannot; the error names what is at fault, and the nearest that works.
    pub fn check(&self) -> Result<(), ConfigError> {
        check(self)
    }
}

// What cannot run, and what is nearest to it and can.

/// Why an engine cannot run so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// No sequence may run.
    #[error("an engine that runs 0 sequences at once (max_num_seqs) runs nothing: give at least 1")]
    NoSequences,
    /// Blocks hold nothing.
    #[error("a block of 0 tokens holds nothing: give at least 1; 16 is usual")]
    EmptyBlock,
    /// A step could not fill a block.
    #[error(
        "a budget of {budget} tokens a step is below one block of {block}: give at least {block}"
    )]
    BudgetBelowBlock {
        /// Tokens of a step.
        budget: Tokens,
        /// Tokens of a block.
        block: Tokens,
    },
    /// A step could not decode all that runs.
    #[error(
        "a budget of {budget} tokens a step does not let {sequences} sequences decode {each} each: give a budget of at least {least}"
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
    #[error("a queue of 0 requests (max_waiting) takes none at all: give at least 1")]
    NoQueue,
    /// Drafts without a token.
    #[error(
        "a draft of 0 tokens drafts nothing: give at least 1, or leave speculative decoding out"
    )]
    EmptyDraft,
    /// No group at all.
    #[error("an engine of 0 attention groups runs nothing: give at least 1")]
    NoGroups,
    /// Sizes that are no rising list.
    #[error(
        "the captured batch size {size} comes after {before}: list each size once, in rising order from 1"
    )]
    CapturedNotRising {
        /// The size.
        size: u64,
        /// The one before it; 0 at the beginning of the list.
        before: u64,
    },
}

fn check(config: &EngineConfig) -> Result<(), ConfigError> {
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
