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

/// What is so long, in bytes, is cut in its middle.
const LONG_WORD: usize = 40;

/// The secrets of a target. Servers repeat the key that they refuse, so their words are scrubbed before they
/// are kept.
#[derive(Debug, Clone, Default)]
pub(crate) struct Secrets(Vec<Secret>);

impl Secrets {
    pub(crate) fn add(&mut self, secret: Secret) {
        // Shorter ones cannot be told from ordinary words.
        if secret.0.len() >= 4 {
            self.0.extend(json_escaped(&secret.0));
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
            line = line.chars().take(DETAIL_CHARS - 4).collect();
            // Between words, unless the last of them is a long one.
            let word = line.rfind(' ').filter(|end| line.len() - end < LONG_WORD);
            line.truncate(word.unwrap_or(line.len()));
            line.push_str(" ...");
        }
        line
    }
}

/// `value` as a string of JSON holds it, where that is another spelling: a server's message may quote it so.
fn json_escaped(value: &str) -> Option<Secret> {
    let quoted = serde_json::to_string(value).ok()?;
    let escaped = quoted.strip_prefix('"')?.strip_suffix('"')?;
    (escaped != value).then(|| Secret::new(escaped))
}

/// What an address has escaped: `pa%20ss` as `pa ss`. What is no escape stays.
pub(crate) fn percent_decoded(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let escaped = (byte == b'%').then(|| after.get(..2)).flatten();
        let escaped = escaped
            .and_then(|digits| str::from_utf8(digits).ok())
            .filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()))
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(escaped.unwrap_or(byte));
        rest = match escaped {
            Some(_) => after.get(2..).unwrap_or_default(),
            None => after,
        };
    }
    bytes
}

/// RFC 4648, section 4.
pub(crate) fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let byte = |at: usize| u32::from(group.get(at).copied().unwrap_or_default());
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for digit in 0..4 {
            // Six bits are below 64.
            let value = (bits >> (18 - 6 * digit)) as usize & 63;
            text.push(if digit > group.len() { '=' } else { char::from(DIGITS[value]) });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{Secret, Secrets};

    #[test]
    fn a_secret_is_scrubbed_in_json_too() {
        let mut secrets = Secrets::default();
        secrets.add(Secret::new(r#"sk-"a\b"#));
        let said = r#"bad key sk-"a\b in {"key": "sk-\"a\\b"}"#;
        assert_eq!(secrets.detail(said), r#"bad key *** in {"key": "***"}"#);
    }
}
