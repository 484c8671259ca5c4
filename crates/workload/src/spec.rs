//! What a plan is made from, and what can be wrong with it.

use std::num::{NonZeroU32, NonZeroU64};
use std::sync::Arc;

use fizeau_core::{EosRule, Tokens};
use serde::{Deserialize, Serialize};

use crate::arrivals::{Arrivals, ArrivalsError};
use crate::content::Content;
use crate::exact::CodecError;
use crate::length::{Length, LengthMistake, Lengths};
use crate::parts::LengthPair;
use crate::prefix::SharedPrefix;
use crate::seed::{Salt, Seed};
use crate::session::Sessions;

/// What shall be asked, and when. Plain data, checked by [`crate::Plan::new`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Spec {
    /// How many requests, warm-up not counted.
    pub requests: NonZeroU64,
    /// When they leave; of sessions, when their first requests do.
    pub arrivals: Arrivals,
    /// How long requests are, where the content does not say.
    pub lengths: Lengths,
    /// What prompts begin with that others begin with too.
    pub prefix: SharedPrefix,
    /// What prompts are made of.
    pub content: Content,
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

impl Spec {
    /// `requests` requests in a closed loop, 1024 token ids in and 128 tokens out (the lengths that vLLM's
    /// `random` data set defaults to), no shared prefix, seed 0. The end of sequence is ignored, since random
    /// prompts have no natural end and the output would not have the asked length.
    ///
    /// # Errors
    /// If `requests` is 0.
    pub fn new(requests: u64) -> Result<Self, SpecError> {
        Ok(Self {
            requests: NonZeroU64::new(requests).ok_or(SpecError::NoRequests)?,
            arrivals: Arrivals::default(),
            lengths: Lengths::fixed(1024, 128),
            prefix: SharedPrefix::None,
            content: Content::default(),
            sessions: None,
            models: Vec::new(),
            eos: EosRule::Ignore,
            seed: Seed::default(),
            salt: Salt::NONE,
        })
    }

    /// Says what is wrong with this specification, the first thing only.
    pub(crate) fn check(&self) -> Result<(), SpecError> {
        self.arrivals.check()?;
        self.lengths.check()?;
        self.prefix.check()?;
        self.sessions.iter().try_for_each(Sessions::check)?;
        self.check_models()?;
        self.content.check(self)?;
        let longest = self.prefix_tokens() + self.longest_own().input;
        if longest > Length::MAX {
            let which = "prefix plus input";
            return Err(SpecError::TooLong { which, longest });
        }
        Ok(())
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
            Content::VllmRandom(_) | Content::PrefixRepetition(_) | Content::Dataset { .. } => {
                self.longest_own()
            }
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

    fn check_models(&self) -> Result<(), SpecError> {
        let mut total = 0.0;
        for share in &self.models {
            total += share.weight;
            let is_named = !share.model.is_empty();
            if !(is_named && share.weight > 0.0 && f64::is_finite(total)) {
                let (model, weight) = (share.model.clone(), share.weight);
                return Err(SpecError::Model { model, weight });
            }
        }
        Ok(())
    }

    /// The longest own part of a prompt, as far as it is known, and the longest output.
    fn longest_own(&self) -> LengthPair {
        match &self.content {
            Content::VllmRandom(random) => random.longest(),
            Content::PrefixRepetition(repetition) => repetition.lengths(),
            Content::Dataset { .. } => LengthPair { input: Tokens::ZERO, ..self.lengths.longest() },
            _ => self.lengths.longest(),
        }
    }

    /// How many tokens stand before each prompt's own part, whatever the content calls it; the history of a conversation,
    /// which stands before a later turn, is not among them.
    #[must_use]
    pub const fn prefix_tokens(&self) -> Tokens {
        match &self.content {
            Content::VllmRandom(random) => random.prefix,
            Content::PrefixRepetition(repetition) => repetition.prefix,
            Content::Dataset { .. } => Tokens::ZERO,
            _ => self.prefix.tokens(),
        }
    }
}

/// Why a specification cannot be made into a plan.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SpecError {
    /// The law of arrivals cannot be used.
    #[error(transparent)]
    Arrivals(#[from] ArrivalsError),
    /// A request would not fit the model.
    #[error(
        "requests reach {longest} tokens, prompt {input} and output {output}, and the model's context holds {limit}: ask \
         for shorter ones"
    )]
    Context {
        /// The longest prompt, prefix and history with it.
        input: Tokens,
        /// The longest output.
        output: Tokens,
        /// Both together.
        longest: Tokens,
        /// How much the model takes.
        limit: Tokens,
    },
    /// The data set does not go with the rest of the specification.
    #[error("the data set {name} cannot be used: {why}")]
    Dataset {
        /// The data set.
        name: String,
        /// What is in the way.
        why: &'static str,
    },
    /// The records of a data set are asked for and none is given.
    #[error("prompts from a data set need one, and none was given")]
    NoDataset,
    /// A law of lengths is none.
    #[error("the {which} length {mistake}")]
    Length {
        /// Which length: input, output, or both as pairs.
        which: &'static str,
        /// What is wrong with it.
        mistake: LengthMistake,
    },
    /// A length is zero.
    #[error("the {which} length is 0 tokens: it must be at least 1")]
    NoLength {
        /// Which length: input or output.
        which: &'static str,
    },
    /// The models of a mix cannot be told apart or weighed.
    #[error(
        "the model `{model}` of weight {weight} cannot be part of a mix: each needs a name and a weight above 0, \
         and the sum of weights must be a number"
    )]
    Model {
        /// Its name.
        model: Arc<str>,
        /// Its weight.
        weight: f64,
    },
    /// No requests are asked for.
    #[error("the number of requests is 0: it must be at least 1")]
    NoRequests,
    /// Exact text is asked for and no tokenizer is given.
    #[error("text of an exact number of tokens needs a tokenizer, and none was given")]
    NoTokenizer,
    /// Groups of prefixes are not described rightly.
    #[error("prefix groups cannot have {which} {value}: it must be from 0 to {most}")]
    PrefixGroups {
        /// Which number.
        which: &'static str,
        /// The number given.
        value: f64,
        /// The most that it may be.
        most: u32,
    },
    /// There are more prefixes than requests.
    #[error(
        "{requests} requests are too few for {prefixes} prefixes: each prefix needs one request at least"
    )]
    Prefixes {
        /// How many requests the plan has.
        requests: NonZeroU64,
        /// How many prefixes are asked for.
        prefixes: NonZeroU64,
    },
    /// A range ratio is outside of its range.
    #[error(
        "the {which} length's range ratio {ratio} cannot be used: it must be at least 0 and below 1"
    )]
    Ratio {
        /// Which length: input or output.
        which: &'static str,
        /// The ratio given.
        ratio: f64,
    },
    /// Prompts cannot be gone on from.
    #[error(
        "sessions of several turns need prompts of text or of chat messages, which the next turn goes on from: {0} \
         cannot be gone on from"
    )]
    SessionPrompt(&'static str),
    /// A think time is out of its range.
    #[error("the {which} cannot be {value}: it must be from 0 to {most}")]
    ThinkTime {
        /// Which number.
        which: &'static str,
        /// The number given.
        value: f64,
        /// The most that it may be.
        most: u32,
    },
    /// The tokenizer failed on the first prompt.
    #[error("the tokenizer cannot make the first prompt")]
    Tokenizer(#[source] CodecError),
    /// The data set is smaller than the plan, and must not be repeated.
    #[error(
        "the data set {name} has {records} records and {wanted} are asked for: ask for fewer requests, or let \
         records repeat"
    )]
    TooFewRecords {
        /// The data set.
        name: String,
        /// How many records it has.
        records: u64,
        /// How many the plan takes.
        wanted: u64,
    },
    /// A length is beyond [`Length::MAX`].
    #[error("the {which} length reaches {longest} tokens: it must be at most {}", Length::MAX)]
    TooLong {
        /// Which length: input, output, or prefix and input together.
        which: &'static str,
        /// The longest that could be drawn.
        longest: Tokens,
    },
    /// There are too many requests for content that is drawn whole before the run.
    #[error(
        "{requests} requests are too many for {content}, drawn whole before the run: at most {most}"
    )]
    TooMany {
        /// Which content.
        content: &'static str,
        /// How many requests are asked for.
        requests: NonZeroU64,
        /// The most that it can have.
        most: u64,
    },
    /// The fewest turns of a session are more than the most.
    #[error(
        "sessions of {least} turns at the least and {most} at the most: the least must not be above the most"
    )]
    Turns {
        /// The fewest.
        least: NonZeroU32,
        /// The most.
        most: NonZeroU32,
    },
    /// A vocabulary is larger than any tokenizer's.
    #[error("a vocabulary of {size} ids cannot be drawn from: it must be at most {most}")]
    VocabularySize {
        /// How many ids it has.
        size: u32,
        /// The most that it can have.
        most: u32,
    },
    /// The range of token ids is too small to tell prompts apart.
    #[error(
        "the token ids from {start} up to, not including, {end} are fewer than 2: widen the range"
    )]
    Vocabulary {
        /// The first id.
        start: u32,
        /// The id after the last.
        end: u32,
    },
}
