//! What another tool that measured did not see.

use crate::{ImportUnknowns, ImportedLevel, RunDocument, StoredError, StoredLevel};

impl StoredLevel {
    /// What another tool that measured it did not see, or did not tell; none of a level that Fizeau measured.
    ///
    /// # Errors
    /// As [`ImportedLevel::read`].
    pub fn unseen(&self, run: &RunDocument) -> Result<Option<ImportUnknowns>, StoredError> {
        if run.imported_tool().is_none() {
            return Ok(None);
        }
        Ok(ImportedLevel::read(self.path())?.as_ref().map(ImportedLevel::unseen))
    }
}
