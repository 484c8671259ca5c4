//! Systems, each prepared once however many queries name it.

use std::collections::HashMap;
use std::num::NonZeroU64;

use fizeau_core::Tokens;
use fizeau_record::{DeploymentRecord, EngineChoices};
use fizeau_roofline::{
    Calibration, Device, ExpertRouting, LoadAnalysis, LoadAnalysisError, Model, Predictor,
    ShippedCalibration, System, UniformLoad,
};

use super::{SolQueryError, SystemQuery};
use crate::device::LoadedDevice;
use crate::model::LoadedModel;

/// Whose constants predict systems.
#[derive(Debug, Default)]
pub enum CalibrationChoice {
    /// Nobody's: there are no predictions.
    #[default]
    None,
    /// What ships for the engine of a query on its device, where the query names an engine.
    Shipped,
    /// Those of this calibration, whatever a query names.
    Given(Box<Calibration>),
}

/// What queries have named so far. Files are read once; what could not be obtained is remembered as well, so that a file of many
/// bad lines is no slower than one of good ones.
#[derive(Debug, Default)]
pub struct SolSystems {
    models: HashMap<String, Result<Model, SolQueryError>>,
    prepared: HashMap<Vec<u8>, Result<PreparedSystem, SolQueryError>>,
    calibration: CalibrationChoice,
    /// Written anew for each look-up, so that one that finds something allocates nothing.
    key: Vec<u8>,
}

/// A file may name systems without end; what is prepared takes some twenty kilobytes.
const MOST_PREPARED: usize = 8_192;

/// A system, and what predicts it.
#[derive(Debug)]
#[non_exhaustive]
pub struct PreparedSystem {
    /// The model on its devices.
    pub system: System,
    /// What predicts it, where there is a calibration.
    pub predictor: Option<Predictor>,
    /// Where the constants are from, where they are those that ship.
    pub shipped: Option<ShippedCalibration>,
    /// Why it answers nothing, whatever the load: on how many devices it would takes long to find out.
    too_large: Option<String>,
}

impl PreparedSystem {
    /// The answer to `load`.
    ///
    /// # Errors
    /// If the model does not fit, or the load is none.
    pub fn answer(&self, load: &UniformLoad) -> Result<LoadAnalysis, SolQueryError> {
        match &self.too_large {
            Some(why) => Err(SolQueryError::new(why)),
            None => self.system.answer(load).map_err(SolQueryError::new),
        }
    }
}

impl SolSystems {
    /// Of systems that are predicted with `calibration`.
    pub fn new(calibration: CalibrationChoice) -> Self {
        Self { calibration, ..Self::default() }
    }

    /// The system that `query` names.
    ///
    /// # Errors
    /// If model or device are not named or not understood, or the one cannot lie on the other so.
    pub fn get(&mut self, query: &SystemQuery<'_>) -> Result<&PreparedSystem, SolQueryError> {
        write_key(&mut self.key, query);
        if !self.prepared.contains_key(&self.key) {
            if self.prepared.len() >= MOST_PREPARED {
                self.prepared.clear();
            }
            let system = self.prepare(query);
            self.prepared.insert(self.key.clone(), system);
        }
        match self.prepared.get(&self.key) {
            Some(found) => found.as_ref().map_err(Clone::clone),
            None => Err(SolQueryError::new("the system is missing")),
        }
    }

    fn prepare(&mut self, query: &SystemQuery<'_>) -> Result<PreparedSystem, SolQueryError> {
        let missing = |name: &str| SolQueryError(format!("{name} is missing"));
        let path = query.model_config.as_deref().ok_or_else(|| missing("model_config"))?;
        let hardware = query.hardware.as_deref().ok_or_else(|| missing("hardware"))?;
        let device = device(hardware)?;
        let model = self.model(path)?.clone();
        let system = query.deployment().system(model, device).map_err(SolQueryError::new)?;
        let engine = query.engine.as_deref();
        let shipped = match &self.calibration {
            CalibrationChoice::Shipped => {
                engine.and_then(|engine| Calibration::shipped(engine, &system.device().name))
            }
            _ => None,
        };
        let calibration = match &self.calibration {
            CalibrationChoice::Given(calibration) => Some(calibration.as_ref()),
            _ => shipped.map(|shipped| shipped.calibration),
        };
        let predictor = calibration.map(|calibration| calibration.predictor(&system, engine));
        let least = UniformLoad::new(Tokens::new(1), Tokens::new(1), NonZeroU64::MIN);
        let too_large = match system.answer(&least) {
            Err(error @ LoadAnalysisError::WeightsDoNotFit { .. }) => Some(error.to_string()),
            _ => None,
        };
        Ok(PreparedSystem { system, predictor, shipped, too_large })
    }

    fn model(&mut self, path: &str) -> Result<&Model, SolQueryError> {
        let model = self.models.entry(path.to_owned()).or_insert_with(|| {
            let loaded = LoadedModel::named(path);
            loaded
                .map(|loaded| loaded.model)
                .map_err(|error| SolQueryError(format!("model_config {path}: {error}")))
        });
        model.as_ref().map_err(Clone::clone)
    }
}

/// Each text with a byte behind it that none can contain, then the numbers in text of their own.
fn write_key(key: &mut Vec<u8>, query: &SystemQuery<'_>) {
    key.clear();
    for text in [&query.model_config, &query.hardware, &query.weights, &query.kv, &query.engine] {
        match text {
            Some(text) => {
                key.extend_from_slice(text.as_bytes());
                key.push(0xff);
            }
            None => key.push(0xfe),
        }
    }
    let DeploymentRecord { tp, pp, ep, dp, replicas, memory_share, max_num_seqs, choices, .. } =
        &query.deployment;
    for degree in [tp, pp, ep, dp, replicas] {
        key.extend_from_slice(&degree.to_le_bytes());
    }
    key.extend_from_slice(&memory_share.to_bits().to_le_bytes());
    key.extend_from_slice(&max_num_seqs.map_or(0, NonZeroU64::get).to_le_bytes());
    let EngineChoices { prefix, routing, overlap, exchange } = *choices;
    key.extend_from_slice(&[prefix as u8, overlap as u8, exchange as u8]);
    let skew = match routing {
        ExpertRouting::Strict => f64::INFINITY,
        ExpertRouting::Skewed(alpha) => alpha,
        _ => 0.0,
    };
    key.extend_from_slice(&skew.to_bits().to_le_bytes());
}

/// The device of that name, or in the file of that name.
pub(super) fn device(name: &str) -> Result<Device, SolQueryError> {
    LoadedDevice::named(name).map(|loaded| loaded.device).map_err(|error| match &error.given {
        Some(file) => SolQueryError(format!("hardware {file}: {}", error.message())),
        None => SolQueryError(format!("hardware: {}", error.message())),
    })
}
