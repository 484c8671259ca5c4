//! Systems, each prepared once however many queries name it.

use std::collections::HashMap;
use std::num::NonZeroU64;

use fizeau::core::Tokens;
use fizeau::experiment::LoadedModel;
use fizeau::roofline::{Answer, AnswerError, Calibration, Load, Model, Predictor, Routing, System};

use super::query::{Degrees, SystemQuery};
use crate::args::ChoiceArgs;
use crate::commands::shared::hardware;

/// What queries have named so far. Files are read once; what could not be had is remembered as well, so that a file of many
/// bad lines is no slower than one of good ones.
#[derive(Default)]
pub(super) struct Systems {
    models: HashMap<String, Result<Model, String>>,
    prepared: HashMap<Vec<u8>, Result<Prepared, String>>,
    calibration: Option<Calibration>,
    /// Written anew for each look-up, so that one that finds something allocates nothing.
    key: Vec<u8>,
}

/// A file may name systems without end; what is prepared takes some twenty kilobytes.
const MOST_PREPARED: usize = 8_192;

/// A system, and what predicts it.
pub(super) struct Prepared {
    pub(super) system: System,
    pub(super) predictor: Option<Predictor>,
    /// Why it answers nothing, whatever the load: on how many devices it would takes long to find out.
    too_large: Option<String>,
}

impl Prepared {
    /// The answer to `load`, or in one line why there is none.
    pub(super) fn answer(&self, load: &Load) -> Result<Answer, String> {
        match &self.too_large {
            Some(why) => Err(why.clone()),
            None => self.system.answer(load).map_err(|error| error.to_string()),
        }
    }
}

impl Systems {
    /// Of systems that are predicted with `calibration`, if there is one.
    pub(super) fn new(calibration: Option<Calibration>) -> Self {
        Self { calibration, ..Self::default() }
    }

    /// The system that `query` names, or in one line why there is none.
    pub(super) fn get(&mut self, query: &SystemQuery<'_>) -> Result<&Prepared, &str> {
        write_key(&mut self.key, query);
        if !self.prepared.contains_key(&self.key) {
            if self.prepared.len() >= MOST_PREPARED {
                self.prepared.clear();
            }
            let system = self.prepare(query);
            self.prepared.insert(self.key.clone(), system);
        }
        match self.prepared.get(&self.key) {
            Some(found) => found.as_ref().map_err(String::as_str),
            None => Err("the system is not there"),
        }
    }

    fn prepare(&mut self, query: &SystemQuery<'_>) -> Result<Prepared, String> {
        let path = query.model_config.as_deref().ok_or("model_config is missing")?;
        let hardware = query.hardware.as_deref().ok_or("hardware is missing")?;
        let device = hardware::find(hardware, "hardware").map_err(|fail| fail.message)?.device;
        let model = self.model(path)?.clone();
        let system = query.deployment().system(model, device).map_err(|error| error.to_string())?;
        let predictor = self
            .calibration
            .as_ref()
            .map(|calibration| calibration.predictor(&system, query.engine.as_deref()));
        let least = Load::new(Tokens::new(1), Tokens::new(1), NonZeroU64::MIN);
        let too_large = match system.answer(&least) {
            Err(error @ AnswerError::WeightsDoNotFit { .. }) => Some(error.to_string()),
            _ => None,
        };
        Ok(Prepared { system, predictor, too_large })
    }

    fn model(&mut self, path: &str) -> Result<&Model, String> {
        let model = self.models.entry(path.to_owned()).or_insert_with(|| {
            let loaded = LoadedModel::named(path);
            loaded
                .map(|loaded| loaded.model)
                .map_err(|error| format!("model_config {path}: {error}"))
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
    let Degrees { tp, pp, ep, dp, replicas } = query.degrees;
    for degree in [tp, pp, ep, dp, replicas] {
        key.extend_from_slice(&degree.to_le_bytes());
    }
    key.extend_from_slice(&query.memory_share.to_bits().to_le_bytes());
    key.extend_from_slice(&query.max_num_seqs.map_or(0, NonZeroU64::get).to_le_bytes());
    let ChoiceArgs { prefix, routing, overlap, exchange } = query.choices;
    key.extend_from_slice(&[prefix as u8, overlap as u8, exchange as u8]);
    let skew = match routing {
        Routing::Strict => f64::INFINITY,
        Routing::Skewed(alpha) => alpha,
        _ => 0.0,
    };
    key.extend_from_slice(&skew.to_bits().to_le_bytes());
}
