//! One shard's part of the levels: measured, and kept in a folder of its own, which is a run as `--shard` leaves it.

use std::convert::Infallible;
use std::num::{NonZeroU32, NonZeroU64};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use fizeau_core::{LevelLoad, Nanos, Tape, TapeSink};
use fizeau_harness::{Cancel, DriveEnding, DriveError, LevelRun, Measure, Observer, PlannedLevel};
use fizeau_record::{
    Checklist, FolderError, LevelDocument, LevelPlan, LevelReport, NoReference, RunDocument,
    RunFolder, RunSetup, ShardRecord, TapeFile, shard_alone,
};
use fizeau_workload::{Pacing, Shard, WalkError};

use super::ordered::OrderedLevel;
use crate::basis::RunBasis;
use crate::evaluate::{EvaluationContext, LevelTallies, released};
use crate::level::{cap_of, level_load, slots_of_all};
use crate::shards::{FirstRelease, Gate, PartReport, ShardError, ShardGroup, of_part};

/// The folder of a shard's own part.
#[derive(Debug)]
pub(super) struct ShareFolder {
    root: RunFolder,
    shard: Shard,
    setup: RunSetup,
    mark: String,
    is_resumed: bool,
}

impl ShareFolder {
    /// Makes it, with the run's `document` as this shard has it. That of an earlier run is gone on with.
    pub(super) fn create(
        group: &ShardGroup,
        document: &RunDocument,
        basis: &RunBasis,
    ) -> Result<Self, FolderError> {
        let (shard, is_resumed) = (group.shard(), group.is_resumed());
        let own = own_document(document, basis, shard);
        let root = if is_resumed {
            RunFolder::again(group.folder())
        } else {
            let root = RunFolder::claim(group.folder())?;
            root.write_run(&own)?;
            root
        };
        let setup = own.setup;
        Ok(Self { root, shard, setup, mark: group.mark(shard), is_resumed })
    }

    /// Removes what was made of it, where nothing was sent.
    pub(super) fn withdraw(&self) {
        self.root.withdraw();
    }

    /// The folder of a level, whose tapes come into it.
    fn level(&self, level: &OrderedLevel) -> Result<RunFolder, FolderError> {
        let folder = match level.is_of_run() {
            true => self.root.clone(),
            false => {
                if self.is_resumed {
                    self.root.set_aside(&level.folder)?;
                }
                let folder = self.root.level(&level.folder)?;
                let pacing = level.work.plan().pacing();
                let plan = of_share(level.plan.clone(), self.shard, pacing);
                folder.write_json("level.json", &LevelDocument::new(plan))?;
                folder
            }
        };
        folder.write_text("shard", &self.mark)?;
        Ok(folder)
    }
}

/// The run's `document` as `shard` has it.
fn own_document(document: &RunDocument, basis: &RunBasis, shard: Shard) -> RunDocument {
    let mut document = document.clone();
    document.shard = Some(shard.to_string());
    document.setup.workload = basis.work.described(shard.count());
    for level in &mut document.levels {
        let pacing = match level.load {
            Some(LevelLoad::Concurrency(_)) => Pacing::ClosedLoop,
            Some(LevelLoad::Rate(rate)) => Pacing::OpenLoop { peak: Some(rate) },
            None => basis.work.plan().pacing(),
        };
        *level = of_share(level.clone(), shard, pacing);
    }
    document
}

/// Refuses, at all shards, to go on with an earlier run of which this shard's part is another, or lacks what is finished.
pub(in crate::experiment) fn check_resumed(
    group: &ShardGroup,
    document: &RunDocument,
    basis: &RunBasis,
) -> Result<(), ShardError> {
    let checked = group.check_resumed(&own_document(document, basis, group.shard()));
    checked.inspect_err(|error| group.give_up(error))
}

/// What of a level of this `pacing` falls to `shard`.
fn of_share(plan: LevelPlan, shard: Shard, pacing: Pacing) -> LevelPlan {
    let cap = plan.max_in_flight.and_then(NonZeroU32::new);
    let slots_of_all = slots_of_all(shard, cap, pacing);
    LevelPlan { max_in_flight: cap.map(|cap| cap_of(shard, cap)), slots_of_all, ..plan }
}

/// Tapes on their way to a file that may give way: measuring ends then, and why is said by the group.
struct Spool<'a> {
    file: TapeFile,
    written: u64,
    first: FirstRelease,
    group: &'a ShardGroup,
    cancel: &'a Cancel,
}

impl Spool<'_> {
    fn check(&self, kept: Result<(), FolderError>) {
        if let Err(error) = kept {
            self.group.fail(ShardError::NotKept(error.to_string().into()), self.cancel);
        }
    }
}

impl TapeSink for Spool<'_> {
    type Error = Infallible;

    fn record(&mut self, tape: &Tape) -> Result<(), Infallible> {
        self.first.add(tape);
        self.written += 1;
        let kept = self.file.record(tape);
        self.check(kept);
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Infallible> {
        let kept = self.file.flush();
        self.check(kept);
        Ok(())
    }
}

/// A shard's part of a level, measured and kept.
pub(super) struct MeasuredShare {
    pub(super) run: LevelRun,
    pub(super) report: PartReport,
    /// How long it took.
    pub(super) took: Nanos,
    /// Where it is kept.
    pub(super) kept: RunFolder,
}

/// Why a part could not be measured.
pub(super) type ShareError<E> = DriveError<WalkError, E, Infallible>;

/// Measures this shard's part of `level`, from the instant on that all have agreed on, and keeps it in `folder`.
pub(super) async fn measure<M: Measure>(
    with: &mut M,
    level: &OrderedLevel,
    folder: &ShareFolder,
    basis: &RunBasis,
    group: &ShardGroup,
    observer: &mut impl Observer,
) -> Result<Option<MeasuredShare>, ShareError<M::Error>> {
    let cancel = with.cancel().clone();
    let opened = folder.level(level).and_then(|kept| Ok((kept.tapes()?, kept)));
    let (file, kept) = match opened {
        Ok(opened) => opened,
        Err(error) => {
            let error = ShardError::NotKept(error.to_string().into());
            group.give_up(&error);
            group.fail(error, &cancel);
            return Ok(None);
        }
    };
    let gate = Gate { group, cancel: &cancel, kept: &kept, start: Mutex::new(None) };
    let first = FirstRelease::default();
    let mut spool = Spool { file, written: 0, first, group, cancel: &cancel };
    let begun = with.now();
    let planned = PlannedLevel { start: Some(&gate), ..level.planned().share(group.shard()) };
    let watch = group.watch(&cancel);
    let run = with.measure(planned, &mut spool, observer).await?;
    drop(watch);
    let took = with.now().saturating_since(begun);
    let start = *gate.start.lock().unwrap_or_else(PoisonError::into_inner);
    let share = judged(level, &run, basis, folder);
    let written = kept.write_summary(&share);
    spool.check(written.map(|_| ()));
    let Some(start) = start else {
        group.give_up(&group.error().unwrap_or(ShardError::CalledOff));
        return Ok(None);
    };
    let record = ShardRecord {
        meeting: group.meeting().to_owned(),
        start,
        first: spool.first.0,
        clock: group.clock_before(),
        health: of_part(group.shard(), &run, &share),
    };
    let written = kept.write_shard(&record);
    spool.check(written.map(|_| ()));
    let tapes = (kept.path().join("tapes.jsonl"), spool.written);
    let report = PartReport {
        headroom: basis.client.headroom,
        ceiling: basis.client.ceiling,
        ..part_report(&run, record, group.error(), tapes)
    };
    Ok(Some(MeasuredShare { run, report, took, kept }))
}

fn part_report(
    run: &LevelRun,
    record: ShardRecord,
    failed: Option<ShardError>,
    (tapes, tapes_written): (PathBuf, u64),
) -> PartReport {
    PartReport {
        failed,
        is_cancelled: run.is_partial(),
        is_time_up: run.driven.ended == DriveEnding::TimeUp,
        warm_up: run.warmup,
        held_back: run.driven.held_back,
        abandoned: run.driven.abandoned,
        unsent: run.driven.unsent,
        threads: run.client.watch.threads,
        headroom: None,
        ceiling: None,
        record,
        tapes_written,
        tapes,
    }
}

/// The part by itself, as a run of one shard has it.
fn judged(
    level: &OrderedLevel,
    run: &LevelRun,
    basis: &RunBasis,
    ShareFolder { shard, setup, .. }: &ShareFolder,
) -> LevelReport {
    let shard = *shard;
    let one_in: NonZeroU64 = shard.count();
    let client = basis.client.clone().alone();
    let context = EvaluationContext {
        light: Err(NoReference::OneShard),
        client: &client,
        requested: level.work.requested_share(one_in, released(run)),
        cap: None,
        repeated: None,
    };
    let cap = level.load.max_in_flight.map(|cap| cap_of(shard, cap));
    let cap = cap.map(|cap| NonZeroU32::new(cap).unwrap_or(NonZeroU32::MIN));
    let load = level_load(&level.work, one_in, cap);
    let mut report = context.report(run, &LevelTallies::new(None), load);
    shard_alone(shard).into_iter().for_each(|reason| report.validity.add(reason));
    // One of a sweep has no list of its own.
    let list = || Checklist::of(setup, std::slice::from_ref(&report));
    report.checklist = level.is_of_run().then(list);
    report
}
