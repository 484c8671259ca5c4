//! Text of exactly so many tokens under a tokenizer.

use fizeau_core::{TokenCounter, Tokens};

use crate::content::{Draw, Starts};
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
    draw.exact(codec, &Starts::default())
}

/// Turns `ids` into a text that has, behind the text `before`, `wanted` tokens together with it, padding from `padding`
/// where needed.
pub(crate) fn fit_text(
    codec: &dyn TextCodec,
    before: &str,
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
