//! What prompts are made of.

use std::num::NonZeroU64;
use std::ops::Range;

use fizeau_core::Tokens;
use serde::{Deserialize, Serialize};

use crate::parts::LengthPair;

/// The content of prompts, and the form in which they are sent.
///
/// Prompts of one plan differ from each other from the first token on, nearly always, and somewhere within the
/// first few for certain: 8 words, or 6 token ids of the default range. Shorter prompts are too few to be told
/// apart for certain, and text fitted to an exact length differs but for an astronomically small chance.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum PromptContent {
    /// One user message, for a chat route. How many tokens the model sees is unknown here, because the server's
    /// template adds some.
    Chat(TextSource),
    /// Plain text, for a completions route.
    Text(TextSource),
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
        form: PromptForm,
        /// In which order records are taken.
        order: RecordOrder,
        /// What happens when there are fewer records than the plan has sessions.
        repeat: RecordReuse,
    },
}

/// The form that a prompt is sent in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PromptForm {
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
pub enum RecordOrder {
    /// Shuffled, by the seed.
    #[default]
    Shuffled,
    /// As they stand in the file.
    AsGiven,
}

/// What happens when a data set has fewer records than are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecordReuse {
    /// It is begun again.
    #[default]
    Allowed,
    /// The plan is refused.
    Refused,
}

/// Where the text of a prompt comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TextSource {
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

impl Default for PromptContent {
    /// Token ids from 100 up to, not including, 4000: within the vocabulary of every current model, and past
    /// the special ids that stand at the start of some.
    fn default() -> Self {
        Self::TokenIds { range: 100..4_000 }
    }
}

impl PromptContent {
    /// Whether text has to be fitted under a tokenizer.
    pub(crate) const fn is_exact(&self) -> bool {
        matches!(self, Self::Chat(TextSource::Exact) | Self::Text(TextSource::Exact))
    }
}

// vLLM's `prefix_repetition` data set.

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
    pub form: PromptForm,
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
            form: PromptForm::Text,
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
    pub(crate) const fn content(&self, has_tokenizer: bool) -> PromptContent {
        let wording = if has_tokenizer { TextSource::Exact } else { TextSource::Words };
        match self.form {
            PromptForm::Chat => PromptContent::Chat(wording),
            PromptForm::Text => PromptContent::Text(wording),
            PromptForm::TokenIds => PromptContent::TokenIds { range: 0..self.vocabulary },
        }
    }

    /// How long the own part of each prompt is, and each output.
    pub(crate) const fn lengths(&self) -> LengthPair {
        LengthPair { input: self.suffix, output: self.output }
    }
}

// vLLM's `random` data set, draw for draw.

/// vLLM's `random` data set (as of vLLM 0.33.0), draw for draw: for the same seed the lengths, the offsets, the prefix and
/// the token ids are vLLM's own, and with the model's tokenizer the texts are too.
///
/// Texts are those of Python's tokenizer where that one does not tidy spaces up (`clean_up_tokenization_spaces`), and has
/// no special ids beyond those that [`crate::TextCodec::special_ids`] gives: vLLM leaves out `all_special_ids`, which a
/// `tokenizer.json` does not name. That a server's own tokenizer counts a prompt (`/tokenize`), to trim it where the
/// two differ, is not done.
///
/// What differs from all other content, because vLLM does it so:
///
/// - Prompts are equal from run to run: the salt does not touch them. A server that still has an earlier run's
///   prompts cached is measured too fast, and supplies more than [`crate::Plan::expected_cache`].
/// - A plan of more requests does not start with the shorter one, since all prompt lengths are drawn before the first output
///   length. Past its end, a plan begins again.
/// - A prompt is a row of neighbouring ids, (offset + number + 0, 1, 2, ...): two prompts that start at the same id are the
///   same as far as the shorter goes, which a prefix cache finds.
/// - The lengths are those given here, whatever the specification's are, and so is the prefix.
///
/// Text needs a tokenizer, and is decoded and encoded again up to ten times: what is too long is cut, what is too short is
/// padded with random ids. All of that is done when the plan is made, since each prompt's padding follows from those
/// before it. Token ids need none, and are sent as they were drawn. Warm-up requests are not vLLM's (which repeats the
/// first prompt): they have the same lengths and other tokens.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct VllmRandom {
    /// The form that prompts are sent in; vLLM's is text.
    pub form: PromptForm,
    /// How many ids token ids are drawn from, from 0 on: the tokenizer's `vocab_size`, for vLLM's offsets. Text takes it
    /// from its tokenizer.
    pub vocabulary: u32,
    /// The nominal prompt length, `--random-input-len`; the prefix comes on top.
    pub input: Tokens,
    /// The nominal output length, `--random-output-len`.
    pub output: Tokens,
    /// `--random-prefix-len`.
    pub prefix: Tokens,
    /// `--random-range-ratio` of the prompt, from 0 up to, not including, 1.
    pub input_ratio: f64,
    /// `--random-range-ratio` of the output.
    pub output_ratio: f64,
}

/// vLLM's: 1024 tokens in, 128 out, no prefix, all of one length, as text.
impl Default for VllmRandom {
    fn default() -> Self {
        Self {
            form: PromptForm::Text,
            vocabulary: 32_000,
            input: Tokens::new(1024),
            output: Tokens::new(128),
            prefix: Tokens::ZERO,
            input_ratio: 0.0,
            output_ratio: 0.0,
        }
    }
}

impl VllmRandom {
    /// The longest prompt, without its prefix, and the longest output.
    pub(crate) fn longest(&self) -> LengthPair {
        let ([_, input], [_, output]) = self.ends(Tokens::ZERO);
        LengthPair { input: Tokens::new(input), output: Tokens::new(output) }
    }

    /// The shortest and the longest prompt without its prefix, and output, where the tokenizer adds `special` tokens.
    pub(crate) fn ends(&self, special: Tokens) -> ([u64; 2], [u64; 2]) {
        let ends = |length: u64, ratio: f64| {
            let length = length as f64;
            [length * (1.0 - ratio), length * (1.0 + ratio)]
        };
        let [low, high] = ends(self.input.get().saturating_sub(special.get()), self.input_ratio);
        let [least, most] = ends(self.output.get(), self.output_ratio);
        let output = [least.floor().max(1.0) as u64, most.ceil().max(1.0) as u64];
        ([low.floor() as u64, high.ceil() as u64], output)
    }
}
