//! What levels are compared with: the speed of light of a model on its devices, and the files that say what these are.

use std::borrow::Borrow;
use std::num::NonZeroU64;

use fizeau_core::Tokens;
use fizeau_roofline::{
    Calibration, Device, HourlyRate, KnownModel, Model, Predictor, System, TensorClass,
};
use thiserror::Error;

use crate::{
    DeploymentRecord, LengthTally, LevelReference, LevelReport, RunSetup, SpeedOfLightCurve,
};

/// The texts of files that a speed of light was read from, to be kept with the run; none of what is built in.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct ReferenceFiles {
    /// The model's config.
    pub model_config: Option<String>,
    /// How its checkpoint is quantised, from the file beside the config.
    pub quantization: Option<String>,
    /// The device.
    pub device: Option<String>,
    /// The calibration.
    pub calibration: Option<String>,
}

impl ReferenceFiles {
    /// What they are called in a run's folder. The second has the name that it has beside a config, so that it is found there.
    pub const NAMES: [&str; 4] =
        ["model-config.json", "hf_quant_config.json", "device.toml", "calibration.json"];

    /// Each by its name in a run's folder.
    pub fn named(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let Self { model_config, quantization, device, calibration } = self;
        let texts = [model_config, quantization, device, calibration];
        let named = Self::NAMES.into_iter().zip(texts);
        named.filter_map(|(name, text)| Some((name, text.as_deref()?)))
    }
}

/// A model, a device and how the one lies on the other, by name or by the text of a file, from which a speed of light is made.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct ReferenceParts {
    /// What the model is called in reports; where there is no config of it, the name of one that is built in.
    pub model_name: Option<String>,
    /// The name of a device of the table; what is in a file of its own comes first.
    pub device_name: Option<String>,
    /// How the model lies on its devices.
    pub deployment: DeploymentRecord,
    /// What is from files.
    pub files: ReferenceFiles,
}

/// Why there is no speed of light, in one line.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ReferenceError {
    /// The model is not understood.
    #[error("the model: {0}")]
    Model(String),
    /// The device is not understood.
    #[error("the device: {0}")]
    Device(String),
    /// The model cannot lie on the devices so.
    #[error("the deployment: {0}")]
    Deployment(String),
    /// The calibration is not understood.
    #[error("the calibration: {0}")]
    Calibration(String),
}

impl ReferenceParts {
    /// Whether there is a model, in a file or built in.
    #[must_use]
    pub fn has_model(&self) -> bool {
        let is_built_in = |name: &String| KnownModel::named(name).is_ok();
        self.files.model_config.is_some() || self.model_name.as_ref().is_some_and(is_built_in)
    }

    /// Whether there is a device, in a file or of the table.
    #[must_use]
    pub fn has_device(&self) -> bool {
        let is_of_table = |name: &String| Device::named(name).is_ok();
        self.files.device.is_some() || self.device_name.as_ref().is_some_and(is_of_table)
    }

    /// What levels are compared with.
    ///
    /// # Errors
    /// If a part of it is missing or not understood.
    pub fn load(self) -> Result<SpeedOfLightReference, ReferenceError> {
        let Self { model_name, device_name, deployment, files } = self;
        let model_name = model_name.unwrap_or_else(|| "unnamed".to_owned());
        let model = model(&model_name, &files).map_err(ReferenceError::Model)?;
        let device = match &files.device {
            Some(text) => Device::from_toml(text).map_err(|error| error.to_string()),
            None => Device::named(device_name.as_deref().unwrap_or_default())
                .cloned()
                .map_err(|error| error.to_string()),
        };
        let device = device.map_err(ReferenceError::Device)?;
        let system = deployment.system(model, device);
        let system = system.map_err(|error| ReferenceError::Deployment(error.to_string()))?;
        let system = deployment.drafting(system);
        let calibration = files.calibration.clone();
        let reference = SpeedOfLightReference::new(model_name, system).recorded(deployment, files);
        match calibration {
            Some(text) => reference.calibrated(text),
            None => Ok(reference),
        }
    }
}

fn model(name: &str, files: &ReferenceFiles) -> Result<Model, String> {
    match (&files.model_config, &files.quantization) {
        (Some(config), Some(quantization)) => {
            Model::from_config_and_quantization(config, quantization)
                .map_err(|error| error.to_string())
        }
        (Some(config), None) => Model::from_config_json(config).map_err(|error| error.to_string()),
        (None, _) => {
            let known = KnownModel::named(name).map_err(|error| error.to_string())?;
            known.model().map_err(|error| error.to_string())
        }
    }
}

/// What the speed of light of levels is computed from.
#[derive(Debug, Clone)]
pub struct SpeedOfLightReference {
    model_name: String,
    system: System,
    /// How it was said that the model lies on its devices.
    deployment: DeploymentRecord,
    /// What predicts it, where there is a calibration.
    predictor: Option<Predictor>,
    /// Whether nothing is to be predicted, whatever ships.
    is_uncalibrated: bool,
    files: ReferenceFiles,
    /// The prompt's nominal length, for servers that do not say how long it was.
    input: Tokens,
}

impl SpeedOfLightReference {
    /// For a model and its devices that are known already.
    #[must_use]
    pub fn new(model_name: impl Into<String>, system: System) -> Self {
        Self {
            model_name: model_name.into(),
            system,
            deployment: DeploymentRecord::default(),
            predictor: None,
            is_uncalibrated: false,
            files: ReferenceFiles::default(),
            input: Tokens::ZERO,
        }
    }

    /// The same, with how the model was said to lie on its devices, and the files that say what they are.
    #[must_use]
    pub fn recorded(self, deployment: DeploymentRecord, files: ReferenceFiles) -> Self {
        Self { deployment, files, ..self }
    }

    /// With what the calibration of this text predicts.
    ///
    /// # Errors
    /// If it is not understood.
    pub fn calibrated(self, text: String) -> Result<Self, ReferenceError> {
        let calibration = Calibration::from_json(&text);
        let calibration =
            calibration.map_err(|error| ReferenceError::Calibration(error.to_string()))?;
        let predictor =
            Some(calibration.predictor(&self.system, self.deployment.engine.as_deref()));
        let files = ReferenceFiles { calibration: Some(text), ..self.files };
        Ok(Self { predictor, files, ..self })
    }

    /// With what the calibration predicts that ships for its engine on its device; as it is where none does. The constants that are
    /// used are kept with the run, so that a later calibration that ships changes nothing of it.
    #[must_use]
    pub fn calibrated_as_shipped(self) -> Self {
        let engine = self.deployment.engine.as_deref();
        let device = &self.system.device().name;
        let Some(shipped) = engine.and_then(|engine| Calibration::shipped(engine, device)) else {
            return self;
        };
        let predictor = Some(shipped.calibration.predictor(&self.system, engine));
        let used = shipped.calibration.narrowed_to(device, engine).to_json();
        let files = ReferenceFiles { calibration: Some(used), ..self.files };
        Self { predictor, files, ..self }
    }

    /// The same, of which nothing is to be predicted, whatever ships.
    #[must_use]
    pub fn uncalibrated(self) -> Self {
        Self { is_uncalibrated: true, predictor: None, ..self }
    }

    /// The same with what the calibration predicts that ships for the engine which `server` names in somebody's own words, whatever predicted
    /// it before; as it is where none does.
    #[must_use]
    pub fn served_by(mut self, server: &str) -> Self {
        if let Some(engine) = Calibration::engine_named_in(server) {
            self.deployment.engine = Some(engine.to_owned());
        }
        self.calibrated_as_shipped()
    }

    /// The same, once it was found out that `server` answers: with what the calibration predicts that ships for it, unless an engine was
    /// named, a calibration was given, or nothing is to be predicted.
    #[must_use]
    pub fn answered_by(mut self, server: &str) -> Self {
        if self.is_uncalibrated || self.predictor.is_some() || self.deployment.engine.is_some() {
            return self;
        }
        self.deployment.engine = Calibration::engine_named_in(server).map(str::to_owned);
        self.calibrated_as_shipped()
    }

    /// What the reader should know of model, device and calibration, each in one line.
    pub fn notes(&self) -> impl Iterator<Item = &str> {
        let more = self.predictor.iter().flat_map(Predictor::warnings);
        self.system.notes().iter().chain(more).map(String::as_str)
    }

    /// For prompts of a nominal length, where the server does not say how long they were.
    #[must_use]
    pub fn for_prompts_of(self, input: Tokens) -> Self {
        Self { input, ..self }
    }

    /// For an engine that runs at most so many sequences at once, whatever was said of its deployment.
    pub(crate) fn with_most_sequences(self, most: NonZeroU64) -> Self {
        let mut serving = *self.system.serving();
        serving.max_sequences = Some(most);
        Self { system: self.system.with_serving(serving), ..self }
    }

    /// The model's config as it was read; none where it is not from a file.
    #[must_use]
    pub fn config(&self) -> Option<&str> {
        self.files.model_config.as_deref()
    }

    /// What was read of files.
    #[must_use]
    pub const fn files(&self) -> &ReferenceFiles {
        &self.files
    }

    /// What the model is called.
    #[must_use]
    pub fn model_name(&self) -> &str {
        &self.model_name
    }

    /// What levels are compared with.
    #[must_use]
    pub const fn reference(&self) -> LevelReference<'_> {
        LevelReference { system: &self.system, predictor: self.predictor.as_ref() }
    }

    /// The lowest price of an hour of its device that was published; none where none was.
    #[must_use]
    pub fn published_price(&self) -> Option<HourlyRate> {
        HourlyRate::lowest_published(self.system.device()).ok()
    }

    /// How it was said that the model lies on its devices.
    #[must_use]
    pub const fn deployment(&self) -> &DeploymentRecord {
        &self.deployment
    }

    /// An account of the lengths of a level's replies, for the bound over them.
    #[must_use]
    pub fn lengths(&self) -> LengthTally {
        LengthTally::new(self.input, self.system.model())
    }

    /// Says in `setup` what it is computed from.
    pub fn describe_in(&self, setup: &mut RunSetup) {
        setup.model_config = Some(self.model_name.clone());
        setup.hardware = Some(self.system.device().name.to_owned());
        setup.deployment = Some(self.deployment.words(&self.system));
        // What somebody said of the server stands.
        setup.precision.get_or_insert_with(|| formats(self.system.model()));
    }

    /// What could be done with the requests of all these levels together, whose lengths are `all`.
    #[must_use]
    pub fn curve<L: Borrow<LevelReport>>(
        &self,
        all: &LengthTally,
        levels: &[L],
    ) -> Option<SpeedOfLightCurve> {
        let lights = levels.iter().filter_map(|level| level.borrow().speed_of_light.comparison());
        let loads: Vec<NonZeroU64> = lights.map(|light| light.concurrency).collect();
        SpeedOfLightCurve::over(self.reference(), all, &loads).ok()
    }
}
/// What weights and caches are stored in: `weights nvfp4 and bf16, KV cache fp8`.
fn formats(model: &Model) -> String {
    let is_matrix = |class| !matches!(class, TensorClass::Vectors | TensorClass::ExpertBiases);
    let mut weights: Vec<(f64, String)> = Vec::new();
    for tensors in model.tensors().into_iter().filter(|tensors| is_matrix(tensors.class)) {
        let (bytes, name) = (tensors.bytes().get(), tensors.format.to_string());
        match weights.iter_mut().find(|known| known.1 == name) {
            Some(known) => known.0 += bytes,
            None => weights.push((bytes, name)),
        }
    }
    // What most bytes are in comes first.
    weights.sort_by(|a, b| b.0.total_cmp(&a.0));
    let names: Vec<String> = weights.into_iter().map(|(_, name)| name).collect();
    format!("weights {}, KV cache {}", names.join(" and "), model.kv_cache())
}
