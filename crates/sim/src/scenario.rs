//! Named configurations.

mod error;
mod layout;
mod memory;
mod text;

use std::num::NonZeroU32;

use fizeau_core::{Nanos, Tokens, Watts};
use fizeau_roofline::{
    CacheTransfer, Calibration, Deployment, Device, Drafter, KnownModel, Model, PowerDraw, System,
};

pub use error::{Remedies, ScenarioError};

use crate::cluster::ReplicaRouting;
use crate::engine::{Engine, EngineConfig};
use crate::serve::Serve;
use crate::step::{CalibratedStep, Overheads, RooflineStep, StepModel};
use layout::{EngineLayout, Service, SplitInstances};

/// A model on devices behind an engine with limits, all simulated: whatever both clocks run.
///
/// What is left open follows from the model and its devices: where [`EngineConfig::blocks`] is 0, the cache takes the memory
/// that [`System::serving`] allows and weights leave; where [`EngineConfig::max_context`] is none, a request may have as many
/// tokens as the model's config and the cache allow. [`EngineConfig::groups`] are those of the deployment.
///
/// ```
/// use fizeau_core::Tokens;
/// use fizeau_roofline::{Device, KnownModel, System};
/// use fizeau_sim::{EngineConfig, Overheads, Scenario};
///
/// let scenario = Scenario::llama_3_1_8b_h100()?;
/// assert_eq!(scenario.config().max_num_seqs, 64);
/// assert!(scenario.config().kv_capacity() > Tokens::new(400_000));
/// assert!(scenario.describe().contains("H100"));
/// let _engine = scenario.engine();
///
/// // Llama-3.1-70B on four of them, with as many sequences at once as there is room for.
/// let model = KnownModel::named("llama-3.1-70b")?.model()?;
/// let system = System::new(model, Device::named("h100-sxm")?.clone(), "TP4".parse()?)?;
/// let config = EngineConfig::new(256, Tokens::ZERO);
/// let scenario = Scenario::of("Llama-3.1-70B", system, config, Overheads::default())?;
/// assert!(scenario.config().blocks > 20_000);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Scenario {
    settings: ScenarioSettings,
    /// All of it: what was asked for as often as the layout has it, with the settings of the engine.
    system: System,
    /// What was asked for, with all that follows.
    config: EngineConfig,
    /// One replica, idle.
    engine: Engine<StepModel>,
    /// All of them, idle.
    service: Service,
}

/// All that was said.
#[derive(Debug, Clone)]
struct ScenarioSettings {
    model_name: String,
    /// An instance, with all its replicas.
    system: System,
    config: EngineConfig,
    timing: Timing,
    drafter: Option<Drafter>,
    layout: EngineLayout,
}

impl ScenarioSettings {
    /// With all that follows from memory, model and deployment.
    fn settle(self) -> Result<Scenario, ScenarioError> {
        let config = self.timing.of_front_end(memory::settle(&self)?, &self.system);
        let each = memory::with_limits(self.system.clone(), &config, self.drafter.as_ref());
        let step = Timing::step(&self, each.clone())?;
        let engine = Engine::new(config.clone(), step)?;
        let system = layout::all(&each, &self.layout)?;
        let service = layout::service(&self, &engine)?;
        Ok(Scenario { settings: self, system, config, engine, service })
    }
}

impl Scenario {
    /// Llama-3.1-8B in bf16 on one H100 SXM with 64 slots, in default overheads.
    ///
    /// # Errors
    /// None that can happen: a test builds it from the same constants.
    pub fn llama_3_1_8b_h100() -> Result<Self, ScenarioError> {
        let model = KnownModel::named("llama-3.1-8b")?.model()?;
        let device = Device::named("h100-sxm")?;
        Self::new("Llama-3.1-8B", model, device.clone(), 64)
    }

    /// `model`, called `model_name` in reports, on one `device`, with `slots` sequences at a time and default
    /// overheads.
    ///
    /// # Errors
    /// If the weights leave no room for a request, or there are no slots.
    pub fn new(
        model_name: impl Into<String>,
        model: Model,
        device: Device,
        slots: usize,
    ) -> Result<Self, ScenarioError> {
        let system = System::new(model, device, Deployment::SINGLE)?;
        let config = EngineConfig::new(slots as u64, Tokens::ZERO);
        Self::of(model_name, system, config, Overheads::default())
    }

    /// `system`, whose model is called `model_name` in reports, behind an engine set up as `config` says.
    ///
    /// # Errors
    /// If it cannot run so: the weights leave no room for a request, the cache is too small for the context or the sequences
    /// that were asked for, or the configuration or the overheads are senseless. The error says what would run.
    pub fn of(
        model_name: impl Into<String>,
        system: System,
        config: EngineConfig,
        overheads: Overheads,
    ) -> Result<Self, ScenarioError> {
        let (model_name, drafter) = (model_name.into(), None);
        let layout = EngineLayout { routing: ReplicaRouting::default(), apart: None };
        let timing = Timing { overheads, power_limit: None, calibration: None };
        ScenarioSettings { model_name, system, config, timing, drafter, layout }.settle()
    }

    /// The same with at most `tokens` for prompt and output of one request together.
    ///
    /// # Errors
    /// If the model's config or the cache allows less.
    pub fn with_max_context(self, tokens: Tokens) -> Result<Self, ScenarioError> {
        let config = EngineConfig { max_context: Some(tokens), ..self.settings.config };
        ScenarioSettings { config, ..self.settings }.settle()
    }

    /// The same with `drafter` making the drafts of [`EngineConfig::drafts`]. What it keeps takes from the cache.
    ///
    /// # Errors
    /// If that leaves no room for a request, or there are no drafts.
    pub fn with_drafter(self, drafter: Drafter) -> Result<Self, ScenarioError> {
        ScenarioSettings { drafter: Some(drafter), ..self.settings }.settle()
    }

    /// The same with the constants of `calibration` for `engine`, or without one for all engines on the device, in place of
    /// overheads ([`crate::CalibratedStep`]).
    ///
    /// # Errors
    /// If there is a limit of power, of which a calibration knows nothing.
    pub fn with_calibration(
        self,
        calibration: Calibration,
        engine: Option<String>,
    ) -> Result<Self, ScenarioError> {
        let calibration = Some((Box::new(calibration), engine));
        let timing = Timing { calibration, ..self.settings.timing };
        ScenarioSettings { timing, ..self.settings }.settle()
    }

    /// The same where no device may draw more than `limit` on average over a step.
    ///
    /// # Errors
    /// If that is no more than a device draws whatever it does, nothing is known of its power, or step times are a
    /// calibration's, which knows nothing of power.
    pub fn with_power_limit(self, limit: Watts) -> Result<Self, ScenarioError> {
        let timing = Timing { power_limit: Some(limit), ..self.settings.timing };
        ScenarioSettings { timing, ..self.settings }.settle()
    }

    /// The same `count` times, with requests shared among them as `routing` says; where prefill is apart from decode
    /// ([`Scenario::disaggregated`]), so many replicas of each instance, and each request goes where the fewest are.
    ///
    /// # Errors
    /// If they are more than 65,536.
    pub fn with_replicas(
        self,
        count: NonZeroU32,
        routing: ReplicaRouting,
    ) -> Result<Self, ScenarioError> {
        let system = layout::replicated(&self.settings.system, count)?;
        let layout = EngineLayout { routing, ..self.settings.layout };
        ScenarioSettings { system, layout, ..self.settings }.settle()
    }

    /// Instances of what there is, all its replicas, that only read prompts, and such that only decode. What was read crosses
    /// the link between machines, or where none is known that between devices.
    ///
    /// # Errors
    /// If no link of the device is known, or all together have more than 65,536 replicas.
    pub fn disaggregated(
        self,
        prefill: NonZeroU32,
        decode: NonZeroU32,
        transfer: CacheTransfer,
    ) -> Result<Self, ScenarioError> {
        let apart = Some(SplitInstances { prefill, decode, transfer });
        let layout = EngineLayout { apart, ..self.settings.layout };
        ScenarioSettings { layout, ..self.settings }.settle()
    }

    /// How many sequences to run at once where nobody says: as many as a step's budget can decode, at most 1,024 (vLLM's
    /// default on large devices), and no more than half the memory beside the weights has room for by what each keeps whatever
    /// its length, such as states and windows; at least 1.
    #[must_use]
    pub fn usual_sequences(system: &System, config: &EngineConfig) -> u64 {
        memory::usual_sequences(system, config)
    }

    /// The model's name for a reader.
    #[must_use]
    pub fn model_name(&self) -> &str {
        &self.settings.model_name
    }

    /// What is simulated, all replicas of it, to compute a bound from. Its settings are those of the engine.
    #[must_use]
    pub const fn system(&self) -> &System {
        &self.system
    }

    /// The model.
    #[must_use]
    pub fn model(&self) -> &Model {
        self.system().model()
    }

    /// The device.
    #[must_use]
    pub fn device(&self) -> &Device {
        self.system().device()
    }

    /// Whether some instances only read prompts and the others only decode.
    #[must_use]
    pub const fn is_disaggregated(&self) -> bool {
        self.settings.layout.apart.is_some()
    }

    /// How many devices it takes, all replicas or instances together.
    #[must_use]
    pub fn devices(&self) -> u64 {
        self.system().deployment().devices()
    }

    /// The limits of each engine.
    #[must_use]
    pub const fn config(&self) -> &EngineConfig {
        &self.config
    }

    /// The most tokens that a request may have, and where that is what the cache holds, and less than the model takes, its blocks and the
    /// tokens of each; none where there is no limit.
    #[must_use]
    pub fn longest_request(&self) -> Option<(Tokens, Option<(u64, Tokens)>)> {
        let tokens = self.serve().longest_job()?;
        let made_for = self.model().max_context;
        let is_cache =
            tokens == self.config.kv_capacity() && made_for.is_none_or(|most| tokens < most);
        Some((tokens, is_cache.then_some((self.config.blocks, self.config.block))))
    }

    /// A fresh engine, one replica alone.
    #[must_use]
    pub fn engine(&self) -> Engine<StepModel> {
        self.engine.clone()
    }

    /// All of it, fresh: what both clocks run.
    #[must_use]
    pub fn serve(&self) -> Box<dyn Serve + Send> {
        self.service.serve()
    }

    /// A line for reports: model, devices, limits and overheads. Whoever prints it says that the engine is simulated.
    #[must_use]
    pub fn describe(&self) -> String {
        text::describe(self)
    }
}

// What the time of a step comes from.

/// What the time of a step comes from.
#[derive(Debug, Clone)]
struct Timing {
    /// What an engine adds to the roofline.
    overheads: Overheads,
    /// A limit of power, where there is one.
    power_limit: Option<Watts>,
    /// Instead of both what was fitted on measurements of an engine, or of all on the device.
    calibration: Option<(Box<Calibration>, Option<String>)>,
}

impl Timing {
    /// `config` with what the front end of a calibrated engine takes.
    fn of_front_end(&self, config: EngineConfig, system: &System) -> EngineConfig {
        let Some((calibration, engine)) = &self.calibration else { return config };
        let predictor = calibration.predictor(system, engine.as_deref());
        // A constant that is no length of time is no reason to refuse a scenario.
        let [front_end, front_end_per_request] =
            [predictor.per_request(), predictor.intake().unwrap_or_default()]
                .map(|of| of.to_nanos().unwrap_or(Nanos::ZERO));
        EngineConfig { front_end, front_end_per_request, ..config }
    }

    /// The step time of what was asked for, where `system` is one replica of it.
    fn step(of: &ScenarioSettings, system: System) -> Result<StepModel, ScenarioError> {
        let length = of.config.drafts.as_ref().and_then(|drafts| NonZeroU32::new(drafts.length));
        let drafting = of.drafter.clone().zip(length);
        let Self { overheads, power_limit, calibration } = &of.timing;
        if let Some((calibration, engine)) = calibration {
            if power_limit.is_some() {
                return Err(ScenarioError::PowerOfCalibrated);
            }
            let step = CalibratedStep::new(system, calibration, engine.as_deref());
            return Ok(StepModel::from(match drafting {
                Some((drafter, length)) => step.with_drafter(drafter, length),
                None => step,
            }));
        }
        let draw =
            power_limit.map(|limit| PowerDraw::estimate(system.device()).map(|draw| (draw, limit)));
        let step = RooflineStep::new(system, *overheads)?;
        let step = match drafting {
            Some((drafter, length)) => step.with_drafter(drafter, length),
            None => step,
        };
        Ok(StepModel::from(match draw.transpose()? {
            Some((draw, limit)) => step.with_power_limit(draw, limit)?,
            None => step,
        }))
    }
}
