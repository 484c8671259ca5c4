//! Data sets: prompts that somebody wrote down.
//!
//! Each format has a file of its own and ends in the same [`Dataset`]. All are read from whatever the caller opened; the
//! first record that cannot be understood ends the reading, so that nothing is sent from half a file.

mod array;
mod body;
mod error;
mod fields;
mod jsonl;
mod sharegpt;

pub use error::{DatasetError, DatasetLocation};
pub use sharegpt::{ConversationUse, ShareGpt};

pub(crate) use body::with_line;

use fizeau_core::{Prompt, Tokens};

use crate::parts::Turn;

/// The records of a data set, in memory.
///
/// | format | function |
/// |---|---|
/// | one JSON object a line, vLLM's `custom` lines among them | [`Dataset::jsonl`] |
/// | a batch file of OpenAI's API | [`Dataset::openai_batch`] |
/// | the JSON array of ShareGPT | [`Dataset::sharegpt`] |
///
/// Any other is made by hand: a data set is plain data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dataset {
    /// What it is called, for messages and the record of a run: a file's name.
    pub name: String,
    /// Its conversations; a record that stands alone is one of a single turn.
    pub conversations: Vec<Conversation>,
    /// How many records the file has beyond these: they were left out, by the rules of the format.
    pub dropped: u64,
}

/// One record of a data set.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Conversation {
    /// What the user says, turn by turn, at least once; not what the model answers.
    pub turns: Vec<Turn>,
}

impl Dataset {
    /// Holds each record against a model's context of `limit` tokens: the prompts and outputs of all its turns, as far as
    /// the data set says how long they are.
    ///
    /// # Errors
    /// If a record does not fit; the first is named.
    pub fn check_context(&self, limit: Tokens) -> Result<(), DatasetError> {
        let known = |turn: &Turn| {
            turn.input_tokens.unwrap_or_default() + turn.output_tokens.unwrap_or_default()
        };
        for (record, conversation) in (1..).zip(&self.conversations) {
            let tokens =
                conversation.turns.iter().map(known).fold(Tokens::ZERO, |sum, tokens| sum + tokens);
            if tokens > limit {
                let name = self.name.as_str().into();
                return Err(DatasetError::TooLong { name, record, tokens, limit });
            }
        }
        Ok(())
    }

    /// The same records, each asking for `output` tokens at most, whatever it says itself. Bodies are changed where they
    /// name a length.
    #[must_use]
    pub fn with_output(mut self, output: Tokens) -> Self {
        for turn in self.conversations.iter_mut().flat_map(|record| &mut record.turns) {
            turn.output_tokens = Some(output);
            if let Prompt::Body(body) = &mut turn.prompt
                && let Some(changed) = body::with_output(body, output)
            {
                *body = changed.into();
            }
        }
        self
    }

    /// How many records no salt can set apart from those of an earlier run: bodies whose first text is none, or is in
    /// parts. They go out as they stand.
    #[must_use]
    pub fn unsalted(&self) -> u64 {
        let is_bare = |turn: &Turn| match &turn.prompt {
            Prompt::Body(body) => with_line(body, "").is_none(),
            _ => false,
        };
        self.conversations.iter().filter(|record| record.turns.iter().any(is_bare)).count() as u64
    }

    /// A data set of what was read, if that is anything.
    fn of(
        name: &str,
        conversations: Vec<Conversation>,
        dropped: u64,
    ) -> Result<Self, DatasetError> {
        if conversations.is_empty() {
            return Err(DatasetError::Empty { name: name.into(), dropped });
        }
        Ok(Self { name: name.to_owned(), conversations, dropped })
    }
}

impl From<Turn> for Conversation {
    fn from(turn: Turn) -> Self {
        Self { turns: vec![turn] }
    }
}
