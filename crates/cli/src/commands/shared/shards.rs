//! From arguments and the environment to the shards of a run.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use fizeau::experiment::{
    EndpointKind, EnvironmentVariables, Experiment, ExperimentError, MeetingPoint,
    PreparedExperiment, PreparedRun, RunOrigin, RunShards, ShardAbsence, ShardError, ShardGroup,
    ShardIdentity, ShardOffer, ShardOutcome, ShardPart, ShardSecret, ShardSpec,
};
use fizeau::harness::Cancel;
use fizeau::record::{MissingShards, RunFolder};
use fizeau::workload::ShardTextError;

use super::folder;
use super::opening::Opening;
use crate::args::ShardArgs;
use crate::exit::{Exit, Fail};
use crate::terminal::progress::Progress;
use crate::terminal::say::say;
use crate::terminal::{interrupt, runtime};

/// How many levels a command measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LevelsOfCommand {
    /// One, which a shard may be missing from.
    One,
    /// Several, which are compared by the loads that they name.
    Several,
}

/// Who measures the run that `args` and the environment ask for, which is kept in `out`, or goes on with that in the folder `resume`, as
/// shard 0 has it. Whoever is one of several waits here until all have come.
pub(crate) fn of(
    args: &ShardArgs,
    levels: LevelsOfCommand,
    resume: Option<&Path>,
    out: Option<PathBuf>,
    cancel: &Cancel,
) -> Result<RunShards, Fail> {
    refuse_if!(
        args.allow_missing_shards && levels == LevelsOfCommand::Several,
        "--allow-missing-shards: only a run of one level can go on without a shard, because fewer shards offer less load than each \
        level of this command names; leave it out, or measure one level with `fizeau bench`"
    );
    let variables: EnvironmentVariables = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect();
    let given = args.shard.as_deref().map(str::parse).transpose().map_err(|error| match error {
        ShardTextError::NotText { .. } => usage!("--shard {error}"),
        error => usage!("--shard: {error}"),
    })?;
    let found = ShardIdentity::find(given, &variables).map_err(Fail::usage)?;
    if !found.is_part() {
        return Ok(RunShards::Alone);
    }
    let named = args.rendezvous.as_deref().map(str::parse::<MeetingPoint>).transpose();
    let named = named.map_err(|error| usage!("--rendezvous {error}"))?;
    let Some(meeting) = MeetingPoint::find(named, &variables).map_err(Fail::usage)? else {
        return Ok(RunShards::Apart(found.shard));
    };
    let mut spec = ShardSpec::new(found.shard, meeting);
    spec.patience = args.shard_timeout;
    spec.secret = ShardSecret::find(&variables);
    if args.allow_missing_shards {
        spec.missing = MissingShards::Allowed;
    }
    let resume = resume.filter(|_| found.shard.index() == 0);
    let offer = match resume {
        Some(folder) => ShardOffer::resuming(folder.to_path_buf())
            .map_err(|error| usage!("--resume: {error}"))?,
        None => {
            let mut offer = ShardOffer::default();
            offer.out = out;
            offer
        }
    };
    tell!("shard {}, by {}", found.shard, found.source);
    let met = ShardGroup::meet(&spec, offer, cancel).map_err(|error| {
        let may_go_on = levels == LevelsOfCommand::One
            && matches!(&error, ShardError::PeerMissing(absence) if absence.can_be_done_without());
        let mut fail = Fail::from(error);
        if may_go_on {
            fail.message.push_str("\n--allow-missing-shards measures with the shards that come");
        }
        fail
    })?;
    let (here, all) = (met.here().len() as u64, found.shard.count().get());
    if met.is_first() && here < all {
        tell!("{here} of {all} shards are here, and measure without the others");
    }
    met.waits().tell(|wait| {
        tell!("Still waiting for {}, for {:.0} s now.", wait.whom, wait.lasts().as_secs_f64());
    });
    Ok(RunShards::Together(met))
}

/// Why there is no `--until` where there are several: none of them sees how well all know a figure while they measure.
pub(crate) const NO_UNTIL: &str = "shards exchange nothing while they measure, so none of them knows how precise the figures of all \
                                   shards are; set the size of each level with --num-prompts or --level-seconds";

/// Refuses shards that do not meet, where they have to before each level.
fn have_to_meet(shards: &RunShards) -> Result<(), Fail> {
    match shards {
        RunShards::Apart(shard) => Err(usage!(
            "shard {shard} has nowhere to meet the others, which it must do before each level: give --rendezvous HOST:PORT of shard 0, or a folder that all of them see"
        )),
        RunShards::Alone | RunShards::Together(_) => Ok(()),
    }
}

/// Refuses `flag` where there are several; `instead` is what there is in its place.
pub(crate) fn refuse(
    shards: &RunShards,
    flag: &str,
    is_given: bool,
    instead: &str,
) -> Result<(), Fail> {
    match shards {
        RunShards::Together(group) if is_given => Err(usage!(
            "{flag} does not work with several shards, and this is shard {}: {instead}",
            group.shard()
        )),
        _ => Ok(()),
    }
}

/// Who measures the levels of a command, and where they are kept.
pub(crate) struct Meeting {
    pub(crate) shards: RunShards,
    origin: RunOrigin,
    out: PathBuf,
    pub(crate) cancel: Cancel,
}

/// What came of levels that were measured, the folder that has them, and the shard that was gone in their midst.
pub(crate) type Measured<K> =
    (<<K as EndpointKind>::Prepared as PreparedRun>::Outcome, RunFolder, Option<Box<ShardAbsence>>);

impl Meeting {
    /// Of `command`, whose run goes to `given` or a folder by default: whoever is one of several waits here until all have come.
    pub(crate) fn of(
        command: &'static str,
        args: &ShardArgs,
        given: &Option<PathBuf>,
        precision: &Option<String>,
        resume: Option<&Path>,
    ) -> Result<Self, Fail> {
        let (cancel, mut origin) = (Cancel::new(), folder::origin());
        origin.precision.clone_from(precision);
        let by_default = || folder::by_default(origin.started, command);
        let out = given.clone().unwrap_or_else(by_default);
        let shards = of(args, LevelsOfCommand::Several, resume, Some(out.clone()), &cancel)?;
        // What is resumed goes on where it is.
        let out = resume.map_or(out, Path::to_path_buf);
        have_to_meet(&shards)?;
        Ok(Self { shards, origin, out, cancel })
    }

    /// Measures what `asked` has, watched by what `begin` makes once all is opened. What came of it is in the folder that it gives back;
    /// where other shards have that, how the command ends.
    pub(crate) fn measure<K: EndpointKind>(
        &self,
        asked: Experiment<K>,
        refused: impl Fn(ExperimentError) -> Fail + Copy,
        mut opening: Opening,
        begin: impl FnOnce(&PreparedExperiment<K>) -> Result<Progress, Fail>,
    ) -> Result<ControlFlow<Exit, Measured<K>>, Fail> {
        let Self { shards, origin, out, cancel } = self;
        let asked = asked.origin(origin.clone()).cancel(cancel.clone()).measured_by(shards);
        if !shards.has_report() {
            let prepared = asked.prepare().map_err(refused)?;
            return part(prepared, cancel, refused).map(ControlFlow::Break);
        }
        let prepared = asked.folder(out).prepare().map_err(refused)?;
        let runtime = runtime::single()?;
        let prepared = runtime.block_on(prepared.open(&mut opening)).map_err(refused)?;
        drop(opening);
        let folder = prepared.folder().cloned();
        let folder = folder.ok_or_else(|| broken!("the run has no folder"))?;
        let mut progress = begin(&prepared)?;
        interrupt::listen(cancel.clone())?;
        Ok(match runtime.block_on(prepared.run_shared(&mut progress)).map_err(refused)? {
            ShardOutcome::Whole(outcome) => ControlFlow::Continue((outcome, folder, None)),
            ShardOutcome::Cut { outcome, why } => {
                ControlFlow::Continue((outcome, folder, Some(why)))
            }
            ShardOutcome::Part(part) => ControlFlow::Break(show(&part)?),
        })
    }
}

/// Measures this shard's part of a run whose report shard 0 has.
pub(crate) fn part<K: EndpointKind>(
    prepared: PreparedExperiment<K>,
    cancel: &Cancel,
    refused: impl Fn(ExperimentError) -> Fail + Copy,
) -> Result<Exit, Fail> {
    let runtime = runtime::single()?;
    let opened = runtime.block_on(prepared.open(&mut Opening::default())).map_err(refused)?;
    interrupt::listen(cancel.clone())?;
    match runtime.block_on(opened.run_shared(&mut ())).map_err(refused)? {
        ShardOutcome::Part(part) => show(&part),
        ShardOutcome::Whole(_) | ShardOutcome::Cut { .. } => Err(broken!("it is shard 0")),
    }
}

/// How a command ends whose figures were `shown`, where a shard was gone in the midst of it.
pub(crate) fn without(
    gone: Option<Box<ShardAbsence>>,
    shown: Result<Exit, Fail>,
) -> Result<Exit, Fail> {
    let Some(gone) = gone else { return shown };
    if let Err(error) = shown {
        tell!("error: {error}");
    }
    Err(ShardError::PeerMissing(gone).into())
}

/// Says what this shard sent.
pub(crate) fn show(part: &ShardPart) -> Result<Exit, Fail> {
    say(part)?;
    Ok(if part.is_cut { Exit::Interrupted } else { Exit::Good })
}
