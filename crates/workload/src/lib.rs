//! What is asked of an LLM endpoint, and when.
//!
//! A [`PlanSpec`] says how many requests, how long, of what content and how spaced; a [`Plan`] is the list of
//! requests that follows from it. The plan holds nothing but the specification: request `k` is computed when it
//! is asked for, in any order, and two machines with the same specification compute the same request.
//!
//! ```
//! use fizeau_core::{PerSec, RequestId, Tokens};
//! use fizeau_workload::{ArrivalLaw, Length, Lengths, Plan, Seed, PlanSpec};
//! let spec = PlanSpec {
//!     arrivals: ArrivalLaw::poisson(PerSec::new(8.0)),
//!     lengths: Lengths::Independent {
//!         input: Length::Fixed(Tokens::new(250)),
//!         output: Length::Uniform { nominal: Tokens::new(250), ratio: 0.2 },
//!     },
//!     seed: Seed(7),
//!     ..PlanSpec::new(1_000)?
//! };
//! let plan = Plan::new(spec)?;
//! let tenth = plan.request(RequestId(9));
//! assert_eq!(tenth.input_tokens, Some(Tokens::new(250)));
//! assert_eq!(plan.source().nth(9).map(|scheduled| scheduled.request), Some(tenth));
//! # Ok::<(), fizeau_workload::SpecError>(())
//! ```
//!
//! **Use this crate** to know exactly what a run asks, or to feed a driver of your own: [`PlanSource`] is a
//! [`fizeau_core::RequestSource`]. **Use `fizeau-harness`** to have the plan driven against an endpoint.
//!
//! # Invariants
//!
//! - A plan is a pure function of its specification (and of the tokenizer, where exact text is asked for); only what a
//!   later turn of a session has in front of its own part, the replies that came, is not known ahead. No
//!   clock is read and nothing is sent; the one file that is ever opened is the tokenizer's, at the caller's word.
//!   A [`Trace`] is a pure function of its specification and its file, which the caller opens.
//! - The numbers do not change with who links the crate: generator and samplers are ChaCha8 and our own code over
//!   `libm`, pinned by golden vectors.
//! - Lengths, content and gaps come from separate streams, so that changing one leaves the others as they were. A
//!   plan of more requests starts with the requests of the shorter one, but where the whole is drawn at once
//!   ([`VllmRandom`], and the order of [`PrefixRepetition`]), and at the same instants, but where those go by the
//!   number of requests ([`Rescale::ToMean`], [`RampSpan::Requests`]).
//! - Prompts change with the run's [`Salt`], and nothing else does.
//! - Prompts of token ids and of words differ from each other by construction, and warm-up prompts from both, so
//!   that a prefix cache cannot help unless a shared prefix is asked for. How much it then ought to help is
//!   [`Plan::expected_cache`].
//! - [`VllmRandom`] is the exception to the last three: it is drawn as vLLM draws it, by numpy's generator, without
//!   a salt, and two of its prompts may begin alike by chance.
//!
#![doc = include_str!("../place.md")]

mod arrivals;
mod cache;
mod codec;
mod content;
mod dataset;
mod length;
mod numpy;
mod parts;
mod plan;
mod prompts;
mod sample;
mod seed;
mod spec;
mod text;
mod tokenizer;
mod trace;
mod weights;
mod words;
mod workload;

pub use arrivals::{
    ArrivalLaw, ArrivalSchedule, ArrivalsError, InFlightCap, RampShape, RampSpan, RateStage,
    RequestedArrivals, Rescale, Spacing,
};
pub use cache::{CacheShare, Popularity, SharedPrefix};
pub use codec::{CodecError, TextCodec};
pub use content::{
    PrefixRepetition, PromptContent, PromptForm, RecordOrder, RecordReuse, TextSource, VllmRandom,
};
pub use dataset::{
    Conversation, ConversationUse, Dataset, DatasetError, DatasetLocation, ShareGpt,
};
pub use length::{
    Length, LengthBin, LengthMistake, LengthTextError, Lengths, PresetLengths, RangeRatios,
    RangeStyle, WeightedPair,
};
pub use parts::{
    ArrivalProcess, ContentSource, Instants, LengthPair, LengthSource, PromptOutline, RequestPhase,
    RequestPosition, SharedStart, Turn,
};
pub use plan::{Plan, PlanBuilder, PlanSource};
pub use prompts::{DatasetReuse, ExactText, exact_text};
pub use seed::{RandomStream, Salt, Seed};
pub use spec::{ModelShare, PlanSpec, SpecError};
pub use text::TextError;
#[cfg(feature = "hf-tokenizer")]
pub use tokenizer::{HfTokenizer, HfTokenizerError};
#[cfg(feature = "tiktoken")]
pub use tokenizer::{Tiktoken, UnknownVocabulary};
pub use trace::{
    CacheBasis, ExpectedCache, Trace, TraceError, TraceExtent, TraceFacts, TraceFormat,
    TraceOpener, TracePacing, TraceReader, TraceRecord, TraceSpec,
};
pub use workload::{
    Pacing, RequestWalk, SessionNumbers, Sessions, Shard, ShardIndexError, ShardTextError,
    ThinkTime, Turns, WalkError, Workload,
};
