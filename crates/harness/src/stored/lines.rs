//! Tapes, line by line.

use std::io::BufRead;
use std::path::PathBuf;

use fizeau_core::Tape;

use super::StoredError;

/// The tapes of `tapes.jsonl`, read one by one.
///
/// A last line without its end, or one that is no tape, is what a killed run leaves: it is not used, and [`StoredTapes::cut`]
/// says so.
#[derive(Debug)]
pub struct StoredTapes<R> {
    path: PathBuf,
    from: R,
    line: Vec<u8>,
    read: u64,
    cut: Option<Cut>,
}

/// What was left over of a file that was cut in mid-line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cut {
    /// How many whole tapes came before it.
    pub whole: u64,
    /// How long the rest is, in bytes.
    pub rest_bytes: u64,
}

impl<R: BufRead> StoredTapes<R> {
    /// Of the lines of `from`; `path` is for messages.
    pub fn new(path: impl Into<PathBuf>, from: R) -> Self {
        Self { path: path.into(), from, line: Vec::new(), read: 0, cut: None }
    }

    /// What was left over at the end, once all was read; none if the file was whole.
    pub const fn cut(&self) -> Option<Cut> {
        self.cut
    }

    fn next_tape(&mut self) -> Result<Option<Tape>, StoredError> {
        self.line.clear();
        let read = self.from.read_until(b'\n', &mut self.line);
        if read.map_err(StoredError::io(&self.path))? == 0 {
            return Ok(None);
        }
        match serde_json::from_slice(&self.line) {
            Ok(tape) => {
                self.read += 1;
                Ok(Some(tape))
            }
            Err(_) if self.line.last() != Some(&b'\n') => {
                self.cut = Some(Cut { whole: self.read, rest_bytes: self.line.len() as u64 });
                Ok(None)
            }
            Err(error) => {
                let (path, line) = (self.path.clone(), self.read + 1);
                Err(StoredError::Line { path, line, error })
            }
        }
    }
}

impl<R: BufRead> Iterator for StoredTapes<R> {
    type Item = Result<Tape, StoredError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_tape().transpose()
    }
}
