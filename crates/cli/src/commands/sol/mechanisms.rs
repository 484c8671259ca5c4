//! What is asked besides, in the words of the command line.

use std::num::NonZeroU64;

use fizeau::core::{Tokens, Watts};
use fizeau::experiment::{CalibrationChoice, DraftSpec, PreparedSystem};
use fizeau::report::{
    MeasuredLoad, MeasuredLoadError, SolExtra, SolGoal, SolMatterError, SolMatters, SolSubject,
};
use fizeau::roofline::{
    Acceptance, CostError, Disaggregation, HourlyRate, InstanceCounts, LoadAnalysis,
    MeasuredFigures, PowerCap, PowerDraw, Predictor, ServingGoal, System, UniformLoad,
};

use crate::args::{ApartArgs, CalibrationArgs, DraftArgs, MechanismArgs, SolArgs};
use crate::commands::shared::speed;
use crate::exit::{Fail, Named, parsed};

/// Every matter that the flags ask about.
pub(super) fn matters<'a>(flags: &SolArgs, of: &SolSubject<'a>) -> Result<SolMatters<'a>, Fail> {
    let args = &flags.mechanisms;
    let drafts = drafts(&args.drafts, 0)?;
    let drafts = drafts.map(|drafts| Ok::<_, Fail>((drafts.load(of.system)?, drafts.length)));
    let instances = instances(&args.apart)?;
    let apart = instances.map(|instances| apart(instances, &args.apart, of));
    let rate = args.price.as_ref().map(|price| hourly_rate(price, of.system));
    let power = args.power_limit.as_ref().map(|limit| {
        let draw = PowerDraw::estimate(of.system.device()).named("--power-limit")?;
        Ok::<_, Fail>((draw, watts(limit, of.system)?))
    });
    Ok(SolMatters {
        drafts: drafts.transpose()?,
        apart: apart.transpose()?,
        rate: rate.transpose()?,
        chunk: args.chunk.map(Tokens::new),
        power: power.transpose()?,
        goal: goal(flags)?,
    })
}

/// The answers to all of them.
pub(super) fn asides(
    args: &MechanismArgs,
    of: &SolSubject<'_>,
    matters: &SolMatters<'_>,
) -> Result<Vec<SolExtra>, Fail> {
    matters.extras(of).map_err(|error| match (&error, args.chunk) {
        (SolMatterError::Chunk { .. }, Some(budget)) => usage!("--chunk {budget}: {error}"),
        _ => usage!("--power-limit: {error}"),
    })
}

/// What the goal takes, if there is one.
pub(super) fn goal(args: &SolArgs) -> Result<Option<SolGoal>, Fail> {
    let (mechanisms, load) = (&args.mechanisms, &args.load);
    if mechanisms.goal.is_empty() {
        return Ok(None);
    }
    let goal = mechanisms.goal.join(" ").parse::<ServingGoal>();
    let goal = goal.map_err(|error| usage!("--goal {error}"))?;
    let in_flight = load.batch.or(load.uniform.concurrency).and_then(NonZeroU64::new);
    Ok(Some(SolGoal { goal, in_flight, most_devices: mechanisms.max_devices }))
}

/// The longest drafts.
const MOST_DRAFTED: u32 = 1024;

/// Drafts of `least` tokens or more; 0 is a length that is to be found.
pub(crate) fn drafts(args: &DraftArgs, least: u32) -> Result<Option<DraftSpec>, Fail> {
    let Some(length) = args.draft else { return Ok(None) };
    refuse_if!(
        length > MOST_DRAFTED,
        "--draft {length}: give a number from {least} to {MOST_DRAFTED}"
    );
    let acceptance = Acceptance::per_position(&args.acceptance).named("--acceptance")?;
    let mut drafts = DraftSpec::new(length, acceptance);
    if let Some(who) = &args.drafter {
        drafts.drafter = who.parse().given_as("--drafter")?;
    }
    Ok(Some(drafts))
}

/// So many that read prompts and so many that decode, where they are apart.
pub(crate) fn instances(args: &ApartArgs) -> Result<Option<InstanceCounts>, Fail> {
    parsed(&args.disaggregate).given_as("--disaggregate")
}

fn apart<'a>(
    instances: InstanceCounts,
    args: &ApartArgs,
    of: &SolSubject<'a>,
) -> Result<Disaggregation<'a>, Fail> {
    Disaggregation::of(of.system, instances, args.transfer).ok_or_else(|| {
        let name = &of.system.device().name;
        usage!("--disaggregate: no link is known of {name}")
    })
}

fn hourly_rate(price: &str, system: &System) -> Result<HourlyRate, Fail> {
    if price == "published" {
        return HourlyRate::published(system.device()).named("--gpu-hour");
    }
    price.parse().map_err(|why: CostError| usage!("--gpu-hour {price}: {why}, or published"))
}

/// A limit of power: watts, a share of the device's own, or `tdp` for that.
pub(crate) fn power_cap(limit: &str) -> Result<PowerCap, Fail> {
    limit.parse().given_as("--power-limit")
}

fn watts(limit: &str, system: &System) -> Result<Watts, Fail> {
    let name = &system.device().name;
    let unknown = || usage!("--power-limit: that of {name} is not known");
    power_cap(limit)?.of(system.device()).ok_or_else(unknown)
}

// `--measured`: what would explain it.

/// The figures beside bound and prediction, if there are any.
pub(super) fn measured_aside(
    args: &SolArgs,
    matters: &SolMatters<'_>,
    (subject, answer): (SolSubject<'_>, &LoadAnalysis),
    predictor: Option<&Predictor>,
) -> Result<Option<SolExtra>, Fail> {
    if args.measured.is_empty() {
        return Ok(None);
    }
    let measured: MeasuredFigures = args.measured.join(" ").parse().given_as("--measured")?;
    refuse_if!(
        measured.tpot.is_some() && answer.bound.tpot.is_none(),
        "--measured tpot: requests of one output token have no time per output token; leave it out, or give a longer --osl"
    );
    refuse_if!(
        matters.drafts.is_some() && matters.apart.is_some(),
        "--measured: figures are held against drafts, or against prefill and decode apart; leave out --draft or \
         --disaggregate"
    );
    let of = MeasuredLoad { subject, serving: matters.serving(), answer, predictor };
    let aside = SolExtra::measured(&of, &measured).map_err(|error| match error {
        MeasuredLoadError::Instances(error) => usage!("--disaggregate: {error}"),
        error => usage!("--measured: {error}"),
    });
    aside.map(Some)
}

// `--calibration`, or else what ships for `--engine`.

/// Whose constants the flags ask for.
pub(super) fn calibration_choice(args: &CalibrationArgs) -> Result<CalibrationChoice, Fail> {
    if args.constants.is_declined() {
        return Ok(CalibrationChoice::None);
    }
    let Some(path) = args.constants.file() else { return Ok(CalibrationChoice::Shipped) };
    Ok(CalibrationChoice::Given(Box::new(speed::calibration(path)?)))
}

/// Where the constants of a prediction are from, and with `--explain-calibration` each of them.
pub(super) fn calibration_asides(
    args: &CalibrationArgs,
    of: &PreparedSystem,
    load: &UniformLoad,
) -> Result<Vec<SolExtra>, Fail> {
    let Some(predictor) = &of.predictor else {
        refuse_if!(
            args.explain_calibration,
            "--explain-calibration: there is no calibration; name an engine that one ships for with --engine, or a \
             file with --calibration"
        );
        return Ok(Vec::new());
    };
    let shipped = of.shipped.iter().map(|shipped| SolExtra::calibration(shipped, predictor));
    let explained = args.explain_calibration.then(|| SolExtra::constants(predictor, load));
    Ok(shipped.chain(explained).collect())
}

/// What to say of an engine for which there are no constants, where some were asked for.
pub(super) fn no_calibration(args: &CalibrationArgs, of: &PreparedSystem) -> Option<String> {
    let engine = args.constants.engine().filter(|_| args.constants.file().is_none())?;
    let device = &of.system.device().name;
    let none = || {
        format!(
            "no calibration ships for {engine} on {device}: nothing is predicted of it; sglang, trtllm and vllm have one"
        )
    };
    of.predictor.is_none().then(none)
}
