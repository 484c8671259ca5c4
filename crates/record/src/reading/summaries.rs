//! What a run's tapes amount to, written beside them.

use fizeau_metrics::{LatencyHistogram, LevelHistograms};
use thiserror::Error;

use super::RunReader;
use crate::{Checklist, FolderError, LevelReport, RunFolder, StoredError, SweepDocument, file};

/// Why figures could not be written beside the tapes that they are computed from.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SummariesError {
    /// The run cannot be read.
    #[error(transparent)]
    Stored(#[from] StoredError),
    /// Its folder cannot be written to.
    #[error(transparent)]
    Folder(#[from] FolderError),
}

impl RunReader<'_> {
    /// Writes what the tapes amount to: `summary.json` and the histograms of each level, and `sweep.json` where levels have folders of
    /// their own. What is there is written over.
    ///
    /// # Errors
    /// If a file of the folder cannot be read, is not understood, or cannot be written.
    pub fn write_summaries(&self) -> Result<(), SummariesError> {
        let path = self.run.path();
        let (mut levels, mut tallies) = (Vec::new(), Vec::new());
        for stored in self.run.levels() {
            let mut histograms = LevelHistograms::default();
            levels.push(self.level(stored, |tape| histograms.add(&tape))?);
            tallies.push((stored.name(), histograms));
        }
        let read = self.together(levels)?;
        for (name, mut histograms) in tallies {
            let is_it = |level: &&LevelReport| level.folder.as_deref().unwrap_or_default() == name;
            let Some(level) = read.levels.iter().chain(&read.sustained).find(is_it) else {
                continue;
            };
            let own = RunFolder::again(path.join(name));
            // One of a sweep has no list of its own.
            let list = || Checklist::of(&read.setup, std::slice::from_ref(level));
            let checklist = level.folder.is_none().then(list);
            let report = LevelReport { checklist, ..level.clone() };
            own.write_summary(&report)?;
            // Gaps that are made up are in no figure.
            if level.unseen.as_ref().is_some_and(|unseen| unseen.has_no_gaps()) {
                histograms.itl = LatencyHistogram::default();
            }
            let duration = level.summary.throughput.duration.to_nanos().unwrap_or_default();
            own.write_histograms(&histograms, duration)?;
        }
        if read.levels.iter().any(|level| level.folder.is_some()) {
            let document = SweepDocument::from(&read.report());
            RunFolder::again(path).write_json(file::SWEEP, &document)?;
        }
        Ok(())
    }
}
