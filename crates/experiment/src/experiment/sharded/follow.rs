//! A whole run of several shards: shard 0 leads, the others follow.

use std::fmt;
use std::path::PathBuf;

use fizeau_core::Timer;
use fizeau_harness::Measure;
use fizeau_record::{RunDocument, RunFolder, ShardRecord};
use fizeau_workload::Shard;

use super::measure::ShardedMeasure;
use super::share::{self, MeasuredShare, ShareFolder};
use crate::event::Watcher;
use crate::experiment::PreparedRun;
use crate::input::ExperimentError;
use crate::shards::{ShardAbsence, ShardError, ShardGroup};

/// What comes of a run of several shards: at shard 0 all of it, at the others their parts.
#[derive(Debug)]
pub enum ShardOutcome<O> {
    /// Of all shards together.
    Whole(O),
    /// Of the shards that were left, where one was gone in the midst of it.
    Cut {
        /// What they measured.
        outcome: O,
        /// Which was gone.
        why: Box<ShardAbsence>,
    },
    /// Of this shard; the rest is at shard 0.
    Part(ShardPart),
}

/// What one shard sent.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ShardPart {
    /// Which it is.
    pub shard: Shard,
    /// How many requests it sent.
    pub sent: u64,
    /// In how many levels.
    pub levels: u64,
    /// Where its part is kept; none where nothing is.
    pub folder: Option<PathBuf>,
    /// Whether it was called off.
    pub is_cut: bool,
}

impl fmt::Display for ShardPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { shard, sent, levels, .. } = self;
        let of = if *levels == 1 { "level" } else { "levels" };
        write!(
            f,
            "shard {shard}: {sent} requests sent in {levels} {of}; the report is at shard 0"
        )?;
        let Some(folder) = &self.folder else { return Ok(()) };
        write!(f, " (its own part: {})", folder.display())
    }
}

/// What all shards take part in, as shard 0 has it.
pub(in crate::experiment) struct SharedRun<'a> {
    pub(in crate::experiment) group: &'a ShardGroup,
    pub(in crate::experiment) document: &'a RunDocument,
    /// Where what comes of all of them is kept; none for nowhere.
    pub(in crate::experiment) folder: Option<&'a RunFolder>,
}

/// Measures all of `run` with all shards, as shard 0.
pub(in crate::experiment) async fn lead<R: PreparedRun, M: Measure, C: Timer>(
    run: &R,
    with: Vec<M>,
    timer: C,
    SharedRun { group, document, folder: kept }: SharedRun<'_>,
    watcher: &mut impl Watcher,
) -> Result<ShardOutcome<R::Outcome>, ExperimentError> {
    let folder = ShareFolder::create(group, document, run.basis()).map_err(unusable);
    let folder = folder.inspect_err(|error| {
        group.give_up(error);
        group.finish();
    })?;
    let sharded = |with: M| ShardedMeasure { with, run, group: group.clone(), folder: &folder };
    let with = with.into_iter().map(sharded).collect();
    let outcome = run.measure(with, timer, kept, watcher).await;
    if let (None, Some(error)) = (group.error(), outcome.as_ref().err().and_then(broken_off)) {
        group.give_up(&error);
    }
    group.finish();
    let parts = group.measured_parts();
    let outcome = match (group.error().map(|error| error.with_parts(parts)), outcome) {
        (None, outcome) => outcome.map(ShardOutcome::Whole),
        // What was measured until then is worth looking at.
        (Some(ShardError::PeerMissing(why)), Ok(outcome)) if group.report().is_some() => {
            Ok(ShardOutcome::Cut { outcome, why })
        }
        (Some(error), _) => Err(ExperimentError::Shards(error)),
    };
    if outcome.is_err() && !group.has_begun() {
        folder.withdraw();
    }
    outcome
}

/// What the other shards are told of a run that ended by `error`; none where all of it was measured and kept.
fn broken_off(error: &ExperimentError) -> Option<ShardError> {
    match error {
        ExperimentError::TooFewValid { .. } => None,
        ExperimentError::Shards(error) => Some(error.clone()),
        // What shard 0 measured lies in its own part: what breaks is the keeping of the whole run.
        other => Some(ShardError::NotKept(other.to_string().into())),
    }
}

/// `outcome`, of which the others of `group` hear where it is an error.
pub(in crate::experiment) fn tell_others<T>(
    group: Option<&ShardGroup>,
    outcome: Result<T, ExperimentError>,
) -> Result<T, ExperimentError> {
    outcome.inspect_err(|error| {
        if let (Some(group), Some(error)) = (group, told(error)) {
            group.give_up(&error);
        }
    })
}

/// What the other shards are told of an error that befell this one; none of what came from them.
fn told(error: &ExperimentError) -> Option<ShardError> {
    match error {
        ExperimentError::Shards(_) => None,
        error => Some(unusable(error)),
    }
}

fn unusable(error: impl fmt::Display) -> ShardError {
    ShardError::Unusable(error.to_string().into())
}

/// Measures this shard's parts of the levels that shard 0 names.
pub(in crate::experiment) async fn follow<R: PreparedRun, M: Measure>(
    run: &R,
    with: Vec<M>,
    group: &ShardGroup,
    document: &RunDocument,
) -> Result<ShardPart, ExperimentError> {
    let folder = ShareFolder::create(group, document, run.basis());
    let followed = match &folder {
        Ok(folder) => levels(run, with, group, folder).await,
        Err(error) => Err(unusable(error).into()),
    };
    if let Err(error) = &followed {
        group.give_up(&unusable(error));
    }
    if let (Err(_), Ok(folder), false) = (&followed, &folder, group.has_begun()) {
        folder.withdraw();
    }
    group.finish();
    followed.map_err(|error| match error {
        ExperimentError::Shards(error) => error.with_parts(group.measured_parts()).into(),
        other => other,
    })
}

async fn levels<R: PreparedRun, M: Measure>(
    run: &R,
    mut with: Vec<M>,
    group: &ShardGroup,
    folder: &ShareFolder,
) -> Result<ShardPart, ExperimentError> {
    let kept = (!group.is_temporary()).then(|| group.folder());
    let mut part =
        ShardPart { shard: group.shard(), sent: 0, levels: 0, folder: kept, is_cut: false };
    while let Some(name) = group.next()? {
        let level = run.ordered(&name)?;
        let none = || ExperimentError::broken("the run has no level to measure");
        let with = with.get_mut(level.endpoint).ok_or_else(none)?;
        let measured = share::measure(with, &level, folder, run.basis(), group, &mut ()).await;
        let Some(measured) = measured.map_err(ExperimentError::told)? else {
            return Err(group.error().unwrap_or(ShardError::CalledOff).into());
        };
        let MeasuredShare { run: came, report, took, kept } = measured;
        part.sent += came.summary.requests.sent;
        part.levels += 1;
        part.is_cut |= came.is_partial();
        let (failed, record) = (report.failed.clone(), report.record.clone());
        let mut written = Ok(());
        let ended = group.end(report, took, |clock| {
            // What was written before the end knows it a little less well.
            let record = ShardRecord { clock: Some(clock), ..record };
            written = kept.write_shard(&record).map(drop);
        });
        // Whoever was cut off knows why nobody answers.
        ended.map_err(|error| group.error().unwrap_or(error))?;
        written.map_err(|error| ShardError::NotKept(error.to_string().into()))?;
        if let Some(error) = failed {
            return Err(error.into());
        }
    }
    part.is_cut |= group.was_cut();
    Ok(part)
}
