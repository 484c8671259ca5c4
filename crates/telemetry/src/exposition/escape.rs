//! Texts between quotes.

use std::borrow::Cow;

/// The text that begins behind an opening quote, and what follows its closing one; none if it does not close.
///
/// `\\`, `\"` and `\n` are what the formats escape. Before anything else a backslash stands for itself, as Prometheus reads it.
pub(super) fn quoted(rest: &str) -> Option<(Cow<'_, str>, &str)> {
    let mut text: Option<String> = None;
    let mut from = 0;
    let bytes = rest.as_bytes();
    let mut at = 0;
    loop {
        match bytes.get(at)? {
            b'"' => {
                let tail = rest.get(from..at)?;
                let text = match text {
                    None => Cow::Borrowed(tail),
                    Some(text) => Cow::Owned(text + tail),
                };
                return Some((text, rest.get(at + 1..)?));
            }
            b'\\' => {
                let known = match bytes.get(at + 1)? {
                    b'n' => Some('\n'),
                    b'"' => Some('"'),
                    b'\\' => Some('\\'),
                    _ => None,
                };
                if let Some(known) = known {
                    let text = text.get_or_insert_default();
                    text.push_str(rest.get(from..at)?);
                    text.push(known);
                    from = at + 2;
                }
                at += 2;
            }
            _ => at += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn escapes_are_undone_and_foreign_ones_stay() {
        let text = |rest| quoted(rest).map(|(text, rest)| (text.into_owned(), rest));
        assert_eq!(text(r#"a" b"#), Some(("a".to_owned(), " b")));
        assert_eq!(text(r#"\"\\\n\q"}"#), Some(("\"\\\n\\q".to_owned(), "}")));
        assert_eq!(text(r#"é\"ü","#), Some(("é\"ü".to_owned(), ",")));
        assert_eq!(text("open"), None);
        assert_eq!(text("open\\"), None);
        assert_eq!(text("é\\é"), None);
    }
}
