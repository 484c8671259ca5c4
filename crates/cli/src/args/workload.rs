//! What to ask.

use clap::Args;

#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Workload")]
pub(crate) struct WorkloadArgs {
    /// Which requests to send: random.
    #[arg(long, default_value = "random")]
    pub(crate) dataset_name: String,
    /// Seed of everything random: the same seed gives the same requests.
    #[arg(long, default_value_t = 0)]
    pub(crate) seed: u64,
    /// Prompt tokens that all requests share, before their own.
    #[arg(long, value_name = "TOKENS", default_value_t = 0)]
    pub(crate) random_prefix_len: u64,
    /// Lengths are uniform within this share of the nominal ones, from 0 up to 1 (exclusive).
    #[arg(long, value_name = "SHARE", default_value_t = 0.0)]
    pub(crate) random_range_ratio: f64,
    /// A tokenizer of the client's own: tiktoken:o200k_base, or the path of a tokenizer.json. Prompts are then text
    /// of exact length. Without one, prompts are token ids where the server takes them, and the server counts.
    #[arg(long, value_name = "NAME|PATH")]
    pub(crate) tokenizer: Option<String>,
    /// Let the model stop at its own end. By default it is told to generate the full length, where the server can.
    #[arg(long)]
    pub(crate) no_ignore_eos: bool,
    /// Accepted because vLLM has it; the random dataset always asks for it.
    #[arg(long, hide = true, conflicts_with = "no_ignore_eos")]
    pub(crate) ignore_eos: bool,
}

#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Sampling (sent only where given)")]
pub(crate) struct SamplingArgs {
    /// Sampling temperature.
    #[arg(long)]
    pub(crate) temperature: Option<f64>,
    /// Nucleus sampling.
    #[arg(long)]
    pub(crate) top_p: Option<f64>,
    /// Sample from this many tokens.
    #[arg(long)]
    pub(crate) top_k: Option<i64>,
    /// Least probability, relative to the likeliest token.
    #[arg(long)]
    pub(crate) min_p: Option<f64>,
    /// Frequency penalty.
    #[arg(long)]
    pub(crate) frequency_penalty: Option<f64>,
    /// Presence penalty.
    #[arg(long)]
    pub(crate) presence_penalty: Option<f64>,
    /// Repetition penalty.
    #[arg(long)]
    pub(crate) repetition_penalty: Option<f64>,
    /// Further fields of the request body, as a JSON object.
    #[arg(long, value_name = "JSON")]
    pub(crate) extra_body: Option<String>,
}
