//! Measured levels of a table, as a fit takes them.

use std::collections::HashMap;

use fizeau_core::Seconds;
use fizeau_record::DeploymentRecord;
use fizeau_roofline::{CalibrationSample, Device, MeasuredRow, Model, RowExclusion, System};
use thiserror::Error;

use super::SolQueryError;
use super::systems::device;
use crate::model::LoadedModel;

/// The models and devices that measured levels name, each read once.
#[derive(Debug, Default)]
pub struct FitSources {
    /// Where the models are that are called so.
    files: HashMap<String, String>,
    models: HashMap<String, Result<Model, String>>,
    devices: HashMap<String, Result<Device, SolQueryError>>,
}

/// Why a measured level is of no use to a fit, in one line.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum SampleError {
    /// Its model is not known.
    #[error("line {line}: model {model}: {reason}")]
    Model {
        /// Its line in the table.
        line: u64,
        /// What it calls the model.
        model: String,
        /// Why there is none.
        reason: String,
    },
    /// Its device is not known.
    #[error("line {line}: {reason}")]
    Device {
        /// Its line in the table.
        line: u64,
        /// Why there is none.
        reason: String,
    },
    /// It cannot be as it says.
    #[error("{0}")]
    Level(String),
    /// Its run says that it is not valid ([`InvalidLevels`](fizeau_record::InvalidLevels)).
    #[error("concurrency {concurrency}: the level is {verdict}")]
    NotValid {
        /// Its requests in flight.
        concurrency: u64,
        /// What the run says: `invalid` or `suspect`.
        verdict: String,
    },
    /// It was served in a way that a fit has no account of: it is left out by rule.
    #[error("concurrency {concurrency}: served with {serving}")]
    Serving {
        /// Its requests in flight.
        concurrency: u64,
        /// How it was served.
        serving: UnfittedServing,
    },
    /// It is faster than the bound, so that it cannot have been as it says: it is left out by rule, as [`RowExclusion::BeatsBound`] is.
    #[error("{place}: {} ms, faster than the bound of {} ms", ms(*.measured), ms(*.bound))]
    BeatsBound {
        /// Which it is: `concurrency 8`, `line 7`, `a step of 8 sequences`.
        place: String,
        /// What it took: the time per output token, or of a pass.
        measured: Seconds,
        /// The least that it can take.
        bound: Seconds,
    },
    /// It and what it stands beside do not agree: it is left out by rule.
    #[error("line {line}: {doubt}")]
    Doubtful {
        /// Its line in the table.
        line: u64,
        /// What is doubtful about it.
        doubt: RowExclusion,
    },
}

/// Serving of which a fit has no account.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum UnfittedServing {
    /// Steps yield several tokens, and how many drafts are accepted is not known.
    #[error("speculative decoding")]
    Drafts,
    /// Prompts are read on other devices than replies are decoded on.
    #[error("prefill and decode apart")]
    Apart,
    /// Prompts were meant to be cached, and no reply says how much of them was.
    #[error("cached prompts, and no reply says how much was cached")]
    UnknownCache,
}

impl UnfittedServing {
    /// What of `run` a fit has no account of; none of plain serving.
    pub(super) fn of(run: &DeploymentRecord) -> Option<Self> {
        match (run.draft, run.disaggregated) {
            (_, true) => Some(Self::Apart),
            (0, false) => None,
            (_, false) => Some(Self::Drafts),
        }
    }
}

impl SampleError {
    /// The reason in a few words that levels have in common, such as `invalid` or `of an unknown model`: to count them by.
    #[must_use]
    pub fn reason(&self) -> String {
        match self {
            Self::Model { .. } => "of an unknown model".to_owned(),
            Self::Device { .. } => "on an unknown device".to_owned(),
            Self::Level(_) => "not usable".to_owned(),
            Self::NotValid { verdict, .. } => verdict.clone(),
            Self::Serving { serving, .. } => serving.to_string(),
            Self::BeatsBound { .. } => RowExclusion::BeatsBound.to_string(),
            Self::Doubtful { doubt, .. } => doubted(*doubt),
        }
    }

    /// Whether it is left out by a rule: nothing has to be mended for the others to be fitted.
    #[must_use]
    pub const fn is_by_rule(&self) -> bool {
        matches!(
            self,
            Self::NotValid { .. }
                | Self::Serving { .. }
                | Self::BeatsBound { .. }
                | Self::Doubtful { .. }
        )
    }
}

/// A time in milliseconds, to three digits.
fn ms(time: Seconds) -> String {
    fizeau_core::number::number(time.to_millis().get())
}

/// Refuses `measured` where nothing can take less than `bound`.
pub(super) fn above(
    place: impl FnOnce() -> String,
    measured: Seconds,
    bound: Seconds,
) -> Result<(), SampleError> {
    match measured < bound {
        true => Err(SampleError::BeatsBound { place: place(), measured, bound }),
        false => Ok(()),
    }
}

/// What a level of which so much is doubtful is called among others.
fn doubted(doubt: RowExclusion) -> String {
    match doubt {
        RowExclusion::Degrees => "with experts over another number of devices".to_owned(),
        RowExclusion::Layout => "with an unclear parallel layout".to_owned(),
        RowExclusion::Memory => "of weights that do not fit".to_owned(),
        RowExclusion::Speculation => "probably of speculative decoding".to_owned(),
        RowExclusion::Series => "of a doubtful series".to_owned(),
        RowExclusion::Contradiction => "that contradict the rest of their series".to_owned(),
        other => other.to_string(),
    }
}

impl FitSources {
    /// Where models are found by the files of these names; others are built in or paths.
    pub fn new(files: HashMap<String, String>) -> Self {
        Self { files, ..Self::default() }
    }

    /// The measured levels of a table, as a fit takes them, in their order: those that are doubtful are left out
    /// ([`RowExclusion::screen`]), with the reason.
    pub fn samples(
        &mut self,
        levels: &[MeasuredRow],
    ) -> Vec<Result<CalibrationSample, SampleError>> {
        let systems: Vec<Result<System, SampleError>> =
            levels.iter().map(|level| self.system(level)).collect();
        let known = levels.iter().zip(&systems);
        let known: Vec<(MeasuredRow, System)> = known
            .filter_map(|(level, system)| Some((level.clone(), system.as_ref().ok()?.clone())))
            .collect();
        let mut doubts = RowExclusion::screen(&known).into_iter();
        let each = levels.iter().zip(systems);
        each.map(|(level, system)| {
            let system = system?;
            if let Some(doubt) = doubts.next().flatten() {
                return Err(SampleError::Doubtful { line: level.line, doubt });
            }
            level.sample(&system).map_err(|error| SampleError::Level(error.to_string()))
        })
        .collect()
    }

    /// The system that a measured level names.
    fn system(&mut self, level: &MeasuredRow) -> Result<System, SampleError> {
        let (line, name) = (level.line, &level.model);
        let file = self.files.get(name).unwrap_or(name);
        let load = || LoadedModel::named(file).map(|loaded| loaded.model);
        let model = self.models.entry(name.clone());
        let model = model.or_insert_with(|| load().map_err(|error| error.to_string())).clone();
        let model = model.map_err(|reason| {
            let model = name.clone();
            SampleError::Model { line, model, reason }
        })?;
        let found = self.devices.entry(level.hardware.clone());
        let found = found.or_insert_with(|| device(&level.hardware)).clone();
        let device =
            found.map_err(|error| SampleError::Device { line, reason: error.to_string() })?;
        level.system(model, device).map_err(|error| SampleError::Level(error.to_string()))
    }
}
