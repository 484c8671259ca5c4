//! Texts to token ids and back, without a tokenizer: one token to a word.

use crate::text;

/// The id of the token that ends a reply, and stands for a text without words.
pub(super) const END: u32 = 2;
/// Ids of words that the simulated model never says begin here, above all of its own.
const OTHERS: u32 = 10_000;
/// How many of them there are.
const OTHER_WORDS: u32 = 100_000;

/// The ids of a text: one to a word, and one if it has none. The same word has the same id; two words may share one.
pub(super) fn ids(text: &str) -> Vec<u32> {
    let ids: Vec<u32> = text.split_whitespace().map(id).collect();
    if ids.is_empty() { vec![END] } else { ids }
}

/// A text with these ids. What no word is known for is written as `t` and its number, which has that id again.
pub(super) fn text(ids: &[u32]) -> String {
    let mut text = String::new();
    for id in ids {
        match text::word_of(u64::from(*id)) {
            Some(word) => text.push_str(word),
            None => text.push_str(&format!(" t{id}")),
        }
    }
    text
}

fn id(word: &str) -> u32 {
    let known = text::id_of(word).and_then(|id| u32::try_from(id).ok());
    let numbered = || word.strip_prefix('t').and_then(|number| number.parse().ok());
    known.or_else(numbered).unwrap_or_else(|| OTHERS + hash(word) % OTHER_WORDS)
}

/// FNV-1a of 32 bits, by Fowler, Noll and Vo: the same on every machine and in every version.
fn hash(word: &str) -> u32 {
    word.bytes().fold(0x811C_9DC5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn ids_come_back(ids in prop::collection::vec(any::<u32>(), 1..50)) {
            prop_assert_eq!(super::ids(&text(&ids)), ids);
        }

        #[test]
        fn there_are_as_many_as_a_text_counts(text in "[a-z0-9 \n]{0,40}") {
            prop_assert_eq!(ids(&text).len() as u64, text::count(&text));
        }
    }

    #[test]
    fn what_the_model_says_has_its_ids() {
        let job = crate::job::JobId(5);
        let said: String = (0..40).map(|index| text::word(job, index)).collect();
        let given: Vec<_> = (0..40).map(|index| text::token_id(job, index)).collect();
        assert_eq!(ids(&said).into_iter().map(u64::from).collect::<Vec<_>>(), given);
        // FNV-1a of "a" and of "foobar", from its authors' test vectors.
        assert_eq!((hash("a"), hash("foobar")), (0xE40C_292C, 0xBF9C_F968));
    }
}
