//! `--from`: where a plan's figures are, and what is of that kind of device alone.

use std::num::NonZeroU64;
use std::path::{Path, PathBuf};

use fizeau::record::{MeanLengths, ReferenceFiles, TestedLoads, TestedReplica};
use fizeau::report::LevelTable;
use fizeau::roofline::{Device, HourlyRate, Ownership};

use crate::args::{PlanArgs, SpeedOfLightArgs, hour};
use crate::commands::shared::speed;
use crate::commands::{pareto, report};
use crate::exit::{Fail, Named, unread};

/// One value of `--from`.
pub(super) struct FromArg {
    pub(super) name: String,
    pub(super) path: PathBuf,
    pub(super) gpus: Option<NonZeroU64>,
    pub(super) gpu_hour: Option<HourlyRate>,
    pub(super) hardware: Option<String>,
    pub(super) tco: Option<PathBuf>,
}

impl FromArg {
    /// Reads `[NAME=]PATH[,KEY=VALUE...]`; without a name it is the path's last part.
    pub(super) fn parse(text: &str) -> Result<Self, Fail> {
        let mut parts = text.split(',');
        let first = parts.next().unwrap_or_default();
        let (name, path) = match first.split_once('=') {
            Some((name, path)) => (Some(name), PathBuf::from(path)),
            None => (None, PathBuf::from(first)),
        };
        refuse_if!(!path.exists(), "--from {first}: there is no such folder or file");
        let last = || path.file_name().map(|name| name.to_string_lossy().into_owned());
        let name = name.map(str::to_owned).or_else(last).unwrap_or_else(|| first.to_owned());
        let mut from = Self { name, path, gpus: None, gpu_hour: None, hardware: None, tco: None };
        parts.try_for_each(|part| from.set(part))?;
        refuse_if!(
            from.gpu_hour.is_some() && from.tco.is_some(),
            "--from {}: gpu-hour and tco both give a price; leave one out",
            from.name
        );
        Ok(from)
    }

    fn set(&mut self, part: &str) -> Result<(), Fail> {
        let wrong = |wanted: &str| usage!("--from {}: `{part}`: {wanted}", self.name);
        let (key, value) = part.split_once('=').ok_or_else(|| wrong("write KEY=VALUE"))?;
        match key {
            "gpus" => {
                let number = value.parse().map_err(|_| wrong("write a whole number from 1 on"))?;
                self.gpus = Some(number);
            }
            "gpu-hour" => {
                self.gpu_hour = Some(hour(value).map_err(|why| wrong(&why))?);
            }
            "hardware" => self.hardware = Some(value.to_owned()),
            "tco" => self.tco = Some(value.into()),
            _ => return Err(wrong("the keys are gpus, gpu-hour, hardware, tco")),
        }
        Ok(())
    }
}

// What an hour of a device costs, and how it is shared between prompts and outputs.

/// By the source's own words, then by the flags, then the lowest that was published of the device; none where no price is given.
pub(super) fn price(
    from: &FromArg,
    args: &PlanArgs,
    found: &TestedReplica,
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
    // Of a device that is not in the table, or has no published price, nobody knows one: the plan is then without.
    let device = device(from, args, found)?;
    Ok(device.and_then(|device| HourlyRate::lowest_published(&device).ok()))
}

fn owned(path: &Path, whose: &str) -> Result<HourlyRate, Fail> {
    let text = std::fs::read_to_string(path);
    let text = text.map_err(|error| unread(whose, "a TOML file of costs", &error))?;
    Ok(HourlyRate::owned(&Ownership::from_toml(&text).named(whose)?))
}

/// The device that the flags name, or that of the run.
fn device(from: &FromArg, args: &PlanArgs, found: &TestedReplica) -> Result<Option<Device>, Fail> {
    if let Some(name) = from.hardware.as_ref().or(args.speed_of_light.hardware.as_ref()) {
        return Ok(Some(speed::find_device(name, "--hardware")?.device));
    }
    Ok(found.device())
}

// What is read of one source: a table of tested loads, or a run's folder.

/// A table of tested loads.
pub(super) fn of_table(from: &FromArg, args: &PlanArgs) -> Result<TestedReplica, Fail> {
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
fn tell_unused(from: &FromArg, loads: &TestedLoads) {
    for (name, nearest) in loads.unused().filter(|(name, _)| !LevelTable::has_column(name)) {
        tell!("note: --from {}: the column {name} is not used; did you mean {nearest}?", from.name);
    }
}

/// The lengths that flags give, where the source does not say its `own`.
pub(super) fn given_lengths(
    from: &FromArg,
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
pub(super) fn of_run(from: &FromArg, args: &PlanArgs) -> Result<TestedReplica, Fail> {
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
fn system_args(from: &FromArg, args: &PlanArgs) -> SpeedOfLightArgs {
    let [config, ..] = ReferenceFiles::NAMES;
    let has_model = args.speed_of_light.model_config.is_some() || from.path.join(config).is_file();
    let own = from.hardware.clone().or_else(|| args.speed_of_light.hardware.clone());
    SpeedOfLightArgs { hardware: own.filter(|_| has_model), ..args.speed_of_light.clone() }
}
