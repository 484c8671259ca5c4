//! `fizeau plan`: from what one replica was found to do to replicas, devices and money.

mod bursts;
mod from;

use fizeau::metrics::{Goal, Slo};
use fizeau::pareto::Demand;
use fizeau::record::{
    BurstAccount, DevicePlanSource, GoalSource, NoCommonGoals, NoPromptShare, PlanQuery,
    PlanReport, TestedReplica,
};
use fizeau::report::Shown;

use crate::args::PlanArgs;
use crate::args::goal::goodput;
use crate::exit::{Exit, Fail, Named};
use crate::terminal::say::say_either;
use from::FromArg;

pub(crate) fn run(args: &PlanArgs) -> Result<Exit, Fail> {
    let demand = demand(args)?;
    let given = args.slo.as_deref().map(|text| text.parse::<Slo>().named("--slo")).transpose()?;
    let others = args.goals.iter().map(|text| Ok((text.clone(), goals(text, "--goals")?)));
    let others = others.collect::<Result<Vec<_>, Fail>>()?;
    let from = args.from.iter().map(|text| FromArg::parse(text));
    let from: Vec<FromArg> = from.collect::<Result<_, _>>()?;
    from::distinct(&from)?;
    let found = from.iter().map(|from| Ok((from, read_source(from, args)?)));
    let found: Vec<(&FromArg, TestedReplica)> = found.collect::<Result<_, Fail>>()?;
    let slo = match given {
        Some(slo) => slo,
        None => own_goals(&found)?,
    };
    let ask = PlanQuery { demand, goals: slo.goals.to_vec(), others };
    let sources = found.iter().map(|(from, found)| source(args, &ask, from, found));
    let report = PlanReport::new(ask.clone(), sources.collect::<Result<_, _>>()?);
    say_either(args.json, || report.to_json(), || Shown(&report).text())?;
    Ok(Exit::missed(!report.is_met()))
}

/// The goals of the runs themselves.
fn own_goals(found: &[(&FromArg, TestedReplica)]) -> Result<Slo, Fail> {
    let is_assumed = |(_, found): &&(&FromArg, TestedReplica)| {
        found.slo.is_some() && found.goal_source == GoalSource::Assumed
    };
    if let Some((from, _)) = found.iter().find(is_assumed) {
        tell!(
            "note: the goals of {} were assumed, since none were given; --slo names your own",
            from.name
        );
    }
    let runs = found.iter().map(|(from, found)| (&*from.name, found));
    TestedReplica::common_goals(runs).map_err(|error| match error {
        NoCommonGoals::None => {
            usage!("--slo: name the goals that a replica keeps, such as --slo \"p99 ttft<500ms\"")
        }
        error => usage!("--slo: {error}"),
    })
}

fn demand(args: &PlanArgs) -> Result<Demand, Fail> {
    refuse_if!(
        args.burstiness.is_some_and(|burstiness| burstiness.is_nan() || burstiness <= 0.0),
        "--burstiness: it must be a number above 0; 1 is Poisson"
    );
    Demand::new(args.rate, args.headroom, args.spare).map_err(|error| {
        let flag = if (0.0..1.0).contains(&args.headroom) { "--rate" } else { "--headroom" };
        usage!("{flag}: {error}")
    })
}

fn goals(text: &str, flag: &str) -> Result<Vec<Goal>, Fail> {
    let slo: Slo = text.parse().named(flag)?;
    Ok(slo.goals.to_vec())
}

fn read_source(from: &FromArg, args: &PlanArgs) -> Result<TestedReplica, Fail> {
    let mut found = match from.path.is_dir() {
        true => from::of_run(from, args)?,
        false => from::of_table(from, args)?,
    };
    found.lengths = found.lengths.or(from::given_lengths(from, args, found.lengths)?);
    Ok(found)
}

/// One kind of device, ready to be planned for.
fn source(
    args: &PlanArgs,
    ask: &PlanQuery,
    from: &FromArg,
    found: &TestedReplica,
) -> Result<DevicePlanSource, Fail> {
    let hour = from::price(from, args, found)?;
    let devices = from.gpus.or(args.gpus_per_replica).or_else(|| found.devices());
    let devices_per_replica = devices.ok_or_else(|| {
        usage!("--gpus-per-replica: say how many devices a replica of {} takes", from.name)
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
    found: &TestedReplica,
) -> Result<f64, String> {
    let speed_of_light = found.reference.as_ref().ok_or(NO_MODEL)?;
    source.expected_prompt_share(&ask.goals, speed_of_light).map_err(|error| match error {
        NoPromptShare::NoLengths => NO_LENGTHS.to_owned(),
        error => error.to_string(),
    })
}
