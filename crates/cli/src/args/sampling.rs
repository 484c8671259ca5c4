//! How the model shall choose tokens.

use clap::Args;
use serde::Serialize;

#[derive(Debug, Clone, Args, Serialize)]
#[command(next_help_heading = "Sampling (sent only where given)")]
pub(crate) struct SamplingArgs {
    /// The sampling temperature.
    #[arg(long, value_name = "T")]
    pub(crate) temperature: Option<f64>,
    /// Nucleus sampling: consider the likeliest tokens that together have this probability.
    #[arg(long, value_name = "P")]
    pub(crate) top_p: Option<f64>,
    /// Consider this many of the likeliest tokens.
    #[arg(long, value_name = "N")]
    pub(crate) top_k: Option<i64>,
    /// Consider tokens of at least this probability, relative to the likeliest token.
    #[arg(long, value_name = "P")]
    pub(crate) min_p: Option<f64>,
    /// The frequency penalty.
    #[arg(long, value_name = "PENALTY")]
    pub(crate) frequency_penalty: Option<f64>,
    /// The presence penalty.
    #[arg(long, value_name = "PENALTY")]
    pub(crate) presence_penalty: Option<f64>,
    /// The repetition penalty.
    #[arg(long, value_name = "PENALTY")]
    pub(crate) repetition_penalty: Option<f64>,
    /// Ask for the log-probabilities of each token and of this many alternatives. They make replies larger.
    #[arg(long, value_name = "N")]
    pub(crate) logprobs: Option<u32>,
    /// Further fields of the request body, as a JSON object.
    #[arg(long, value_name = "JSON")]
    #[serde(skip)]
    pub(crate) extra_body: Option<String>,
}
