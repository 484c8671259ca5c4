//! What levels are held against: the speed of light of a model on its devices, read before anything is sent.

use std::borrow::Borrow;
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};

use fizeau_core::Tokens;
use fizeau_record::{DeploymentRecord, LengthTally, LevelReport, LightCurve, Reference, Setup};
use fizeau_roofline::{
    Bound, Calibration, HourlyRate, Load, Model, Predictor, System, TensorClass,
};

use crate::device::LoadedDevice;
use crate::input::{Blame, Field, InputError};
use crate::model::LoadedModel;

/// A model on devices, for the speed of light.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ReferenceSpec {
    /// The model: the path of its config.json, or of its folder, or the name of one that is built in.
    pub model: String,
    /// The device: a name of the table, or the path of a TOML file.
    pub device: String,
    /// How the model lies on them.
    pub deployment: DeploymentRecord,
    /// The path of a calibration, for what it predicts beside bound and expectation.
    pub calibration: Option<PathBuf>,
}

impl ReferenceSpec {
    /// That model on one such device.
    pub fn new(model: impl Into<String>, device: impl Into<String>) -> Self {
        let deployment = DeploymentRecord::default();
        Self { model: model.into(), device: device.into(), deployment, calibration: None }
    }

    /// Reads the model's config, the device and the calibration.
    ///
    /// # Errors
    /// If one of them is not understood, or the model does not fit.
    pub fn load(self) -> Result<SpeedOfLightReference, InputError> {
        let device = self.device.clone();
        let calibration = self.calibration.clone();
        let reference = self.load_whatever_fits()?;
        let one = Load::new(Tokens::new(1), Tokens::new(1), NonZeroU64::MIN);
        Bound::at(&reference.system, &one).blame_given(Field::Hardware, device)?;
        reference.calibrated(calibration.as_deref())
    }

    /// As [`load`](Self::load), without its calibration, and whether the model fits or not.
    ///
    /// # Errors
    /// If model or device are not understood.
    pub fn load_whatever_fits(self) -> Result<SpeedOfLightReference, InputError> {
        let Self { model: name, device, deployment, .. } = self;
        let model = LoadedModel::named(&name).blame_given(Field::ModelConfig, &name)?;
        let LoadedDevice { device, file } = LoadedDevice::named(&device)?;
        let system = deployment.system(model.model, device).blame(Field::Deployment)?;
        let system = deployment.drafting(system);
        let files = ReferenceFiles {
            model_config: Some(model.text),
            quantization: model.quantization,
            device: file,
            calibration: None,
        };
        let reference = SpeedOfLightReference::new(name, system);
        Ok(SpeedOfLightReference { deployment, files, ..reference })
    }
}

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

/// What the speed of light of levels is computed from.
#[derive(Debug, Clone)]
pub struct SpeedOfLightReference {
    model_name: String,
    system: System,
    /// How it was said that the model lies on its devices.
    deployment: DeploymentRecord,
    /// What predicts it, where there is a calibration.
    predictor: Option<Predictor>,
    files: ReferenceFiles,
    /// The prompt's nominal length, for servers that do not say how long it was.
    input: Tokens,
}

impl SpeedOfLightReference {
    /// For a model and its devices that are known already.
    pub fn new(model_name: impl Into<String>, system: System) -> Self {
        Self {
            model_name: model_name.into(),
            system,
            deployment: DeploymentRecord::default(),
            predictor: None,
            files: ReferenceFiles::default(),
            input: Tokens::ZERO,
        }
    }

    /// The same, with how the model was said to lie on its devices, and the files that say what they are.
    #[must_use]
    pub fn recorded(self, deployment: DeploymentRecord, files: ReferenceFiles) -> Self {
        Self { deployment, files, ..self }
    }

    /// With what the calibration in a file predicts, if one is named.
    ///
    /// # Errors
    /// If it cannot be read or is not understood.
    pub fn calibrated(self, path: Option<&Path>) -> Result<Self, InputError> {
        let Some(path) = path else { return Ok(self) };
        let text = std::fs::read_to_string(path);
        let text = text.blame_given(Field::Calibration, path.display())?;
        let calibration = Calibration::from_json(&text);
        let calibration = calibration.blame_given(Field::Calibration, path.display())?;
        let predictor = Some(calibration.predictor(&self.system, None));
        let files = ReferenceFiles { calibration: Some(text), ..self.files };
        Ok(Self { predictor, files, ..self })
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

    /// The model's config as it was read; none where it is not from a file.
    pub fn config(&self) -> Option<&str> {
        self.files.model_config.as_deref()
    }

    /// What was read of files.
    pub const fn files(&self) -> &ReferenceFiles {
        &self.files
    }

    /// What the model is called.
    pub fn model_name(&self) -> &str {
        &self.model_name
    }

    /// What levels are held against.
    pub const fn reference(&self) -> Reference<'_> {
        Reference { system: &self.system, predictor: self.predictor.as_ref() }
    }

    /// The lowest price of an hour of its device that was published; none where none was.
    pub fn published_price(&self) -> Option<HourlyRate> {
        HourlyRate::lowest_published(self.system.device()).ok()
    }

    /// How it was said that the model lies on its devices.
    pub const fn deployment(&self) -> &DeploymentRecord {
        &self.deployment
    }

    /// An account of the lengths of a level's replies, for the bound over them.
    pub fn lengths(&self) -> LengthTally {
        LengthTally::new(self.input, self.system.model())
    }

    /// Says in `setup` what it is computed from.
    pub fn describe_in(&self, setup: &mut Setup) {
        setup.model_config = Some(self.model_name.clone());
        setup.hardware = Some(self.system.device().name().to_owned());
        setup.deployment = Some(self.deployment.words(&self.system));
        // What somebody said of the server stands.
        setup.precision.get_or_insert_with(|| formats(self.system.model()));
    }

    /// What could be done with the requests of all these levels together, whose lengths are `all`.
    pub fn curve<L: Borrow<LevelReport>>(
        &self,
        all: &LengthTally,
        levels: &[L],
    ) -> Option<LightCurve> {
        let lights = levels.iter().filter_map(|level| level.borrow().speed_of_light.light());
        let loads: Vec<NonZeroU64> = lights.map(|light| light.concurrency).collect();
        LightCurve::over(self.reference(), all, &loads).ok()
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
