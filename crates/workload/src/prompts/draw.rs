//! How a prompt that is made comes to be.
//!
//! Every prompt starts as a row of symbols, numbers below the size of an alphabet; what a symbol stands for (a
//! token id, a word) is looked up afterwards. The first symbols of a prompt's own part spell its scrambled
//! index, so that no two prompts are the same; the rest are drawn.

use std::borrow::Cow;
use std::ops::Range;

use fizeau_core::{Prompt, Tokens};

use super::PromptStarts;
use crate::codec::{CodecError, TextCodec};
use crate::parts::Turn;
use crate::seed::{RandomStream, Seed, StreamPurpose, scramble};
use crate::words::{WORDS, words};

/// Where a prompt's symbols come from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SymbolSource {
    pub(crate) seed: Seed,
    /// The prompt's place in the whole space of prompts, warm-up included.
    pub(crate) index: u64,
    /// Which shared prefix stands before it.
    pub(crate) prefix: u64,
    pub(crate) prefix_len: Tokens,
    pub(crate) len: Tokens,
}

impl SymbolSource {
    /// The prompt made of `range`'s token ids.
    pub(crate) fn token_ids(&self, range: &Range<u32>) -> Turn {
        let mut ids = self.symbols(range.len());
        for id in &mut ids {
            // The symbol is below the length of the range, so that the sum fits.
            *id = id.wrapping_add(range.start);
        }
        Turn::counted(Prompt::TokenIds(ids), Some(self.prefix_len + self.len))
    }

    /// The prompt's text made of words.
    pub(crate) fn words(&self) -> String {
        words(self.symbols(WORDS.len()).into_iter().map(u64::from))
    }

    /// The prompt's text, fitted to its exact length under `codec`: behind its prefix, whose text all that share it have
    /// alike. Where prefix and own part meet, a token of either may become one with its neighbour.
    pub(crate) fn exact(
        &self,
        codec: &dyn TextCodec,
        starts: &PromptStarts,
    ) -> Result<ExactText, CodecError> {
        let vocabulary = codec.vocabulary();
        let before = if self.prefix_len == Tokens::ZERO {
            Cow::Borrowed("")
        } else {
            let fit = || self.exact_prefix(codec);
            starts.text(self.prefix, fit)?
        };
        let ids = self
            .own_symbols(vocabulary.len())
            .iter()
            .filter_map(|&symbol| vocabulary.get(symbol as usize).copied())
            .collect();
        let mut padding = self.seed.stream(StreamPurpose::Padding, self.index);
        fit_text(codec, &before, ids, self.prefix_len + self.len, &mut padding)
    }

    /// The text of the prompt's prefix, fitted to its exact length.
    fn exact_prefix(&self, codec: &dyn TextCodec) -> Result<String, CodecError> {
        let mut draws = self.seed.stream(StreamPurpose::Prefix, self.prefix);
        // No ids to begin with: all are padding, drawn from the prefix's own stream.
        Ok(fit_text(codec, "", Vec::new(), self.prefix_len, &mut draws)?.text)
    }

    /// The whole row of symbols: the shared prefix, then the prompt's own.
    pub(super) fn symbols(&self, alphabet: usize) -> Vec<u32> {
        let mut symbols = Vec::with_capacity(places(self.prefix_len + self.len));
        let mut prefix = self.seed.stream(StreamPurpose::Prefix, self.prefix);
        prefix.extend_below(bound(alphabet), places(self.prefix_len), &mut symbols);
        self.extend_own(alphabet, &mut symbols);
        symbols
    }

    /// The prompt's own symbols.
    fn own_symbols(&self, alphabet: usize) -> Vec<u32> {
        let mut symbols = Vec::with_capacity(places(self.len));
        self.extend_own(alphabet, &mut symbols);
        symbols
    }

    fn extend_own(&self, alphabet: usize, symbols: &mut Vec<u32>) {
        let begins = symbols.len();
        let mut body = self.seed.stream(StreamPurpose::Body, self.index);
        body.extend_below(bound(alphabet), places(self.len), symbols);
        let digits = digits_of(self.distinct(), alphabet as u64);
        for (symbol, digit) in symbols.iter_mut().skip(begins).zip(digits) {
            *symbol = digit as u32;
        }
    }

    /// A number that no other prompt of the plan has, and that looks like no other.
    fn distinct(&self) -> u64 {
        let key = self.seed.stream(StreamPurpose::Distinct, 0).next_u64();
        scramble(self.index ^ key)
    }
}

/// As a bound of symbols. No alphabet is larger: ids are 32-bit numbers.
fn bound(alphabet: usize) -> u32 {
    u32::try_from(alphabet).unwrap_or(u32::MAX)
}

fn places(tokens: Tokens) -> usize {
    usize::try_from(tokens.get()).unwrap_or(usize::MAX)
}

/// The digits of `number` to the base `base`, lowest first, as many as the largest number needs: different
/// numbers have different digits. The lowest comes first because it is the most even: prompts then part as
/// early as they can.
pub(crate) fn digits_of(number: u64, base: u64) -> impl Iterator<Item = usize> {
    let base = base.max(2);
    let (mut number, mut largest) = (number, u64::MAX);
    std::iter::from_fn(move || {
        if largest == 0 {
            return None;
        }
        let digit = number % base;
        (number, largest) = (number / base, largest / base);
        Some(digit as usize)
    })
}

// Text of exactly so many tokens under a tokenizer.

/// A random text and how many tokens it really has.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExactText {
    /// The text.
    pub text: String,
    /// How many tokens the text has when it is encoded, special tokens not added. The asked number, but for a
    /// tokenizer under which ten rounds do not get there.
    pub tokens: Tokens,
}

/// Makes a random text of `tokens` tokens under `codec`.
///
/// Random ids are decoded, and the text encoded again, because neighbouring ids may merge into one or fall
/// apart into several. What is too long is cut, what is too short is padded with random ids; up to ten rounds,
/// as vLLM's `random` data set does it.
///
/// # Errors
/// If the codec has no vocabulary, or cannot decode ids of its vocabulary or encode the text of them.
pub fn exact_text(
    codec: &dyn TextCodec,
    tokens: Tokens,
    seed: Seed,
) -> Result<ExactText, CodecError> {
    let draw = SymbolSource { seed, index: 0, prefix: 0, prefix_len: Tokens::ZERO, len: tokens };
    draw.exact(codec, &PromptStarts::default())
}

/// Turns `ids` into a text that has, behind the text `before`, `wanted` tokens together with it, padding from `padding`
/// where needed.
pub(crate) fn fit_text(
    codec: &dyn TextCodec,
    before: &str,
    ids: Vec<u32>,
    wanted: Tokens,
    padding: &mut RandomStream,
) -> Result<ExactText, CodecError> {
    const ROUNDS: usize = 10;
    let vocabulary = codec.vocabulary();
    if vocabulary.is_empty() {
        return Err(CodecError::new("the vocabulary to draw text from is empty"));
    }
    let wanted = usize::try_from(wanted.get()).unwrap_or(usize::MAX);
    let behind = if before.is_empty() { 0 } else { codec.encode(before)?.len() };
    let mut own = wanted.saturating_sub(behind);
    let (mut ids, mut text, mut tokens) = (ids, String::new(), 0);
    for _ in 0..ROUNDS {
        ids.truncate(own);
        let missing = own - ids.len();
        ids.extend((0..missing).filter_map(|_| {
            let drawn = padding.below(vocabulary.len() as u64);
            vocabulary.get(drawn as usize).copied()
        }));
        let decoded = codec.decode(&ids)?;
        text = format!("{before}{decoded}");
        let whole = codec.encode(&text)?;
        tokens = whole.len();
        if tokens == wanted {
            break;
        }
        ids = if before.is_empty() { whole } else { codec.encode(&decoded)? };
        own = (ids.len() + wanted).saturating_sub(tokens);
    }
    Ok(ExactText { text, tokens: Tokens::new(tokens as u64) })
}
