//! What a plan is made from, and what can be wrong with it.

use std::num::NonZeroU64;

use fizeau_core::{EosRule, Tokens};
use serde::{Deserialize, Serialize};

use crate::arrivals::Arrivals;
use crate::content::Content;
use crate::exact::CodecError;
use crate::length::Length;
use crate::seed::Seed;

/// What shall be asked, and when. Plain data, checked by [`crate::Plan::new`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Spec {
    /// How many requests, warm-up not counted.
    pub requests: NonZeroU64,
    /// When they leave.
    pub arrivals: Arrivals,
    /// How many tokens each prompt has, the shared prefix not counted.
    pub input: Length,
    /// The most tokens that each request may generate.
    pub output: Length,
    /// How many tokens, the same for all prompts, stand before each prompt's own: vLLM's `--random-prefix-len`.
    /// A server with a prefix cache computes them once. Zero for none.
    pub prefix: Tokens,
    /// What prompts are made of.
    pub content: Content,
    /// What to do when the model wants to stop early.
    pub eos: EosRule,
    /// What the randomness starts from.
    pub seed: Seed,
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
            input: Length::Fixed(Tokens::new(1024)),
            output: Length::Fixed(Tokens::new(128)),
            prefix: Tokens::ZERO,
            content: Content::default(),
            eos: EosRule::Ignore,
            seed: Seed::default(),
        })
    }

    /// Says what is wrong with this specification, the first thing only.
    pub(crate) fn check(&self) -> Result<(), SpecError> {
        self.arrivals.check()?;
        self.input.check("input")?;
        self.output.check("output")?;
        let longest = self.prefix + *self.input.bounds().end();
        if longest > Length::MAX {
            let which = "prefix plus input";
            return Err(SpecError::TooLong { which, longest });
        }
        self.content.check()
    }
}

/// Why a specification cannot be made into a plan.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SpecError {
    /// The burstiness is not a usable number.
    #[error(
        "the burstiness {0} cannot be used: it must be from 0.001 to 1000000 (1 is Poisson; for an even \
         spacing use constant arrivals)"
    )]
    Burstiness(f64),
    /// A length is zero.
    #[error("the {which} length is 0 tokens: it must be at least 1")]
    NoLength {
        /// Which length: input or output.
        which: &'static str,
    },
    /// No requests are asked for.
    #[error("the number of requests is 0: it must be at least 1")]
    NoRequests,
    /// Exact text is asked for and no tokenizer is given.
    #[error("text of an exact number of tokens needs a tokenizer, and none was given")]
    NoTokenizer,
    /// The rate is not a usable number.
    #[error(
        "the rate of {0} requests per second cannot be used: it must be from 1e-9 to 1e9 (to send \
         everything at the start, use arrivals all at once)"
    )]
    Rate(f64),
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
    /// The tokenizer failed on the first prompt.
    #[error("the tokenizer cannot make the first prompt")]
    Tokenizer(#[source] CodecError),
    /// A length is beyond [`Length::MAX`].
    #[error("the {which} length reaches {longest} tokens: it must be at most {}", Length::MAX)]
    TooLong {
        /// Which length: input, output, or prefix and input together.
        which: &'static str,
        /// The longest that could be drawn.
        longest: Tokens,
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
