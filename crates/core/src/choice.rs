//! Values that people choose by a word.

/// A type of few values, each with a word by which people choose it and with what it means: for a command line, a form, a file of settings.
///
/// ```
/// use fizeau_core::{Choice, LoadKind};
///
/// let kind = LoadKind::CHOICES.iter().find(|choice| choice.word == "concurrency");
/// assert_eq!(kind.map(|kind| kind.value), Some(LoadKind::Concurrency));
/// assert_eq!(kind.map(|kind| kind.about), Some("Requests in flight at any time"));
/// ```
pub trait Choice: Copy + Send + Sync + 'static {
    /// All of them, in the order in which they are shown.
    const CHOICES: &'static [NamedChoice<Self>];
}

/// A value with its word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NamedChoice<T> {
    /// The word.
    pub word: &'static str,
    /// What it stands for.
    pub value: T,
    /// What that means, in a phrase.
    pub about: &'static str,
}

impl<T> NamedChoice<T> {
    /// `word` for `value`, with what that means.
    #[must_use]
    pub const fn new(word: &'static str, value: T, about: &'static str) -> Self {
        Self { word, value, about }
    }
}
