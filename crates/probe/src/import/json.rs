//! Documents that may be torn, or hold what JSON has no words for.

use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};

use super::cell;
use super::reading::NotThis;
use super::source::Source;

/// Structs of a document in which any field may be missing. A field without a type is [`Loose`].
macro_rules! document {
    ($($name:ident { $($(#[$about:meta])* $field:ident $(: $type:ty)?),+ $(,)? })+) => {
        $(
            #[derive(Debug, Default, serde::Deserialize)]
            #[serde(default)]
            struct $name {
                $($(#[$about])* $field: $crate::import::json::document!(@ $($type)?),)+
            }
        )+
    };
    (@) => { $crate::import::json::Loose };
    (@ $type:ty) => { $type };
}
pub(super) use document;

/// The document of a file, and a note where it is torn: then the list called `rows` ends with its last whole element, and where no element of
/// it is whole the document has what stands before.
pub(super) fn read<T: DeserializeOwned>(
    source: &Source,
    rows: &str,
) -> Result<(T, Option<String>), NotThis> {
    let text = source.json().ok_or_else(|| NotThis::no("line that begins with `{`"))?;
    let (text, torn) = mended(&text, rows);
    let mut documents = serde_json::Deserializer::from_str(&text).into_iter();
    let document = documents.next().ok_or_else(|| NotThis::no("JSON"))?;
    let document = document.map_err(|error| NotThis(format!("as JSON: {error}")))?;
    Ok((document, torn.map(|torn| torn.told(source, rows))))
}

/// Of a document that ends too early, that it does and where.
pub(super) fn torn(source: &Source) -> Option<String> {
    let text = source.json()?;
    let mut documents = serde_json::Deserializer::from_str(&text).into_iter::<IgnoredAny>();
    let ends_early = documents.next()?.err().is_some_and(|error| error.is_eof());
    let (line, column) = source.end();
    ends_early.then(|| {
        format!(
            "; it is JSON that is torn in line {line}, column {column}, before it says whose it is"
        )
    })
}

/// Where the rows of a document that ends too early stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Torn {
    /// Behind a whole element of its rows.
    AfterRows,
    /// Before any of them is whole.
    BeforeRows,
}

impl Torn {
    fn told(self, source: &Source, rows: &str) -> String {
        let (line, column) = source.end();
        let place = format!("the file is torn in line {line}, column {column}");
        match self {
            Self::AfterRows => format!("{place}: its list `{rows}` ends with what was whole"),
            Self::BeforeRows => {
                format!("{place}, before a first element of its list `{rows}` is whole")
            }
        }
    }
}

/// A list or an object that is open.
struct Open<'a> {
    closer: char,
    /// Under which key it stands.
    key: &'a str,
}

/// `text` with null in place of `NaN` and `Infinity`, which Python writes. If it ends early, it is closed after the last whole element of
/// the list `rows`, or else after the last whole field before that list.
fn mended(text: &str, rows: &str) -> (String, Option<Torn>) {
    let mut open: Vec<Open<'_>> = Vec::new();
    let mut out = String::with_capacity(text.len());
    // How much of it is whole, and what closes that.
    let mut whole = (0, String::new());
    let mut torn = Torn::BeforeRows;
    let (mut key, mut rest) = ("", text);
    while let Some(first) = rest.chars().next() {
        let token = token_length(rest, first);
        let (token, after) = rest.split_at(token);
        rest = after;
        let closers = |open: &[Open<'_>]| open.iter().rev().map(|open| open.closer).collect();
        let is_row =
            |open: &[Open<'_>]| open.iter().any(|list| list.closer == ']' && list.key == rows);
        if first == ',' && torn == Torn::BeforeRows && !is_row(&open) {
            whole = (out.len(), closers(&open));
        }
        match token {
            "NaN" | "Infinity" | "-Infinity" => out.push_str("null"),
            _ => out.push_str(token),
        }
        match first {
            '"' => key = token.trim_matches('"'),
            '{' => open.push(Open { closer: '}', key }),
            '[' => open.push(Open { closer: ']', key }),
            '}' | ']' => {
                open.pop();
                if open.is_empty() {
                    return (out, None);
                }
                if open.last().is_some_and(|list| list.closer == ']' && list.key == rows) {
                    (whole, torn) = ((out.len(), closers(&open)), Torn::AfterRows);
                }
            }
            _ => {}
        }
        if first == '{' && torn == Torn::BeforeRows && !is_row(&open) {
            whole = (out.len(), closers(&open));
        }
        if first == '[' {
            // What stands in a list has no key of its own.
            key = "";
        }
    }
    let (length, closers) = whole;
    out.truncate(length);
    out.push_str(&closers);
    (out, Some(torn))
}

/// Of a string, of a word or a number, or of one character.
fn token_length(rest: &str, first: char) -> usize {
    if first == '"' {
        let mut is_escaped = false;
        let end = rest.char_indices().skip(1).find(|(_, c)| {
            let ends = *c == '"' && !is_escaped;
            is_escaped = *c == '\\' && !is_escaped;
            ends
        });
        return end.map_or(rest.len(), |(at, _)| at + 1);
    }
    let is_word = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
    if !is_word(first) {
        return first.len_utf8();
    }
    rest.find(|c| !is_word(c)).unwrap_or(rest.len())
}

/// A value that tools write as a number, as a text or not at all.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub(super) enum Loose {
    Number(f64),
    Text(String),
    Truth(bool),
    Nothing(IgnoredAny),
}

impl Default for Loose {
    fn default() -> Self {
        Self::Nothing(IgnoredAny)
    }
}

impl Loose {
    /// A finite number, written as a number or as a text.
    pub(super) fn number(&self) -> Option<f64> {
        match self {
            Self::Number(number) => Some(*number).filter(|number| number.is_finite()),
            Self::Text(text) => cell::number(text),
            Self::Truth(_) | Self::Nothing(_) => None,
        }
    }

    pub(super) fn count(&self) -> Option<u64> {
        cell::whole(self.number()?)
    }

    /// What is written, trimmed.
    pub(super) fn text(&self) -> Option<String> {
        match self {
            Self::Number(number) => Some(number.to_string()),
            Self::Text(text) => Some(text.trim().to_owned()).filter(|text| !text.is_empty()),
            Self::Truth(truth) => Some(truth.to_string()),
            Self::Nothing(_) => None,
        }
    }

    /// Yes or no, where it says so.
    pub(super) fn truth(&self) -> Option<bool> {
        match self {
            Self::Truth(truth) => Some(*truth),
            Self::Text(text) if text == "true" => Some(true),
            Self::Text(text) if text == "false" => Some(false),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_torn_list_keeps_its_whole_elements() {
        let text = r#"{"a": "]\"}", "rows": [{"x": [1, NaN]}, {"x": [2"#;
        let closed = r#"{"a": "]\"}", "rows": [{"x": [1, null]}]}"#;
        assert_eq!(mended(text, "rows"), (closed.to_owned(), Some(Torn::AfterRows)));
        let whole = r#"{"rows": [[1], [2]]} rest {"#;
        assert_eq!(mended(whole, "rows"), (r#"{"rows": [[1], [2]]}"#.to_owned(), None));
    }

    #[test]
    fn what_is_torn_before_its_rows_keeps_whole_fields() {
        for (text, kept) in [
            (r#"{"rows": [1"#, "{}"),
            (r#"{"a": {"b": 1, "c": 2"#, r#"{"a": {"b": 1}}"#),
            (r#"{"a": {"b": 1}, "rows": [{"x": 1, "#, r#"{"a": {"b": 1}}"#),
            (r#"{"a": {"b": "#, r#"{"a": {}}"#),
        ] {
            assert_eq!(mended(text, "rows"), (kept.to_owned(), Some(Torn::BeforeRows)), "{text}");
        }
    }
}
