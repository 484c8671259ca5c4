//! What a run is held against: flags of `fizeau bench`, `fizeau sweep` and `fizeau report`.

use std::num::NonZeroU64;
use std::path::PathBuf;

use clap::Args;

/// A model on devices, for the speed of light. All of `fizeau sol`'s words for it, none of them needed.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Speed of light")]
pub(crate) struct PhysicsArgs {
    /// The model's config.json, for the speed of light. With --hardware.
    #[arg(long, value_name = "FILE")]
    pub(crate) model_config: Option<PathBuf>,
    /// The device that the model runs on, for the speed of light: a name that `fizeau devices` lists, such as h100-sxm, or a
    /// TOML file with one of your own. With --model-config.
    #[arg(long, value_name = "NAME|FILE")]
    pub(crate) hardware: Option<String>,
    /// Tensor parallelism: matrices and heads are cut so many ways; by default 1.
    #[arg(long, alias = "tensor-parallel-size", value_name = "N")]
    pub(crate) tp: Option<u32>,
    /// Pipeline parallelism: layers are cut into so many stages; by default 1.
    #[arg(long, alias = "pipeline-parallel-size", value_name = "N")]
    pub(crate) pp: Option<u32>,
    /// Expert parallelism: whole experts lie on so many groups of devices; by default 1.
    #[arg(long, value_name = "N")]
    pub(crate) ep: Option<u32>,
    /// Attention data parallelism: so many groups of --tp devices share the experts; by default 1.
    #[arg(long, alias = "data-parallel-size", value_name = "N")]
    pub(crate) dp: Option<u32>,
    /// All of it so many times, with the requests shared among them; by default 1.
    #[arg(long, value_name = "N")]
    pub(crate) replicas: Option<u32>,
    /// How weights are stored, where it is not as the config says: bf16, fp8, ...
    #[arg(long, value_name = "FORMAT")]
    pub(crate) weights: Option<String>,
    /// How the key-value cache is stored, where it is not as the config says: bf16, fp8, ...
    #[arg(long, alias = "kv-cache-dtype", value_name = "FORMAT")]
    pub(crate) kv: Option<String>,
    /// The share of a device's memory that weights and cache may take, for what is expected; by default 0.9.
    #[arg(long, alias = "gpu-memory-utilization", value_name = "SHARE")]
    pub(crate) memory_share: Option<f64>,
    /// The most sequences that the engine runs at once in each group of --dp, for what is expected; otherwise as many as
    /// fit.
    #[arg(long, value_name = "N")]
    pub(crate) max_num_seqs: Option<NonZeroU64>,
    /// Speculative decoding with drafts of so many tokens, so that the bound allows for them; by default none.
    #[arg(long, value_name = "TOKENS")]
    pub(crate) draft: Option<u32>,
    /// A calibration that `fizeau sol --fit` wrote, for what it predicts beside bound and expectation.
    #[arg(long, value_name = "FILE")]
    pub(crate) calibration: Option<PathBuf>,
}

impl PhysicsArgs {
    /// The flags that are given.
    pub(crate) fn given(&self) -> Vec<&'static str> {
        let all = [
            ("--model-config", self.model_config.is_some()),
            ("--hardware", self.hardware.is_some()),
            ("--tp", self.tp.is_some()),
            ("--pp", self.pp.is_some()),
            ("--ep", self.ep.is_some()),
            ("--dp", self.dp.is_some()),
            ("--replicas", self.replicas.is_some()),
            ("--weights", self.weights.is_some()),
            ("--kv", self.kv.is_some()),
            ("--memory-share", self.memory_share.is_some()),
            ("--max-num-seqs", self.max_num_seqs.is_some()),
            ("--draft", self.draft.is_some()),
            ("--calibration", self.calibration.is_some()),
        ];
        all.into_iter().filter(|(_, is_given)| *is_given).map(|(flag, _)| flag).collect()
    }
}
