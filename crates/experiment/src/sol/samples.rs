//! Measured levels of a table, as a fit takes them.

use std::collections::HashMap;

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
#[derive(Debug, Clone, PartialEq, Eq, Error)]
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
    /// It and what it stands beside do not agree: it is left out by rule.
    #[error("line {line}: {doubt}: left out")]
    Doubtful {
        /// Its line in the table.
        line: u64,
        /// What is doubtful about it.
        doubt: RowExclusion,
    },
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
