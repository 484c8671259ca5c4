//! `fizeau sol`: how fast a model can be on a device.

mod fit;
#[cfg(feature = "probe")]
mod measured;
mod mechanisms;
mod query;

use fizeau::experiment::{PreparedSystem, SolSystems};
use fizeau::record::CalibratedPrediction;
use fizeau::report::{BatchCsv, ContextCsv, SolExtra, SolScope, SolSubject, SolView};
use fizeau::roofline::{LoadAnalysis, LoadAnalysisError, System, UniformLoad};

use crate::args::{CurveArg, MechanismArgs, SolArgs};
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
    let (scope, batch) = (scope(args), args.load.batch);
    let mut answer = scope.answer(system, load, batch).map_err(|error| unanswered(args, &error))?;
    let (mut notes, is_predictable) = notes(args, prepared, load)?;
    let predictor = predictor.as_ref().filter(|_| is_predictable);
    let predicted = predictor.map(|predictor| predictor.predict(load));
    let calibrated = predictor.zip(predicted.as_ref()).map(|(predictor, predicted)| {
        notes.extend_from_slice(predictor.warnings());
        CalibratedPrediction { prediction: predicted.as_ref(), scope: predictor.scope() }
    });
    let subject = SolSubject { system, load, batch: answer.running_batch };
    let is_predicted = matches!(predicted, Some(Ok(_)));
    let (asides, note) = asides(args, prepared, (subject, &answer), is_predicted)?;
    notes.extend(note);
    SolExtra::limit(&asides, &mut answer.limited_by);
    let name = args.system.model_config.as_deref().unwrap_or_default();
    let (answer, asides, notes) = (&answer, &*asides, &*notes);
    let view = SolView { name, system, load, answer, calibrated, scope, batch, asides, notes };
    let text = || view.text(Screen::of_stdout().width, args.output.verbosity());
    say_either(args.json, || view.to_json(), text)?;
    Ok(Exit::missed(asides.iter().any(SolExtra::is_missed)))
}

const fn scope(args: &SolArgs) -> SolScope {
    match args.load.context {
        Some(_) => SolScope::Step,
        None => SolScope::Requests,
    }
}

/// What a reader ought to know of the query, and whether a calibration can predict such a one.
fn notes(
    args: &SolArgs,
    prepared: &PreparedSystem,
    load: &UniformLoad,
) -> Result<(Vec<String>, bool), Fail> {
    let PreparedSystem { system, predictor, shipped, .. } = prepared;
    let mut notes = Vec::from_iter(mechanisms::no_calibration(&args.calibration, prepared));
    let fitting = system.max_batch(load);
    let too_many = args.load.batch.filter(|batch| *batch as f64 > fitting);
    if let Some(batch) = too_many {
        refuse_if!(
            predictor.is_some() && shipped.is_none(),
            "--batch {batch}: {fitting:.0} sequences can run at once, and a calibration predicts no more; leave \
             out --calibration, or ask for a smaller batch"
        );
        notes.push(SolScope::beyond_room(system, load, batch));
    }
    let unpredictable = match scope(args) {
        SolScope::Step => Some("--context"),
        SolScope::Requests => too_many.map(|_| "a --batch that does not fit"),
    };
    let MechanismArgs { drafts, apart, .. } = &args.mechanisms;
    let is_plain = drafts.draft.is_none() && apart.disaggregate.is_none();
    let not_of_measured = !args.measured.is_empty() && !is_plain;
    let not_of_measured = not_of_measured.then_some("drafts, nor prefill and decode apart");
    if predictor.is_some() {
        notes.extend(unpredictable.into_iter().chain(not_of_measured).map(unpredicted));
    }
    Ok((notes, unpredictable.is_none()))
}

/// All that stands beside the answer, and why the data sheet does not.
fn asides(
    args: &SolArgs,
    prepared: &PreparedSystem,
    (subject, answer): (SolSubject<'_>, &LoadAnalysis),
    is_predicted: bool,
) -> Result<(Vec<SolExtra>, Option<String>), Fail> {
    let predictor = prepared.predictor.as_ref();
    let matters = mechanisms::matters(args, &subject)?;
    let asked = mechanisms::asides(&args.mechanisms, &subject, &matters)?;
    let measured = mechanisms::measured_aside(args, &matters, (subject, answer), predictor)?;
    let mut asides = Vec::from_iter(measured);
    if is_predicted || predictor.is_none() {
        asides.extend(mechanisms::calibration_asides(&args.calibration, prepared, subject.load)?);
    }
    let scope = scope(args);
    let (sheet, note) = match SolExtra::data_sheet(&subject, (scope, args.load.batch), answer) {
        Ok(sheet) => (sheet, None),
        Err(note) => (None, Some(note)),
    };
    asides.extend(sheet);
    #[cfg(feature = "probe")]
    asides.extend(measured::operators(args, &subject, scope)?);
    asides.extend(asked);
    Ok((asides, note))
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
