//! Which model on which devices, and how an engine is set up on them.

use std::num::NonZeroU64;

use clap::Args;
use fizeau::record::DeploymentRecord;

use super::ChoiceArgs;

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
    /// Tensor parallelism: the number of devices that share each matrix and the attention heads.
    #[arg(long, alias = "tensor-parallel-size", value_name = "N", default_value_t = 1)]
    pub(crate) tp: u32,
    /// Pipeline parallelism: the number of stages that the layers are divided into.
    #[arg(long, alias = "pipeline-parallel-size", value_name = "N", default_value_t = 1)]
    pub(crate) pp: u32,
    /// Expert parallelism: the number of groups of devices among which whole experts are divided; the devices of a group share each expert.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) ep: u32,
    /// Attention data parallelism: the number of groups of --tp devices that serve sequences of their own and share the experts.
    #[arg(long, alias = "data-parallel-size", value_name = "N", default_value_t = 1)]
    pub(crate) dp: u32,
    /// The number of identical instances of all this, which share the requests.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) replicas: u32,
    /// The format of the weights, if it is not that of the config: fp8, nvfp4, int4-g128, q4_k_m, ...; or class by class, such as
    /// experts=nvfp4,attention=bf16.
    #[arg(long, value_name = "FORMAT")]
    pub(crate) weights: Option<String>,
    /// The format of the key-value cache, such as fp8; by default that of the config, or bf16.
    #[arg(long, alias = "kv-cache-dtype", value_name = "FORMAT")]
    pub(crate) kv: Option<String>,
    /// The share of a device's memory that weights and cache may take.
    #[arg(long, alias = "gpu-memory-utilization", value_name = "SHARE", default_value_t = DEFAULT_MEMORY_SHARE)]
    pub(crate) memory_share: f64,
    /// The most sequences that the engine runs at once in each group of --dp; by default as many as fit. A simulated engine by default
    /// runs at most 1024, no more than --max-num-batched-tokens, and of models with states or windows no more than half of the memory
    /// beside the weights holds.
    #[arg(long, alias = "slots", value_name = "N")]
    pub(crate) max_num_seqs: Option<NonZeroU64>,
    #[command(flatten)]
    pub(crate) choices: ChoiceArgs,
}
