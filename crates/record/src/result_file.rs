//! The file of a result, which is tried before anything is measured.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Where the text of a result goes, such as vLLM's JSON or a calibration, and how.
#[derive(Debug)]
pub struct ResultFile {
    path: PathBuf,
    mode: ResultFileMode,
}

/// What happens to a file that is there already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResultFileMode {
    /// One object a line, after what is there.
    Append,
    /// It is replaced.
    Replace,
}

impl ResultFile {
    /// Makes sure, before anything is measured, that the file can be written.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn prepare(path: impl Into<PathBuf>, mode: ResultFileMode) -> io::Result<Self> {
        let path = path.into();
        let existed = path.exists();
        OpenOptions::new().create(true).append(true).open(&path)?;
        if !existed {
            // Only tried: an empty file is no result.
            fs::remove_file(&path)?;
        }
        Ok(Self { path, mode })
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes one result, whole or not at all.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn write(&self, text: &str) -> io::Result<()> {
        match self.mode {
            ResultFileMode::Replace => self.replace(text),
            ResultFileMode::Append => {
                let mut file = OpenOptions::new().create(true).append(true).open(&self.path)?;
                let before = file.metadata()?.len();
                writeln!(file, "{text}").inspect_err(|_| {
                    // Half a line would spoil those that follow. A device cannot be cut, nor does it keep lines.
                    let _ = file.set_len(before);
                })
            }
        }
    }

    /// Aside first, then renamed into place. A device or a pipe is written to as it is.
    fn replace(&self, text: &str) -> io::Result<()> {
        if self.path.exists() && !self.path.is_file() {
            return fs::write(&self.path, text);
        }
        let mut aside = self.path.clone().into_os_string();
        aside.push(".part");
        let done = fs::write(&aside, text).and_then(|()| fs::rename(&aside, &self.path));
        if done.is_err() {
            let _ = fs::remove_file(&aside);
        }
        done
    }
}
