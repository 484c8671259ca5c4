//! How the model shall choose tokens.

use clap::Args;

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
