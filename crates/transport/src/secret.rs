//! Values that must never be shown, and the scrubbing of texts that may repeat them.

use std::fmt;

/// An API key or another value that must never reach a file, a log or an error text. It prints as `***`.
///
/// ```
/// use fizeau_transport::Secret;
/// let key = Secret::new("sk-12345");
/// assert_eq!(format!("{key} {key:?}"), "*** Secret(***)");
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Keeps `value`.
    #[must_use]
    pub fn new(value: impl Into<String>) -> Self {
        Self(value.into())
    }

    pub(crate) fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(***)")
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// The most characters of a server's message that a failure's detail repeats.
const DETAIL_CHARS: usize = 200;

/// The secrets of a target. Servers repeat the key that they refuse, so their words are scrubbed before they
/// are kept.
#[derive(Debug, Clone, Default)]
pub(crate) struct Secrets(Vec<Secret>);

impl Secrets {
    pub(crate) fn add(&mut self, secret: Secret) {
        // Shorter ones cannot be told from ordinary words.
        if secret.0.len() >= 4 {
            self.0.push(secret);
            // The longest first, or one within another would leave the rest of it.
            self.0.sort_by_key(|secret| std::cmp::Reverse(secret.0.len()));
        }
    }

    /// `text` as one line of at most 200 characters without any of the secrets. The scrubbing comes first, or
    /// the cut could leave half a secret.
    pub(crate) fn detail(&self, text: &str) -> String {
        let mut line = String::with_capacity(text.len().min(4 * DETAIL_CHARS));
        let scrubbed = self
            .0
            .iter()
            .fold(text.to_owned(), |text, secret| text.replace(secret.expose(), "***"));
        let words = scrubbed.split(|c: char| c.is_whitespace() || c.is_control());
        for word in words.filter(|word| !word.is_empty()) {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
        if line.chars().count() > DETAIL_CHARS {
            line = line.chars().take(DETAIL_CHARS - 3).collect();
            line.push_str("...");
        }
        line
    }
}
