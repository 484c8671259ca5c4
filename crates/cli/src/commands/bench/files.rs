//! vLLM's result file.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::exit::{Fail, Named};

/// Where vLLM's JSON goes, and how.
pub(super) struct ResultFile {
    path: PathBuf,
    mode: Mode,
}

/// What happens to a file that is there already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// One object a line, after what is there.
    Append,
    /// It is replaced.
    Replace,
}

impl ResultFile {
    /// Makes sure, before anything is sent, that the file can be written.
    pub(super) fn prepare(dir: Option<&Path>, name: &str, mode: Mode) -> Result<Self, Fail> {
        let path = dir.unwrap_or_else(|| Path::new("")).join(name);
        if let Some(dir) = dir {
            fs::create_dir_all(dir).named(&format!("--result-dir {}", dir.display()))?;
        }
        let flag = format!("--result-filename {}", path.display());
        let existed = path.exists();
        OpenOptions::new().create(true).append(true).open(&path).named(&flag)?;
        if !existed {
            // Only tried: an empty file is no result.
            fs::remove_file(&path).named(&flag)?;
        }
        Ok(Self { path, mode })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Writes one result, whole or not at all.
    pub(super) fn write(&self, json: &str) -> Result<(), Fail> {
        let broken = |error| Fail::broken(format!("{}: {error}", self.path.display()));
        match self.mode {
            Mode::Replace => self.replace(json).map_err(broken),
            Mode::Append => {
                let mut file = OpenOptions::new()
                    .create(true)
                    .append(true)
                    .open(&self.path)
                    .map_err(broken)?;
                let before = file.metadata().map_err(broken)?.len();
                writeln!(file, "{json}").map_err(|error| {
                    // Half a line would spoil those that follow. A device cannot be cut, nor does it keep lines.
                    let _ = file.set_len(before);
                    broken(error)
                })
            }
        }
    }

    /// Aside first, then renamed into place. A device or a pipe is written to as it is.
    fn replace(&self, json: &str) -> std::io::Result<()> {
        if self.path.exists() && !self.path.is_file() {
            return fs::write(&self.path, json);
        }
        let mut aside = self.path.clone().into_os_string();
        aside.push(".part");
        let done = fs::write(&aside, json).and_then(|()| fs::rename(&aside, &self.path));
        if done.is_err() {
            let _ = fs::remove_file(&aside);
        }
        done
    }
}
