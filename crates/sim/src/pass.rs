//! What an engine tells of one step.

use fizeau_core::{Nanos, Stamp, Tokens};
use fizeau_roofline::PassWork;

/// One step of an engine that is over: what vLLM, SGLang and Dynamo publish of each forward pass.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct EnginePass {
    /// Which of several engines ran it, or which group of an engine it is the share of, from 0.
    pub rank: u32,
    /// When it ended.
    pub end: Stamp,
    /// How long it took, from scheduling to output.
    pub length: Nanos,
    /// Sequences that decoded.
    pub decode_sequences: u64,
    /// Their contexts added up, the token that was decoded from included; drafts are not in it.
    pub decode_context_tokens: Tokens,
    /// The variance of these contexts, in tokens squared.
    pub decode_variance: f64,
    /// Sequences that read a chunk of their prompt.
    pub prefill_sequences: u64,
    /// Tokens of these chunks.
    pub prefill_tokens: Tokens,
    /// Tokens of theirs that were cached before.
    pub prefill_cached_tokens: Tokens,
    /// The variance of their whole prompts, in tokens squared.
    pub prefill_variance: f64,
    /// Jobs that waited as it began.
    pub waiting: u64,
    /// Their prompts' tokens.
    pub waiting_tokens: Tokens,
    /// What it asked of each device, the shares of all groups together; nothing where the step time is of no model.
    pub work: PassWork,
}
