//! A run, whether its requests are known or its figures alone.

use std::path::Path;

use crate::{ImportUnknowns, ImportedRun, StoredError, StoredRun};

/// A run in a folder, by what is known of it.
#[derive(Debug, Clone)]
pub enum OpenedRun {
    /// What each request did: everything can be computed again.
    Tapes(StoredRun),
    /// Figures of another tool, and no requests.
    Figures(ImportedRun),
}

impl OpenedRun {
    /// The run in `folder`.
    ///
    /// # Errors
    /// If there is none, or it cannot be read.
    pub fn open(folder: &Path) -> Result<Self, StoredError> {
        match ImportedRun::read(folder)? {
            Some(run) => Ok(Self::Figures(run)),
            None => StoredRun::open(folder).map(Self::Tapes),
        }
    }
}

impl StoredRun {
    /// What another tool that measured it did not see of its first level of which that is known, so that its tapes have made-up values
    /// there; none of a run that Fizeau measured.
    ///
    /// # Errors
    /// If a level cannot be read.
    pub fn unseen(&self) -> Result<Option<ImportUnknowns>, StoredError> {
        for level in self.levels() {
            if let Some(unseen) = level.unseen(self.document())? {
                return Ok(Some(unseen));
            }
        }
        Ok(None)
    }
}
