//! Why a specification cannot be made into a plan.

use std::num::{NonZeroU32, NonZeroU64};
use std::sync::Arc;

use fizeau_core::Tokens;

use crate::arrivals::ArrivalsError;
use crate::codec::CodecError;
use crate::length::{Length, LengthMistake};

/// Why a specification cannot be made into a plan.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SpecError {
    /// The law of arrivals cannot be used.
    #[error(transparent)]
    Arrivals(#[from] ArrivalsError),
    /// A request would not fit the model.
    #[error(
        "the longest request has {longest} tokens, {input} of prompt and {output} of output, and the model's context holds {limit}: ask for shorter requests"
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
    #[error("the prompts come from a data set, and no data set was given: give one")]
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
        "the {which} length's range ratio {ratio} cannot be used: it must be at least 0 and below 1 (1 is a fixed length in \
         the range style sglang alone)"
    )]
    Ratio {
        /// Which length: input or output.
        which: &'static str,
        /// The ratio given.
        ratio: f64,
    },
    /// The next turn cannot continue such prompts.
    #[error(
        "a session of several turns needs text or chat prompts, because each turn continues the one before: {0} cannot be continued"
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
        "the data set {name} has {records} records, and the requests need {wanted} (a conversation is one record): send \
         fewer requests, or let records repeat"
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
        "{requests} requests are too many for {content}, which is drawn before the run: ask for at most {most}"
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
        "a session of at least {least} and at most {most} turns is impossible: the first number must not be above the second"
    )]
    Turns {
        /// The fewest.
        least: NonZeroU32,
        /// The most.
        most: NonZeroU32,
    },
    /// A vocabulary is larger than any tokenizer's.
    #[error("the vocabulary has {size} ids: at most {most} can be drawn from")]
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
