//! `fizeau plan`: from what one replica was found to do to replicas, devices and money.

mod bursts;
mod from;
mod price;
mod read;

use std::num::NonZeroU64;

use fizeau::metrics::{Goal, Slo};
use fizeau::pareto::Demand;
use fizeau::record::{
    BurstAccount, DevicePlanSource, MeanLengths, NoPromptShare, PlanLevel, PlanQuery, PlanReport,
    SpeedOfLightCurve, SpeedOfLightReference,
};
use fizeau::report::Shown;

use crate::args::PlanArgs;
use crate::args::goal::goodput;
use crate::exit::{Exit, Fail, Named};
use crate::terminal::say::say;
use from::FromArg;

/// What was read of one source, before it is known what it is for.
struct ReadSource {
    levels: Vec<PlanLevel>,
    left_out: Vec<String>,
    lengths: MeanLengths,
    /// The goals of the run itself.
    slo: Option<Slo>,
    /// Model and devices, where they are known.
    physics: Option<SpeedOfLightReference>,
    /// The speed of light over the requests of all levels.
    light: Option<SpeedOfLightCurve>,
    /// The device's name, where the run says it.
    hardware: Option<String>,
    /// How irregular the arrivals were: the burstiness of an open loop, none of a closed one.
    burstiness: Option<f64>,
}

pub(crate) fn run(args: &PlanArgs) -> Result<Exit, Fail> {
    let demand = demand(args)?;
    let given = args.slo.as_deref().map(|text| text.parse::<Slo>().named("--slo")).transpose()?;
    let others = args.goals.iter().map(|text| Ok((text.clone(), goals(text, "--goals")?)));
    let others = others.collect::<Result<Vec<_>, Fail>>()?;
    let from = args.from.iter().map(|text| FromArg::parse(text));
    let from: Vec<FromArg> = from.collect::<Result<_, _>>()?;
    from::distinct(&from)?;
    let found = from.iter().map(|from| Ok((from, read_source(from, args)?)));
    let found: Vec<(&FromArg, ReadSource)> = found.collect::<Result<_, Fail>>()?;
    let slo = match given {
        Some(slo) => slo,
        None => own_goals(&found)?,
    };
    let ask = PlanQuery { demand, goals: slo.goals.to_vec(), others };
    let sources = found.iter().map(|(from, found)| source(args, &ask, from, found));
    let report = PlanReport::new(ask.clone(), sources.collect::<Result<_, _>>()?);
    if args.json {
        say(report.to_json().map_err(Fail::broken)?.trim_end())?;
    } else {
        say(Shown(&report).text().trim_end())?;
    }
    Ok(if report.is_met() { Exit::Good } else { Exit::Missed })
}

/// The goals of the runs themselves, which are to be the same for all that stand side by side.
fn own_goals(found: &[(&FromArg, ReadSource)]) -> Result<Slo, Fail> {
    let mut own = found.iter().filter_map(|(from, found)| Some((*from, found.slo.as_ref()?)));
    let (first, slo) = own.next().ok_or_else(|| {
        Fail::usage("--slo: name the goals that a replica keeps, such as --slo \"p99 ttft<500ms\"")
    })?;
    match own.find(|(_, other)| *other != slo) {
        Some((from, other)) => Err(Fail::usage(format!(
            "--slo: {} was run for \"{slo}\" and {} for \"{other}\"; say which goals are to be kept",
            first.name, from.name
        ))),
        None => Ok(slo.clone()),
    }
}

fn demand(args: &PlanArgs) -> Result<Demand, Fail> {
    if args.burstiness.is_some_and(|burstiness| burstiness.is_nan() || burstiness <= 0.0) {
        return Err(Fail::usage("--burstiness: it must be a number above 0; 1 is Poisson"));
    }
    Demand::new(args.rate, args.headroom, args.spare).map_err(|error| {
        let flag = if (0.0..1.0).contains(&args.headroom) { "--rate" } else { "--headroom" };
        Fail::usage(format!("{flag}: {error}"))
    })
}

fn goals(text: &str, flag: &str) -> Result<Vec<Goal>, Fail> {
    let slo: Slo = text.parse().named(flag)?;
    Ok(slo.goals.to_vec())
}

fn read_source(from: &FromArg, args: &PlanArgs) -> Result<ReadSource, Fail> {
    let found = match from.path.is_dir() {
        true => read::of_run(from, args)?,
        false => read::of_table(from, args)?,
    };
    let MeanLengths { input, output } = found.lengths;
    let lengths =
        MeanLengths { input: args.input_len.or(input), output: args.output_len.or(output) };
    for (flag, length) in [("--input-len", lengths.input), ("--output-len", lengths.output)] {
        if length.is_some_and(|length| !(length.is_finite() && length > 0.0)) {
            return Err(Fail::usage(format!("{flag}: it must be a number of tokens above 0")));
        }
    }
    Ok(ReadSource { lengths, ..found })
}

/// One kind of device, ready to be planned for.
fn source(
    args: &PlanArgs,
    ask: &PlanQuery,
    from: &FromArg,
    found: &ReadSource,
) -> Result<DevicePlanSource, Fail> {
    let hour = price::of(from, args, found)?;
    let spread =
        found.physics.as_ref().map(|physics| physics.reference().system.deployment().devices());
    let devices = from.gpus.or(args.gpus_per_replica).or_else(|| spread.and_then(NonZeroU64::new));
    let devices_per_replica = devices.ok_or_else(|| {
        Fail::usage(format!(
            "--gpus-per-replica: say how many devices a replica of {} takes",
            from.name
        ))
    })?;
    let mut source = DevicePlanSource {
        name: from.name.clone(),
        from: from.path.display().to_string(),
        devices_per_replica,
        hour,
        prompt_share: Err(NO_MODEL.to_owned()),
        light: found.light.clone().ok_or_else(|| NO_MODEL.to_owned()),
        bursts: BurstAccount::NotAccounted { reason: "no --burstiness was given".to_owned() },
        levels: found.levels.clone(),
        left_out: found.left_out.clone(),
        lengths: found.lengths,
    };
    source.prompt_share = prompt_share(&source, ask, found);
    if let Some(burstiness) = args.burstiness {
        let goodput = goodput(&args.goodput)?;
        let asked = bursts::BurstsRequest { plan: ask, goodput, burstiness };
        source.bursts = bursts::of(&source, found, &asked)?;
    }
    Ok(source)
}

/// Why nothing is known of the hardware.
const NO_MODEL: &str = "no model and device are known: --model-config FILE --hardware NAME";

/// Why nothing is known of the requests' lengths.
const NO_LENGTHS: &str = "the lengths of requests are not known: --input-len, --output-len";

/// The share of the devices' time that prompts take.
fn prompt_share(
    source: &DevicePlanSource,
    ask: &PlanQuery,
    found: &ReadSource,
) -> Result<f64, String> {
    let physics = found.physics.as_ref().ok_or(NO_MODEL)?;
    source.expected_prompt_share(&ask.goals, physics).map_err(|error| match error {
        NoPromptShare::NoLengths => NO_LENGTHS.to_owned(),
        error => error.to_string(),
    })
}
