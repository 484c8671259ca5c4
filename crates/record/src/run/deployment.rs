//! How a model lies on its devices and how an engine is set up: all of a system but model and device.

use std::num::NonZeroU64;

use fizeau_core::{Bytes, document};
use fizeau_roofline::{
    Deployment, DeploymentError, Device, ExpertExchange, ExpertRouting, Format, Model, Overlap,
    Prefix, Serving, System, WeightChoice,
};

use crate::text::counted_devices;

document! {
    /// How a model lies on its devices and how its engine is set up, as `run.json` keeps it.
    #[serde(default)]
    #[non_exhaustive]
    pub struct DeploymentRecord {
        /// Tensor parallelism.
        pub tp: u32,
        /// Pipeline parallelism.
        pub pp: u32,
        /// Expert parallelism.
        pub ep: u32,
        /// Attention data parallelism.
        pub dp: u32,
        /// All of it so many times.
        pub replicas: u32,
        /// How weights are stored, where it is not as the config says.
        pub weights: Option<String>,
        /// How the key-value cache is stored, where it is not as the config says.
        pub kv: Option<String>,
        /// The share of a device's memory that weights and cache may take.
        pub memory_share: f64,
        /// The most sequences that run at once in each group of attention; none for as many as fit.
        pub max_num_seqs: Option<NonZeroU64>,
        /// Tokens that are drafted for each step; 0 without speculative decoding.
        #[serde(skip_serializing_if = "is_zero")]
        pub draft: u32,
        /// Bytes of each device that a simulated engine leaves free, where its blocks were counted.
        #[serde(skip_serializing_if = "is_zero")]
        pub reserve_bytes: u64,
        /// Whether some simulated instances only read prompts and the others only decode.
        #[serde(skip_serializing_if = "is_zero")]
        pub disaggregated: bool,
        /// The engine, as calibrations call it, where a prediction was made for it.
        pub engine?: String,
        /// How the engine goes about it, where the roofline model leaves it open. No run says so: it is as by default there.
        #[serde(skip)]
        pub choices: EngineChoices,
    }
}

/// How an engine goes about it, where the roofline model leaves it open.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EngineChoices {
    /// Whose the tokens of a shared prefix are.
    pub prefix: Prefix,
    /// How tokens choose experts.
    pub routing: ExpertRouting,
    /// Whether communication goes on under arithmetic.
    pub overlap: Overlap,
    /// How tokens reach the experts of other groups.
    pub exchange: ExpertExchange,
}

impl Default for EngineChoices {
    fn default() -> Self {
        Self {
            prefix: Prefix::Shared,
            routing: ExpertRouting::Expected,
            overlap: Overlap::None,
            exchange: ExpertExchange::Fastest,
        }
    }
}

impl Default for DeploymentRecord {
    /// One device, used as vLLM does by default.
    fn default() -> Self {
        Self {
            tp: 1,
            pp: 1,
            ep: 1,
            dp: 1,
            replicas: 1,
            weights: None,
            kv: None,
            memory_share: Self::MEMORY_SHARE,
            max_num_seqs: None,
            draft: 0,
            reserve_bytes: 0,
            disaggregated: false,
            engine: None,
            choices: EngineChoices::default(),
        }
    }
}

impl DeploymentRecord {
    /// The share of a device's memory that vLLM takes by default.
    pub const MEMORY_SHARE: f64 = 0.9;

    /// `model` on `device`, spread, stored and served so.
    ///
    /// # Errors
    /// In one line, why it cannot be.
    pub fn system(&self, model: Model, device: Device) -> Result<System, DeployError> {
        let (model, deployment) = self.deployed(model)?;
        let EngineChoices { routing, overlap, exchange, .. } = self.choices;
        let deployment = deployment.with_overlap(overlap).with_expert_exchange(exchange);
        let system = System::new(model, device, deployment).map_err(DeployError::of)?;
        let system = system.with_serving(self.serving()?);
        Ok(match routing {
            // As it is made.
            ExpertRouting::Expected => system,
            routing => system.with_routing(routing),
        })
    }

    /// `model` as it is stored, and how it is spread, whatever the device.
    ///
    /// # Errors
    /// In one line, which format or degree is none.
    pub fn deployed(&self, model: Model) -> Result<(Model, Deployment), DeployError> {
        Ok((self.stored(model)?, self.deployment().map_err(DeployError::of)?))
    }

    /// The devices of one replica.
    #[must_use]
    pub const fn devices(&self) -> u64 {
        self.tp as u64 * self.pp as u64 * self.dp as u64
    }

    fn deployment(&self) -> Result<Deployment, DeploymentError> {
        Deployment::SINGLE
            .with_tensor(self.tp)?
            .with_pipeline(self.pp)?
            .with_expert_groups(self.ep)?
            .with_attention_groups(self.dp)?
            .with_replicas(self.replicas)
    }

    /// The model with weights and cache as they are stored.
    fn stored(&self, mut model: Model) -> Result<Model, DeployError> {
        fn chosen(text: Option<&str>) -> Option<&str> {
            text.filter(|text| !text.eq_ignore_ascii_case("auto"))
        }
        if let Some(weights) = chosen(self.weights.as_deref()) {
            let choice = weights.parse().and_then(|choice: WeightChoice| {
                choice.check(&model)?;
                Ok(choice)
            });
            let choice = choice
                .map_err(|error| DeployError(format!("the format of the weights: {error}")))?;
            model = model.with_weights(&choice);
        }
        if let Some(kv) = chosen(self.kv.as_deref()) {
            let format: Result<Format, _> = kv.parse();
            let format = format
                .map_err(|error| DeployError(format!("the format of the KV cache: {error}")))?;
            model = model.with_kv_cache(format);
        }
        Ok(model)
    }

    fn serving(&self) -> Result<Serving, DeployError> {
        let share = self.memory_share;
        if !(share > 0.0 && share <= 1.0) {
            return Err(DeployError(format!(
                "the memory share is {share}; it must be above 0 and at most 1"
            )));
        }
        let mut serving = Serving::default();
        serving.memory_share = share;
        serving.max_sequences = self.max_num_seqs;
        serving.prefix = self.choices.prefix;
        Ok(serving)
    }

    /// `system`, whose steps yield what they draft too, and which leaves free what the engine does.
    #[must_use]
    pub fn drafting(&self, system: System) -> System {
        let mut serving = *system.serving();
        serving.tokens_per_step = NonZeroU64::MIN.saturating_add(self.draft.into());
        serving.reserve = Bytes::new(self.reserve_bytes as f64);
        system.with_serving(serving)
    }

    /// In words: `8 devices, TP8; weights fp8`, or `6 devices, 3 replicas of TP2`.
    #[must_use]
    pub fn words(&self, system: &System) -> String {
        let deployment = system.deployment();
        let (devices, replicas) = (deployment.devices(), deployment.replicas());
        let counted = counted_devices(devices);
        let mut words = match (devices, replicas) {
            (1, _) => counted,
            (_, 1) => format!("{counted}, {deployment}"),
            _ if devices == u64::from(replicas) => format!("{counted}, a replica on each"),
            _ => {
                // One replica there always is.
                let of = deployment.with_replicas(1).map(|of| of.to_string()).unwrap_or_default();
                format!("{counted}, {replicas} replicas of {of}")
            }
        };
        for (name, format) in [("weights", &self.weights), ("KV cache", &self.kv)] {
            if let Some(format) = format {
                words.push_str(&format!("; {name} {format}"));
            }
        }
        if let Some(most) = self.max_num_seqs {
            words.push_str(&format!("; at most {most} sequences at once"));
        }
        if self.draft > 0 {
            words.push_str(&format!("; drafts of {}", self.draft));
        }
        words
    }
}

/// Why a model cannot lie on devices so, in one line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct DeployError(String);

impl DeployError {
    #[expect(clippy::needless_pass_by_value, reason = "it is handed to map_err")]
    fn of(error: impl ToString) -> Self {
        Self(error.to_string())
    }
}

/// What few runs have is left out of the others.
fn is_zero<T: Default + PartialEq>(count: &T) -> bool {
    *count == T::default()
}
