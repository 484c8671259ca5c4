//! Values of which each is a word.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

/// A word, what it stands for, and what is said of it in a help.
pub(super) type Word<T> = (&'static str, T, &'static str);

/// One of a few words.
pub(super) fn choice<T: Clone + Send + Sync + 'static>(
    words: &'static [Word<T>],
) -> impl TypedValueParser<Value = T> {
    let known = words.iter().map(|(word, _, about)| PossibleValue::new(*word).help(*about));
    PossibleValuesParser::new(known).try_map(|text| {
        let found = words.iter().find(|(word, ..)| *word == text);
        found.map(|(_, value, _)| value.clone()).ok_or("it is none of these words")
    })
}
