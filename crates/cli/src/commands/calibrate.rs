//! `fizeau calibrate`: the constants of a live engine, from the few loads that tell the most of them.

use fizeau::experiment::{
    EngineCalibration, EngineCalibrationLevel, EngineCalibrationSettings, Experiment,
    ExperimentError, InputField, ReferenceSpec, RunEvent, SampleError, Watcher,
};
use fizeau::harness::Cancel;
use fizeau::metrics::VerdictConcern;
use fizeau::record::{
    EngineRecord, InvalidLevels, ResultFile, ResultFileMode, SpeedOfLightReference,
};
use fizeau::report::{EngineCalibrationRow, EngineCalibrationView};

use crate::args::{CalibrateArgs, refusal};
use crate::commands::shared::opening::Opening;
use crate::commands::shared::{client, endpoint, folder, opening, speed};
use crate::exit::{Exit, Fail, Named};
use crate::terminal::progress::Progress;
use crate::terminal::say::say;
use crate::terminal::{interrupt, runtime};

pub(crate) fn run(args: &CalibrateArgs) -> Result<Exit, Fail> {
    let urls = args.target.urls();
    refuse_if!(urls.is_empty(), "--base-url is missing; it takes the address of the server");
    let light = reference(args)?;
    let mut settings = EngineCalibrationSettings::default();
    settings.engine.clone_from(&args.engine);
    (settings.budget, settings.max_context) = (args.budget, args.max_context);
    settings.invalid = if args.force { InvalidLevels::Included } else { InvalidLevels::LeftOut };
    let named = format!("--out {}", args.out.display());
    let out = ResultFile::prepare(&args.out, ResultFileMode::Replace).named(&named)?;
    let (cancel, origin) = (Cancel::new(), folder::origin());
    let folder = folder::given_or_usual(args.out_dir.as_ref(), origin.started, "calibrate");
    let description = args.engine.clone();
    let experiment = Experiment::new(endpoint::spec(&args.endpoint, urls, &args.sampling)?)
        .engine(EngineRecord::Remote { description })
        .speed_of_light(light)
        .client(client::spec(&args.client)?)
        .origin(origin)
        .folder(&folder)
        .cancel(cancel.clone())
        .settings(settings);
    let title = format!("fizeau calibrate  {}", subject(args));
    let progress = Progress::new(opening::view(args.live)?, title, &cancel);
    let mut watcher = FirstOpening { opening: Some(Opening::default()), progress };
    interrupt::listen(cancel.clone())?;
    let calibrated = runtime::single()?.block_on(experiment.run(&mut watcher));
    drop(watcher);
    let calibrated = calibrated.map_err(|error| match error {
        ExperimentError::TooFewValid { why, concern } => {
            let remedy = match concern {
                Some(VerdictConcern::SpeedOfLight) => "check --hardware, --tp and --weights",
                Some(VerdictConcern::Client) => "run the client on another machine",
                _ => "change that",
            };
            broken!("{why}; {remedy}, or use --force")
        }
        error => refusal::of_experiment(error, |field| match field {
            InputField::Out => "--out-dir".to_owned(),
            field => refusal::flag(field),
        }),
    })?;
    show(args, &calibrated)?;
    say(format!("\nRuns: {}", folder.display()))?;
    let written = out.write(&calibrated.fit.calibration.to_json());
    written.map_err(|error| broken!("{named}: {error}"))?;
    say(format!("Written to {}", args.out.display()))?;
    Ok(Exit::of(&cancel, false))
}

/// The model on its devices.
fn reference(args: &CalibrateArgs) -> Result<SpeedOfLightReference, Fail> {
    speed::asked(&args.system)?;
    let (model, hardware) = args.system.names();
    let mut spec = ReferenceSpec::new(model, hardware);
    spec.deployment = speed::deployed(&args.system);
    let reference = speed::doubted(hardware, spec.load())?;
    reference.notes().for_each(|note| tell!("note: {note}"));
    Ok(reference)
}

fn subject(args: &CalibrateArgs) -> String {
    let (model, device) = args.system.names();
    match &args.engine {
        Some(engine) => format!("{engine}, {model} on {device}"),
        None => format!("{model} on {device}"),
    }
}

fn show(args: &CalibrateArgs, calibrated: &EngineCalibration) -> Result<(), Fail> {
    let rows = calibrated.levels.iter().map(|level| EngineCalibrationRow {
        load: level.designed.load,
        report: &level.report,
        judged: level.judged.as_ref().map_err(ToString::to_string),
    });
    let rows: Vec<EngineCalibrationRow<'_>> = rows.collect();
    let subject = subject(args);
    let constants = calibrated.constants();
    let constants = constants.ok_or_else(|| broken!("the calibration has no constants"))?;
    say(EngineCalibrationView { subject: &subject, constants, rows: &rows }.text())?;
    let beyond = calibrated.left_out.len();
    if let Some(first) = calibrated.left_out.first() {
        tell!("note: {beyond} groups of steps are left out, the first of them {first}");
    }
    let is_invalid =
        |level: &EngineCalibrationLevel| matches!(level.judged, Err(SampleError::NotValid { .. }));
    if calibrated.levels.iter().any(is_invalid) {
        tell!("note: --force fits loads whose level is not valid, too");
    }
    Ok(())
}

/// Tells how the endpoint is opened, and then how the loads go on.
struct FirstOpening {
    opening: Option<Opening>,
    progress: Progress,
}

impl Watcher for FirstOpening {
    fn event(&mut self, event: RunEvent) {
        match (&event, &mut self.opening) {
            (RunEvent::LevelStarted(_), _) => {
                self.opening = None;
                self.progress.event(event);
            }
            (_, Some(opening)) => opening.event(event),
            _ => self.progress.event(event),
        }
    }
}
