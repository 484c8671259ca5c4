//! A calibrated prediction: the parts of the expectation, each with a constant fitted on measurements.

mod account;
mod constant_shares;
mod constants;
mod design;
mod engine;
mod file;
mod fit;
mod gap;
mod intake;
mod kernels;
mod measured;
mod predict;
mod regime;
mod rows;
mod sample;
mod screening;
mod shipped;
mod solve;
mod step;
mod validation;

pub use account::PassScope;
pub use constants::{Constant, FittedConstant, UnknownConstant};
pub use design::{CalibrationDesign, CalibrationDesignError, CalibrationLoads, DesignedLoad};
pub use file::CalibrationFileError;
pub use fit::{Constants, Scope};
pub use gap::{PredictionGap, PredictionInput, PredictionRemedy};
pub use intake::SimultaneousStart;
pub use measured::{MeasuredError, MeasuredRow, MeasuredTable};
pub use predict::{ConstantUse, Prediction, Predictor};
pub use regime::OutsideRegime;
pub use sample::{CalibrationSample, CalibrationSampleError};
pub use screening::RowExclusion;
pub use shipped::{CalibrationEvidence, ShippedCalibration};
pub use step::CalibratedStepTime;
pub use validation::{ErrorSummary, JudgedFit};

use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use fit::ConstantGroups;
use regime::RegimeRanges;
use sample::ModelMark;
use validation::{Scores, nine_tenths};

/// Constants of devices and engines, fitted on measured levels, and how sure they are.
///
/// The time per output token of a load is computed as
///
/// `sum over kinds of matrices of max(bytes / (e BW), FLOPs / (c F)) + cache / (e BW) + kernels t_k + collectives + t_0 + B t_s
/// + (B - 1) / O * prompt * share between tokens`
///
/// from what the load costs at the data sheet's rates, with the [`Constant`]s of the device and engine. None of them belongs
/// to a model, so that they carry over to models that were not measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Calibration {
    groups: ConstantGroups,
    models: Vec<FittedModel>,
    formats: Vec<String>,
    ranges: RegimeRanges,
    summary: FitSummary,
    spreads: ErrorSpreads,
}

/// A model that was fitted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct FittedModel {
    name: String,
    #[serde(flatten)]
    mark: ModelMark,
    levels: u64,
    /// Where it was measured, each once.
    devices: BTreeSet<String>,
}

/// The errors of the predictions for the fitted levels.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct FitSummary {
    /// Times per output token, with constants fitted on all levels.
    #[serde(rename = "tpot_in_sample")]
    pub in_sample: ErrorSummary,
    /// The same with constants fitted on other models only; none where there are no others.
    #[serde(rename = "tpot_model_left_out")]
    pub model_left_out: Option<ErrorSummary>,
    /// The same with constants fitted on other devices only; none where there are no others.
    #[serde(rename = "tpot_device_left_out")]
    pub device_left_out: Option<ErrorSummary>,
    /// Times to first token, with constants fitted on all levels; none where none were measured.
    pub ttft_in_sample: Option<ErrorSummary>,
    /// The same with constants fitted on other models only.
    pub ttft_model_left_out: Option<ErrorSummary>,
    /// Output rates, with constants fitted on all levels; none where no time to first token was measured, without which a level has none.
    #[serde(rename = "output_tokens_per_s_in_sample", default)]
    pub output_in_sample: Option<ErrorSummary>,
    /// The same with constants fitted on other models only.
    #[serde(rename = "output_tokens_per_s_model_left_out", default)]
    pub output_model_left_out: Option<ErrorSummary>,
}

/// Within what nine in ten measurements are: of times per output token in multiples of how unsure a prediction is of itself, of
/// times to first token as the logarithm of a factor.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct ErrorSpreads {
    #[serde(rename = "fitted_model")]
    seen: f64,
    new_model: f64,
    new_device: f64,
    #[serde(rename = "ttft")]
    first_token: f64,
}

/// A calibration, and how it does on each level that it was fitted on.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct CalibrationFit {
    /// The constants.
    pub calibration: Calibration,
    /// How far off each level is, in the order that they were given.
    pub judged: Vec<JudgedFit>,
}

/// Why there is no calibration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CalibrationFitError {
    /// Too few levels to tell anything.
    #[error("{levels} measured levels are too few to fit constants on; give at least {FEWEST}")]
    TooFew {
        /// How many there were.
        levels: usize,
    },
}

/// With fewer levels than this the constants would be mostly what was assumed.
const FEWEST: usize = 5;
/// What nine in ten predictions for another model are off by, in multiples of how unsure they are, where measurements of one model
/// only cannot tell: as on published results of seven models on five devices.
const NEW_MODEL: f64 = 2.5;
/// The same for another device.
const NEW_DEVICE: f64 = 3.0;
/// The same of times to first token, as the logarithm of a factor.
const FIRST_TOKEN: f64 = 0.8;

/// Nine in ten of fewer levels than these cannot be told from all: those that are missing are taken to be off by as much as is usual.
const TELLING: u64 = 10;

impl Calibration {
    /// Fits constants on `samples`, for all devices together, each device, and each engine on it; and judges how well they
    /// carry over by leaving out one model at a time, and one device.
    ///
    /// # Errors
    /// If there are too few.
    pub fn fit(samples: &[CalibrationSample]) -> Result<CalibrationFit, CalibrationFitError> {
        if samples.len() < FEWEST {
            return Err(CalibrationFitError::TooFew { levels: samples.len() });
        }
        let samples: Vec<&CalibrationSample> = samples.iter().collect();
        let groups = ConstantGroups::fit(&samples);
        let judged = JudgedFit::all(&samples, &groups);
        let mut formats: Vec<String> = samples.iter().flat_map(|s| s.formats.clone()).collect();
        formats.sort_unstable();
        formats.dedup();
        let summary = FitSummary::of(&judged).ok_or(CalibrationFitError::TooFew { levels: 0 })?;
        let calibration = Self {
            models: models(&samples),
            formats,
            ranges: RegimeRanges::of(&samples),
            spreads: ErrorSpreads::of(&samples, &judged, &summary),
            summary,
            groups,
        };
        Ok(CalibrationFit { calibration, judged })
    }

    /// All groups: all devices, each device, each engine on it.
    pub fn groups(&self) -> impl Iterator<Item = &Constants> {
        self.groups.iter()
    }

    /// The names of the models that it was fitted on, with their levels.
    pub fn models(&self) -> impl Iterator<Item = (&str, u64)> {
        self.models.iter().map(|model| (model.name.as_str(), model.levels))
    }

    /// How far off it is.
    #[must_use]
    pub const fn summary(&self) -> &FitSummary {
        &self.summary
    }

    /// The same for `engine` on `device` alone: it predicts them alike, and its file has a tenth of the size.
    #[must_use]
    pub fn narrowed_to(&self, device: &str, engine: Option<&str>) -> Self {
        let group = self.nearest(device, engine).into_owned();
        let own = match &group.scope {
            Scope::All => BTreeMap::new(),
            scope => BTreeMap::from([(scope.clone(), group)]),
        };
        let groups = ConstantGroups { pooled: self.groups.pooled.clone(), own };
        Self { groups, ..self.clone() }
    }

    fn nearest(&self, device: &str, engine: Option<&str>) -> Cow<'_, Constants> {
        self.groups.nearest(device, engine.map(|engine| self.engine_as_fitted(engine)))
    }

    /// What `engine` is called in what was fitted, however it is written.
    fn engine_as_fitted<'a>(&'a self, engine: &'a str) -> &'a str {
        let fitted = || {
            self.groups.own.keys().filter_map(|scope| match scope {
                Scope::EngineOnAnyDevice(engine) | Scope::Engine { engine, .. } => {
                    Some(engine.as_str())
                }
                _ => None,
            })
        };
        let is_exact = fitted().any(|fitted| fitted == engine);
        let same = |fitted: &&str| engine::is_same(fitted, engine);
        if is_exact { engine } else { fitted().find(same).unwrap_or(engine) }
    }
}

fn models(samples: &[&CalibrationSample]) -> Vec<FittedModel> {
    let mut models: BTreeMap<&str, FittedModel> = BTreeMap::new();
    for sample in samples {
        let fresh = || FittedModel {
            name: sample.model.clone(),
            mark: sample.mark.clone(),
            levels: 0,
            devices: BTreeSet::new(),
        };
        let model = models.entry(&sample.model).or_insert_with(fresh);
        model.levels += 1;
        model.devices.insert(sample.device.clone());
    }
    models.into_values().collect()
}

impl FitSummary {
    fn of(judged: &[JudgedFit]) -> Option<Self> {
        let over =
            |of: fn(&JudgedFit) -> Option<f64>| ErrorSummary::of(judged.iter().filter_map(of));
        Some(Self {
            in_sample: over(|judged| Some(judged.in_sample))?,
            model_left_out: over(|judged| judged.model_left_out),
            device_left_out: over(|judged| judged.device_left_out),
            ttft_in_sample: over(|judged| judged.ttft_in_sample),
            ttft_model_left_out: over(|judged| judged.ttft_model_left_out),
            output_in_sample: over(|judged| judged.output_in_sample),
            output_model_left_out: over(|judged| judged.output_model_left_out),
        })
    }
}

impl ErrorSpreads {
    fn of(samples: &[&CalibrationSample], judged: &[JudgedFit], summary: &FitSummary) -> Self {
        let over =
            |of: fn(&Scores) -> Option<f64>| {
                let each = samples.iter().zip(judged);
                nine_tenths(each.filter_map(|(sample, judged)| {
                    Some((sample.model.as_str(), of(&judged.scores)?))
                }))
            };
        let seen = over(|scores| Some(scores.in_sample)).unwrap_or(NEW_MODEL);
        let new_model = over(|scores| scores.model_left_out).unwrap_or(NEW_MODEL).max(seen);
        let new_device = over(|scores| scores.device_left_out).unwrap_or(NEW_DEVICE).max(new_model);
        let first = summary.ttft_model_left_out.or(summary.ttft_in_sample);
        let first_token = first.map_or(FIRST_TOKEN, |errors| {
            let missing = TELLING.saturating_sub(errors.levels) as f64;
            let levels = errors.levels as f64;
            let squares = levels * errors.nine_tenths.powi(2) + missing * FIRST_TOKEN.powi(2);
            (squares / (levels + missing)).sqrt()
        });
        Self { seen, new_model, new_device, first_token }
    }
}
