//! `fizeau plan`: from what one replica was found to do to replicas, devices and money.

mod from;

use std::collections::BTreeSet;

use fizeau::experiment::{PlanError, PlanSettings, PlannedReplica, ReplicaSource};
use fizeau::metrics::Slo;
use fizeau::pareto::Demand;
use fizeau::record::{
    BurstAccount, GoalSource, NoBoundCost, NoBurstAccount, NoCommonGoals, NoPromptShare, PlanReport,
};
use fizeau::report::Shown;

use crate::args::PlanArgs;
use crate::args::goal::{all_goals, goodput};
use crate::commands::shared::speed;
use crate::exit::{Exit, Fail, Named};
use crate::terminal::say::say_either;

pub(crate) fn run(args: &PlanArgs) -> Result<Exit, Fail> {
    let mut plan = PlanSettings::new(demand(args)?, Vec::new());
    plan.burstiness = args.burstiness;
    plan.slo = all_goals(&args.slo).map(|text| text.parse().named("--slo")).transpose()?;
    for text in &args.goals {
        let slo: Slo = text.parse().named("--goals")?;
        plan.others.push((text.clone(), slo.goals.to_vec()));
    }
    let from = args.from.iter().map(|text| text.parse().given_as("--from"));
    let from: Vec<ReplicaSource> = from.collect::<Result<_, _>>()?;
    let replicas = from.iter().map(|from| replica(from, args));
    plan.replicas = replicas.collect::<Result<_, Fail>>()?;
    plan.goodput = goodput(&args.goodput)?;
    if plan.slo.is_none() {
        tell_assumed(&plan.replicas);
    }
    let report = plan.plan().map_err(refused)?;
    say_either(args.json, || report.to_json(), || Shown(&report).text())?;
    remedies(&report).iter().for_each(|remedy| tell!("note: {remedy}"));
    Ok(Exit::missed(!report.is_met()))
}

/// That nobody gave the goals of a run.
fn tell_assumed(replicas: &[PlannedReplica]) {
    let is_assumed = |of: &&PlannedReplica| {
        of.tested.slo.is_some() && of.tested.goal_source == GoalSource::Assumed
    };
    if let Some(PlannedReplica { name, .. }) = replicas.iter().find(is_assumed) {
        tell!(
            "note: the goals of {name} were assumed, since none were given; --slo names your own"
        );
    }
}

fn refused(error: PlanError) -> Fail {
    match error {
        PlanError::Goals(NoCommonGoals::None) => {
            usage!("--slo: name the goals that a replica keeps, such as --slo \"p99 ttft<500ms\"")
        }
        PlanError::Goals(error) => usage!("--slo: {error}"),
        PlanError::NoDevices { name } => {
            usage!("--gpus-per-replica: say how many devices a replica of {name} takes")
        }
        PlanError::SameName { name, from } => {
            usage!("--from: two sources are called {name}; name them, such as --from a={from}")
        }
        PlanError::Burstiness(_) => {
            usage!("--burstiness: it must be a number above 0; 1 is Poisson")
        }
        PlanError::Calibration(error) => usage!("--calibration: {error}"),
        error @ PlanError::Level(_) => Fail::broken(error),
        error => Fail::usage(error),
    }
}

/// The flags that tell what the plan lacks.
fn remedies(report: &PlanReport) -> BTreeSet<&'static str> {
    let mut remedies = BTreeSet::new();
    for plan in report.plans() {
        let Ok(planned) = &plan.outcome else { continue };
        let (bursts, share) = (&plan.source.bursts, &plan.source.prompt_share);
        if planned.light == Err(NoBoundCost::NoReference) {
            remedies.insert(speed::MODEL_AND_DEVICE);
        }
        if *share == Err(NoPromptShare::NoLengths)
            || *bursts == BurstAccount::NotAccounted(NoBurstAccount::NoLengths)
        {
            remedies.insert("--input-len and --output-len tell the lengths of requests");
        }
        match bursts {
            BurstAccount::NotAccounted(NoBurstAccount::NoCalibration) => remedies.insert(
                "--engine vllm, sglang or trtllm, or --calibration FILE of `fizeau sol --fit`, lets bursts be simulated",
            ),
            BurstAccount::NotAccounted(NoBurstAccount::NotAsked) if planned.light.is_ok() => {
                remedies.insert("--burstiness tells how bursty arrivals will be: 1 is Poisson, less is burstier")
            }
            BurstAccount::NotAccounted(NoBurstAccount::NoGoodput) => {
                remedies.insert("--goodput gives the goals of single requests")
            }
            _ => false,
        };
    }
    remedies
}

fn demand(args: &PlanArgs) -> Result<Demand, Fail> {
    Demand::new(args.rate, args.headroom, args.spare).map_err(|error| {
        let flag = if (0.0..1.0).contains(&args.headroom) { "--rate" } else { "--headroom" };
        usage!("{flag}: {error}")
    })
}

/// What one source says of a replica, but for what flags say otherwise.
fn replica(from: &ReplicaSource, args: &PlanArgs) -> Result<PlannedReplica, Fail> {
    let mut found = match from.path.is_dir() {
        true => from::of_run(from, args)?,
        false => from::of_table(from, args)?,
    };
    found.lengths = found.lengths.or(from::given_lengths(from, args, found.lengths)?);
    let mut replica = PlannedReplica::new(&from.name, found);
    replica.from = from.path.display().to_string();
    replica.devices = from.gpus.or(args.gpus_per_replica).or(replica.devices);
    replica.hour = from::price(from, args, replica.hour)?;
    Ok(replica)
}
