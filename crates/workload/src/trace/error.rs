//! What can be wrong with a trace, or with what is asked of it.

use std::sync::Arc;

use fizeau_core::{Nanos, Tokens};

use crate::codec::CodecError;

/// Why a trace cannot be replayed. Nothing was sent.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TraceError {
    /// The content asked for cannot be made for a trace.
    #[error(
        "a trace cannot be replayed with this content: use token ids, or words or text of an exact number of tokens"
    )]
    Content,
    /// No line of the trace is a request that can be sent.
    #[error(
        "{file} has no request that can be sent ({skipped} rows without tokens were passed over)"
    )]
    Empty {
        /// The trace.
        file: Arc<str>,
        /// Rows without prompt or reply.
        skipped: u64,
    },
    /// A line is not what the format says.
    #[error("{file}, line {line}{}: found {found}, expected {expected}", of_field(field))]
    Line {
        /// The trace.
        file: Arc<str>,
        /// Which line, from 1.
        line: u64,
        /// Which field of it; `line` where it is the line as a whole.
        field: &'static str,
        /// What stands there.
        found: String,
        /// What would be right.
        expected: String,
    },
    /// Exact text is asked for and no tokenizer is given.
    #[error("text of an exact number of tokens needs a tokenizer, and none was given")]
    NoTokenizer,
    /// A request is earlier than one before it, by more than [`TraceError::JITTER`].
    #[error(
        "{file}, line {line}: its time stamp is {back} before that of line {earlier}, expected at most \
         {} (sort the file by time)",
        Self::JITTER
    )]
    OutOfOrder {
        /// The trace.
        file: Arc<str>,
        /// The line that comes too late.
        line: u64,
        /// The line before it whose time stamp is later.
        earlier: u64,
        /// By how much.
        back: Nanos,
    },
    /// The file ends within a line.
    #[error(
        "{file} ends in the middle of line {line}: the file was cut off; fetch it again, or delete that line"
    )]
    CutOff {
        /// The trace.
        file: Arc<str>,
        /// Its last line, from 1.
        line: u64,
    },
    /// The file cannot be opened or read.
    #[error("{file} cannot be read after line {line}: {message}")]
    Read {
        /// The trace.
        file: Arc<str>,
        /// How many lines were read.
        line: u64,
        /// What the system says.
        message: String,
    },
    /// The speed-up is not a usable number.
    #[error("the speed-up {0} cannot be used: it must be from 1e-6 to 1e9 (2 is twice as fast)")]
    SpeedUp(f64),
    /// There are fewer requests than asked for, and beginning again is refused.
    #[error(
        "{file} has {records} requests, and {requested} are requested: send fewer, or let the trace repeat"
    )]
    TooFew {
        /// The trace.
        file: Arc<str>,
        /// How many requests it has.
        records: u64,
        /// How many were asked for.
        requested: u64,
    },
    /// More requests are asked for than there are, and nothing says when the trace would begin again.
    #[error(
        "{file}: no time passes between its {records} requests, so that by time stamps all {requested} would leave at once: ask for at \
         most {records}, or send them in a closed loop"
    )]
    NoTimePasses {
        /// The trace.
        file: Arc<str>,
        /// How many requests it has.
        records: u64,
        /// How many were asked for.
        requested: u64,
    },
    /// A request is longer than the model's context.
    #[error(
        "{file}, line {line}: a request of {input} prompt tokens and {output} output tokens exceeds the model's context of {context}"
    )]
    TooLong {
        /// The trace.
        file: Arc<str>,
        /// Which line, from 1.
        line: u64,
        /// Its prompt.
        input: Tokens,
        /// Its reply.
        output: Tokens,
        /// The model's context.
        context: Tokens,
    },
    /// The tokenizer failed on a first text.
    #[error("the tokenizer cannot make text")]
    Tokenizer(#[source] CodecError),
    /// The range of token ids is too small to tell prompts apart.
    #[error(
        "the token ids from {start} up to, not including, {end} are fewer than 2: widen the range"
    )]
    Vocabulary {
        /// The first id.
        start: u32,
        /// The id after the last.
        end: u32,
    },
}

/// The field behind a line; nothing where the line as a whole is wrong.
fn of_field(field: &str) -> String {
    if field == "line" { String::new() } else { format!(", {field}") }
}

impl TraceError {
    /// How much earlier than the latest before it a request may be: its instant is then that latest one, and the trace's
    /// facts count it ([`crate::TraceFacts::late`]). No format promises an order, and logs that several machines write have
    /// such slips.
    pub const JITTER: Nanos = Nanos::from_secs(1);
}

/// What is wrong with a line, before it is known which file and line it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LineFault {
    pub(super) field: &'static str,
    pub(super) found: String,
    pub(super) expected: String,
}

impl LineFault {
    /// `field` is `found`, as it stands in the line.
    pub(super) fn at(field: &'static str, found: &[u8], expected: &str) -> Self {
        Self { field, found: excerpt(found), expected: expected.to_owned() }
    }

    /// `field` is missing.
    pub(super) fn missing(field: &'static str, expected: &str) -> Self {
        Self { field, found: "no such field".to_owned(), expected: expected.to_owned() }
    }

    pub(super) fn in_line(self, file: &Arc<str>, line: u64) -> TraceError {
        let Self { field, found, expected } = self;
        TraceError::Line { file: Arc::clone(file), line, field, found, expected }
    }
}

/// The beginning of `found`, fit for a message.
fn excerpt(found: &[u8]) -> String {
    const MOST: usize = 40;
    if found.is_empty() {
        return "nothing more".to_owned();
    }
    let text = String::from_utf8_lossy(found);
    let shown = |c: char| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c };
    let mut short: String = text.chars().take(MOST).map(shown).collect();
    if text.chars().nth(MOST).is_some() {
        short.push_str("...");
    }
    format!("`{short}`")
}
