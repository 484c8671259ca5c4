//! Foreign text in pages and drawings.

/// `text` with nothing left in it that means anything to HTML or XML, in content or in a quoted attribute. Control
/// characters and two code points that XML forbids (XML 1.0, 2.2) become the replacement character.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(' '),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::escape;

    proptest! {
        #![proptest_config(crate::testing::cases())]
        #[test]
        fn escaped_text_has_no_markup(text in any::<String>()) {
            let escaped = escape(&text);
            let forbidden = |c: char| "<>\"'".contains(c) || c.is_control();
            prop_assert!(!escaped.contains(forbidden));
            let entities = ["&amp;", "&lt;", "&gt;", "&quot;", "&#39;"];
            let known = entities.iter().map(|e| escaped.matches(e).count()).sum::<usize>();
            prop_assert_eq!(escaped.matches('&').count(), known);
        }
    }
}
