//! A file of another tool, and the records in it.

use std::borrow::Cow;
use std::cell::OnceCell;

use serde::de::IgnoredAny;
use serde_json::{Map, Value};

use super::ForeignError;

/// A file of another tool: its name and its bytes. It is parsed once, when a format first asks.
///
/// ```
/// use fizeau_interop::ForeignFile;
/// let file = ForeignFile::new("results/run=0.json", b"{}");
/// assert_eq!((file.folder(), file.file_name()), ("results", "run=0.json"));
/// ```
#[derive(Debug)]
pub struct ForeignFile<'a> {
    name: &'a str,
    bytes: &'a [u8],
    records: OnceCell<Result<Vec<Value>, String>>,
}

impl<'a> ForeignFile<'a> {
    /// The file of this name, which may have folders in front, with `/` between.
    #[must_use]
    pub const fn new(name: &'a str, bytes: &'a [u8]) -> Self {
        Self { name, bytes, records: OnceCell::new() }
    }

    /// Its name as it was given.
    #[must_use]
    pub const fn name(&self) -> &'a str {
        self.name
    }

    /// Its bytes.
    #[must_use]
    pub const fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Its bytes without the mark of their order, which Windows programs put in front of UTF-8.
    pub(super) fn content(&self) -> &'a [u8] {
        self.bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(self.bytes)
    }

    /// The last part of its name.
    #[must_use]
    pub fn file_name(&self) -> &'a str {
        self.name.rsplit_once('/').map_or(self.name, |(_, last)| last)
    }

    /// What its name has in front of that; empty without a folder.
    #[must_use]
    pub fn folder(&self) -> &'a str {
        self.name.rsplit_once('/').map_or("", |(folder, _)| folder)
    }

    /// 64 bits of FNV-1a over its bytes, in hexadecimal digits (Fowler, Noll, Vo: draft-eastlake-fnv).
    #[must_use]
    pub fn checksum(&self) -> String {
        let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        format!("{:016x}", self.bytes.iter().fold(0xcbf2_9ce4_8422_2325, step))
    }

    /// The objects in it: of a JSON document the one, or those of its list; of JSON Lines one a line. Python's `NaN`, which is no
    /// JSON, is null here, and its `Infinity` the text `inf`.
    pub(super) fn records(&self) -> Result<&[Value], ForeignError> {
        let read = self.records.get_or_init(|| records(self.content()));
        read.as_deref().map_err(|why| ForeignError::damaged(self.name, why))
    }

    /// The first of them, if it is an object: what a format is recognised by.
    pub(super) fn first(&self) -> Option<&Map<String, Value>> {
        self.records().ok()?.first()?.as_object()
    }

    /// Whether the first record has all of these fields.
    pub(super) fn has(&self, fields: &[&str]) -> bool {
        let first = self.first();
        first.is_some_and(|first| fields.iter().all(|field| first.contains_key(*field)))
    }

    /// Whether it is what its name says: one that ends in `.json` or `.jsonl` and is not JSON was cut off or broken.
    ///
    /// # Errors
    /// If it is not; with what is wrong.
    pub fn check_whole(&self) -> Result<(), ForeignError> {
        let name = self.file_name().to_lowercase();
        let is_lines = name.ends_with(".jsonl");
        if !(is_lines || name.ends_with(".json")) {
            return Ok(());
        }
        let text = as_json(self.content());
        // A list of lines may have none.
        let is_empty = text.trim_ascii().is_empty();
        let why = match serde_json::Deserializer::from_slice(&text)
            .into_iter::<IgnoredAny>()
            .find_map(Result::err)
        {
            Some(error) => error.to_string(),
            None if is_empty && !is_lines => "it is empty".to_owned(),
            None => return Ok(()),
        };
        Err(ForeignError::damaged(self.name, format!("no whole JSON ({why})")))
    }

    /// What it looks like, for who does not know what it is.
    pub(super) fn looks_like(&self) -> String {
        match (self.records(), self.first()) {
            (Err(_), _) if !self.content().trim_ascii_start().starts_with(b"{") => {
                "no JSON".to_owned()
            }
            (Err(error), _) => match error {
                ForeignError::Damaged { why, .. } => why,
                other => other.to_string(),
            },
            (Ok(_), Some(first)) => {
                let fields: Vec<&str> = first.keys().take(4).map(String::as_str).collect();
                match &*fields {
                    [] => "JSON without fields".to_owned(),
                    fields => format!("JSON with the fields {}, ...", fields.join(", ")),
                }
            }
            (Ok([]), None) => "an empty file".to_owned(),
            (Ok(_), None) => "JSON, but no object".to_owned(),
        }
    }
}

fn records(bytes: &[u8]) -> Result<Vec<Value>, String> {
    if !bytes.trim_ascii_start().starts_with(b"{") && !bytes.trim_ascii_start().starts_with(b"[") {
        return Err("it does not begin as JSON does".to_owned());
    }
    let text = as_json(bytes);
    let mut all = Vec::new();
    for value in serde_json::Deserializer::from_slice(&text).into_iter::<Value>() {
        match value.map_err(|error| error.to_string())? {
            Value::Array(items) => all.extend(items),
            one => all.push(one),
        }
    }
    Ok(all)
}

/// Python's `json` writes the numbers that JSON does not have as bare words.
const WORDS: [(&[u8], &[u8]); 3] =
    [(b"NaN", b"null"), (b"-Infinity", b"\"-inf\""), (b"Infinity", b"\"inf\"")];

fn as_json(bytes: &[u8]) -> Cow<'_, [u8]> {
    let has = |word: &[u8]| bytes.windows(word.len()).any(|window| window == word);
    if !has(b"NaN") && !has(b"Infinity") {
        return Cow::Borrowed(bytes);
    }
    let mut out = Vec::with_capacity(bytes.len() + 64);
    let (mut rest, mut is_text) = (bytes, false);
    while let Some((&byte, after)) = rest.split_first() {
        let word = WORDS.iter().find(|(word, _)| !is_text && rest.starts_with(word));
        if let Some((word, json)) = word {
            out.extend_from_slice(json);
            rest = rest.get(word.len()..).unwrap_or_default();
            continue;
        }
        out.push(byte);
        rest = after;
        match (byte, rest.split_first()) {
            (b'"', _) => is_text = !is_text,
            // What is behind a backslash ends no text.
            (b'\\', Some((&escaped, after))) if is_text => {
                out.push(escaped);
                rest = after;
            }
            _ => {}
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::ForeignFile;

    #[test]
    fn one_object_a_list_and_lines_are_records_alike() {
        for text in ["{\"a\":1}\n{\"a\":2}\n", "[{\"a\":1},{\"a\":2}]", "{\"a\":1} {\"a\":2}"] {
            let file = ForeignFile::new("x", text.as_bytes());
            assert_eq!(file.records().unwrap().len(), 2, "{text}");
        }
    }

    #[test]
    fn what_python_writes_is_read_and_text_stays_as_it_is() {
        let text =
            r#"{"a": NaN, "b": -Infinity, "c": Infinity, "d": "NaN \" Infinity", "e\\": NaN}"#;
        let file = ForeignFile::new("x", text.as_bytes());
        let wanted = serde_json::json!(
            {"a": null, "b": "-inf", "c": "inf", "d": "NaN \" Infinity", "e\\": null}
        );
        assert_eq!(file.records().unwrap(), [wanted]);
    }

    #[test]
    fn the_checksum_is_fnv_1a() {
        // The test vectors of draft-eastlake-fnv.
        assert_eq!(ForeignFile::new("x", b"").checksum(), "cbf29ce484222325");
        assert_eq!(ForeignFile::new("x", b"foobar").checksum(), "85944171f73967e8");
    }
}
