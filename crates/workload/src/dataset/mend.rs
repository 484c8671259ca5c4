//! Text whose escapes are not all characters.

/// The JSON string `json` with the replacement character in place of each half of a surrogate pair.
///
/// RFC 8259 allows an escape of half a pair, and Python writes one where text was cut in the middle of a character; no
/// text in UTF-8 can hold it.
pub(super) fn mended(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    let mut rest = json;
    while let Some((before, behind)) = rest.split_once('\\') {
        out.push_str(before);
        let (len, is_half) = match (unit(behind), behind.get(5..).and_then(low_after)) {
            (Some(0xD800..=0xDBFF), Some(())) => (11, false),
            (Some(0xD800..=0xDFFF), _) => (5, true),
            // Of any other escape the first character alone matters: it may be a backslash.
            _ => (behind.chars().next().map_or(0, char::len_utf8), false),
        };
        let (escape, after) = behind.split_at_checked(len).unwrap_or((behind, ""));
        if is_half {
            out.push('\u{fffd}');
        } else {
            out.push('\\');
            out.push_str(escape);
        }
        rest = after;
    }
    out + rest
}

/// The code unit of an escape whose backslash is behind us.
fn unit(escape: &str) -> Option<u32> {
    let digits = escape.strip_prefix('u')?.get(..4)?;
    let is_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hex.then(|| u32::from_str_radix(digits, 16).ok()).flatten()
}

/// Whether `text` begins with the escape of a pair's second half.
fn low_after(text: &str) -> Option<()> {
    matches!(unit(text.strip_prefix('\\')?)?, 0xDC00..=0xDFFF).then_some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_are_replaced_and_nothing_else() {
        let read = |json: &str| serde_json::from_str::<String>(&mended(json)).unwrap();
        let cases = [
            (r#""a\ud83d""#, "a\u{fffd}"),
            (r#""\ud83d\ude00!""#, "\u{1f600}!"),
            (r#""\ude00\ud83d""#, "\u{fffd}\u{fffd}"),
            (r#""\ud83d\ud83d\ude00""#, "\u{fffd}\u{1f600}"),
            (r#""\\ud83d \n\u00e9é""#, "\\ud83d \n\u{e9}é"),
        ];
        for (json, text) in cases {
            assert_eq!(read(json), text, "{json}");
        }
        for odd in ["", "\\", "\"\\u", "\"\\ud83", "\"\\ud83d\\", "\\é", "\\ud83d\\u12é"] {
            assert!(mended(odd).len() <= odd.len(), "{odd}");
        }
    }
}
