//! One of the runs that are to be merged, as its folder has it.

use std::path::Path;

use fizeau::core::Stamp;
use fizeau::harness::{RunRecord, StoredEnding, StoredLevel, StoredRun};

use crate::exit::Fail;

/// One of the runs that are to be merged.
pub(super) struct MeasuredShard {
    pub(super) run: StoredRun,
    pub(super) level: StoredLevel,
    /// Its `summary.json`; none if it did not live to write one.
    pub(super) summary: Option<RunRecord>,
    pub(super) ending: StoredEnding,
}

impl MeasuredShard {
    /// Opens the folder of a run of one level, or of one level of a sweep.
    pub(super) fn open(path: &Path) -> Result<Self, Fail> {
        let run = StoredRun::open(path).map_err(Fail::usage)?;
        let [level] = run.levels() else {
            let (path, levels) = (path.display(), run.levels().len());
            let name = run.levels().first().map_or("LEVEL", StoredLevel::name);
            return Err(Fail::usage(format!(
                "{path}: a sweep of {levels} levels: merge one level of each, such as {path}/{name}"
            )));
        };
        let level = level.clone();
        let summary = level.summary().map_err(Fail::usage)?;
        let ending = level.ending().map_err(Fail::usage)?;
        Ok(Self { run, level, summary, ending })
    }

    pub(super) const fn record(&self) -> &RunRecord {
        self.run.record()
    }

    /// Its folder, for messages.
    pub(super) fn name(&self) -> String {
        self.run.path().display().to_string()
    }

    pub(super) fn epoch_unix_ns(&self) -> Option<u64> {
        self.record().whole("epoch_unix_ns")
    }

    /// Which share of the plan it sent: its number, and of how many.
    pub(super) fn share(&self) -> Option<(u64, u64)> {
        let text = self.record().text("shard")?;
        let (index, count) = text.split_once('/')?;
        Some((index.trim().parse().ok()?, count.trim().parse().ok()?))
    }

    /// The earliest release on its tapes; the epoch if it has none.
    pub(super) fn first_release(&self) -> Result<Stamp, Fail> {
        let mut first: Option<Stamp> = None;
        for tape in self.level.tapes().map_err(Fail::usage)? {
            let released = tape.map_err(Fail::usage)?.marks.released;
            first = Some(first.map_or(released, |first| first.min(released)));
        }
        Ok(first.unwrap_or(Stamp::EPOCH))
    }
}
