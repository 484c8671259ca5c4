//! Named configurations.

use fizeau_core::Tokens;
use fizeau_roofline::{Device, Model, ModelError, UnknownDevice};

use crate::engine::{ConfigError, Engine, EngineConfig};
use crate::step::{Overheads, RooflineStep, StepError};

/// The config of meta-llama/Llama-3.1-8B on Hugging Face, the fields that matter.
const LLAMA_3_1_8B: &str = include_str!("scenario/llama-3.1-8b.json");

/// Share of the device's memory that the engine may use, weights included: vLLM's default
/// `gpu_memory_utilization`.
const MEMORY_SHARE: f64 = 0.9;

/// A model on a device behind an engine with limits, all simulated.
///
/// ```
/// use fizeau_core::Tokens;
/// use fizeau_sim::Scenario;
///
/// let scenario = Scenario::llama_3_1_8b_h100()?;
/// assert_eq!(scenario.config().slots(), 64);
/// assert!(scenario.config().kv_capacity() > Tokens::new(400_000));
/// assert!(scenario.describe().contains("H100"));
/// let _engine = scenario.engine();
/// # Ok::<(), fizeau_sim::ScenarioError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Scenario {
    model_name: String,
    model: Model,
    device: Device,
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
    /// The device is not in the table.
    #[error("the scenario's device is unknown")]
    Device(#[from] UnknownDevice),
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
        let model = Model::from_config_json(LLAMA_3_1_8B)?;
        let device = Device::named("h100-sxm")?;
        Self::new("Llama-3.1-8B", model, device.clone(), 64)
    }

    /// `model`, called `model_name` in reports, on one `device`, with `slots` sequences at a time and default
    /// overheads.
    ///
    /// The key-value cache takes what the weights leave of nine tenths of the device's memory. One request
    /// may have as many tokens as the model's config and the cache allow.
    ///
    /// # Errors
    /// If the weights leave no room for a request, or there are no slots.
    pub fn new(
        model_name: impl Into<String>,
        model: Model,
        device: Device,
        slots: usize,
    ) -> Result<Self, ScenarioError> {
        let model_name = model_name.into();
        let usable = device.memory() * MEMORY_SHARE;
        let weights = model.resident_weight_bytes();
        if weights >= usable {
            return Err(ScenarioError::TooLarge {
                model: model_name,
                device: device.name().to_owned(),
                weights_gb: weights.get() / 1e9,
                usable_gb: usable.get() / 1e9,
            });
        }
        let cache = (usable.get() - weights.get()) / model.kv_bytes_per_token().get();
        let cache = Tokens::new(cache as u64);
        let config = EngineConfig::new(slots, cache)?;
        let config = match model.max_context() {
            Some(context) => config.with_max_context(context.min(cache))?,
            None => config,
        };
        let step = RooflineStep::new(&model, &device, Overheads::default())?;
        Ok(Self { model_name, model, device, config, step })
    }

    /// The model's name for a reader.
    #[must_use]
    pub fn model_name(&self) -> &str {
        &self.model_name
    }

    /// The model, to compute a bound from.
    #[must_use]
    pub const fn model(&self) -> &Model {
        &self.model
    }

    /// The device, to compute a bound from.
    #[must_use]
    pub const fn device(&self) -> &Device {
        &self.device
    }

    /// The engine's limits.
    #[must_use]
    pub const fn config(&self) -> &EngineConfig {
        &self.config
    }

    /// A fresh engine.
    #[must_use]
    pub const fn engine(&self) -> Engine<RooflineStep> {
        Engine::new(self.config, self.step)
    }

    /// One line for reports: model, device, limits and overheads. Whoever prints it says that the engine is simulated.
    #[must_use]
    pub fn describe(&self) -> String {
        let (config, overheads) = (&self.config, self.step.overheads());
        format!(
            "{} ({}) on one {}; {} slots, {} tokens of KV cache, {} prompt \
             tokens a step; roofline at {:.0} % of bandwidth and {:.0} % of compute, plus {} a step and {} a sequence",
            self.model_name,
            self.model.layers_format(),
            self.device.title(),
            config.slots(),
            config.kv_capacity(),
            config.prefill_budget(),
            overheads.bandwidth_efficiency * 100.0,
            overheads.compute_efficiency * 100.0,
            overheads.per_step,
            overheads.per_sequence,
        )
    }
}
