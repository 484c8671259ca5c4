//! A document of a folder, read, or refused with file, line and field.

use std::fs;
use std::path::Path;

use fizeau_metrics::LevelSummary;
use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};

use super::StoredError;
use crate::level::SUMMARY;
use crate::sweep::SWEEP;
use crate::{Json, SummaryDocument, SweepDocument};

/// What is looked at first.
#[derive(Deserialize)]
#[serde(default)]
#[derive(Default)]
struct DocumentHead {
    schema: String,
}

/// Schemas whose words were replaced, each with the one that reads it now.
const EARLIER: [(&str, &str); 8] = [
    ("fizeau.ab/1", "fizeau.ab/2"),
    ("fizeau.levels/1", "fizeau.levels/2"),
    ("fizeau.run/1", "fizeau.run/2"),
    ("fizeau.search/1", "fizeau.search/2"),
    ("fizeau.summary/1", "fizeau.summary/2"),
    ("fizeau.sweep/1", "fizeau.sweep/2"),
    ("fizeau.tapes/1", "fizeau.tapes/2"),
    ("fizeau.whatif/1", "fizeau.whatif/2"),
];

/// The schema that reads a document of the one that is called `name`.
pub(crate) fn reader_of(name: &str) -> &str {
    EARLIER.iter().find(|(earlier, _)| *earlier == name).map_or(name, |(_, present)| present)
}

/// The document of `schema`, or of an earlier version of it, at `path`.
pub(crate) fn read<T: DeserializeOwned>(
    path: &Path,
    schema: &'static str,
) -> Result<T, StoredError> {
    let text = fs::read(path).map_err(StoredError::io(path))?;
    let DocumentHead { schema: found } = parsed(path, &text)?;
    if reader_of(&found) != schema {
        return Err(StoredError::Schema { path: path.to_path_buf(), found, reads: schema });
    }
    parsed(path, &text)
}

/// The document at `path`, of `schema` or from before it had one: such a one fits as `Earlier`, or is refused like one of another schema.
pub(crate) fn read_or_earlier<T, Earlier>(
    path: &Path,
    schema: &'static str,
) -> Result<T, StoredError>
where
    T: DeserializeOwned + From<Earlier>,
    Earlier: DeserializeOwned,
{
    match read(path, schema) {
        Err(refused @ StoredError::Schema { .. }) if schema_of(path)?.is_empty() => {
            let text = fs::read(path).map_err(StoredError::io(path))?;
            parsed::<Earlier>(path, &text).map(T::from).map_err(|_| refused)
        }
        read => read,
    }
}

/// The schema that the document at `path` names; empty if it names none.
pub(crate) fn schema_of(path: &Path) -> Result<String, StoredError> {
    let document: Json = parsed(path, &fs::read(path).map_err(StoredError::io(path))?)?;
    Ok(document.get("schema").and_then(Json::text).unwrap_or_default().to_owned())
}

/// The `summary.json` at `path`.
pub(crate) fn read_summary(path: &Path) -> Result<SummaryDocument, StoredError> {
    read(path, SUMMARY).map_err(|error| closer::<LevelSummary>(path).unwrap_or(error))
}

/// The `sweep.json` at `path`.
pub(crate) fn read_sweep(path: &Path) -> Result<SweepDocument, StoredError> {
    let parts = || {
        let figures = closer::<DocumentLevels<LevelSummary>>(path);
        figures.or_else(|| closer::<DocumentLevels<SummaryDocument>>(path))
    };
    read(path, SWEEP).map_err(|error| parts().unwrap_or(error))
}

/// A document's levels alone.
#[derive(Deserialize)]
pub(crate) struct DocumentLevels<T> {
    pub(crate) levels: Vec<T>,
}

/// Where a document is wrong in a part `T` of it whose fields stand among its own: what is read of the whole is at fault at its end only.
fn closer<T: DeserializeOwned>(path: &Path) -> Option<StoredError> {
    parsed::<T>(path, &fs::read(path).ok()?).err()
}

/// The text at `path`.
pub(crate) fn read_text(path: &Path) -> Result<String, StoredError> {
    fs::read_to_string(path).map_err(StoredError::io(path))
}

/// The text of the JSON at `path`, whatever it says. One that is no JSON is for its own reader to refuse, unless its end is missing.
pub(crate) fn read_json_text(path: &Path) -> Result<String, StoredError> {
    let text = read_text(path)?;
    match parsed::<IgnoredAny>(path, text.as_bytes()) {
        Err(error @ StoredError::CutOff { .. }) => Err(error),
        _ => Ok(text),
    }
}

fn parsed<T: DeserializeOwned>(path: &Path, text: &[u8]) -> Result<T, StoredError> {
    serde_json::from_slice(text).map_err(|error| {
        let (path, line) = (path.to_path_buf(), error.line());
        let field = field(text, line, error.column());
        if error.is_eof() {
            return StoredError::CutOff { path, bytes: text.len(), line, field };
        }
        StoredError::Document { path, line, field, problem: error.to_string() }
    })
}

/// An object or a list that is not closed yet.
enum OpenContainer {
    Object(String),
    List(usize),
}

/// The path of what is read at `column` of `line`, both from 1: `levels[0].requests`; empty at the top.
fn field(text: &[u8], line: usize, column: usize) -> String {
    let before: usize = text
        .split_inclusive(|&byte| byte == b'\n')
        .take(line.saturating_sub(1))
        .map(<[u8]>::len)
        .sum();
    let mut open: Vec<OpenContainer> = Vec::new();
    let mut last = String::new();
    let mut bytes = text.iter().take(before + column).copied();
    while let Some(byte) = bytes.next() {
        match byte {
            b'{' => open.push(OpenContainer::Object(String::new())),
            b'[' => open.push(OpenContainer::List(0)),
            b'}' | b']' => drop(open.pop()),
            b'"' => last = string(&mut bytes),
            b':' => {
                if let Some(OpenContainer::Object(key)) = open.last_mut() {
                    key.clone_from(&last);
                }
            }
            b',' => {
                if let Some(OpenContainer::List(index)) = open.last_mut() {
                    *index += 1;
                }
            }
            _ => {}
        }
    }
    let mut path = String::new();
    for part in &open {
        match part {
            OpenContainer::Object(key) if path.is_empty() || key.is_empty() => path.push_str(key),
            OpenContainer::Object(key) => path.push_str(&format!(".{key}")),
            OpenContainer::List(index) => path.push_str(&format!("[{index}]")),
        }
    }
    path
}

/// The rest of a string, behind its opening quote.
fn string(bytes: &mut impl Iterator<Item = u8>) -> String {
    let mut text = Vec::new();
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => break,
            b'\\' => text.extend(bytes.next()),
            byte => text.push(byte),
        }
    }
    String::from_utf8_lossy(&text).into_owned()
}
