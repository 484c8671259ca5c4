//! One of the runs that are to be merged, as its folder has it.

use std::path::Path;

use fizeau_core::Stamp;
use fizeau_metrics::RequestCounts;

use super::MergeError;
use crate::reading::LevelAhead;
use crate::stored::read_text;
use crate::{
    LevelPlan, RequestedLoad, RunDocument, StoredEnding, StoredError, StoredLevel, StoredRun,
    SummaryDocument,
};

/// One of the runs that are to be merged; it may be one that was merged before.
#[derive(Debug, Clone)]
pub(super) struct MeasuredShard {
    pub(super) run: StoredRun,
    pub(super) level: StoredLevel,
    pub(super) ahead: LevelAhead,
    /// Its `summary.json`; none if it did not live to write one.
    pub(super) summary: Option<Box<SummaryDocument>>,
    pub(super) ending: StoredEnding,
}

impl MeasuredShard {
    /// Opens the folder of a run of one level, or of one level of a sweep.
    pub(super) fn open(path: &Path) -> Result<Self, MergeError> {
        let run = StoredRun::open(path)?;
        let [level] = run.levels() else {
            let name = run.levels().first().map_or("LEVEL", StoredLevel::name).to_owned();
            let (path, levels) = (path.to_path_buf(), run.levels().len());
            return Err(MergeError::SeveralLevels { path, levels, name });
        };
        let level = level.clone();
        let ahead = LevelAhead::of(run.document(), &level);
        let summary = level.summary()?.map(Box::new);
        let ending = level.ending()?;
        Ok(Self { run, level, ahead, summary, ending })
    }

    pub(super) fn document(&self) -> &RunDocument {
        self.run.document()
    }

    /// What its level was to be.
    pub(super) fn plan(&self) -> Option<&LevelPlan> {
        self.document().levels.get(self.ahead.index)
    }

    /// Its folder, for messages.
    pub(super) fn name(&self) -> String {
        self.run.path().display().to_string()
    }

    /// The text of a file of its run's folder, where it is there.
    pub(super) fn file(&self, name: &str) -> Result<Option<String>, StoredError> {
        let folder = self.run.document_path().parent().unwrap_or_else(|| Path::new(""));
        let path = folder.join(name);
        path.is_file().then(|| read_text(&path)).transpose()
    }

    pub(super) fn epoch_unix_ns(&self) -> Option<u64> {
        self.document().epoch_unix_ns
    }

    /// Which shares of the plan it sent: of each its number, and of how many; what names none is all of it.
    pub(super) fn shares(&self) -> Vec<(u64, u64)> {
        const ALL: (u64, u64) = (0, 1);
        let document = self.document();
        let share = |text: &Option<String>| text.as_deref().and_then(share).unwrap_or(ALL);
        match document.merged.as_slice() {
            [] => vec![share(&document.shard)],
            merged => merged.iter().map(|one| share(&one.shard)).collect(),
        }
    }

    /// The squared coefficient of variation of the gaps between one share's requests.
    pub(super) fn cv_squared(&self) -> Option<f64> {
        // A merged run has that of all its shares together, if any.
        match self.document().merged.first() {
            Some(merged) => merged.cv_squared,
            None => self.requested_load().arrivals?.cv_squared,
        }
    }

    /// What was asked of arrivals and of a cache.
    pub(super) fn requested_load(&self) -> RequestedLoad {
        self.document().setup.workload.asked
    }

    /// Whether no request fell to it, as its summary has it.
    pub(super) fn is_empty(&self) -> bool {
        self.requests().is_some_and(|requests| requests.sent == 0)
    }

    /// What became of its requests, as its summary has it; none if it has none.
    pub(super) fn requests(&self) -> Option<&RequestCounts> {
        self.summary.as_ref().map(|summary| &summary.summary.requests)
    }

    /// The earliest release on its tapes; the epoch if it has none.
    pub(super) fn first_release(&self) -> Result<Stamp, StoredError> {
        let mut first: Option<Stamp> = None;
        for tape in self.level.tapes()? {
            let released = tape?.marks.released;
            first = Some(first.map_or(released, |first| first.min(released)));
        }
        Ok(first.unwrap_or(Stamp::EPOCH))
    }
}

/// `2/8`.
fn share(text: &str) -> Option<(u64, u64)> {
    let (index, count) = text.split_once('/')?;
    Some((index.trim().parse().ok()?, count.trim().parse().ok()?))
}
