//! The tapes of a run, appended as requests end.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::PathBuf;

use fizeau_core::{Tape, TapeSink};

use super::FolderError;
use crate::file;

/// How many bytes of tapes are kept back at the most before they are written.
const MOST_KEPT_BACK: usize = 1 << 16;

/// `tapes.jsonl`: one tape a line, in the order in which the requests ended.
///
/// Whole lines are written, as soon as no further tape is at hand, or every 64 KiB where tapes come faster than that. So a
/// killed run keeps every request that ended, but for those 64 KiB where the disk or this side could not keep up.
#[derive(Debug)]
pub struct TapeFile {
    path: PathBuf,
    file: File,
    /// How many bytes of whole lines are written.
    whole: u64,
    lines: Vec<u8>,
}

impl TapeFile {
    pub(super) fn create(path: PathBuf) -> Result<Self, FolderError> {
        let file = OpenOptions::new().create_new(true).append(true).open(&path);
        let file = file.map_err(FolderError::io(&path))?;
        Ok(Self { path, file, whole: 0, lines: Vec::with_capacity(2 * MOST_KEPT_BACK) })
    }
}

impl TapeSink for TapeFile {
    type Error = FolderError;

    fn record(&mut self, tape: &Tape) -> Result<(), FolderError> {
        let line = serde_json::to_writer(&mut self.lines, tape);
        line.map_err(FolderError::json(file::TAPES))?;
        self.lines.push(b'\n');
        if self.lines.len() >= MOST_KEPT_BACK { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<(), FolderError> {
        let written = self.file.write_all(&self.lines);
        match &written {
            Ok(()) => self.whole += self.lines.len() as u64,
            // A full disk may have taken half a line; the file must end with a whole one.
            Err(_) => drop(self.file.set_len(self.whole)),
        }
        self.lines.clear();
        written.map_err(FolderError::io(&self.path))
    }
}

impl Drop for TapeFile {
    fn drop(&mut self) {
        // A driver flushes and hears of errors; this is for who stopped in the midst.
        let _ = self.flush();
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use fizeau_core::Stamp;

    #[test]
    fn a_full_disk_is_said_with_the_file_that_did_not_fit() {
        let full = std::path::Path::new("/dev/full");
        let file = OpenOptions::new().append(true).open(full).unwrap();
        let mut tapes = TapeFile { path: full.to_path_buf(), file, whole: 0, lines: Vec::new() };
        tapes.record(&Tape::sent_at(Stamp::EPOCH)).unwrap();
        let error = tapes.flush().unwrap_err().to_string();
        assert!(error.starts_with("cannot write /dev/full: "), "{error}");
        assert_eq!(tapes.whole, 0);
    }
}
