//! What can be wrong with a file of records.

use std::fmt;

use fizeau_core::Tokens;

use crate::codec::CodecError;

/// Why a data set could not be read. Each message names the file, the place in it, what was found there and what would
/// be right.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DatasetError {
    /// There is nothing in it that could be sent.
    #[error(
        "{name} has no record that can be sent ({dropped} were left out): it must have at least one"
    )]
    Empty {
        /// The data set.
        name: Box<str>,
        /// How many records it has that the rules of the format leave out.
        dropped: u64,
    },
    /// A field is missing or holds what it must not.
    #[error("{name}, {location}: {} {found}; expected {expected}", subject(.field))]
    Field {
        /// The data set.
        name: Box<str>,
        /// Where in it.
        location: DatasetLocation,
        /// The field, as a path from the record down: `turns[1].prompt`. Empty for the record itself.
        field: Box<str>,
        /// What was found: `is -3`, `is missing`.
        found: Box<str>,
        /// What would be right.
        expected: Box<str>,
    },
    /// It is not JSON.
    #[error("{name}, {location}, column {column}: wrong JSON{}: {reason}; expected {expected}", within(.field.as_deref()))]
    Json {
        /// The data set.
        name: Box<str>,
        /// Where in it.
        location: DatasetLocation,
        /// The column of the line, in bytes from 1.
        column: u64,
        /// The field that was being read, where it is known.
        field: Option<Box<str>>,
        /// What is wrong.
        reason: Box<str>,
        /// What would be right.
        expected: Box<str>,
    },
    /// The file ends within a record.
    #[error(
        "{name} ends in the middle of {location}: the file was cut off; fetch it again, or delete that record"
    )]
    CutOff {
        /// The data set.
        name: Box<str>,
        /// Where in it.
        location: DatasetLocation,
    },
    /// It could not be read to its end.
    #[error("{name} cannot be read past {location}: {source}")]
    Read {
        /// The data set.
        name: Box<str>,
        /// How far the reading came.
        location: DatasetLocation,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// A record does not fit into a model's context.
    #[error(
        "{name}: record {record} takes {tokens} tokens, and the model's context has {limit}: leave it out"
    )]
    TooLong {
        /// The data set.
        name: Box<str>,
        /// The record, from 1, of those that were not left out.
        record: u64,
        /// How many tokens its prompts and outputs have together, as far as the data set says.
        tokens: Tokens,
        /// How many the model takes.
        limit: Tokens,
    },
    /// The tokenizer failed on a record.
    #[error("{name}, {location}: the tokenizer cannot count the text: {source}")]
    Tokenizer {
        /// The data set.
        name: Box<str>,
        /// Where in it.
        location: DatasetLocation,
        /// What the tokenizer said.
        #[source]
        source: CodecError,
    },
}

/// A location in the file of a data set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DatasetLocation {
    /// The line, from 1, blank ones counted. Of a record that fills several, the first; of wrong JSON, the one that is wrong.
    pub line: u64,
    /// The record, from 1, where lines are not records.
    pub record: Option<u64>,
}

impl fmt::Display for DatasetLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.record {
            None => write!(f, "line {}", self.line),
            Some(record) => write!(f, "line {}, record {record}", self.line),
        }
    }
}

fn subject(field: &str) -> String {
    if field.is_empty() { "the record".to_owned() } else { format!("field {field}") }
}

fn within(field: Option<&str>) -> String {
    field.map_or_else(String::new, |field| format!(" in field {field}"))
}

/// What is wrong with a record, before it is known where the record stands.
#[derive(Debug)]
pub(super) struct RecordFault {
    /// The field, as a path; empty for the record itself.
    pub(super) field: String,
    pub(super) kind: RecordFaultKind,
    pub(super) expected: String,
}

#[derive(Debug)]
pub(super) enum RecordFaultKind {
    /// What the field holds: `is -3`.
    Found(String),
    Syntax {
        /// How many lines below the record's first.
        lines: u64,
        /// In that line, from 1.
        column: u64,
        reason: String,
        /// Whether more text could mend it.
        is_cut: bool,
    },
}

impl RecordFault {
    pub(super) fn missing(field: &str, expected: impl Into<String>) -> Self {
        let kind = RecordFaultKind::Found("is missing".to_owned());
        Self { field: field.to_owned(), kind, expected: expected.into() }
    }

    /// There is no such `field`.
    pub(super) fn unknown(field: &str, expected: impl Into<String>) -> Self {
        let kind = RecordFaultKind::Found("is not known".to_owned());
        Self { field: field.to_owned(), kind, expected: expected.into() }
    }

    /// `json` is no good as a `field`.
    pub(super) fn unfit(field: &str, json: &str, expected: impl Into<String>) -> Self {
        let kind = RecordFaultKind::Found(format!("is {}", shown(json)));
        Self { field: field.to_owned(), kind, expected: expected.into() }
    }

    /// What the parser says of a record, while it read `field`.
    pub(super) fn syntax(field: String, error: &serde_json::Error, expected: &str) -> Self {
        let said = match error.is_eof() {
            true => "it ends too early".to_owned(),
            false => error.to_string(),
        };
        // The place is said elsewhere.
        let reason = said.rsplit_once(" at line ").map_or(said.as_str(), |(reason, _)| reason);
        let reason = match reason {
            "expected ident" => "a word that is not true, false or null",
            reason => reason,
        };
        let kind = RecordFaultKind::Syntax {
            lines: (error.line() as u64).saturating_sub(1),
            column: (error.column() as u64).max(1),
            reason: reason.to_owned(),
            is_cut: error.is_eof(),
        };
        Self { field, kind, expected: expected.to_owned() }
    }

    /// The same fault seen from the object that holds the faulty one as `outer`.
    pub(super) fn inside(mut self, outer: &str) -> Self {
        self.field = if self.field.is_empty() {
            outer.to_owned()
        } else {
            format!("{outer}.{}", self.field)
        };
        self
    }

    pub(super) fn at(self, at: RecordStart<'_>) -> DatasetError {
        let Self { field, kind, expected } = self;
        let (name, mut location, expected) = (at.name.into(), at.location, expected.into());
        match kind {
            RecordFaultKind::Found(found) => {
                let (field, found) = (field.into(), found.into());
                DatasetError::Field { name, location, field, found, expected }
            }
            RecordFaultKind::Syntax { lines, column, reason, is_cut } => {
                let field = (!field.is_empty()).then(|| field.into());
                location.line += lines;
                if is_cut && at.rest == RestOfFile::Nothing {
                    return DatasetError::CutOff { name, location };
                }
                let column = if lines == 0 { at.column + column - 1 } else { column };
                DatasetError::Json {
                    name,
                    location,
                    column,
                    field,
                    reason: reason.into(),
                    expected,
                }
            }
        }
    }
}

/// Where a record begins.
#[derive(Debug, Clone, Copy)]
pub(super) struct RecordStart<'a> {
    pub(super) name: &'a str,
    pub(super) location: DatasetLocation,
    /// The column of its first byte, from 1.
    pub(super) column: u64,
    pub(super) rest: RestOfFile,
}

/// What stands behind a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RestOfFile {
    /// At least the end of its line, or what separates it from the next.
    Something,
    /// The end of the file.
    Nothing,
}

/// A record's bytes as text.
pub(super) fn as_text(bytes: &[u8]) -> Result<&str, RecordFault> {
    std::str::from_utf8(bytes).map_err(|error| {
        let found = format!("not UTF-8 from its byte {} on", error.valid_up_to() + 1);
        RecordFault::unfit("", &found, "text in UTF-8")
    })
}

/// As much of `json` as a message has room for.
fn shown(json: &str) -> String {
    const ROOM: usize = 40;
    let json = json.trim();
    if json.is_empty() {
        return "empty".to_owned();
    }
    match json.char_indices().nth(ROOM) {
        None => json.to_owned(),
        Some((end, _)) => format!("{}...", json.get(..end).unwrap_or_default()),
    }
}
