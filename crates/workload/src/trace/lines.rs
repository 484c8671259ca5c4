//! Bytes to numbered lines, in a buffer that is used again.

use std::io::{BufRead, Read as _};
use std::sync::Arc;

use super::error::{Fault, TraceError};
use crate::seed::scramble;

/// The longest line that is read, in bytes: with blocks of 16 tokens, a prompt of some 30 million tokens.
const LONGEST: u64 = 16 << 20;

/// The lines of a file, without blank ones, line endings and a byte-order mark.
#[derive(Debug)]
pub(super) struct Lines<R> {
    reader: R,
    file: Arc<str>,
    buffer: Vec<u8>,
    number: u64,
    checksum: u64,
}

impl<R: BufRead> Lines<R> {
    pub(super) const fn new(file: Arc<str>, reader: R) -> Self {
        Self { reader, file, buffer: Vec::new(), number: 0, checksum: 0 }
    }

    /// Goes to the next line; false at the end of the file.
    ///
    /// # Errors
    /// If the file cannot be read, or the line is beyond [`LONGEST`].
    pub(super) fn advance(&mut self) -> Result<bool, TraceError> {
        loop {
            self.buffer.clear();
            let read = self.reader.by_ref().take(LONGEST).read_until(b'\n', &mut self.buffer);
            let read = read.map_err(|error| read_error(&self.file, self.number, &error))?;
            if read == 0 {
                return Ok(false);
            }
            self.number += 1;
            if read as u64 == LONGEST && self.buffer.last() != Some(&b'\n') {
                let expected = format!("a line of less than {LONGEST} bytes");
                return Err(self.fault(Fault::at("line", &self.buffer, &expected)));
            }
            if !self.line().is_empty() {
                self.checksum = checksum(self.checksum, self.line());
                return Ok(true);
            }
        }
    }

    /// The present line.
    pub(super) fn line(&self) -> &[u8] {
        let line = match self.number {
            1 => self.buffer.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&self.buffer),
            _ => &self.buffer,
        };
        line.trim_ascii()
    }

    /// The number of the present line, from 1.
    pub(super) const fn number(&self) -> u64 {
        self.number
    }

    /// A figure that follows from all lines so far, and hardly ever is the same for other lines.
    pub(super) const fn checksum(&self) -> u64 {
        self.checksum
    }

    pub(super) const fn file(&self) -> &Arc<str> {
        &self.file
    }

    /// `fault` as one of the present line.
    pub(super) fn fault(&self, fault: Fault) -> TraceError {
        fault.in_line(&self.file, self.number)
    }
}

pub(super) fn read_error(file: &Arc<str>, line: u64, error: &std::io::Error) -> TraceError {
    TraceError::Read { file: Arc::clone(file), line, message: error.to_string() }
}

/// Eight bytes a step, because it goes over all of a file each time that it is read. Against slips, not against malice.
fn checksum(before: u64, line: &[u8]) -> u64 {
    const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
    let (words, rest) = line.as_chunks::<8>();
    let step = |sum: u64, word: u64| {
        let mixed = (sum ^ word).wrapping_mul(ODD);
        mixed ^ (mixed >> 32)
    };
    let sum = words.iter().fold(before, |sum, word| step(sum, u64::from_le_bytes(*word)));
    let tail = rest.iter().fold(1, |word, byte| (word << 8) | u64::from(*byte));
    scramble(step(step(sum, tail), line.len() as u64))
}
