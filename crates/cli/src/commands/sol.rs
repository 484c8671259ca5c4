//! `fizeau sol`: how fast a model can be on a device.

mod fit;
#[cfg(feature = "probe")]
mod measured;
mod mechanisms;
mod query;

use fizeau::experiment::{PreparedSystem, SolSystems};
use fizeau::record::CalibratedPrediction;
use fizeau::report::{BatchCsv, ContextCsv, SolExtra, SolScope, SolSubject, SolView};
use fizeau::roofline::{LoadAnalysisError, System, UniformLoad};

use crate::args::{CurveArg, SolArgs};
use crate::commands::shared::speed;
use crate::exit::{Exit, Fail};
use crate::terminal::say::{say, say_either};
use crate::terminal::screen::Screen;
pub(crate) use mechanisms::{drafts, instances, power_cap};

pub(crate) fn run(args: &SolArgs) -> Result<Exit, Fail> {
    let query = query::of(args);
    if !args.calibration.fit.is_empty() {
        return fit::run(&args.calibration, &query.system);
    }
    if let Some(model) = args.calibration.models.first() {
        bail!(
            "--model {model}: it belongs to --fit; use --model-config NAME|FILE for the model of the answer"
        );
    }
    let choice = mechanisms::calibration_choice(&args.calibration)?;
    if let Some(path) = &args.points {
        return query::points(path, &query, choice);
    }
    speed::asked(&args.system)?;
    let mut systems = SolSystems::new(choice);
    let prepared = systems.get(&query.system).map_err(Fail::usage)?;
    // Each field is called as its flag is.
    let load = query.load.load().map_err(|error| usage!("--{error}"))?;
    match args.curve {
        Some(over) => {
            if prepared.predictor.is_some() {
                tell!("note: {}", unpredicted("--curve"));
            }
            let csv = curve(over, &prepared.system, &load);
            say(csv.map_err(|error| unanswered(args, &error))?.trim_end())?;
            Ok(Exit::Good)
        }
        None => answer(args, prepared, &load),
    }
}

/// The breakdown of one query.
fn answer(args: &SolArgs, prepared: &PreparedSystem, load: &UniformLoad) -> Result<Exit, Fail> {
    let PreparedSystem { system, predictor, .. } = prepared;
    if let Some(exit) = goal_alone(args, system, load)? {
        return Ok(exit);
    }
    let scope = match args.load.context {
        Some(_) => SolScope::Step,
        None => SolScope::Requests,
    };
    let batch = args.load.batch;
    let mut answer = scope.answer(system, load, batch).map_err(|error| unanswered(args, &error))?;
    let mut notes: Vec<String> =
        mechanisms::no_calibration(&args.calibration, prepared).into_iter().collect();
    let fitting = system.max_batch(load);
    let too_many = batch.filter(|batch| *batch as f64 > fitting);
    if let Some(batch) = too_many {
        refuse_if!(
            predictor.is_some() && prepared.shipped.is_none(),
            "--batch {batch}: {fitting:.0} sequences can run at once, and a calibration predicts no more; leave \
             out --calibration, or ask for a smaller batch"
        );
        notes.push(SolScope::beyond_room(system, load, batch));
    }
    if predictor.is_some() {
        let of = match scope {
            SolScope::Step => Some("--context"),
            SolScope::Requests => too_many.map(|_| "a --batch that does not fit"),
        };
        notes.extend(of.map(unpredicted));
        let apart = args.mechanisms.apart.disaggregate.is_some();
        if !args.measured.is_empty() && (apart || args.mechanisms.drafts.draft.is_some()) {
            notes.push(unpredicted("drafts, nor prefill and decode apart"));
        }
    }
    let name = args.system.model_config.as_deref().unwrap_or_default();
    let predicted = match scope {
        SolScope::Requests if too_many.is_none() => {
            predictor.as_ref().map(|predictor| predictor.predict(load))
        }
        _ => None,
    };
    let calibrated = predictor.as_ref().zip(predicted.as_ref()).map(|(predictor, predicted)| {
        notes.extend_from_slice(predictor.warnings());
        CalibratedPrediction { prediction: predicted.as_ref(), scope: predictor.scope() }
    });
    let subject = SolSubject { system, load, batch: answer.running_batch };
    let matters = mechanisms::matters(args, &subject)?;
    let asked = mechanisms::asides(&args.mechanisms, &subject, &matters)?;
    let mut asides = match matches!(predicted, Some(Ok(_))) || predictor.is_none() {
        true => mechanisms::calibration_asides(&args.calibration, prepared, load)?,
        false => Vec::new(),
    };
    match SolExtra::data_sheet(&subject, (scope, batch), &answer) {
        Ok(sheet) => asides.extend(sheet),
        Err(note) => notes.push(note),
    }
    #[cfg(feature = "probe")]
    asides.extend(measured::operators(args, &subject, scope)?);
    asides.extend(asked);
    let of = (subject, &answer);
    let measured = mechanisms::measured_aside(args, &matters, of, predictor.as_ref())?;
    asides.splice(0..0, measured);
    SolExtra::limit(&asides, &mut answer.limited_by);
    let view = SolView {
        name,
        system,
        load,
        answer: &answer,
        calibrated,
        scope,
        batch,
        asides: &asides,
        notes: &notes,
    };
    let text = || view.text(Screen::of_stdout().width, args.output.verbosity());
    say_either(args.json, || view.to_json(), text)?;
    Ok(Exit::missed(asides.iter().any(SolExtra::is_missed)))
}

/// That an engine with a calibration is not predicted in this respect.
fn unpredicted(of: &str) -> String {
    format!(
        "nothing is predicted of the engine: a calibration predicts requests that can run, not {of}"
    )
}

/// What a goal takes, of a model that does not fit as it is spread: how many devices it would take is asked anyway.
fn goal_alone(args: &SolArgs, system: &System, load: &UniformLoad) -> Result<Option<Exit>, Fail> {
    let why = match system.answer(load) {
        Err(
            error @ (LoadAnalysisError::WeightsDoNotFit { .. }
            | LoadAnalysisError::NoRoomForRequest { .. }),
        ) => error.to_string(),
        _ => return Ok(None),
    };
    let subject = SolSubject { system, load, batch: 1.0 };
    let Some(goal) = mechanisms::goal(args)? else { return Ok(None) };
    let aside = goal.extra(&subject);
    let text = || aside.text_without_answer(&why, Screen::of_stdout().width);
    say_either(args.json, || aside.json_without_answer(&why), text)?;
    Ok(Some(Exit::missed(aside.is_missed())))
}

/// The table of a curve; what ended it before its length is said.
fn curve(over: CurveArg, system: &System, load: &UniformLoad) -> Result<String, LoadAnalysisError> {
    Ok(match over {
        CurveArg::Batch => BatchCsv { system, load }.csv()?,
        CurveArg::Context => {
            let (csv, end) = ContextCsv { system, load }.csv()?;
            if let Some(end) = end {
                tell!("note: the curve ends where {end}");
            }
            csv
        }
    })
}

/// Why a load has no answer; where the model is too large for the devices, by the model's name.
fn unanswered(args: &SolArgs, error: &LoadAnalysisError) -> Fail {
    let model = args.system.model_config.as_deref().unwrap_or_default();
    match error {
        LoadAnalysisError::WeightsDoNotFit { .. } | LoadAnalysisError::NoRoomForRequest { .. } => {
            usage!("--model-config {model}: {error}")
        }
        error => Fail::usage(error),
    }
}
