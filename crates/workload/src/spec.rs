//! What a plan is made from, and what can be wrong with it.

mod check;
mod error;

pub(crate) use check::drawn_whole;
pub use error::SpecError;

use std::num::NonZeroU64;
use std::sync::Arc;

use fizeau_core::{EosRule, Tokens};
use serde::{Deserialize, Serialize};

use crate::arrivals::ArrivalLaw;
use crate::cache::SharedPrefix;
use crate::content::PromptContent;
use crate::length::Lengths;
use crate::parts::LengthPair;
use crate::seed::{Salt, Seed};
use crate::workload::Sessions;

/// The specification of a plan: how many requests it has, of what lengths and content, and when they leave. Plain data,
/// checked by [`crate::Plan::new`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlanSpec {
    /// How many requests, warm-up not counted.
    pub requests: NonZeroU64,
    /// When they leave; of sessions, when their first requests do.
    pub arrivals: ArrivalLaw,
    /// How long requests are, where the content does not say.
    pub lengths: Lengths,
    /// A beginning that prompts share with others.
    pub prefix: SharedPrefix,
    /// What prompts are made of.
    pub content: PromptContent,
    /// Which requests are turns of one conversation; none where each stands alone, or the content says.
    pub sessions: Option<Sessions>,
    /// The models to be asked, where it is not the endpoint's own alone: LoRA adapters by weight, one for each session.
    pub models: Vec<ModelShare>,
    /// What to do when the model wants to stop early.
    pub eos: EosRule,
    /// What the randomness starts from.
    pub seed: Seed,
    /// What sets the prompts of this run apart from another's.
    pub salt: Salt,
}

/// A model of a mix, and how often it is asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelShare {
    /// Its name, as the server knows it.
    pub model: Arc<str>,
    /// Its weight among all; above 0.
    pub weight: f64,
}

impl PlanSpec {
    /// `requests` requests in a closed loop, 1024 token ids in and 128 tokens out (the lengths that vLLM's
    /// `random` data set defaults to), no shared prefix, seed 0. The end of sequence is ignored, since random
    /// prompts have no natural end and the output would not have the asked length.
    ///
    /// # Errors
    /// If `requests` is 0.
    pub fn new(requests: u64) -> Result<Self, SpecError> {
        Ok(Self {
            requests: NonZeroU64::new(requests).ok_or(SpecError::NoRequests)?,
            arrivals: ArrivalLaw::default(),
            lengths: Lengths::fixed(1024, 128),
            prefix: SharedPrefix::None,
            content: PromptContent::default(),
            sessions: None,
            models: Vec::new(),
            eos: EosRule::Ignore,
            seed: Seed::default(),
            salt: Salt::NONE,
        })
    }

    /// Refuses requests that could be longer than the model's context, `limit` tokens for prompt and output together. The
    /// last turn of a session has all those before it in its prompt, where the specification says how many.
    ///
    /// What a data set's records hold and what a chat template adds is not known here and not counted.
    ///
    /// # Errors
    /// If the longest request is beyond `limit`; the message names the numbers.
    pub fn check_context(&self, limit: Tokens) -> Result<(), SpecError> {
        let LengthPair { input: own, output } = match &self.content {
            PromptContent::VllmRandom(_)
            | PromptContent::PrefixRepetition(_)
            | PromptContent::Dataset { .. } => self.longest_own(),
            _ => self.lengths.longest_request(),
        };
        let turns = self.sessions.map_or(1, |sessions| sessions.turns.most().get());
        let before = (own + output).get().saturating_mul(u64::from(turns) - 1);
        let input = self.prefix_tokens() + Tokens::new(before) + own;
        let longest = input + output;
        if longest > limit {
            return Err(SpecError::Context { input, output, longest, limit });
        }
        Ok(())
    }

    /// The longest own part of a prompt, as far as it is known, and the longest output.
    fn longest_own(&self) -> LengthPair {
        match &self.content {
            PromptContent::VllmRandom(random) => random.longest(),
            PromptContent::PrefixRepetition(repetition) => repetition.lengths(),
            PromptContent::Dataset { .. } => {
                LengthPair { input: Tokens::ZERO, ..self.lengths.longest() }
            }
            _ => self.lengths.longest(),
        }
    }

    /// How many tokens stand before each prompt's own part, whatever the content calls it; the history of a conversation,
    /// which stands before a later turn, is not among them.
    #[must_use]
    pub const fn prefix_tokens(&self) -> Tokens {
        match &self.content {
            PromptContent::VllmRandom(random) => random.prefix,
            PromptContent::PrefixRepetition(repetition) => repetition.prefix,
            PromptContent::Dataset { .. } => Tokens::ZERO,
            _ => self.prefix.tokens(),
        }
    }
}
