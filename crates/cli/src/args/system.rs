//! Which model on which devices, and how an engine is set up on them.

use std::num::NonZeroU64;
use std::path::PathBuf;

use clap::Args;
use fizeau::record::{DeploymentRecord, EngineChoices};
use fizeau::roofline::{ExpertExchange, ExpertRouting, Overlap, Prefix};

use super::choice::choice;
use super::values::{kv_cache, part, weights};

/// As vLLM's.
const DEFAULT_MEMORY_SHARE: f64 = DeploymentRecord::MEMORY_SHARE;

/// A model on devices. The flags have vLLM's spellings as aliases where it has them.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Model and devices")]
pub(crate) struct SystemArgs {
    /// The model: a name that `fizeau models` lists, or its Hugging Face config.json.
    #[arg(long, value_name = "NAME|FILE")]
    pub(crate) model_config: Option<String>,
    /// The device: a name that `fizeau devices` lists, such as h100-sxm, or a TOML file with one of your own.
    #[arg(long, value_name = "NAME|FILE")]
    pub(crate) hardware: Option<String>,
    #[command(flatten, next_help_heading = "Model and devices")]
    pub(crate) spread: SpreadArgs,
    /// The share of a device's memory that weights and cache may take.
    #[arg(long, alias = "gpu-memory-utilization", value_name = "SHARE", value_parser = part, default_value_t = DEFAULT_MEMORY_SHARE)]
    pub(crate) memory_share: f64,
    /// The most sequences that the engine runs at once in each group of --dp; by default as many as fit. A simulated engine by default
    /// runs at most 1024, no more than the tokens of a step, and of models with states or windows no more than half of the memory
    /// beside the weights holds.
    #[arg(long, alias = "slots", value_name = "N")]
    pub(crate) max_num_seqs: Option<NonZeroU64>,
    #[command(flatten)]
    pub(crate) choices: ChoiceArgs,
}

impl SystemArgs {
    /// What the model and the device are called; empty where they are not named.
    pub(crate) fn names(&self) -> (&str, &str) {
        let (model, hardware) = (self.model_config.as_deref(), self.hardware.as_deref());
        (model.unwrap_or_default(), hardware.unwrap_or_default())
    }
}

/// How a model is spread over devices and stored.
#[derive(Debug, Clone, PartialEq, Default, Args)]
pub(crate) struct SpreadArgs {
    /// Tensor parallelism: the number of devices that share each matrix and the attention heads; 1 by default.
    #[arg(long, alias = "tensor-parallel-size", value_name = "N")]
    pub(crate) tp: Option<u32>,
    /// Pipeline parallelism: the number of stages that the layers are divided into; 1 by default.
    #[arg(long, alias = "pipeline-parallel-size", value_name = "N")]
    pub(crate) pp: Option<u32>,
    /// Expert parallelism: the number of groups of devices among which whole experts are divided; the devices of a group share each expert; 1 by default.
    #[arg(long, value_name = "N")]
    pub(crate) ep: Option<u32>,
    /// Attention data parallelism: the number of groups of --tp devices that serve sequences of their own and share the experts; 1 by default.
    #[arg(long, alias = "data-parallel-size", value_name = "N")]
    pub(crate) dp: Option<u32>,
    /// The number of identical instances of all this, which share the requests; 1 by default.
    #[arg(long, value_name = "N")]
    pub(crate) replicas: Option<u32>,
    /// The format of the weights, if it is not that of the config: fp8, nvfp4, int4-g128, q4_k_m, ...; or class by class, such as
    /// experts=nvfp4,attention=bf16.
    #[arg(long, value_name = "FORMAT", value_parser = weights)]
    pub(crate) weights: Option<String>,
    /// The format of the key-value cache, such as fp8; by default that of the config, or bf16.
    #[arg(long, alias = "kv-cache-dtype", value_name = "FORMAT", value_parser = kv_cache)]
    pub(crate) kv: Option<String>,
}

// What a run is held against: flags of `fizeau bench`, `fizeau sweep` and `fizeau report`.

/// A model on devices, for the speed of light. All of `fizeau sol`'s words for it, none of them needed.
#[derive(Debug, Clone, PartialEq, Default, Args)]
#[command(next_help_heading = "Speed of light (default: one device; a stored run: as recorded)")]
pub(crate) struct SpeedOfLightArgs {
    /// The model: a name that `fizeau models` lists, or its config.json. It needs --hardware.
    #[arg(long, value_name = "NAME|FILE")]
    pub(crate) model_config: Option<PathBuf>,
    /// The device that the model runs on, for the speed of light: a name that `fizeau devices` lists, such as h100-sxm, or a
    /// TOML file with one of your own. It needs --model-config.
    #[arg(long, value_name = "NAME|FILE")]
    pub(crate) hardware: Option<String>,
    #[command(flatten)]
    pub(crate) spread: SpreadArgs,
    /// The share of a device's memory that weights and cache may take; in a new run 0.9 by default.
    #[arg(long, alias = "gpu-memory-utilization", value_name = "SHARE", value_parser = part)]
    pub(crate) memory_share: Option<f64>,
    /// The most sequences that the engine runs at once in each group of --dp; in a new run by default as many as fit.
    #[arg(long, value_name = "N")]
    pub(crate) max_num_seqs: Option<NonZeroU64>,
    /// Speculative decoding: the number of tokens of a draft, which the bound then allows for.
    #[arg(long, value_name = "TOKENS")]
    pub(crate) draft: Option<u32>,
    /// A calibration that `fizeau sol --fit` wrote, or none; its prediction is shown beside bound and expectation. The default is what
    /// ships for the engine on the device, where the engine is named: vLLM, SGLang or TensorRT-LLM.
    #[arg(long, value_name = "FILE|none")]
    pub(crate) calibration: Option<PathBuf>,
}

impl SpeedOfLightArgs {
    /// Whether nothing is to be predicted.
    pub(crate) fn is_uncalibrated(&self) -> bool {
        self.calibration.as_ref().is_some_and(|path| path.as_os_str() == "none")
    }
}

// How an engine goes about it, where the roofline model leaves it open.

/// How an engine goes about it.
#[derive(Debug, Clone, Copy, PartialEq, Args)]
#[command(next_help_heading = "Model and devices")]
pub(crate) struct ChoiceArgs {
    /// Whether cached tokens are the same for all prompts (shared) and are kept once, or each prompt has its own, as in the
    /// turns of a conversation.
    #[arg(long, value_parser = choice::<Prefix>(), value_name = "WHOSE", default_value = "shared")]
    pub(crate) prefix: Prefix,
    /// How tokens are expected to choose experts: even (each token for itself, all experts equally often), strict (all tokens the same
    /// ones), or skewed:ALPHA (expert number i with a weight of i^-ALPHA).
    #[arg(long, value_name = "HOW", value_parser = str::parse::<ExpertRouting>, default_value = "even")]
    pub(crate) routing: ExpertRouting,
    /// Whether communication is expected to overlap with arithmetic.
    #[arg(long, value_parser = choice::<Overlap>(), value_name = "HOW", default_value = "none")]
    pub(crate) overlap: Overlap,
    /// How tokens are expected to reach the experts of other groups (--dp).
    #[arg(long, value_parser = choice::<ExpertExchange>(), value_name = "HOW", default_value = "fastest")]
    pub(crate) exchange: ExpertExchange,
}

impl From<ChoiceArgs> for EngineChoices {
    fn from(of: ChoiceArgs) -> Self {
        let ChoiceArgs { prefix, routing, overlap, exchange } = of;
        Self { prefix, routing, overlap, exchange }
    }
}
