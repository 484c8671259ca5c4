//! Shards of one run, made one run.

mod check;
mod clock_offsets;
mod document;
mod senders;
mod shard;
mod summary;

use std::path::PathBuf;

use fizeau_core::{Nanos, RequestPurpose, Tape, TapeSink as _};
use fizeau_metrics::{GoodputGoals, LevelHistograms, LevelTally, Slo, WindowChoice, WindowEnd};
use thiserror::Error;

use crate::{
    FolderError, LevelReport, MergedTapes, MissingShards, ReferenceFiles, RequestedLoad, RunFolder,
    RunSetup, StoredError, TailShares, file,
};
use check::CheckedShards;
pub use check::SHARDS_ALIKE;
use clock_offsets::{ClockOffsets, seconds};
use senders::ShardSenders;
use shard::MeasuredShard;

/// Why runs could not be merged.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum MergeError {
    /// There are none.
    #[error("name the shards")]
    NoShards,
    /// A folder has more than a level.
    #[error("{}: a sweep of {levels} levels: merge one level of each, such as {}/{name}", path.display(), path.display())]
    SeveralLevels {
        /// The folder.
        path: PathBuf,
        /// How many it has.
        levels: usize,
        /// What the first is called.
        name: String,
    },
    /// They were not asked the same, or sent the same requests. It can be forced.
    #[error("{}", .0.join("\n"))]
    NotOfOneRun(
        /// Each objection; some have several lines.
        Vec<String>,
    ),
    /// Some of the shards are not there. It can be allowed.
    #[error(
        "shards are missing: {missing}; the {here} of {count} that are here offered less load than \
        planned"
    )]
    SharesMissing {
        /// Which.
        missing: String,
        /// How many there are.
        here: u64,
        /// How many there were to be.
        count: u64,
    },
    /// They did not run together. It can be forced.
    #[error("{shard} began {} after the first shard; start the shards of one run together", seconds(*later))]
    FarApart {
        /// The last of them.
        shard: String,
        /// How much later it began.
        later: Nanos,
    },
    /// A shard cannot be read.
    #[error(transparent)]
    Stored(#[from] StoredError),
    /// The merged run cannot be written; what was is removed.
    #[error(transparent)]
    Folder(#[from] FolderError),
}

impl MergeError {
    /// Whether the runs can be merged anyway.
    #[must_use]
    pub const fn can_be_forced(&self) -> bool {
        matches!(self, Self::NotOfOneRun(_) | Self::FarApart { .. })
    }
}

/// Runs that are shards of one, checked. Nothing is written yet.
#[derive(Debug, Clone)]
pub struct ShardMerge {
    shards: Vec<MeasuredShard>,
    checked: CheckedShards,
    axis: ClockOffsets,
    forced_by: String,
}

/// What shards amount to.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct MergedRun {
    /// The report of the one level.
    pub report: LevelReport,
    /// What was run, and on what, as the first shard has it.
    pub setup: RunSetup,
    /// The cap on requests in flight of all shards; none if one has none.
    pub cap: Option<u32>,
    /// The goals of its level, as the first shard has them.
    pub slo: Option<Slo>,
}

impl ShardMerge {
    /// Of the folders of runs of one level, or of one level of a sweep each. `forced_by` is what has them merged though they ought
    /// not to be, as the verdict names it; none to refuse. `missing` says whether they have to be all shards of the run. What is to be
    /// said goes to `note`. Their order does not matter: they stand in that of their shares.
    ///
    /// # Errors
    /// If a folder cannot be read, they are not shards of one run, or some are missing that may not be.
    pub fn of(
        paths: &[PathBuf],
        forced_by: Option<&str>,
        missing: MissingShards,
        note: &mut dyn FnMut(&str),
    ) -> Result<Self, MergeError> {
        let shards = paths.iter().map(|path| MeasuredShard::open(path));
        let mut shards = shards.collect::<Result<Vec<_>, MergeError>>()?;
        shards.sort_by_cached_key(|shard| shard.shares().into_iter().min());
        let checked = check::check(&shards, forced_by.is_some(), missing, note)?;
        let axis = ClockOffsets::of(&shards, forced_by.is_some(), note)?;
        Ok(Self { shards, checked, axis, forced_by: forced_by.unwrap_or_default().to_owned() })
    }

    /// How many they are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.shards.len()
    }

    /// The goals of single requests.
    ///
    /// # Errors
    /// If the first shard has others than can be understood.
    pub fn goals(&self) -> Result<GoodputGoals, MergeError> {
        let first = self.first()?;
        let goals = first.document().goodput.join(" ").parse();
        Ok(goals.map_err(|error| first.run.wrong("goodput", error))?)
    }

    /// Writes the merged run, tape by tape, so that memory holds what a tally does; each goes to `each` too. What is to be said goes
    /// to `note`.
    ///
    /// # Errors
    /// If a shard cannot be read or the folder cannot be written. Half a merge is no run: its files are removed.
    pub fn write(
        &self,
        folder: &RunFolder,
        each: impl FnMut(&Tape),
        note: &mut dyn FnMut(&str),
    ) -> Result<MergedRun, MergeError> {
        self.write_all(folder, each, note).inspect_err(|_| {
            for name in [file::RUN, file::TAPES, file::SUMMARY] {
                // What is not there need not go.
                let _ = std::fs::remove_file(folder.path().join(name));
            }
        })
    }

    fn write_all(
        &self,
        folder: &RunFolder,
        mut each: impl FnMut(&Tape),
        note: &mut dyn FnMut(&str),
    ) -> Result<MergedRun, MergeError> {
        let Self { shards, checked, axis, forced_by } = self;
        let first = self.first()?;
        let requested = summary::requested_load(shards, checked.shares);
        folder.write_run(&document::merged(shards, first, axis, checked, requested))?;
        let mut tally = tally(first, &self.goals()?, requested)?;
        let mut histograms = LevelHistograms::default();
        let mut sink = folder.tapes()?;
        let files = shards.iter().map(|shard| shard.level.tapes());
        let files = files.collect::<Result<Vec<_>, _>>()?;
        let mut tail = TailShares::of(shards.iter().map(MeasuredShard::sent).sum());
        let mut senders = ShardSenders::of(shards);
        let mut counts = vec![0; shards.len()];
        let tapes = MergedTapes::onto(files.into_iter().zip(axis.onto.iter().copied()));
        // What is merged against all objections may have the same requests.
        let is_of_one_run = checked.objections.is_empty();
        let mut tapes = if is_of_one_run { tapes.each_once() } else { tapes };
        while let Some(next) = tapes.next_of() {
            let (number, tape) = next?;
            let counts = counts.get_mut(number).filter(|_| tape.part == RequestPurpose::Load);
            counts.into_iter().for_each(|count| *count += 1);
            tail.add(senders.add(number, &tape), &tape);
            sink.record(&tape)?;
            tally.add(&tape);
            histograms.add(&tape);
            each(&tape);
        }
        sink.flush()?;
        drop(sink);
        let cuts: Vec<String> = shards
            .iter()
            .zip(tapes.files())
            .filter_map(|(shard, file)| {
                let cut = file.cut()?;
                Some(format!("{}: tapes.jsonl is {cut}", shard.name()))
            })
            .collect();
        cuts.iter().for_each(|cut| note(cut));
        let found = summary::MergeFindings {
            cuts,
            apart: senders.apart(),
            shards: summary::shards(shards, checked, &counts, &senders, &tail),
            forced: checked.objections.clone(),
            forced_by: forced_by.clone(),
            note: axis.note,
        };
        tally.settle();
        let report = summary::report(shards, first, &tally, requested, found)?;
        folder.write_summary(&report)?;
        let duration = report.summary.throughput.duration.to_nanos().unwrap_or_default();
        folder.write_histograms(&histograms, duration)?;
        self.copy_reference(folder)?;
        let setup = first.document().setup.clone();
        Ok(MergedRun { report, setup, cap: summary::cap(shards), slo: first.run.goals()?.slo })
    }

    fn first(&self) -> Result<&MeasuredShard, MergeError> {
        self.shards.first().ok_or(MergeError::NoShards)
    }

    /// The model's config and the device's file, of the first shard that has them.
    fn copy_reference(&self, folder: &RunFolder) -> Result<(), MergeError> {
        for name in ReferenceFiles::NAMES {
            for shard in &self.shards {
                if let Some(text) = shard.file(name)? {
                    folder.write_text(name, &text)?;
                    break;
                }
            }
        }
        Ok(())
    }
}

/// A tally of nothing, for the goals, the window and the loop of the first shard.
fn tally(
    first: &MeasuredShard,
    goals: &GoodputGoals,
    requested: RequestedLoad,
) -> Result<LevelTally, StoredError> {
    let planned = first.plan().and_then(|plan| plan.window.as_ref());
    let end = |name: &str, text: Option<&String>| match text {
        None => Ok(WindowEnd::default()),
        Some(text) => {
            let end = text.parse::<WindowEnd>();
            end.map_err(|error| first.run.wrong(name, error))
        }
    };
    let window = WindowChoice {
        warmup: end("warmup", planned.map(|window| &window.warmup))?,
        cooldown: end("cooldown", planned.map(|window| &window.cooldown))?,
    };
    let tally = LevelTally::new(goals).with_window(window);
    Ok(if requested.arrivals.is_none() { tally.of_closed_loop() } else { tally })
}
