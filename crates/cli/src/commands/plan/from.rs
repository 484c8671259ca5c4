//! `--from`: where a plan's figures are, and what is of that kind of device alone.

use std::path::Path;

use fizeau::experiment::ReplicaSource;
use fizeau::record::{MeanLengths, ReferenceFiles, TestedLoads, TestedReplica};
use fizeau::report::LevelTable;
use fizeau::roofline::{HourlyRate, Ownership};

use crate::args::{PlanArgs, SpeedOfLightArgs};
use crate::commands::shared::speed;
use crate::commands::{pareto, report};
use crate::exit::{Fail, Named, unread};

// What an hour of a device costs, and how it is shared between prompts and outputs.

/// By the source's own words, then by the flags, then the lowest that was published of the device that is named, or else `published`, that of
/// the run's device.
pub(super) fn price(
    from: &ReplicaSource,
    args: &PlanArgs,
    published: Option<HourlyRate>,
) -> Result<Option<HourlyRate>, Fail> {
    let whose = format!("--from {}: tco", from.name);
    let given = [(&from.gpu_hour, &from.tco, &*whose), (&args.gpu_hour, &args.tco, "--tco")];
    for (price, tco, whose) in given {
        match (price, tco) {
            (Some(price), _) => return Ok(Some(price.clone())),
            (None, Some(path)) => {
                return owned(path, &format!("{whose} {}", path.display())).map(Some);
            }
            (None, None) => {}
        }
    }
    let Some(name) = from.hardware.as_ref().or(args.speed_of_light.hardware.as_ref()) else {
        return Ok(published);
    };
    let device = speed::find_device(name, "--hardware")?.device;
    // Of a device that has no published price nobody knows one: the plan is then without.
    Ok(HourlyRate::lowest_published(&device).ok())
}

fn owned(path: &Path, whose: &str) -> Result<HourlyRate, Fail> {
    let text = std::fs::read_to_string(path);
    let text = text.map_err(|error| unread(whose, "a TOML file of costs", &error))?;
    Ok(HourlyRate::owned(&Ownership::from_toml(&text).named(whose)?))
}

// What is read of one source: a table of tested loads, or a run's folder.

/// A table of tested loads.
pub(super) fn of_table(from: &ReplicaSource, args: &PlanArgs) -> Result<TestedReplica, Fail> {
    let loads = pareto::read(&from.path.to_string_lossy())?.tested_loads()?;
    tell_unused(from, &loads);
    if let (Some(own), Some(given)) = (loads.devices(), from.gpus.or(args.gpus_per_replica)) {
        let flag = if from.gpus.is_some() { "--from gpus" } else { "--gpus-per-replica" };
        refuse_if!(
            own != given,
            "{flag} {given}: {name} says itself, in its column devices, that a replica takes {own}; leave the flag out",
            name = from.name
        );
    }
    let mut asked = args.speed_of_light.clone();
    asked.hardware = from.hardware.clone().or(asked.hardware);
    // A device alone is for its price.
    let speed_of_light = match asked.model_config {
        Some(_) => speed::from_args(&asked, args.engine.as_deref())?,
        None => None,
    };
    let lengths = given_lengths(from, args, loads.lengths())?;
    Ok(TestedReplica::of_loads(&loads, lengths, speed_of_light))
}

/// The columns that no table of levels has, and a plan reads nothing of.
fn tell_unused(from: &ReplicaSource, loads: &TestedLoads) {
    for (name, nearest) in loads.unused().filter(|(name, _)| !LevelTable::has_column(name)) {
        tell!("note: --from {}: the column {name} is not used; did you mean {nearest}?", from.name);
    }
}

/// The lengths that flags give, where the source does not say its `own`.
pub(super) fn given_lengths(
    from: &ReplicaSource,
    args: &PlanArgs,
    own: MeanLengths,
) -> Result<MeanLengths, Fail> {
    let given = MeanLengths { input: args.input_len, output: args.output_len };
    for (flag, given, own) in
        [("--input-len", given.input, own.input), ("--output-len", given.output, own.output)]
    {
        let both = given.zip(own).filter(|(given, own)| (own - given).abs() > 0.5);
        if let Some((given, own)) = both {
            let name = &from.name;
            bail!(
                "{flag} {given}: {name} says itself that they were {own:.0} tokens; leave the flag out"
            );
        }
    }
    Ok(given)
}

/// A run's folder.
pub(super) fn of_run(from: &ReplicaSource, args: &PlanArgs) -> Result<TestedReplica, Fail> {
    let stored = report::read(&from.path, &args.goodput, &system_args(from, args))
        .named(&format!("--from {}", from.path.display()))?;
    let mut tested = TestedReplica::of(&stored);
    if let Some(engine) = &args.engine
        && args.speed_of_light.calibration.is_none()
    {
        tested.reference = tested.reference.map(|reference| reference.served_by(engine));
    }
    Ok(tested)
}

/// The device of one source alone is its run's too, where the run has a model.
fn system_args(from: &ReplicaSource, args: &PlanArgs) -> SpeedOfLightArgs {
    let [config, ..] = ReferenceFiles::NAMES;
    let has_model = args.speed_of_light.model_config.is_some() || from.path.join(config).is_file();
    let own = from.hardware.clone().or_else(|| args.speed_of_light.hardware.clone());
    SpeedOfLightArgs { hardware: own.filter(|_| has_model), ..args.speed_of_light.clone() }
}
