//! Named configurations.

use fizeau_core::Tokens;
use fizeau_roofline::{
    Deployment, DeploymentError, Device, KnownModel, Model, ModelError, System, UnknownDevice,
    UnknownModel,
};

use crate::engine::{ConfigError, Engine, EngineConfig};
use crate::step::{Overheads, RooflineStep, StepError};

/// A model on a device behind an engine with limits, all simulated.
///
/// ```
/// use fizeau_core::Tokens;
/// use fizeau_sim::Scenario;
///
/// let scenario = Scenario::llama_3_1_8b_h100()?;
/// assert_eq!(scenario.config().max_num_seqs, 64);
/// assert!(scenario.config().kv_capacity() > Tokens::new(400_000));
/// assert!(scenario.describe().contains("H100"));
/// let _engine = scenario.engine();
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Scenario {
    model_name: String,
    config: EngineConfig,
    step: RooflineStep,
}

/// Why a scenario does not stand.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ScenarioError {
    /// The engine's limits are senseless.
    #[error("the scenario makes no engine")]
    Config(#[from] ConfigError),
    /// The model cannot be spread so.
    #[error("the scenario's model cannot be spread so")]
    Deployment(#[from] DeploymentError),
    /// The device is not in the table.
    #[error("the scenario's device is unknown")]
    Device(#[from] UnknownDevice),
    /// The model is not among the built-in ones.
    #[error("the scenario's model is unknown")]
    KnownModel(#[from] UnknownModel),
    /// The model's config was not understood.
    #[error("the scenario's model is unusable")]
    Model(#[from] ModelError),
    /// The overheads are senseless.
    #[error("the scenario's overheads are unusable")]
    Step(#[from] StepError),
    /// The weights leave no memory for requests.
    #[error(
        "{model} leaves no memory for requests on {device}: its weights take {weights_gb:.1} GB of the \
         {usable_gb:.1} GB that an engine may use; take a larger device or a smaller model"
    )]
    TooLarge {
        /// The model's name.
        model: String,
        /// The device's name.
        device: String,
        /// What the weights take, in 10^9 bytes.
        weights_gb: f64,
        /// What the engine may use, in 10^9 bytes.
        usable_gb: f64,
    },
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
        Self::of(model_name, system, slots, Overheads::default())
    }

    /// One replica of `system`, whose model is called `model_name` in reports, with `slots` sequences at a time.
    ///
    /// The key-value cache takes what the weights leave of the memory that [`System::serving`] allows, nine tenths
    /// unless said otherwise. One request may have as many tokens as the model's config and the cache allow.
    ///
    /// # Errors
    /// If the weights leave no room for a request, there are no slots, or the overheads are senseless.
    pub fn of(
        model_name: impl Into<String>,
        system: System,
        slots: usize,
        overheads: Overheads,
    ) -> Result<Self, ScenarioError> {
        let model_name = model_name.into();
        let weights = system.weight_bytes_per_device();
        let usable = system.device().usable_memory() * system.serving().memory_share;
        let cache = cache_tokens(&system, usable.get() - weights.get(), slots);
        if cache < 1.0 {
            return Err(ScenarioError::TooLarge {
                model: model_name,
                device: system.device().name().to_owned(),
                weights_gb: weights.get() / 1e9,
                usable_gb: usable.get() / 1e9,
            });
        }
        let cache = Tokens::new(cache as u64);
        let config = EngineConfig::new(slots as u64, cache);
        let max_context = system.model().max_context().map(|most| most.min(config.kv_capacity()));
        let config = EngineConfig { max_context, ..config };
        config.check()?;
        let step = RooflineStep::new(system, overheads)?;
        Ok(Self { model_name, config, step })
    }

    /// The model's name for a reader.
    #[must_use]
    pub fn model_name(&self) -> &str {
        &self.model_name
    }

    /// What is simulated, to compute a bound from.
    #[must_use]
    pub fn system(&self) -> &System {
        self.step.system()
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

    /// The engine's limits.
    #[must_use]
    pub const fn config(&self) -> &EngineConfig {
        &self.config
    }

    /// A fresh engine.
    #[must_use]
    pub fn engine(&self) -> Engine<RooflineStep> {
        Engine::of_checked(self.config.clone(), self.step.clone())
    }

    /// One line for reports: model, device, limits and overheads. Whoever prints it says that the engine is simulated.
    #[must_use]
    pub fn describe(&self) -> String {
        let (config, overheads) = (&self.config, self.step.overheads());
        let deployment = self.system().deployment();
        let devices = match deployment.devices_per_replica() {
            1 => format!("one {}", self.device().title()),
            many => format!("{many} {} ({deployment})", self.device().title()),
        };
        format!(
            "{} ({}) on {devices}; {} slots, {} tokens of KV cache, {} prompt \
             tokens a step; roofline at {:.0} % of bandwidth and {:.0} % of compute, plus {} a step and {} a sequence",
            self.model_name,
            most_common_format(self.model()),
            config.max_num_seqs,
            config.kv_capacity(),
            config.max_batched_tokens,
            overheads.bandwidth_efficiency * 100.0,
            overheads.compute_efficiency * 100.0,
            overheads.per_step,
            overheads.per_sequence,
        )
    }
}

/// How many tokens the caches hold in `room` bytes of each device: what each of `slots` sequences keeps whatever its
/// length, such as states and windows, is set aside first.
fn cache_tokens(system: &System, room: f64, slots: usize) -> f64 {
    let groups = f64::from(system.deployment().attention_groups());
    let constant = system.cache_bytes_per_device(FAR).get() - per_token(system) * FAR;
    let left = room * groups - constant.max(0.0) * slots as f64;
    match per_token(system) {
        // Nothing grows with the context.
        0.0 if left > 0.0 => FAR * slots as f64,
        each => left / each,
    }
}

/// A context beyond all windows.
const FAR: f64 = 16_777_216.0;

/// What one more token takes on a device once a sequence is longer than all windows.
fn per_token(system: &System) -> f64 {
    let at = |context| system.cache_bytes_per_device(context).get();
    at(FAR) - at(FAR - 1.0)
}

/// How most of the weights are stored.
fn most_common_format(model: &Model) -> String {
    let tensors = model.tensors();
    let most = tensors.iter().max_by_key(|tensors| tensors.stored);
    most.map(|tensors| tensors.format.to_string()).unwrap_or_default()
}
