//! Tokenizers, as prompts need them.

use fizeau_core::{TokenCounter, Tokens};

/// A tokenizer that can go both ways. `Tiktoken` and `HfTokenizer` (by feature) are two; implement it for your
/// own.
pub trait TextCodec: std::fmt::Debug + Send + Sync {
    /// The ids that random text may be drawn from, never empty: each a whole word or part of one, none of them
    /// special. The more of them stay themselves when decoded together and encoded again, the sooner a text
    /// fits.
    fn vocabulary(&self) -> &[u32];

    /// The ids of `text`, special tokens not added.
    ///
    /// # Errors
    /// If the tokenizer cannot encode the text.
    fn encode(&self, text: &str) -> Result<Vec<u32>, CodecError>;

    /// The text of `ids`.
    ///
    /// # Errors
    /// If an id is unknown, or the ids are not those of a text.
    fn decode(&self, ids: &[u32]) -> Result<String, CodecError>;

    /// The text of `ids` as Python's tokenizers have it: special tokens as they are written, and the replacement character
    /// for what is no text. [`crate::VllmRandom`] asks for it.
    ///
    /// # Errors
    /// If an id is unknown.
    fn decode_any(&self, ids: &[u32]) -> Result<String, CodecError> {
        self.decode(ids)
    }

    /// How many ids there are in all, from 0 on, without those added to the vocabulary afterwards: `vocab_size` of Python's
    /// tokenizers.
    fn size(&self) -> u32 {
        self.vocabulary().iter().max().map_or(0, |&last| last.saturating_add(1))
    }

    /// The ids that mean something other than text: `all_special_ids` of Python's tokenizers.
    fn special_ids(&self) -> &[u32] {
        &[]
    }

    /// How many special tokens a server puts to a text: `num_special_tokens_to_add` of Python's tokenizers.
    fn special_tokens(&self) -> Tokens {
        Tokens::ZERO
    }
}

/// Any codec counts: what it encodes to is how many tokens there are.
impl TokenCounter for dyn TextCodec + '_ {
    type Error = CodecError;

    fn count(&self, text: &str) -> Result<Tokens, CodecError> {
        self.encode(text).map(|ids| Tokens::new(ids.len() as u64))
    }
}

/// Why a tokenizer could not encode or decode; the message is the tokenizer's own.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct CodecError(String);

impl CodecError {
    /// An error that says `message`.
    #[must_use]
    pub fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}
