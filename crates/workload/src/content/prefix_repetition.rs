//! vLLM's `prefix_repetition` data set.

use std::num::NonZeroU64;

use fizeau_core::Tokens;
use serde::{Deserialize, Serialize};

use super::{Content, Form, Wording};
use crate::parts::LengthPair;

/// The parameters of vLLM's `prefix_repetition` data set: some prefixes, each in front of the same number of suffixes, in
/// random order.
///
/// The structure is vLLM's, the tokens are not: vLLM draws them from Python's and numpy's old global generators, and cuts the
/// requests that the prefixes do not divide; here they are drawn as all prompts are, salt included, and the first
/// prefixes have one request more. Text is fitted under the tokenizer where one is given, and is of words where none is.
/// The lengths are those given here, whatever the specification's are, and so is the prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PrefixRepetition {
    /// The form that prompts are sent in; vLLM's is text.
    pub form: Form,
    /// How many ids to draw token ids from, from 0 on; text does not use it.
    pub vocabulary: u32,
    /// `--prefix-repetition-prefix-len`.
    pub prefix: Tokens,
    /// `--prefix-repetition-suffix-len`.
    pub suffix: Tokens,
    /// `--prefix-repetition-num-prefixes`.
    pub prefixes: NonZeroU64,
    /// `--prefix-repetition-output-len`.
    pub output: Tokens,
}

/// vLLM's: 10 prefixes of 256 tokens, suffixes of 256, outputs of 128, as text.
impl Default for PrefixRepetition {
    fn default() -> Self {
        Self {
            form: Form::Text,
            vocabulary: 32_000,
            prefix: Tokens::new(256),
            suffix: Tokens::new(256),
            prefixes: NonZeroU64::MIN.saturating_add(9),
            output: Tokens::new(128),
        }
    }
}

impl PrefixRepetition {
    /// The symbols that prompts are made of.
    pub(crate) const fn content(&self, has_tokenizer: bool) -> Content {
        let wording = if has_tokenizer { Wording::Exact } else { Wording::Words };
        match self.form {
            Form::Chat => Content::Chat(wording),
            Form::Text => Content::Text(wording),
            Form::TokenIds => Content::TokenIds { range: 0..self.vocabulary },
        }
    }

    /// How long the own part of each prompt is, and each output.
    pub(crate) const fn lengths(&self) -> LengthPair {
        LengthPair { input: self.suffix, output: self.output }
    }
}
