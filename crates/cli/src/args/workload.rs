//! What to ask: the flags of every command that sends requests.

use clap::Args;

use super::{DataArgs, LengthArgs, PrefixArgs, SessionArgs};

#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Workload")]
pub(crate) struct WorkloadArgs {
    /// Where prompts come from. Generated: random, vllm-random (exactly vLLM's own), sonnet, prefix_repetition. From the file
    /// of --dataset-path: sharegpt, custom, openai-batch; with times: mooncake (or timed_trace), azure, burstgpt.
    #[arg(long, value_name = "NAME", default_value = "random")]
    pub(crate) dataset_name: String,
    /// The seed of arrival times, lengths and order: the same seed gives the same ones.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
    /// Repeat the prompts of the run that reported this number. By default each run has prompts of its own, so that no prefix
    /// cache of an earlier run helps.
    #[arg(long, value_name = "N", conflicts_with = "reuse_prompts")]
    pub(crate) salt: Option<u64>,
    /// Send the same prompts as every other run that has this flag and the same seed.
    #[arg(long)]
    pub(crate) reuse_prompts: bool,
    /// Count tokens on the client, with tiktoken:o200k_base or with the tokenizer.json at this path (or in this folder). Prompts are then
    /// text of exact length. Without it prompts are token ids where the server takes them, and the server counts.
    #[arg(long, value_name = "NAME|PATH")]
    pub(crate) tokenizer: Option<String>,
    /// The most tokens that the model takes, prompt and output together. Longer requests are refused before any is sent.
    /// By default --model-config or the server says it.
    #[arg(long, value_name = "TOKENS")]
    pub(crate) max_model_len: Option<u64>,
    /// Request LoRA adapters instead of the model, by weight, one for each session: with a b=2, adapter b is asked twice as often.
    #[arg(long, value_name = "NAME[=WEIGHT]", num_args = 1..)]
    pub(crate) lora_modules: Vec<String>,
    /// Let the model stop at its own end. By default it is told to generate the full length, where the server can do that; but
    /// not with sharegpt, custom and openai-batch.
    #[arg(long)]
    pub(crate) no_ignore_eos: bool,
    /// With sharegpt, custom and openai-batch: tell the model to generate the full length.
    #[arg(long, conflicts_with = "no_ignore_eos")]
    pub(crate) ignore_eos: bool,
    #[command(flatten)]
    pub(crate) lengths: LengthArgs,
    #[command(flatten)]
    pub(crate) prefix: PrefixArgs,
    #[command(flatten)]
    pub(crate) data: DataArgs,
    #[command(flatten)]
    pub(crate) sessions: SessionArgs,
}
