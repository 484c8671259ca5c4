//! From arguments and the environment to the shards of a run.

use std::path::{Path, PathBuf};

use fizeau::experiment::{
    EndpointKind, ExperimentError, MeetingPoint, PreparedExperiment, RunShards, ShardGroup,
    ShardIdentity, ShardOffer, ShardOutcome, ShardPart, ShardSecret, ShardSpec, Variables,
};
use fizeau::harness::Cancel;
use fizeau::record::MissingShards;
use fizeau::workload::ShardTextError;

use super::opening::Opening;
use crate::args::ShardArgs;
use crate::exit::{Exit, Fail};
use crate::terminal::say::say;
use crate::terminal::{interrupt, runtime};

/// Who measures the run that `args` and the environment ask for, which is kept in `out`, or goes on with that in the folder `resume`, as
/// shard 0 has it. Whoever is one of several waits here until all have come.
pub(crate) fn of(
    args: &ShardArgs,
    resume: Option<&Path>,
    out: Option<PathBuf>,
    cancel: &Cancel,
) -> Result<RunShards, Fail> {
    let variables: Variables = std::env::vars_os()
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
    Ok(RunShards::Together(ShardGroup::meet(&spec, offer, cancel)?))
}

/// Why there is no `--until` where there are several: none of them sees how well all know a figure while they measure.
pub(crate) const NO_UNTIL: &str = "shards exchange nothing while they measure, so none of them knows how precise the figures of all \
                                   shards are; set the size of each level with --num-prompts or --level-seconds";

/// Refuses shards that do not meet, where they have to before each level.
pub(crate) fn have_to_meet(shards: &RunShards) -> Result<(), Fail> {
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
        ShardOutcome::Whole(_) => Err(broken!("it is shard 0")),
    }
}

/// Says what this shard sent.
pub(crate) fn show(part: &ShardPart) -> Result<Exit, Fail> {
    say(part)?;
    Ok(if part.is_cut { Exit::Interrupted } else { Exit::Good })
}
