//! Who writes into a folder, so that two processes never do.

use std::fmt;
use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process;

use super::FolderError;

/// The file in a folder that its writer holds locked, and that says who it is.
const NAME: &str = ".lock";

/// How often a lock is tried for whose file went away in between.
const TRIES: u32 = 8;

/// Who writes into a folder: which process, of which machine where that is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FolderHolder(String);

impl FolderHolder {
    fn own() -> Self {
        let host = fs::read_to_string("/proc/sys/kernel/hostname");
        let host = host.map(|name| format!(" on {}", name.trim())).unwrap_or_default();
        Self(format!("process {}{host}", process::id()))
    }
}

impl fmt::Display for FolderHolder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.trim() {
            "" => f.write_str("another process"),
            name => f.write_str(name),
        }
    }
}

/// A folder that is held, until this is dropped. The system lets go of it for a process that dies, so that what is left of one is no
/// obstacle.
#[derive(Debug)]
pub(super) struct FolderLock {
    path: PathBuf,
    /// None where the file system has no locks: nobody is kept out there.
    _file: Option<File>,
}

impl FolderLock {
    pub(super) fn take(folder: &Path) -> Result<Self, FolderError> {
        let path = folder.join(NAME);
        for _ in 0..TRIES {
            if let Some(lock) = Self::try_take(folder, &path)? {
                return Ok(lock);
            }
        }
        Err(FolderError::Held { path: folder.to_path_buf(), by: FolderHolder(String::new()) })
    }

    /// None where the file that was locked is not the one of that name any more: its last holder removed it.
    fn try_take(folder: &Path, path: &Path) -> Result<Option<Self>, FolderError> {
        let held = |file| Some(Self { path: path.to_path_buf(), _file: file });
        let opened = File::options().read(true).write(true).create(true).truncate(false).open(path);
        let mut file = opened.map_err(FolderError::io(path))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let by = FolderHolder(fs::read_to_string(path).unwrap_or_default());
                return Err(FolderError::Held { path: folder.to_path_buf(), by });
            }
            // A file system without locks, or without the service that keeps them, is no reason not to measure.
            Err(TryLockError::Error(_)) => return Ok(held(None)),
        }
        let own = FolderHolder::own();
        let written = file.set_len(0).and_then(|()| writeln!(file, "{own}"));
        written.map_err(FolderError::io(path))?;
        let is_it = match fs::read_to_string(path) {
            Ok(text) => text.trim() == own.0,
            // Some systems let nobody read what is locked.
            Err(error) => error.kind() != io::ErrorKind::NotFound,
        };
        Ok(if is_it { held(Some(file)) } else { None })
    }
}

impl Drop for FolderLock {
    fn drop(&mut self) {
        // While it is still held; nothing is left to do about an error.
        let _ = fs::remove_file(&self.path);
    }
}
