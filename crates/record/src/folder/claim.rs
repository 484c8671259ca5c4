//! A run's folder that is taken before anything is sent.

use std::fs;
use std::path::PathBuf;

use super::lock::FolderLock;
use super::{FolderError, RunFolder};

/// A run's folder that is taken before anything is sent: it is known to be writable, and no other process takes it. When this is
/// dropped it is given back, if it was made here and nothing came of the run.
#[derive(Debug)]
pub struct ClaimedFolder {
    folder: RunFolder,
    /// Whether it was made here, and did not lie there before.
    is_new: bool,
    /// None once it is given back.
    lock: Option<FolderLock>,
}

impl ClaimedFolder {
    /// Takes the folder, parents included.
    ///
    /// # Errors
    /// If it already holds a run, another process writes into it, or the system refuses.
    pub fn new(path: impl Into<PathBuf>) -> Result<Self, FolderError> {
        let path = path.into();
        let is_new = !path.exists();
        fs::create_dir_all(&path).map_err(FolderError::io(&path))?;
        let mut claimed = Self { folder: RunFolder::again(&path), is_new, lock: None };
        let lock = FolderLock::take(&path);
        // Whoever holds it is writing the run that would be found in it.
        if !matches!(lock, Err(FolderError::Held { .. })) {
            if RunFolder::holds_whatif(&path) {
                return Err(FolderError::HoldsWhatIf(path));
            }
            RunFolder::create(path)?;
        }
        claimed.lock = Some(lock?);
        Ok(claimed)
    }

    /// The folder of a run that is resumed.
    ///
    /// # Errors
    /// If another process writes into it, or the system refuses.
    pub fn again(path: impl Into<PathBuf>) -> Result<Self, FolderError> {
        let folder = RunFolder::again(path);
        let lock = Some(FolderLock::take(folder.path())?);
        Ok(Self { folder, is_new: false, lock })
    }

    /// It.
    #[must_use]
    pub const fn folder(&self) -> &RunFolder {
        &self.folder
    }
}

impl Drop for ClaimedFolder {
    fn drop(&mut self) {
        drop(self.lock.take());
        if self.is_new {
            // What holds something stays; nothing is left to do about any other error.
            let _ = fs::remove_dir(self.folder.path());
        }
    }
}
