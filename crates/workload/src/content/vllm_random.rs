//! vLLM's `random` data set, draw for draw.

use fizeau_core::Tokens;
use serde::{Deserialize, Serialize};

use super::Form;
use crate::parts::LengthPair;

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
    pub form: Form,
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
            form: Form::Text,
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
