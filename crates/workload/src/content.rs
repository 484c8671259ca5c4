//! What prompts are made of.
//!
//! Every prompt starts as a row of symbols, numbers below the size of an alphabet; what a symbol stands for (a
//! token id, a word) is looked up afterwards. The first symbols of a prompt's own part spell its scrambled
//! index, so that no two prompts are the same; the rest are drawn.

use std::ops::Range;

use fizeau_core::{Message, Prompt, Role, Tokens};
use rand::Rng;
use rand::rngs::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use crate::exact::{CodecError, ExactText, TextCodec, fit_text};
use crate::sample::below;
use crate::seed::{Purpose, Seed, scramble};
use crate::spec::SpecError;
use crate::words::WORDS;

/// What a prompt is made of, and the form it is sent in.
///
/// Prompts of one plan differ from each other from the first token on, nearly always, and somewhere within the
/// first few for certain: 8 words, or 6 token ids of the default range. Shorter prompts are too few to be told
/// apart for certain, and text fitted to an exact length differs but for an astronomically small chance.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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
}

/// How the text of a prompt is come by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Wording {
    /// Fitted to exactly the asked number of tokens under a tokenizer, see [`crate::exact_text`]. The plan must
    /// be made with [`crate::Plan::with_tokenizer`].
    Exact,
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
    pub(crate) fn check(&self) -> Result<(), SpecError> {
        match self {
            Self::TokenIds { range } if range.len() < 2 => {
                Err(SpecError::Vocabulary { start: range.start, end: range.end })
            }
            _ => Ok(()),
        }
    }
}

/// Text or ids, with the number of tokens where it is certain.
pub(crate) type Made = (Prompt, Option<Tokens>);

/// Where a prompt's symbols come from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Draw {
    pub(crate) seed: Seed,
    /// The prompt's place in the whole space of prompts, warm-up included.
    pub(crate) index: u64,
    /// Which shared prefix stands before it.
    pub(crate) prefix: u64,
    pub(crate) prefix_len: Tokens,
    pub(crate) len: Tokens,
}

impl Draw {
    /// The prompt made of `range`'s token ids.
    pub(crate) fn token_ids(&self, range: &Range<u32>) -> Made {
        let ids: Vec<u32> = self
            .symbols(range.len())
            // The symbol is below the length of the range, so that the sum fits.
            .map(|symbol| range.start.saturating_add(symbol as u32))
            .collect();
        (Prompt::TokenIds(ids), Some(self.prefix_len + self.len))
    }

    /// The prompt's text made of words.
    pub(crate) fn words(&self) -> String {
        let mut text = String::new();
        for word in self.symbols(WORDS.len()).filter_map(|symbol| WORDS.get(symbol)) {
            if !text.is_empty() {
                text.push(' ');
            }
            text.push_str(word);
        }
        text
    }

    /// The prompt's text, fitted to its exact length under `codec`.
    pub(crate) fn exact(&self, codec: &dyn TextCodec) -> Result<ExactText, CodecError> {
        let vocabulary = codec.vocabulary();
        let ids = self
            .symbols(vocabulary.len())
            .filter_map(|symbol| vocabulary.get(symbol).copied())
            .collect();
        let mut padding = self.seed.stream(Purpose::Padding, self.index);
        fit_text(codec, ids, self.prefix_len + self.len, &mut padding)
    }

    /// The whole row of symbols: the shared prefix, then the prompt's own.
    fn symbols(&self, alphabet: usize) -> impl Iterator<Item = usize> + use<> {
        let bound = alphabet as u64;
        let prefix = drawn(self.seed.stream(Purpose::Prefix, self.prefix), bound);
        let body = drawn(self.seed.stream(Purpose::Body, self.index), bound);
        let spelled: Vec<usize> = spell(self.distinct(), bound).collect();
        let own = spelled.len();
        let shared = usize::try_from(self.prefix_len.get()).unwrap_or(usize::MAX);
        let len = usize::try_from(self.len.get()).unwrap_or(usize::MAX);
        let body = spelled.into_iter().chain(body.skip(own)).take(len);
        prefix.take(shared).chain(body)
    }

    /// A number that no other prompt of the plan has, and that looks like no other.
    fn distinct(&self) -> u64 {
        let key = self.seed.stream(Purpose::Distinct, 0).next_u64();
        scramble(self.index ^ key)
    }
}

/// Endless symbols below `bound`.
fn drawn(mut rng: ChaCha8Rng, bound: u64) -> impl Iterator<Item = usize> {
    std::iter::repeat_with(move || below(&mut rng, bound) as usize)
}

/// The digits of `number` to the base `base`, lowest first, as many as the largest number needs: different
/// numbers have different digits. The lowest comes first because it is the most even: prompts then part as
/// early as they can.
fn spell(number: u64, base: u64) -> impl Iterator<Item = usize> {
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

/// `text` as one message of the user.
pub(crate) fn user_message(text: String) -> Prompt {
    Prompt::Chat(vec![Message { role: Role::User, content: text }])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn digits_can_be_read_back(number: u64, base in 2_u64..5_000) {
            let digits: Vec<usize> = spell(number, base).collect();
            let read = digits.iter().rev().fold(0_u128, |n, &digit| n * u128::from(base) + digit as u128);
            prop_assert_eq!(read, u128::from(number));
            prop_assert!(digits.iter().all(|&digit| (digit as u64) < base));
        }
    }

    #[test]
    fn documented_numbers_of_symbols_tell_prompts_apart() {
        assert_eq!(spell(0, WORDS.len() as u64).count(), 8);
        assert_eq!(spell(0, 3_900).count(), 6);
    }
}
