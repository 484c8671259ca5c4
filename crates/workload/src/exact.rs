//! Text of exactly so many tokens under a tokenizer.

use fizeau_core::{TokenCounter, Tokens};

use crate::content::Draw;
use crate::draws::Draws;
use crate::seed::Seed;

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

/// A random text and how many tokens it really has.
#[derive(Debug, Clone, PartialEq, Eq)]
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
    let draw = Draw { seed, index: 0, prefix: 0, prefix_len: Tokens::ZERO, len: tokens };
    draw.exact(codec)
}

/// Turns `ids` into a text of `wanted` tokens, padding from `padding` where needed.
pub(crate) fn fit_text(
    codec: &dyn TextCodec,
    ids: Vec<u32>,
    wanted: Tokens,
    padding: &mut Draws,
) -> Result<ExactText, CodecError> {
    const ROUNDS: usize = 10;
    let vocabulary = codec.vocabulary();
    if vocabulary.is_empty() {
        return Err(CodecError::new("the vocabulary to draw text from is empty"));
    }
    let wanted = usize::try_from(wanted.get()).unwrap_or(usize::MAX);
    let (mut ids, mut text) = (ids, String::new());
    for _ in 0..ROUNDS {
        ids.truncate(wanted);
        let missing = wanted - ids.len();
        ids.extend((0..missing).filter_map(|_| {
            let drawn = padding.below(vocabulary.len() as u64);
            vocabulary.get(drawn as usize).copied()
        }));
        text = codec.decode(&ids)?;
        ids = codec.encode(&text)?;
        if ids.len() == wanted {
            break;
        }
    }
    Ok(ExactText { text, tokens: Tokens::new(ids.len() as u64) })
}
