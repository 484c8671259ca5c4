//! The calibration of an engine: a few loads that tell the most of its constants, measured one after the other, and the fit.

mod level;

use std::path::PathBuf;

use fizeau_core::{Nanos, Seconds, Tokens};
use fizeau_harness::Measure;
use fizeau_record::{InvalidLevels, LevelReport, SpeedOfLightReference};
use fizeau_roofline::{
    Calibration, CalibrationDesign, CalibrationDesignError, CalibrationFit, CalibrationFitError,
    CalibrationLoads, CalibrationSample, Constants, DesignedLoad, JudgedFit,
};

use crate::event::Watcher;
use crate::experiment::{Experiment, ExperimentKind};
use crate::hint::InputHint;
use crate::input::{Blame, ExperimentError, InputError, InputField};
use crate::sol::{SampleError, sample_of, seen_samples};
use level::{LevelRuns, MeasuredLoad, OverHttp, With};

/// What an engine is calibrated with, of the model and the devices that the experiment is held against
/// ([`Experiment::speed_of_light`]). The [folder](Experiment::folder) of the experiment gets one for each load.
///
/// ```no_run
/// use fizeau_experiment::{EngineCalibrationSettings, Experiment, ReferenceSpec};
/// use fizeau_transport::{Backend, Target};
///
/// # async fn calibrate() -> Result<(), Box<dyn std::error::Error>> {
/// let target = Target::new("http://127.0.0.1:8000", Backend::Vllm, "my-model")?;
/// let experiment = Experiment::new(target)
///     .speed_of_light(ReferenceSpec::new("llama-3.1-8b", "h100-sxm").load()?)
///     .settings(EngineCalibrationSettings::default());
/// let calibrated = experiment.run(&mut ()).await?;
/// std::fs::write("calibration.json", calibrated.fit.calibration.to_json())?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct EngineCalibrationSettings {
    /// What the calibration calls the engine; none for one that has no name. What ships for that name tells what to expect.
    pub engine: Option<String>,
    /// What all loads may take together; an engine that is slower than its first load showed takes longer.
    pub budget: Nanos,
    /// The most tokens that the engine takes, prompt and reply together, where that is less than the model has.
    pub max_context: Option<Tokens>,
    /// What becomes of loads whose level is not valid.
    pub invalid: InvalidLevels,
}

impl Default for EngineCalibrationSettings {
    /// Three minutes of an engine without a name.
    fn default() -> Self {
        Self {
            engine: None,
            budget: Nanos::from_secs(180),
            max_context: None,
            invalid: InvalidLevels::LeftOut,
        }
    }
}

/// A calibrated engine.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct EngineCalibration {
    /// What was measured, in that order.
    pub levels: Vec<EngineCalibrationLevel>,
    /// What the fit took of it.
    pub samples: Vec<CalibrationSample>,
    /// What it took not, beside whole levels: steps that are faster than the bound.
    pub left_out: Vec<SampleError>,
    /// The constants.
    pub fit: CalibrationFit,
}

/// A load that was measured to calibrate an engine.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct EngineCalibrationLevel {
    /// What was to be measured.
    pub designed: DesignedLoad,
    /// What was.
    pub report: LevelReport,
    /// How well the constants meet it; why it was not fitted otherwise.
    pub judged: Result<JudgedFit, SampleError>,
}

impl EngineCalibration {
    /// The constants of the engine on its device.
    #[must_use]
    pub fn constants(&self) -> Option<&Constants> {
        self.fit.calibration.groups().last()
    }
}

impl ExperimentKind for EngineCalibrationSettings {
    type Outcome = EngineCalibration;

    /// It takes about as long as its budget says.
    async fn run(
        experiment: &Experiment<Self>,
        watcher: &mut impl Watcher,
    ) -> Result<EngineCalibration, ExperimentError> {
        experiment.calibrated(&mut OverHttp::default(), watcher).await
    }
}

impl Experiment<EngineCalibrationSettings> {
    /// Calibrates over whatever can measure, in either clock.
    ///
    /// # Errors
    /// As [`Experiment::run`].
    pub async fn calibrate_engine_with(
        &self,
        with: impl Measure,
        watcher: &mut impl Watcher,
    ) -> Result<EngineCalibration, ExperimentError> {
        self.calibrated(&mut With(with), watcher).await
    }

    async fn calibrated(
        &self,
        runs: &mut impl LevelRuns,
        watcher: &mut impl Watcher,
    ) -> Result<EngineCalibration, ExperimentError> {
        let (settings, light) = (&self.settings, self.light()?);
        let loads = CalibrationLoads::new(light.reference().system, settings.engine.as_deref());
        let loads = match settings.max_context {
            Some(most) => loads.within(most),
            None => loads,
        };
        let mut design = self.design(&loads)?;
        let mut measured: Vec<MeasuredLoad> = Vec::new();
        while let Some(designed) = design.loads.get(measured.len()).copied() {
            if !measured.is_empty() && runs.cancel(&self.conduct).is_cancelled() {
                break;
            }
            let level = self.level(designed, measured.len(), &design)?;
            let load = Box::pin(runs.run(level, watcher)).await?;
            if measured.is_empty()
                && let Some(tpot) = load.report.summary.metrics.tpot.p50.value()
            {
                // What all others take is known better now: by the median, since the first requests of a server may find it cold.
                let times = tpot.get() / 1e3 / designed.tpot.get();
                design = self.design(&loads.clone().slower(times))?;
            }
            measured.push(load);
        }
        self.fitted(light, measured)
    }

    fn light(&self) -> Result<&SpeedOfLightReference, InputError> {
        self.conduct.system.light.as_ref().map_err(|_| {
            let why = "constants are those of a model on a device: name the model and the device";
            InputError::new(InputField::ModelConfig, why)
        })
    }

    fn design(&self, loads: &CalibrationLoads) -> Result<CalibrationDesign, InputError> {
        let designed = loads.design(Seconds::new(self.settings.budget.as_secs_f64()));
        designed.map_err(|error| match error {
            CalibrationDesignError::TooShort { least, .. } => {
                let wrong = InputError::new(InputField::Budget, error);
                match Nanos::from_secs_f64(least.get().ceil()) {
                    Ok(least) => wrong.hint(InputHint::LongerBudget { least }),
                    Err(_) => wrong,
                }
            }
            error => InputError::new(InputField::Hardware, error),
        })
    }

    /// The load of number `at`, which gets its share of the whole time and a folder of its own.
    fn level(
        &self,
        designed: DesignedLoad,
        at: usize,
        design: &CalibrationDesign,
    ) -> Result<level::DesignedLevel, InputError> {
        let share = designed.time.get() / design.time().get();
        let time = Nanos::from_secs_f64(self.settings.budget.as_secs_f64() * share);
        let time = time.blame(InputField::Budget)?;
        let settings = level::settings(&designed, time);
        let mut experiment = self.clone().settings(settings);
        let folder: Option<&PathBuf> = self.conduct.folder.as_ref();
        experiment.conduct.folder =
            folder.map(|folder| folder.join(format!("{:02}-{}", at + 1, level::name(&designed))));
        let later = design.loads.iter().skip(at + 1).map(|load| load.time.get()).sum::<f64>();
        let later = self.settings.budget.as_secs_f64() * later / design.time().get();
        let later = Nanos::from_secs_f64(later).blame(InputField::Budget)?;
        // The first tells how many there will be.
        let of = (at > 0).then_some(design.loads.len());
        Ok(level::DesignedLevel { experiment, designed, at, of, later })
    }

    fn fitted(
        &self,
        light: &SpeedOfLightReference,
        measured: Vec<MeasuredLoad>,
    ) -> Result<EngineCalibration, ExperimentError> {
        let (engine, invalid) = (self.settings.engine.as_deref(), self.settings.invalid);
        let sample = |load: &MeasuredLoad| sample_of(&load.report, light, engine, invalid);
        let sampled: Vec<Result<CalibrationSample, SampleError>> =
            measured.iter().map(sample).collect();
        let mut samples: Vec<CalibrationSample> =
            sampled.iter().filter_map(|sample| sample.as_ref().ok().cloned()).collect();
        let mut left_out = Vec::new();
        for (load, _) in measured.iter().zip(&sampled).filter(|(_, sampled)| sampled.is_ok()) {
            let concurrency = load.designed.load.concurrency.get();
            let seen = seen_samples(&load.requests, concurrency, light, engine);
            for sample in seen.map_err(ExperimentError::broken)? {
                match sample {
                    Ok(sample) => samples.push(sample),
                    Err(error) => left_out.push(error),
                }
            }
        }
        let fit = Calibration::fit(&samples);
        let fit = fit.map_err(|error| too_few(error, &measured, &sampled))?;
        let mut judged = fit.judged.iter().copied();
        let levels = measured.into_iter().zip(sampled).filter_map(|(load, sample)| {
            let MeasuredLoad { designed, report, .. } = load;
            let judged = match sample {
                Ok(_) => Ok(judged.next()?),
                Err(error) => Err(error),
            };
            Some(EngineCalibrationLevel { designed, report, judged })
        });
        let levels = levels.collect();
        Ok(EngineCalibration { levels, samples, left_out, fit })
    }
}

/// Why there are no constants of what was measured: mostly that levels are not valid, and then why the first is not.
fn too_few(
    error: CalibrationFitError,
    measured: &[MeasuredLoad],
    sampled: &[Result<CalibrationSample, SampleError>],
) -> ExperimentError {
    let is_refused =
        |sample: &Result<_, SampleError>| matches!(sample, Err(SampleError::NotValid { .. }));
    let refused = measured.iter().zip(sampled).filter(|(_, sample)| is_refused(sample));
    let refused: Vec<&MeasuredLoad> = refused.map(|(load, _)| load).collect();
    let Some(first) = refused.first() else {
        let first = sampled.iter().find_map(|sample| sample.as_ref().err());
        let first = first.map_or_else(String::new, |first| format!("; {first}"));
        return ExperimentError::broken(format!("{error}{first}"));
    };
    let (count, all) = (refused.len(), measured.len());
    let levels = if count == all { format!("all {all}") } else { format!("{count} of {all}") };
    let validity = &first.report.validity;
    let first = validity.reasons.first();
    let why = first.map_or_else(String::new, |reason| format!(" because {}", reason.text));
    let why = format!(
        "{levels} levels are {}{why}; constants are fitted on valid levels alone",
        validity.verdict.as_str()
    );
    ExperimentError::TooFewValid { why, concern: first.map(|reason| reason.about) }
}
