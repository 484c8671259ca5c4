//! Tokenizers of Hugging Face's library.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fizeau_core::{TokenCounter, Tokens};
use tokenizers::{PostProcessor, Tokenizer};

use crate::codec::{CodecError, TextCodec};

/// A tokenizer read from a `tokenizer.json`, the file beside most open models. Cloning is cheap.
#[derive(Clone)]
pub struct HfTokenizer {
    inner: Arc<Tokenizer>,
    vocabulary: Arc<[u32]>,
    special: Arc<[u32]>,
}

/// Why a tokenizer could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HfTokenizerError {
    /// The file could not be read.
    #[error(
        "the tokenizer file {} cannot be read: give the path of a tokenizer.json, or of a model's folder that has one; \
         nothing is downloaded", path.display()
    )]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// The content is not a tokenizer.
    #[error("not a tokenizer.json of Hugging Face's tokenizers library: {reason}")]
    Malformed {
        /// What the library said.
        reason: String,
    },
    /// The vocabulary has no plain words.
    #[error(
        "the tokenizer has no token of ASCII letters that text could be drawn from: use token-id \
         prompts instead"
    )]
    NoWords,
}

impl HfTokenizer {
    /// Reads the tokenizer from a file, or from that of a model's folder.
    ///
    /// # Errors
    /// If the file cannot be read, is no tokenizer, or has no words to draw text from.
    pub fn from_file(path: impl AsRef<Path>) -> Result<Self, HfTokenizerError> {
        let mut path = path.as_ref().to_owned();
        if path.is_dir() {
            path.push("tokenizer.json");
        }
        let json =
            std::fs::read(&path).map_err(|source| HfTokenizerError::File { path, source })?;
        Self::from_json(&json)
    }

    /// Reads the tokenizer from the content of a `tokenizer.json`.
    ///
    /// # Errors
    /// If it is no tokenizer, or has no words to draw text from.
    pub fn from_json(json: &[u8]) -> Result<Self, HfTokenizerError> {
        let mut inner = Tokenizer::from_bytes(json)
            .map_err(|error| HfTokenizerError::Malformed { reason: error.to_string() })?;
        // A file may carry the settings it was trained with; either would falsify a count.
        inner.with_padding(None);
        inner
            .with_truncation(None)
            .map_err(|error| HfTokenizerError::Malformed { reason: error.to_string() })?;
        let vocabulary = words(&inner);
        if vocabulary.is_empty() {
            return Err(HfTokenizerError::NoWords);
        }
        let added = inner.get_added_tokens_decoder();
        let mut special: Vec<u32> =
            added.into_iter().filter(|(_, token)| token.special).map(|(id, _)| id).collect();
        special.sort_unstable();
        Ok(Self { inner: Arc::new(inner), vocabulary: vocabulary.into(), special: special.into() })
    }
}

/// The ids of plain words, in order: those that start a word if there are enough, since such tokens seldom
/// merge with their neighbours; otherwise all.
fn words(tokenizer: &Tokenizer) -> Vec<u32> {
    const ENOUGH: usize = 64;
    let (mut all, mut starting) = (Vec::new(), Vec::new());
    for (token, id) in tokenizer.get_vocab(false) {
        // SentencePiece marks a leading space with one sign, byte-level vocabularies with the other.
        let stem = token.strip_prefix(['\u{2581}', '\u{120}']);
        let word = stem.unwrap_or(&token);
        if word.is_empty() || !word.bytes().all(|byte| byte.is_ascii_alphabetic()) {
            continue;
        }
        all.push(id);
        if stem.is_some() {
            starting.push(id);
        }
    }
    let mut chosen = if starting.len() >= ENOUGH { starting } else { all };
    // The library hands its vocabulary out in the order of a hash map, which differs from run to run.
    chosen.sort_unstable();
    chosen
}

impl TokenCounter for HfTokenizer {
    type Error = CodecError;

    fn count(&self, text: &str) -> Result<Tokens, CodecError> {
        Ok(Tokens::new(self.encode(text)?.len() as u64))
    }
}

impl TextCodec for HfTokenizer {
    fn vocabulary(&self) -> &[u32] {
        &self.vocabulary
    }

    fn encode(&self, text: &str) -> Result<Vec<u32>, CodecError> {
        let encoding = self
            .inner
            .encode_fast(text, false)
            .map_err(|error| CodecError::new(error.to_string()))?;
        Ok(encoding.get_ids().to_vec())
    }

    fn decode(&self, ids: &[u32]) -> Result<String, CodecError> {
        self.inner.decode(ids, true).map_err(|error| CodecError::new(error.to_string()))
    }

    fn decode_any(&self, ids: &[u32]) -> Result<String, CodecError> {
        self.inner.decode(ids, false).map_err(|error| CodecError::new(error.to_string()))
    }

    fn size(&self) -> u32 {
        u32::try_from(self.inner.get_vocab_size(false)).unwrap_or(u32::MAX)
    }

    fn special_ids(&self) -> &[u32] {
        &self.special
    }

    fn special_tokens(&self) -> Tokens {
        let added = self.inner.get_post_processor().map_or(0, |post| post.added_tokens(false));
        Tokens::new(added as u64)
    }
}

impl fmt::Debug for HfTokenizer {
    /// The size only: the tables fill megabytes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HfTokenizer").field("words", &self.vocabulary.len()).finish_non_exhaustive()
    }
}
