//! A run's folder that is taken before anything is sent.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use super::lock::FolderLock;
use super::{FolderError, RunFolder};
use crate::stored::holds_whatif;

/// That no other process takes a folder, as long as one who knows it is left.
#[derive(Debug)]
pub(super) struct FolderClaim {
    /// Goes first: a folder that holds something stays.
    _lock: FolderLock,
    _made: Option<MadeFolder>,
}

/// A folder that was made here, which goes again where nothing came into it.
#[derive(Debug)]
struct MadeFolder(PathBuf);

impl Drop for MadeFolder {
    fn drop(&mut self) {
        // What holds something stays; nothing is left to do about any other error.
        let _ = fs::remove_dir(&self.0);
    }
}

impl RunFolder {
    /// Takes a folder for a run, parents included: it is known to be writable, and no other process takes it until the last clone of this
    /// is dropped. Then it is given back, if it was made here and nothing came of the run.
    ///
    /// # Errors
    /// If it already holds a run, another process writes into it, or the system refuses.
    pub fn claim(path: impl Into<PathBuf>) -> Result<Self, FolderError> {
        let path = path.into();
        let made = (!path.exists()).then(|| MadeFolder(path.clone()));
        fs::create_dir_all(&path).map_err(FolderError::io(&path))?;
        let lock = FolderLock::take(&path);
        // Whoever holds it is writing the run that would be found in it.
        if !matches!(lock, Err(FolderError::Held { .. })) {
            if holds_whatif(&path) {
                return Err(FolderError::HoldsWhatIf(path));
            }
            Self::create(&path)?;
        }
        Ok(Self { path, _claim: Some(Arc::new(FolderClaim { _lock: lock?, _made: made })) })
    }

    /// Takes the folder of a run that is there already, to resume, as [`claim`](Self::claim) does.
    ///
    /// # Errors
    /// If another process writes into it, or the system refuses.
    pub fn claim_again(path: impl Into<PathBuf>) -> Result<Self, FolderError> {
        let path = path.into();
        let lock = FolderLock::take(&path)?;
        Ok(Self { path, _claim: Some(Arc::new(FolderClaim { _lock: lock, _made: None })) })
    }
}
