//! The speed of light for a run: model and devices, read before anything is sent.

mod spread;

use std::borrow::Borrow;
use std::num::NonZeroU64;
use std::path::Path;

use fizeau::core::Tokens;
use fizeau::record::{LengthTally, LevelReport, LightCurve, Reference, Setup};
use fizeau::roofline::{Bound, Calibration, Load, Model, Predictor, System, TensorClass};
use fizeau::sim::Scenario;

use crate::args::{PhysicsArgs, SystemArgs};
use crate::exit::{Fail, Named};
use crate::hardware::{self, Hardware};
use crate::model_config::{self, Loaded};
use crate::scenario;
use crate::sol;
pub(crate) use spread::Spread;

/// What the speed of light is computed from.
#[derive(Clone)]
pub(crate) struct Physics {
    model_name: String,
    system: System,
    /// How it was said that the model lies on its devices.
    spread: Spread,
    /// What predicts it, where there is a calibration.
    predictor: Option<Predictor>,
    /// The texts of files, where it came from such: as [`levels::PHYSICS`](crate::levels::PHYSICS) has them.
    files: [Option<String>; 4],
    /// The prompt's nominal length, for servers that do not say how long it was.
    input: Tokens,
}

impl Physics {
    /// Reads the model's config and finds the device; none if neither was given. Says what the reader should know of them.
    ///
    /// # Errors
    /// If one of both is missing or is not understood, or the model does not fit.
    pub(crate) fn from_args(args: &PhysicsArgs) -> Result<Option<Self>, Fail> {
        let spread = Spread::default().with(args);
        let (path, hardware) = match (args.model_config.as_deref(), args.hardware.as_deref()) {
            (Some(path), Some(hardware)) => (path, hardware),
            (Some(_), None) => {
                return Err(Fail::usage("--hardware: name the device that --model-config is for"));
            }
            (None, Some(_)) => {
                return Err(Fail::usage(
                    "--model-config: name the config.json of the model that --hardware is for",
                ));
            }
            (None, None) if spread != Spread::default() || args.calibration.is_some() => {
                return Err(Fail::usage(
                    "--model-config and --hardware: name model and device that the flags of the speed of light are for",
                ));
            }
            (None, None) => return Ok(None),
        };
        let physics = Self::read(path, hardware, spread)?;
        let one = Load::new(Tokens::new(1), Tokens::new(1), NonZeroU64::MIN);
        Bound::at(&physics.system, &one).named(&format!("--hardware {hardware}"))?;
        let physics = physics.calibrated(args.calibration.as_deref())?;
        let notes = physics.system.notes().iter();
        let more = physics.predictor.iter().flat_map(Predictor::warnings);
        notes.chain(more).for_each(|note| tell!("note: {note}"));
        Ok(Some(physics))
    }

    /// Reads the model's config and finds the device.
    pub(crate) fn read(path: &Path, hardware: &str, spread: Spread) -> Result<Self, Fail> {
        let path_name = path.display().to_string();
        let flag = format!("--model-config {path_name}");
        let Loaded { model, text, quantization, .. } =
            model_config::load(&path_name).named(&flag)?;
        let Hardware { device, file } = hardware::named(hardware)?;
        let args = spread.system_args();
        let system = sol::system(model, device, &args).map_err(Fail::usage)?;
        let system = spread.drafting(system);
        let physics = Self::new(path_name, system, (0, 0));
        Ok(Self { spread, files: [Some(text), quantization, file, None], ..physics })
    }

    /// That of a simulated engine, which was made of what `args` name.
    pub(crate) fn of_scenario(args: &SystemArgs, scenario: &Scenario) -> Result<Self, Fail> {
        let (config, hardware) = scenario::names(args)?;
        let Loaded { text, quantization, .. } = model_config::load(config).map_err(Fail::usage)?;
        let Hardware { file, .. } = hardware::find(hardware, "--hardware")?;
        let name = scenario.model_name().to_owned();
        let physics = Self::new(name, scenario.system().clone(), (0, 0));
        let spread = Spread::of_scenario(args, scenario);
        Ok(Self { spread, files: [Some(text), quantization, file, None], ..physics })
    }

    /// With what the calibration in a file predicts, if one is named.
    pub(crate) fn calibrated(self, path: Option<&Path>) -> Result<Self, Fail> {
        let Some(path) = path else { return Ok(self) };
        let flag = format!("--calibration {}", path.display());
        let text = std::fs::read_to_string(path).named(&flag)?;
        let calibration = Calibration::from_json(&text).named(&flag)?;
        let predictor = Some(calibration.predictor(&self.system, None));
        let [config, quantization, device, _] = self.files;
        Ok(Self { predictor, files: [config, quantization, device, Some(text)], ..self })
    }

    /// For a model and its devices that are known already.
    pub(crate) fn new(model_name: String, system: System, (input, _): (u64, u64)) -> Self {
        let (spread, input) = (Spread::default(), Tokens::new(input));
        Self { model_name, system, spread, predictor: None, files: [const { None }; 4], input }
    }

    /// For prompts of a nominal length, where the server does not say how long they were.
    pub(crate) fn for_prompts_of(self, (input, _): (u64, u64)) -> Self {
        Self { input: Tokens::new(input), ..self }
    }

    /// The model's config as it was read; none for the embedded engine, whose config is the program's own.
    pub(crate) fn config(&self) -> Option<&str> {
        let [config, ..] = &self.files;
        config.as_deref()
    }

    /// What was read of files: the config, how its checkpoint is quantised, the device, the calibration.
    pub(crate) const fn files(&self) -> &[Option<String>; 4] {
        &self.files
    }

    /// What the model is called.
    pub(crate) fn model_name(&self) -> &str {
        &self.model_name
    }

    /// What levels are held against.
    pub(crate) const fn reference(&self) -> Reference<'_> {
        Reference { system: &self.system, predictor: self.predictor.as_ref() }
    }

    /// How it was said that the model lies on its devices.
    pub(crate) const fn spread(&self) -> &Spread {
        &self.spread
    }

    /// An account of the lengths of a level's replies, for the bound over them.
    pub(crate) fn lengths(&self) -> LengthTally {
        LengthTally::new(self.input, self.system.model())
    }

    /// Says in `setup` what it is computed from.
    pub(crate) fn describe_in(&self, setup: &mut Setup) {
        setup.model_config = Some(self.model_name.clone());
        setup.hardware = Some(self.system.device().name().to_owned());
        setup.deployment = Some(self.spread.words(&self.system));
        // What somebody said of the server stands.
        setup.precision.get_or_insert_with(|| formats(self.system.model()));
    }

    /// What could be done with the requests of all these levels together, whose lengths are `all`.
    pub(crate) fn curve<L: Borrow<LevelReport>>(
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
