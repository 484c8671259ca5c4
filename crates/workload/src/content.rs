//! What prompts are made of.

mod dataset;
mod draw;
mod prefix_repetition;
mod sonnet;
mod sonnets;
mod starts;
mod vllm_random;

pub(crate) use dataset::DatasetContent;
pub(crate) use draw::{Draw, spell};
pub use prefix_repetition::PrefixRepetition;
pub(crate) use prefix_repetition::drawn_whole;
pub(crate) use starts::Starts;
pub(crate) use vllm_random::VllmDraws;
pub use vllm_random::VllmRandom;

use std::ops::Range;
use std::sync::Arc;

use fizeau_core::{Message, Prompt, RequestId, Role, SessionId, Tokens};
use serde::{Deserialize, Serialize};

use crate::exact::TextCodec;
use crate::parts::{ContentSource, LengthPair, Made, Outline, Phase, Place, SharedStart};
use crate::spec::{Spec, SpecError};
use starts::Start;

/// What a prompt is made of, and the form it is sent in.
///
/// Prompts of one plan differ from each other from the first token on, nearly always, and somewhere within the
/// first few for certain: 8 words, or 6 token ids of the default range. Shorter prompts are too few to be told
/// apart for certain, and text fitted to an exact length differs but for an astronomically small chance.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Content {
    /// One user message, for a chat route. How many tokens the model sees is unknown here, because the server's
    /// template adds some.
    Chat(Wording),
    /// Plain text, for a completions route.
    Text(Wording),
    /// Token ids, for a completions route that takes them. The length is certain, and no tokenizer is needed.
    TokenIds {
        /// The ids to draw from; at least two.
        range: Range<u32>,
    },
    /// No prompt at all, but its length: for whoever simulates an engine and reads no prompts. Sent to a server it is empty.
    Unread,
    /// vLLM's `random` data set, draw for draw: the same lengths, offsets and tokens for the same seed.
    VllmRandom(VllmRandom),
    /// vLLM's `prefix_repetition` data set.
    PrefixRepetition(PrefixRepetition),
    /// The records of a data set, given to [`crate::PlanBuilder::dataset`].
    ///
    /// Conversations of several turns are sessions; where all records stand alone each is a request. Lengths are the
    /// record's, and the specification's law where the record has none; how many tokens the prompt has is counted where a
    /// tokenizer is given and text is sent as text. Warm-up takes the records that the measured part leaves over, and
    /// begins with its last ones where there are none.
    ///
    /// With a [`crate::Salt`] the first message of a session begins with a line of eight words that no other session has, of
    /// this run or of one with another salt, so that neither an earlier run, nor warm-up, nor a record that comes again fills a
    /// prefix cache for it. So do token ids, with ids that the data set has itself, and whole
    /// bodies in front of their first text, where that is plain. Without a salt, all is sent to the letter.
    Dataset {
        /// The form that plain text is sent in.
        form: Form,
        /// In which order records are taken.
        order: Order,
        /// What happens when there are fewer records than the plan has sessions.
        repeat: Repeat,
    },
}

/// The form that a prompt is sent in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// One user message, for a chat route.
    Chat,
    /// Plain text, for a completions route.
    #[default]
    Text,
    /// Token ids, for a completions route that takes them.
    TokenIds,
}

/// In which order the records of a data set are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// Shuffled, by the seed.
    #[default]
    Shuffled,
    /// As they stand in the file.
    AsGiven,
}

/// What happens when a data set has fewer records than are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Repeat {
    /// It is begun again.
    #[default]
    Allowed,
    /// The plan is refused.
    Refused,
}

/// How the text of a prompt is come by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Wording {
    /// Fitted to exactly the asked number of tokens under a tokenizer, see [`crate::exact_text`]. The plan must
    /// be made with [`crate::Plan::with_tokenizer`].
    Exact,
    /// Lines drawn from Shakespeare's sonnets, as vLLM's `sonnet` data set has them, after a line of eight words that no other
    /// prompt has. Under a tokenizer the text is cut to exactly the asked number of tokens; without one it has as many
    /// words as tokens are asked for, which makes about a third more tokens.
    Sonnet,
    /// As many short, common English words as tokens are asked for. Most vocabularies have each as one token,
    /// so the length is about right; the server's count is the truth.
    Words,
}

impl Default for Content {
    /// Token ids from 100 up to, not including, 4000: within the vocabulary of every current model, and past
    /// the special ids that stand at the start of some.
    fn default() -> Self {
        Self::TokenIds { range: 100..4_000 }
    }
}

impl Content {
    /// Whether text has to be fitted under a tokenizer.
    pub(crate) const fn is_exact(&self) -> bool {
        matches!(self, Self::Chat(Wording::Exact) | Self::Text(Wording::Exact))
    }

    /// Says what is wrong with this content.
    pub(crate) fn check(&self, spec: &Spec) -> Result<(), SpecError> {
        match self {
            Self::TokenIds { range } if range.len() < 2 => {
                Err(SpecError::Vocabulary { start: range.start, end: range.end })
            }
            Self::TokenIds { .. }
            | Self::Chat(_)
            | Self::Text(_)
            | Self::Unread
            | Self::Dataset { .. } => Ok(()),
            Self::VllmRandom(random) => random.check(spec),
            Self::PrefixRepetition(repetition) => repetition.check(spec),
        }
    }
}

/// Prompts that are made, not taken from a data set.
#[derive(Debug, Clone)]
pub(crate) struct Synthetic {
    content: Content,
    starts: Starts,
    tokenizer: Option<Arc<dyn TextCodec>>,
    /// How long requests are, where the content says so.
    lengths: Option<LengthPair>,
}

impl ContentSource for Synthetic {
    fn content(&self, place: &Place) -> Made {
        let draw = self.draw(place);
        let made = match &self.content {
            Content::TokenIds { range } => draw.token_ids(range),
            Content::Unread => {
                let tokens = draw.prefix_len + draw.len;
                Made::new(Prompt::TokenIds(Vec::new()), Some(tokens))
            }
            Content::Text(wording) => {
                let (text, tokens) = self.text(*wording, &draw);
                Made::new(Prompt::Text(text), tokens)
            }
            Content::Chat(wording) => Made::new(user_message(self.text(*wording, &draw).0), None),
            _ => Made::new(Prompt::Text(String::new()), None),
        };
        Made { output_tokens: self.lengths.map(|lengths| lengths.output), ..made }
    }

    fn shares(&self) -> bool {
        self.starts.shares()
    }

    fn outline(&self, place: &Place) -> Option<Outline> {
        let draw = self.draw(place);
        let shares = draw.prefix_len > Tokens::ZERO;
        Some(Outline {
            shared: shares.then_some(SharedStart { number: draw.prefix, tokens: draw.prefix_len }),
            row: None,
            tokens: draw.prefix_len + draw.len,
        })
    }
}

impl Synthetic {
    /// The prompts that `spec` asks for.
    pub(crate) fn new(spec: &Spec, tokenizer: Option<Arc<dyn TextCodec>>) -> Self {
        let (content, starts, lengths) = match &spec.content {
            Content::PrefixRepetition(repetition) => {
                let content = repetition.content(tokenizer.is_some());
                (content, Starts::repeated(spec, repetition), Some(repetition.lengths()))
            }
            content => (content.clone(), Starts::new(spec), None),
        };
        let starts = if content.is_exact() { starts.with_texts() } else { starts };
        Self { content, starts, tokenizer, lengths }
    }

    /// Whether text has to be fitted under a tokenizer.
    pub(crate) const fn is_exact(&self) -> bool {
        self.content.is_exact()
    }

    /// Makes the longest prompt that there can be, to see whether the tokenizer can.
    pub(crate) fn try_longest(&self, spec: &Spec) -> Result<(), SpecError> {
        let codec = self.tokenizer.as_deref().ok_or(SpecError::NoTokenizer)?;
        let first = Place {
            seed: spec.seed.salted(spec.salt),
            phase: Phase::Measured,
            request: RequestId(0),
            session: SessionId(0),
            turn: 0,
            input: spec.lengths.longest().input,
        };
        self.draw(&first).exact(codec, &self.starts).map(drop).map_err(SpecError::Tokenizer)
    }

    fn draw(&self, place: &Place) -> Draw {
        let len = self.lengths.map_or(place.input, |lengths| lengths.input);
        let start = self.starts.of(place);
        let draw =
            Draw { seed: place.seed, index: place.key(), prefix: 0, prefix_len: Tokens::ZERO, len };
        match start {
            Start::None => draw,
            Start::Own(tokens) => Draw { len: tokens + len, ..draw },
            Start::Shared { number, tokens } => Draw { prefix: number, prefix_len: tokens, ..draw },
        }
    }

    fn text(&self, wording: Wording, draw: &Draw) -> (String, Option<Tokens>) {
        let fitted = match (wording, self.tokenizer.as_deref()) {
            (Wording::Exact, Some(codec)) => draw.exact(codec, &self.starts).ok(),
            (Wording::Sonnet, Some(codec)) => draw.exact_sonnet(codec).ok(),
            (Wording::Words, _) | (_, None) => None,
        };
        match (fitted, wording) {
            (Some(exact), _) => (exact.text, Some(exact.tokens)),
            (None, Wording::Sonnet) => (draw.sonnet(), None),
            (None, Wording::Exact | Wording::Words) => (draw.words(), None),
        }
    }
}

/// `text` as one message of the user.
pub(crate) fn user_message(text: String) -> Prompt {
    Prompt::Chat(vec![Message { role: Role::User, content: text }])
}
