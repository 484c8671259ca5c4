//! What a simulated model says: short words, so that texts have realistic sizes, one to a token.

use crate::chance::drawn;
use crate::serve::JobId;

/// The vocabulary: plain ASCII letters, which need no escaping in JSON, each with the space that a tokenizer
/// would put in front of it. A power of two in number, so that a few bits choose one without bias.
#[rustfmt::skip] // One word a line would fill a screen.
const WORDS: [&str; 64] = [
    " a", " about", " after", " air", " all", " and", " any", " are", " as", " at", " back", " be",
    " because", " between", " but", " by", " can", " change", " day", " distance", " each",
    " every", " far", " find", " for", " from", " great", " hand", " has", " house", " how", " in",
    " is", " it", " large", " learn", " light", " line", " many", " measure", " mirror", " more",
    " not", " of", " on", " one", " or", " other", " people", " sentence", " so", " something",
    " that", " the", " their", " there", " they", " this", " through", " to", " wheel", " will",
    " with", " you",
];

/// The id of the first word. Ids below are often special tokens in real vocabularies.
const FIRST_ID: u64 = 1_000;

/// The text of token `index` of a job.
pub(crate) fn word(job: JobId, index: u64) -> &'static str {
    let place = choice(job, index) as usize;
    WORDS.get(place).copied().unwrap_or(" a")
}

/// Its token id. The same text has the same id.
pub(crate) fn token_id(job: JobId, index: u64) -> u64 {
    FIRST_ID + choice(job, index)
}

/// The text of the token with this id, if it is one of the vocabulary's.
#[cfg(feature = "http")]
pub(crate) fn word_of(id: u64) -> Option<&'static str> {
    let place = usize::try_from(id.checked_sub(FIRST_ID)?).ok()?;
    WORDS.get(place).copied()
}

/// The id of a word of the vocabulary, written without its space.
#[cfg(feature = "http")]
pub(crate) fn id_of(word: &str) -> Option<u64> {
    let place = WORDS.binary_search_by(|known| known.trim_start().cmp(word)).ok()?;
    Some(FIRST_ID + place as u64)
}

/// How many tokens a text counts for: one to a word, since there is no tokenizer; never none, since every
/// real prompt has at least a start token.
pub(crate) fn count(text: &str) -> u64 {
    count_words(text.split_whitespace())
}

/// The same of the words of a whole prompt.
pub(crate) fn count_words<'a>(words: impl Iterator<Item = &'a str>) -> u64 {
    u64::try_from(words.count()).unwrap_or(u64::MAX).max(1)
}

/// A number below 64 that looks random and depends on nothing but the arguments.
const fn choice(job: JobId, index: u64) -> u64 {
    drawn(job.0, index) % WORDS.len() as u64
}
