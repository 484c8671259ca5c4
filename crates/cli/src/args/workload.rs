//! What to ask: the flags that `bench` and `sweep` share.

use clap::Args;

use super::{DataArgs, LawArgs, PrefixArgs, SessionArgs};

#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Workload")]
pub(crate) struct WorkloadArgs {
    /// Where prompts come from. Made up: random, vllm-random (vLLM's own, draw for draw), sonnet, prefix_repetition. From
    /// --dataset-path: sharegpt, custom, openai-batch; with times: mooncake (or timed_trace), azure, burstgpt.
    #[arg(long, value_name = "NAME", default_value = "random")]
    pub(crate) dataset_name: String,
    /// Seed of instants, lengths and order: the same seed gives the same ones.
    #[arg(long, default_value_t = 0)]
    pub(crate) seed: u64,
    /// Repeat the prompts of the run that named this number. By default each run has prompts of its own, so that no prefix
    /// cache of an earlier run helps.
    #[arg(long, value_name = "N", conflicts_with = "reuse_prompts")]
    pub(crate) salt: Option<u64>,
    /// Send the same prompts as every other run with this flag and the same seed.
    #[arg(long)]
    pub(crate) reuse_prompts: bool,
    /// A tokenizer of the client's own: tiktoken:o200k_base, or the path of a tokenizer.json. Prompts are then text
    /// of exact length. Without one, prompts are token ids where the server takes them, and the server counts.
    #[arg(long, value_name = "NAME|PATH")]
    pub(crate) tokenizer: Option<String>,
    /// The most tokens that the model takes, prompt and output together. Longer requests are refused before any is sent.
    /// By default as --model-config or the server says.
    #[arg(long, value_name = "TOKENS")]
    pub(crate) max_model_len: Option<u64>,
    /// LoRA adapters to ask instead of the model, by weight, one for each session: a b=2 asks b twice as often.
    #[arg(long, value_name = "NAME[=WEIGHT]", num_args = 1..)]
    pub(crate) lora_modules: Vec<String>,
    /// Let the model stop at its own end. By default it is told to generate the full length, where the server can; not so
    /// with sharegpt, custom and openai-batch.
    #[arg(long)]
    pub(crate) no_ignore_eos: bool,
    /// With sharegpt, custom and openai-batch: tell the model to generate the full length.
    #[arg(long, conflicts_with = "no_ignore_eos")]
    pub(crate) ignore_eos: bool,
    #[command(flatten)]
    pub(crate) laws: LawArgs,
    #[command(flatten)]
    pub(crate) prefix: PrefixArgs,
    #[command(flatten)]
    pub(crate) data: DataArgs,
    #[command(flatten)]
    pub(crate) sessions: SessionArgs,
}
