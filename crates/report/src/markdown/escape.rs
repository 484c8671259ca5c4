//! Foreign text within Markdown.

use crate::text::plain;

/// `text` on one line, as text alone: nothing in it makes markup, HTML, a cell of a table, a link or a mention.
///
/// What Markdown or HTML would read as markup becomes a character reference, which neither does (CommonMark 0.31.2, 6.2
/// "Entity and numeric character references"). GitHub looks for names after that, so that an `@` is followed by a space of no
/// width; and for addresses, whose `://` is parted likewise.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for letter in plain(&text).chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '@' => out.push_str("@&#8203;"),
            '|' | '`' | '*' | '_' | '~' | '[' | ']' | '\\' | '#' | '!' | '$' => {
                out.push_str(&format!("&#{};", u32::from(letter)));
            }
            letter => out.push(letter),
        }
    }
    out.replace("://", ":&#8203;//").replace("www.", "www&#8203;.")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::escape;

    #[test]
    fn what_would_be_markup_is_text() {
        assert_eq!(escape("<script>a|b`c`\n# d"), "&lt;script&gt;a&#124;b&#96;c&#96; &#35; d");
        assert_eq!(escape("ask @all"), "ask @&#8203;all");
        assert_eq!(escape("http://a.b/c"), "http:&#8203;//a.b/c");
        assert_eq!(escape("p99 TTFT < 150 ms, 50 %"), "p99 TTFT &lt; 150 ms, 50 %");
    }

    proptest! {
        #![proptest_config(crate::testing::cases())]
        #[test]
        fn nothing_gets_out_of_a_cell(text in "\\PC*|[|`*_<>&\\n\\r\\[\\]~#\\\\$!]{0,40}") {
            let escaped = escape(&text);
            prop_assert!(!escaped.contains(['|', '`', '*', '_', '<', '>', '[', ']', '\\', '\n', '\r']));
        }
    }
}
