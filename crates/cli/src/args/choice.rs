//! Values of which each is a word.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use fizeau::core::{Choice, NamedChoice};

/// One of the words of a type.
pub(super) fn choice<T: Choice>() -> impl TypedValueParser<Value = T> {
    among(T::CHOICES.to_vec())
}

/// One of these words.
pub(super) fn among<T: Copy + Send + Sync + 'static>(
    choices: Vec<NamedChoice<T>>,
) -> impl TypedValueParser<Value = T> {
    let known = choices.iter().map(|choice| PossibleValue::new(choice.word).help(choice.about));
    PossibleValuesParser::new(known).try_map(move |text| {
        let found = choices.iter().find(|choice| choice.word == text);
        found.map(|choice| choice.value).ok_or("it is none of these words")
    })
}
