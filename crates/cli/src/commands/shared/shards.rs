//! From arguments and the environment to the shards of a run.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use fizeau::experiment::{
    EndpointKind, Experiment, ExperimentError, PreparedExperiment, PreparedRun, RunOrigin,
    RunShards, ShardAbsence, ShardError, ShardOutcome, ShardPart, ShardRequest,
};
use fizeau::harness::Cancel;
use fizeau::record::{MissingShards, RunFolder};
use fizeau::workload::Shard;

use super::folder;
use super::opening::Opening;
use crate::args::ShardArgs;
use crate::exit::{Exit, Fail, Named, parsed};
use crate::terminal::progress::Progress;
use crate::terminal::say::say;
use crate::terminal::{interrupt, runtime};

/// Who measures the run that `args` and the environment ask for. Nobody is waited for.
pub(crate) fn find(args: &ShardArgs) -> Result<RunShards, Fail> {
    let variables = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    let mut request = ShardRequest::default();
    request.shard = parsed(&args.shard).given_as("--shard")?;
    request.meeting = parsed(&args.rendezvous).given_as("--rendezvous")?;
    request.patience = args.shard_timeout;
    if args.allow_missing_shards {
        request.missing = MissingShards::Allowed;
    }
    request.find(&variables.collect()).map_err(Fail::usage)
}

/// That `shard` is one of several, and nobody says where they meet.
pub(crate) fn nowhere_to_meet(shard: Shard) -> Fail {
    Fail::usage(format!(
        "shard {shard} has nowhere to meet the others, which it must do before each level: give --rendezvous HOST:PORT of shard 0, or \
        a folder that all of them see"
    ))
}

/// What is measured, once all who measure it are there: whoever is one of several waits here. Whatever one alone can find wrong was refused
/// before. `out` is where the run was to be kept.
pub(crate) fn met<K: EndpointKind>(
    prepared: PreparedExperiment<K>,
    shards: &RunShards,
    out: Option<&Path>,
) -> Result<PreparedExperiment<K>, ExperimentError> {
    let Some(spec) = shards.spec() else { return Ok(prepared) };
    tell!("shard {}, by {}", spec.shard, spec.source);
    let prepared = prepared.meet()?;
    let Some(group) = prepared.shards() else { return Ok(prepared) };
    let (here, all) = (group.here().len() as u64, spec.shard.count().get());
    if group.is_first() && here < all {
        tell!("{here} of {all} shards are here, and measure without the others");
    }
    let folder = group.folder();
    let is_other = |out: &&Path| std::path::absolute(out).is_ok_and(|out| !folder.starts_with(out));
    if let Some(out) = out.filter(is_other) {
        let (out, folder) = (out.display(), folder.display());
        tell!(
            "note: --out {out}: the run goes where shard 0 says; this shard's part is in {folder}"
        );
    }
    group.waits().tell(|wait| {
        tell!("Still waiting for {}, for {:.0} s now.", wait.whom, wait.lasts().as_secs_f64());
    });
    Ok(prepared)
}

/// Who measures the levels of a command, and where they are kept.
pub(crate) struct Meeting {
    pub(crate) shards: RunShards,
    origin: RunOrigin,
    out: PathBuf,
    /// Whether somebody named that folder.
    is_named: bool,
    pub(crate) cancel: Cancel,
}

/// What came of levels that were measured, the folder that has them, and the shard that was gone in their midst.
pub(crate) type Measured<K> =
    (<<K as EndpointKind>::Prepared as PreparedRun>::Outcome, RunFolder, Option<Box<ShardAbsence>>);

impl Meeting {
    /// Of `command`, whose run goes to `given` or a folder by default.
    pub(crate) fn of(
        command: &'static str,
        args: &ShardArgs,
        given: &Option<PathBuf>,
        precision: &Option<String>,
        resume: Option<&Path>,
    ) -> Result<Self, Fail> {
        let (cancel, mut origin) = (Cancel::new(), folder::origin());
        origin.precision.clone_from(precision);
        let out = folder::given_or_usual(given.as_ref(), origin.started, command);
        refuse_if!(
            args.allow_missing_shards,
            "--allow-missing-shards: only a run of one level can go on without a shard, because fewer shards offer less load than each \
            level of this command names; leave it out, or measure one level with `fizeau bench`"
        );
        let shards = find(args)?;
        if let RunShards::Apart(shard) = shards {
            return Err(nowhere_to_meet(shard));
        }
        // What is resumed goes on where it is.
        let out = resume.map_or(out, Path::to_path_buf);
        Ok(Self { shards, origin, out, is_named: given.is_some() && resume.is_none(), cancel })
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
        let Self { shards, origin, out, cancel, .. } = self;
        let asked = asked.origin(origin.clone()).cancel(cancel.clone()).measured_by(shards);
        let asked = if shards.has_report() { asked.folder(out) } else { asked };
        let named = self.is_named.then_some(out.as_path());
        let prepared = met(asked.prepare().map_err(refused)?, shards, named).map_err(refused)?;
        if !shards.has_report() {
            return part(prepared, cancel, refused).map(ControlFlow::Break);
        }
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
