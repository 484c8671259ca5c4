//! JSON as Python writes it: with numbers that JSON has no name for.

use std::borrow::Cow;

/// Longest first: one starts with the end of another.
const NO_NUMBERS: [&str; 3] = ["-Infinity", "Infinity", "NaN"];

/// The text without a byte-order mark, and with `null` where Python's `json.dump` wrote infinity or no number, as
/// in `"time_step_limit": [0.0, Infinity]`.
pub(super) fn plain(text: &str) -> Cow<'_, str> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if !NO_NUMBERS.iter().any(|word| text.contains(word)) {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len());
    let (mut rest, mut quoted) = (text, false);
    while let Some(letter) = rest.chars().next() {
        if !quoted && let Some(after) = NO_NUMBERS.iter().find_map(|word| rest.strip_prefix(word)) {
            plain.push_str("null");
            rest = after;
            continue;
        }
        // What is escaped ends no string.
        let escaped = quoted && letter == '\\';
        quoted ^= letter == '"';
        let taken: String = rest.chars().take(if escaped { 2 } else { 1 }).collect();
        rest = rest.get(taken.len()..).unwrap_or_default();
        plain.push_str(&taken);
    }
    Cow::Owned(plain)
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn only_bare_words_are_replaced() {
        assert_eq!(plain("\u{feff}{}"), "{}");
        assert_eq!(plain("[0.0, Infinity]"), "[0.0, null]");
        assert_eq!(plain("[-Infinity,NaN]"), "[null,null]");
        assert_eq!(plain(r#"{"a": "NaN", "b": NaN}"#), r#"{"a": "NaN", "b": null}"#);
        assert_eq!(plain(r#"["\"NaN", "\\", NaN, "é"]"#), r#"["\"NaN", "\\", null, "é"]"#);
    }
}
