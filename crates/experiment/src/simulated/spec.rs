//! A simulated engine by names and numbers.

use std::num::{NonZeroU32, NonZeroU64};

use fizeau_core::Tokens;
use fizeau_record::{DeploymentRecord, ReferenceFiles};
use fizeau_roofline::{
    Acceptance, CacheTransfer, Calibration, InstanceCounts, PowerCap, Speculation, System,
};
use fizeau_sim::{EngineConfig, EngineDrafts, Overheads, ReplicaRouting, Scenario, ScenarioError};

use super::SimulatedSystem;
use crate::device::LoadedDevice;
use crate::drafter::DrafterSpec;
use crate::hint::InputHint;
use crate::input::{Blame, InputError, InputField};
use crate::model::LoadedModel;

/// A simulated engine: which model on which devices, and how it is set up there.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct SimulatedSystemSpec {
    /// The model: the path of its config.json, or of its folder, or the name of one that is built in.
    pub model: String,
    /// What the model is called in reports; none for the name of one that is built in, or the path.
    pub model_name: Option<String>,
    /// The device: a name of the table, or the path of a TOML file.
    pub device: String,
    /// How the model lies on them, and how many sequences an engine runs at once; none of these for as many as
    /// [usual](Scenario::usual_sequences).
    pub deployment: DeploymentRecord,
    /// The limits of an engine, but for that of its sequences, and for drafts.
    pub config: EngineConfig,
    /// In place of [`EngineConfig::captured`] the sizes that [vLLM captures](EngineConfig::captured_up_to) up to this one.
    pub captured_up_to: Option<NonZeroU64>,
    /// Speculative decoding; none without.
    pub drafts: Option<DraftSpec>,
    /// Where the time of a step comes from.
    pub step: StepTimeSpec,
    /// Instances that read prompts and instances that decode, in place of replicas that do both.
    pub apart: Option<(InstanceCounts, CacheTransfer)>,
    /// Which replica a request goes to.
    pub routing: ReplicaRouting,
}

/// Drafts of a simulated engine, or of an estimate.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct DraftSpec {
    /// How many tokens a draft has.
    pub length: u32,
    /// How likely they are accepted.
    pub acceptance: Acceptance,
    /// What makes them.
    pub drafter: DrafterSpec,
}

/// Where the time of a step comes from.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum StepTimeSpec {
    /// The roofline, with overheads on top; no device draws more than this where there is a limit.
    Roofline(Overheads, Option<PowerCap>),
    /// The constants of a calibration for the engine of this name, or without one for all engines on the device.
    Calibrated(Box<Calibration>, Option<String>),
    /// The constants that ship for the engine of this name.
    Shipped(String),
}

impl Default for SimulatedSystemSpec {
    /// Llama-3.1-8B on an H100 SXM.
    fn default() -> Self {
        let model_name = Some("Llama-3.1-8B".to_owned());
        Self { model_name, ..Self::new("llama-3.1-8b", "h100-sxm") }
    }
}

impl SimulatedSystemSpec {
    /// That model on one such device, by the roofline with the usual overheads.
    pub fn new(model: impl Into<String>, device: impl Into<String>) -> Self {
        Self {
            model: model.into(),
            model_name: None,
            device: device.into(),
            deployment: DeploymentRecord::default(),
            config: EngineConfig::new(1, Tokens::ZERO),
            captured_up_to: None,
            drafts: None,
            step: StepTimeSpec::Roofline(Overheads::default(), None),
            apart: None,
            routing: ReplicaRouting::default(),
        }
    }

    /// Reads model and device, and sets the engine up on them.
    ///
    /// # Errors
    /// If one of them is not understood, or it cannot run so. The error says what would run.
    pub fn load(self) -> Result<SimulatedSystem, InputError> {
        let loaded = LoadedModel::input(&self.model)?;
        let known = loaded.known.map_or(&*self.model, |known| known.name);
        let name = self.model_name.as_deref().unwrap_or(known).to_owned();
        let LoadedDevice { device, file } = LoadedDevice::named(&self.device)?;
        let system = self.deployment.system(loaded.model, device).blame(InputField::Deployment)?;
        let mut notes = system.notes().to_vec();
        let speculation = self.drafts.as_ref().map(|drafts| drafts.load(&system)).transpose()?;
        let config = self.config(&system);
        let overheads = match &self.step {
            StepTimeSpec::Roofline(overheads, _) => *overheads,
            _ => Overheads::default(),
        };
        let mut scenario = Scenario::of(name, system, config, overheads).blame(ENGINE)?;
        if let Some(speculation) = speculation {
            scenario = scenario.with_drafter(speculation.drafter).blame(ENGINE)?;
        }
        let scenario = self.laid_out(self.step.time(scenario, &mut notes)?)?;
        let scenario = match self.config.max_context {
            Some(most) => scenario.with_max_context(most).blame(InputField::MaxContext)?,
            None => scenario,
        };
        let mut files = ReferenceFiles::default();
        files.model_config = Some(loaded.text);
        (files.quantization, files.device) = (loaded.quantization, file);
        Ok(SimulatedSystem { notes, ..SimulatedSystem::recorded(scenario, self.deployment, files) })
    }

    /// The limits of an engine for `system`.
    fn config(&self, system: &System) -> EngineConfig {
        let drafts = self.drafts.as_ref().map(|drafts| EngineDrafts {
            length: drafts.length,
            acceptance: drafts.acceptance.clone(),
        });
        let mut config = EngineConfig { drafts, max_context: None, ..self.config.clone() };
        let usual = || Scenario::usual_sequences(system, &config);
        config.max_num_seqs = self.deployment.max_num_seqs.map_or_else(usual, NonZeroU64::get);
        if let Some(most) = self.captured_up_to {
            config.captured = config.captured_up_to(most.get());
        }
        config
    }

    /// All the replicas, or the instances that prefill and decode apart.
    fn laid_out(&self, scenario: Scenario) -> Result<Scenario, InputError> {
        match self.apart {
            Some((InstanceCounts { prefill, decode }, transfer)) => {
                scenario.disaggregated(prefill, decode, transfer).blame(InputField::Disaggregate)
            }
            None => {
                let replicas = NonZeroU32::new(self.deployment.replicas);
                let replicas = replicas.unwrap_or(NonZeroU32::MIN);
                scenario.with_replicas(replicas, self.routing).blame(InputField::Replicas)
            }
        }
    }
}

/// What no one input is to blame for.
const ENGINE: InputField = InputField::SimulatedEngine;

impl StepTimeSpec {
    /// `scenario`, which is timed so; what there is to know of that goes to `notes`.
    fn time(&self, scenario: Scenario, notes: &mut Vec<String>) -> Result<Scenario, InputError> {
        let mut calibrated = |calibration: &Calibration, engine: Option<&str>, of: Scenario| {
            notes.extend_from_slice(calibration.predictor(of.system(), engine).warnings());
            of.with_calibration(calibration.clone(), engine.map(str::to_owned))
        };
        let device = scenario.system().device();
        let timed: Result<Scenario, ScenarioError> = match self {
            Self::Roofline(_, None) => Ok(scenario),
            Self::Roofline(_, Some(cap)) => {
                let unknown = || format!("that of {} is not known", device.name);
                let watts = cap.of(device).ok_or_else(unknown).blame(InputField::PowerLimit)?;
                return scenario.with_power_limit(watts).blame(InputField::PowerLimit);
            }
            Self::Calibrated(calibration, engine) => {
                calibrated(calibration, engine.as_deref(), scenario)
            }
            Self::Shipped(engine) => match Calibration::shipped(engine, &device.name) {
                Some(shipped) => calibrated(shipped.calibration, Some(engine), scenario),
                None => {
                    let why = format!(
                        "no calibration ships for it on {}, as for sglang, trtllm and vllm where they were measured",
                        device.name
                    );
                    let wrong = InputError::new(InputField::Engine, why).given(engine);
                    return Err(wrong.hint(InputHint::OwnCalibration));
                }
            },
        };
        timed.blame(ENGINE)
    }
}

impl DraftSpec {
    /// Drafts of `length` tokens, by the [usual](DrafterSpec::Usual) drafter.
    pub fn new(length: u32, acceptance: Acceptance) -> Self {
        Self { length, acceptance, drafter: DrafterSpec::default() }
    }

    /// How they are made and accepted, for `system`. Files are read.
    ///
    /// # Errors
    /// If there is no such drafter.
    pub fn load(&self, system: &System) -> Result<Speculation, InputError> {
        let drafter = self.drafter.load(system).blame_given(InputField::Drafter, &self.drafter)?;
        Ok(Speculation::new(self.acceptance.clone(), drafter))
    }
}
