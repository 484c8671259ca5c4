//! One of the runs that are to be merged, as its folder has it.

use std::path::Path;

use fizeau::core::Stamp;
use fizeau::record::{RunRecord, StoredEnding, StoredLevel, StoredRun};

use crate::commands::shared::planned::Planned;
use crate::exit::{Fail, Named};

/// One of the runs that are to be merged; it may be one that was merged before.
pub(super) struct MeasuredShard {
    pub(super) run: StoredRun,
    pub(super) level: StoredLevel,
    pub(super) planned: Planned,
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
        let planned = Planned::of(run.record(), &level);
        let summary = level.summary().map_err(Fail::usage)?;
        let ending = level.ending().map_err(Fail::usage)?;
        Ok(Self { run, level, planned, summary, ending })
    }

    pub(super) const fn record(&self) -> &RunRecord {
        self.run.record()
    }

    /// Its folder, for messages.
    pub(super) fn name(&self) -> String {
        self.run.path().display().to_string()
    }

    /// The text of a file of its run's folder, where it is there.
    pub(super) fn file(&self, name: &str) -> Result<Option<String>, Fail> {
        let folder = self.run.document().parent().unwrap_or_else(|| Path::new(""));
        let path = folder.join(name);
        if !path.is_file() {
            return Ok(None);
        }
        std::fs::read_to_string(&path).named(&path.display().to_string()).map(Some)
    }

    pub(super) fn epoch_unix_ns(&self) -> Option<u64> {
        self.record().whole("epoch_unix_ns")
    }

    /// Which shares of the plan it sent: of each its number, and of how many; what names none is all of it.
    pub(super) fn shares(&self) -> Vec<(u64, u64)> {
        const ALL: (u64, u64) = (0, 1);
        let record = self.record();
        let is_there = |index: &u64| record.text(&format!("merged[{index}].folder")).is_some();
        let share = |path: &str| record.text(path).and_then(|text| share(&text)).unwrap_or(ALL);
        let merged: Vec<(u64, u64)> = (0..)
            .take_while(is_there)
            .map(|index| share(&format!("merged[{index}].shard")))
            .collect();
        if merged.is_empty() { vec![share("shard")] } else { merged }
    }

    /// The squared coefficient of variation of the gaps between one share's requests.
    pub(super) fn cv_squared(&self) -> Option<f64> {
        let record = self.record();
        // A merged run has that of all its shares together, if any.
        let path = match record.text("merged[0].folder") {
            Some(_) => "merged[0].cv_squared",
            None => "setup.workload.asked.arrivals.cv_squared",
        };
        record.number(path)
    }

    /// Whether no request fell to it, as its summary has it.
    pub(super) fn is_empty(&self) -> bool {
        let sent = self.summary.as_ref().and_then(|summary| summary.whole("requests.sent"));
        sent == Some(0)
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

/// `2/8`.
fn share(text: &str) -> Option<(u64, u64)> {
    let (index, count) = text.split_once('/')?;
    Some((index.trim().parse().ok()?, count.trim().parse().ok()?))
}
