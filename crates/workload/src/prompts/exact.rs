//! Text of exactly so many tokens under a tokenizer.

use fizeau_core::Tokens;

use super::{Draw, Starts};
use crate::codec::{CodecError, TextCodec};
use crate::draws::Draws;
use crate::seed::Seed;

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
