//! What prompts are made of.

mod prefix_repetition;
mod vllm_random;

pub use prefix_repetition::PrefixRepetition;
pub use vllm_random::VllmRandom;

use std::ops::Range;

use serde::{Deserialize, Serialize};

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
}
