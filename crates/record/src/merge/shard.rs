//! One of the runs that are to be merged, as its folder has it.

use std::path::Path;

use fizeau_core::Stamp;
use fizeau_metrics::RequestCounts;

use super::MergeError;
use crate::reading::{LevelAhead, unkept_doubts};
use crate::shards::{SHARD, ShardDocument};
use crate::stored::{read_or_earlier, read_text};
use crate::{
    ClockAxis, LevelPlan, MergeDoubt, RequestedLoad, RunDocument, ShardHealth, ShardRecord,
    ShardsReport, StoredEnding, StoredError, StoredLevel, StoredRun, SummaryDocument, file,
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
    /// Its `shard.json`; none if it met no others, or did not live to write one.
    record: Option<ShardRecord>,
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
        let path = level.path().join(file::SHARD);
        let record =
            path.is_file().then(|| read_or_earlier::<ShardDocument, ShardRecord>(&path, SHARD));
        let record = record.transpose()?.map(|document| document.record);
        Ok(Self { run, level, ahead, summary, ending, record })
    }

    /// The meeting that it took part in, and its clock as read there; no clock for the first shard, and for what was merged onto that
    /// one's.
    pub(super) fn clock(&self) -> Option<(&str, Option<ClockAxis>)> {
        match (&self.record, self.report()) {
            (Some(record), _) => Some((record.meeting.as_str(), record.clock)),
            (None, report) => Some((report?.meeting.as_deref()?, None)),
        }
    }

    /// The name of the meeting that it took part in; none where it met nobody, or nothing is known of it.
    pub(super) fn meeting(&self) -> Option<&str> {
        self.clock().map(|(meeting, _)| meeting).filter(|meeting| !meeting.is_empty())
    }

    /// How its `shard.json` is not of what lies beside it, as where files of several parts were mixed up.
    pub(super) fn other_record(&self) -> Vec<String> {
        let Some(ShardRecord { health, .. }) = &self.record else { return Vec::new() };
        let (name, own) = (self.name(), self.document().shard.as_ref());
        let other = own.filter(|own| **own != health.shard).map(|own| {
            let other = &health.shard;
            format!(
                "{name}: its shard.json is of shard {other} and its run.json of shard {own}; each folder has to have the files of its own \
                 shard"
            )
        });
        let counted = self.requests().filter(|_| !self.is_counted(health));
        let uncounted = counted.map(|counted| {
            let (sent, known) = (health.sent, counted.sent);
            format!("{name}: its shard.json says that {sent} requests were sent, and its summary.json {known}")
        });
        other.into_iter().chain(uncounted).collect()
    }

    /// Whether its summary knows of as many requests as `health` says were sent.
    fn is_counted(&self, health: &ShardHealth) -> bool {
        self.requests().is_some_and(|requests| health.sent <= requests.sent)
    }

    /// Whether it sent anything.
    pub(super) fn has_tapes(&self) -> Result<bool, StoredError> {
        Ok(self.level.tapes()?.next().is_some())
    }

    /// How the shards fared that were merged into it before.
    fn report(&self) -> Option<&ShardsReport> {
        self.summary.as_ref()?.shards.as_deref()
    }

    /// What the merge that made it found against it and a merge of it with others does not find again by their tapes.
    pub(super) fn doubts(&self) -> Vec<MergeDoubt> {
        let unkept = unkept_doubts(self.document(), self.summary.as_deref());
        let kept = self.report().and_then(|report| report.doubts.clone()).unwrap_or_default();
        let kept = kept.into_iter().filter(|doubt| matches!(doubt, MergeDoubt::Forced { .. }));
        kept.chain(unkept.into_iter().map(|why| why.text.into())).collect()
    }

    /// What is known of it, or of each shard that was merged into it, whose tapes are so many.
    pub(super) fn records(&self, tapes: u64) -> Vec<ShardRecord> {
        match (&self.record, self.report()) {
            (Some(record), _) => {
                let mut record = record.clone();
                // One that was killed in the midst knew of none yet, and what nobody else counted is not believed.
                let is_counted = self.is_counted(&record.health);
                record.health.sent = if is_counted { record.health.sent.max(tapes) } else { tapes };
                vec![record]
            }
            (None, Some(report)) => {
                let meeting = report.meeting.clone().unwrap_or_default();
                let start = report.agreed_start.unwrap_or(Stamp::EPOCH);
                let of = |health: &ShardHealth| ShardRecord {
                    meeting: meeting.clone(),
                    start,
                    ..ShardRecord::of_health(health.clone())
                };
                report.health.iter().map(of).collect()
            }
            (None, None) => vec![ShardRecord::of_health(self.health(tapes))],
        }
    }

    /// How its client fared, by its summary; without one only how much it sent is known.
    fn health(&self, tapes: u64) -> ShardHealth {
        let document = self.document();
        let mut health = ShardHealth::of(document.shard.clone().unwrap_or_else(|| self.name()));
        health.sent = tapes;
        match &self.summary {
            Some(summary) => {
                let watch = summary.client.proof().map(|proof| proof.watch).unwrap_or_default();
                health.of_level(&summary.summary, &watch, &summary.validity)
            }
            None => health,
        }
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
        self.document().setup.workload.requested
    }

    /// Whether its summary has what servers said.
    pub(super) fn has_telemetry(&self) -> bool {
        let told = self.summary.as_ref().and_then(|summary| summary.telemetry.as_ref());
        told.is_some_and(|told| !told.sources.is_empty())
    }

    /// What became of its requests, as its summary has it; none if it has none.
    pub(super) fn requests(&self) -> Option<&RequestCounts> {
        self.summary.as_ref().map(|summary| &summary.summary.requests)
    }

    /// How many requests it sent; without a summary, how many it was to send.
    pub(super) fn sent(&self) -> u64 {
        self.requests().map_or(self.ahead.requests, |requests| requests.sent)
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
pub(super) fn share(text: &str) -> Option<(u64, u64)> {
    let (index, count) = text.split_once('/')?;
    Some((index.trim().parse().ok()?, count.trim().parse().ok()?))
}
