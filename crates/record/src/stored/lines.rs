//! Tapes, line by line.

use std::fmt;
use std::io::{BufRead, Read};
use std::path::{Path, PathBuf};

use fizeau_core::Tape;

use super::line::LineReader;
use super::seen::SeenRequests;
use super::{StoredError, reason};

/// The longest line that is read: a reply of ten million events. What is longer is no tape, and would only fill memory.
const LONGEST: u64 = 1 << 28;

/// The tapes of `tapes.jsonl`, read one by one, each in memory only until the next.
///
/// A last line without its end, or one that is no tape, is what a killed run leaves: it is not used, and [`StoredTapes::cut`]
/// says so. A file that ends with a whole line may lack lines all the same: [`StoredTapes::counted`] tells how many there were.
///
/// ```
/// use fizeau_core::{Stamp, Tape};
/// use fizeau_record::StoredTapes;
///
/// let line = serde_json::to_string(&Tape::sent_at(Stamp::EPOCH))?;
/// let file = format!("{line}\n{line}\n{}", &line[..40]);
/// let mut tapes = StoredTapes::new("tapes.jsonl", file.as_bytes());
/// assert_eq!(tapes.by_ref().filter_map(Result::ok).count(), 2);
/// assert_eq!(tapes.cut().map(|cut| (cut.whole, cut.rest_bytes)), Some((2, 40)));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug)]
pub struct StoredTapes<R> {
    path: PathBuf,
    from: R,
    line: Vec<u8>,
    reader: LineReader,
    read: u64,
    counted: Option<u64>,
    seen: Option<SeenRequests>,
    cut: Option<TruncatedTail>,
    is_over: bool,
}

/// What was left over of a file that was cut, in mid-line or between lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TruncatedTail {
    /// How many whole tapes came before it.
    pub whole: u64,
    /// How long the rest is, in bytes; zero where the file ends with a whole line.
    pub rest_bytes: u64,
    /// How many tapes there were when the level was summed up; none where it was not.
    pub counted: Option<u64>,
}

/// What is wrong with the file, behind its name and `is`.
impl fmt::Display for TruncatedTail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { whole, rest_bytes, counted } = self;
        if let Some(counted) = counted.filter(|counted| counted < whole) {
            return write!(f, "longer than its summary.json says: {whole} tapes, not {counted}");
        }
        match rest_bytes {
            0 => write!(f, "cut between lines: {whole} whole tapes are used")?,
            rest => write!(
                f,
                "cut in mid-line: {whole} whole tapes are used, {rest} bytes are ignored"
            )?,
        }
        counted.map_or(Ok(()), |counted| write!(f, ", and there were {counted} tapes"))
    }
}

impl<R: BufRead> StoredTapes<R> {
    /// Of the lines of `from`; `path` is for messages.
    pub fn new(path: impl Into<PathBuf>, from: R) -> Self {
        Self {
            path: path.into(),
            from,
            line: Vec::new(),
            reader: LineReader::default(),
            read: 0,
            counted: None,
            seen: None,
            cut: None,
            is_over: false,
        }
    }

    /// The same, of a file that had so many tapes when they were summed up: with fewer or more it is not whole.
    #[must_use]
    pub fn counted(self, counted: Option<u64>) -> Self {
        Self { counted, ..self }
    }

    /// The same, in which a request that comes for the second time is an error. It takes a bit a request.
    #[must_use]
    pub fn each_once(self) -> Self {
        Self { seen: Some(SeenRequests::default()), ..self }
    }

    /// The file, for messages.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// What was left over at the end, once all was read; none if the file was whole.
    pub const fn cut(&self) -> Option<TruncatedTail> {
        self.cut
    }

    fn next_tape(&mut self) -> Result<Option<Tape>, StoredError> {
        let mut read = self.next_line()?;
        let mut blank = None;
        while read > 0 && self.line.trim_ascii().is_empty() {
            blank = self.reader.read(&self.line).err();
            read = self.next_line()?;
        }
        let line = self.read + 1;
        match (read, blank) {
            // Whatever opened the file may have left blank lines at its end.
            (0, _) => {
                let is_whole = self.counted.is_none_or(|counted| counted == self.read);
                self.cut = (!is_whole).then(|| self.tail(0));
                return Ok(None);
            }
            (_, Some(error)) => return Err(self.no_tape(line, &error)),
            (_, None) => {}
        }
        let is_whole = self.line.last() == Some(&b'\n');
        if !is_whole && read == LONGEST {
            return Err(StoredError::LongLine { path: self.path.clone(), line, longest: LONGEST });
        }
        match self.reader.read(&self.line) {
            Ok(tape) if self.seen.as_mut().is_some_and(|seen| !seen.is_new(&tape)) => {
                Err(StoredError::Again { path: self.path.clone(), line, request: tape.request.0 })
            }
            Ok(tape) => {
                self.read += 1;
                Ok(Some(tape))
            }
            Err(_) if !is_whole => {
                self.cut = Some(self.tail(read));
                Ok(None)
            }
            Err(error) => Err(self.no_tape(line, &error)),
        }
    }

    /// What is left over where `rest_bytes` of a line are there.
    const fn tail(&self, rest_bytes: u64) -> TruncatedTail {
        TruncatedTail { whole: self.read, rest_bytes, counted: self.counted }
    }

    fn no_tape(&self, line: u64, error: &serde_json::Error) -> StoredError {
        StoredError::Line { path: self.path.clone(), line, problem: reason(error) }
    }

    /// Reads a line, or as much of it as one may have; how long it is, with its end.
    fn next_line(&mut self) -> Result<u64, StoredError> {
        self.line.clear();
        let read = self.from.by_ref().take(LONGEST).read_until(b'\n', &mut self.line);
        read.map(|read| read as u64).map_err(StoredError::io(&self.path))
    }
}

impl<R: BufRead> Iterator for StoredTapes<R> {
    type Item = Result<Tape, StoredError>;

    /// Nothing comes after an error: what is behind a broken line is not to be trusted either.
    fn next(&mut self) -> Option<Self::Item> {
        if self.is_over {
            return None;
        }
        let next = self.next_tape().transpose();
        self.is_over = !matches!(next, Some(Ok(_)));
        next
    }
}
