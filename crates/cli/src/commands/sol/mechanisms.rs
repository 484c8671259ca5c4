//! What is asked besides, in the words of the command line.

use fizeau::core::{Tokens, Watts};
use fizeau::experiment::{CalibrationChoice, DraftSpec, PreparedSystem};
use fizeau::report::{MeasuredComparison, SolExtra, SolSubject};
use fizeau::roofline::{
    Acceptance, Bound, CacheTransfer, Disaggregation, HourlyRate, InstanceCounts, LoadAnalysis,
    MeasuredFigures, PowerCap, PowerDraw, RequestLengths, ServingGoal, System, UniformLoad,
};

use crate::args::{ApartArgs, CalibrationArgs, DraftArgs, MechanismArgs, hour};
use crate::commands::shared::speed;
use crate::exit::{Fail, Named};

/// Every matter that the flags ask about.
pub(super) fn asides(args: &MechanismArgs, of: &SolSubject<'_>) -> Result<Vec<SolExtra>, Fail> {
    let mut all = Vec::new();
    if let Some(drafts) = drafts(&args.drafts, 0)? {
        all.push(SolExtra::speculation(of, &drafts.load(of.system)?, drafts.length));
    }
    if let Some(budget) = args.chunk {
        let aside = SolExtra::chunked_prefill(of, Tokens::new(budget));
        let wrong = || {
            let batch = of.batch;
            format!(
                "--chunk {budget}: give more tokens than there are sequences that decode, which are {batch:.0}"
            )
        };
        all.push(aside.ok_or_else(|| Fail::usage(wrong()))?);
    }
    if let Some(instances) = instances(&args.apart)? {
        all.push(apart(instances, args.apart.transfer, of)?);
    }
    if let Some(price) = &args.price {
        all.push(SolExtra::cost(of, &hourly_rate(price, of.system)?));
    }
    if let Some(limit) = &args.power_limit {
        let draw = PowerDraw::estimate(of.system.device()).named("--power-limit")?;
        let limit = watts(limit, of.system)?;
        all.push(SolExtra::energy(of, &draw, limit).named("--power-limit")?);
    }
    all.extend(within_goal(args, of)?);
    Ok(all)
}

/// What the goal takes, if there is one.
pub(super) fn within_goal(
    args: &MechanismArgs,
    of: &SolSubject<'_>,
) -> Result<Option<SolExtra>, Fail> {
    if args.goal.is_empty() {
        return Ok(None);
    }
    let goal = args.goal.join(" ").parse::<ServingGoal>();
    let goal = goal.map_err(|error| usage!("--goal {error}"))?;
    Ok(Some(SolExtra::goal(of, &goal, args.max_devices)))
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
    let split = args.disaggregate.as_deref().map(str::parse).transpose();
    split.map_err(|error| usage!("--disaggregate {error}"))
}

fn apart(
    instances: InstanceCounts,
    transfer: CacheTransfer,
    of: &SolSubject<'_>,
) -> Result<SolExtra, Fail> {
    let apart = Disaggregation::of(of.system, instances, transfer).ok_or_else(|| {
        let name = &of.system.device().name;
        usage!("--disaggregate: no link is known of {name}")
    })?;
    Ok(SolExtra::disaggregation(of, &apart))
}

fn hourly_rate(price: &str, system: &System) -> Result<HourlyRate, Fail> {
    if price == "published" {
        return HourlyRate::published(system.device()).named("--gpu-hour");
    }
    hour(price).map_err(|why| usage!("--gpu-hour {price}: {why}, or published"))
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
    figures: &[String],
    of: &PreparedSystem,
    load: &UniformLoad,
    answer: &LoadAnalysis,
) -> Result<Option<SolExtra>, Fail> {
    if figures.is_empty() {
        return Ok(None);
    }
    let measured: MeasuredFigures = figures.join(" ").parse().named("--measured")?;
    let mut lengths = RequestLengths::for_model(of.system.model());
    lengths.add_cached(load.input_tokens, load.cached_tokens, load.output_tokens);
    let bound = Bound::over(&of.system, &lengths, load.concurrency).named("--measured")?;
    let violation = of.system.bound_violation(&lengths, load.concurrency, &measured);
    let violation = violation.named("--measured")?;
    // What is not predicted is refused by name in the answer itself.
    let gaps = of.predictor.as_ref().and_then(|own| Some((own, own.gaps(load, &measured).ok()?)));
    Ok(Some(SolExtra::measured(&MeasuredComparison {
        measured: &measured,
        bound: &bound,
        figures: &answer.bound,
        evenly_routed: answer.evenly_routed.as_ref(),
        violation: violation.as_ref(),
        gaps: gaps.as_ref().map(|(predictor, gaps)| (*predictor, gaps.as_slice())),
    })))
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
