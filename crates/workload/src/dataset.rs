//! Data sets: prompts that somebody wrote down.

use std::sync::Arc;

use fizeau_core::{Nanos, Prompt, Tokens};

/// The records of a data set, in memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dataset {
    /// What it is called, for messages and the record of a run: a file's name.
    pub name: String,
    /// Its conversations; a record that stands alone is one of a single turn.
    pub conversations: Vec<Conversation>,
}

/// One record of a data set.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Conversation {
    /// Its turns, at least one.
    pub turns: Vec<Turn>,
}

/// One turn of a [`Conversation`]: what the user says, not what the model answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Turn {
    /// What is new in this turn. The history, with the replies that really came, goes before it.
    pub prompt: Prompt,
    /// How many tokens `prompt` has, where the data set says so.
    pub input_tokens: Option<Tokens>,
    /// The most tokens to generate, where the data set says so.
    pub output_tokens: Option<Tokens>,
    /// How long the user thinks before this turn, where the data set says so.
    pub think: Option<Nanos>,
    /// The model to be asked, where the data set names one.
    pub model: Option<Arc<str>>,
    /// Further fields of the body, as the text of a JSON object.
    pub extra: Option<Arc<str>>,
}
