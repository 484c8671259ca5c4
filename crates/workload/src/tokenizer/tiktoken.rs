//! OpenAI's vocabularies.

use std::convert::Infallible;
use std::sync::Arc;

use fizeau_core::{TokenCounter, Tokens};
use tiktoken_rs::CoreBPE;

use crate::codec::{CodecError, TextCodec};

/// One of OpenAI's byte-pair vocabularies, embedded in the program: nothing is downloaded.
///
/// Right for models that use that very vocabulary (`o200k_base` is that of gpt-4o and, its special tokens
/// apart, of gpt-oss), and an estimate for all others. Cloning is cheap; loading takes a fraction of a second.
///
/// ```
/// use fizeau_core::{TokenCounter, Tokens};
/// use fizeau_workload::Tiktoken;
/// let tokenizer = Tiktoken::named("cl100k_base")?;
/// assert_eq!(tokenizer.count("tiktoken is great!"), Ok(Tokens::new(6)));
/// # Ok::<(), fizeau_workload::UnknownVocabulary>(())
/// ```
#[derive(Clone)]
pub struct Tiktoken {
    name: &'static str,
    bpe: &'static CoreBPE,
    vocabulary: Arc<[u32]>,
    size: u32,
}

/// There is no embedded vocabulary of that name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "unknown tiktoken vocabulary `{0}`: it must be one of o200k_base, cl100k_base, p50k_base, r50k_base"
)]
pub struct UnknownVocabulary(String);

impl Tiktoken {
    /// The vocabulary of that name: `o200k_base`, `cl100k_base`, `p50k_base` or `r50k_base`.
    ///
    /// # Errors
    /// If there is no such vocabulary.
    pub fn named(name: &str) -> Result<Self, UnknownVocabulary> {
        let (name, bpe, size) = match name {
            "cl100k_base" => ("cl100k_base", tiktoken_rs::cl100k_base_singleton(), 100_256),
            "o200k_base" => ("o200k_base", tiktoken_rs::o200k_base_singleton(), 199_998),
            "p50k_base" => ("p50k_base", tiktoken_rs::p50k_base_singleton(), 50_281),
            "r50k_base" => ("r50k_base", tiktoken_rs::r50k_base_singleton(), 50_256),
            _ => return Err(UnknownVocabulary(name.to_owned())),
        };
        let vocabulary = (0..size).filter(|&id| is_word(bpe, id)).collect();
        Ok(Self { name, bpe, vocabulary, size })
    }

    fn bytes(&self, ids: &[u32]) -> Result<Vec<u8>, CodecError> {
        let bytes = self.bpe.decode_bytes(ids);
        bytes.map_err(|error| CodecError::new(format!("{}: {error}", self.name)))
    }
}

/// Whether `id` is a space and lower-case letters. Such tokens stay themselves next to each other, because these
/// vocabularies never merge across the space that starts a word.
fn is_word(bpe: &CoreBPE, id: u32) -> bool {
    let Ok(bytes) = bpe.decode_bytes(&[id]) else {
        return false;
    };
    match bytes.split_first() {
        Some((b' ', word)) => !word.is_empty() && word.iter().all(u8::is_ascii_lowercase),
        _ => false,
    }
}

impl TokenCounter for Tiktoken {
    type Error = Infallible;

    fn count(&self, text: &str) -> Result<Tokens, Infallible> {
        Ok(Tokens::new(self.bpe.count_ordinary(text) as u64))
    }
}

impl TextCodec for Tiktoken {
    fn vocabulary(&self) -> &[u32] {
        &self.vocabulary
    }

    fn encode(&self, text: &str) -> Result<Vec<u32>, CodecError> {
        Ok(self.bpe.encode_ordinary(text))
    }

    fn decode(&self, ids: &[u32]) -> Result<String, CodecError> {
        let bytes = self.bytes(ids)?;
        String::from_utf8(bytes).map_err(|error| CodecError::new(format!("{}: {error}", self.name)))
    }

    fn decode_any(&self, ids: &[u32]) -> Result<String, CodecError> {
        let bytes = self.bytes(ids)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    fn size(&self) -> u32 {
        self.size
    }

    fn special_ids(&self) -> &[u32] {
        // The end of text; in the other vocabularies all special ids come after `size`.
        if self.name == "p50k_base" { &[50_256] } else { &[] }
    }
}

// The name only: the tables fill megabytes.
fizeau_core::debug_in_part!(Tiktoken { name });
