//! `fizeau serve`.

use clap::Args;

use super::{EngineArgs, SystemArgs};

#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// The address to listen on.
    #[arg(long, default_value = "127.0.0.1")]
    pub(crate) host: String,
    /// The port to listen on; 0 takes a free one and prints it.
    #[arg(long, default_value_t = 8000)]
    pub(crate) port: u16,
    /// The only model name to accept; by default any name is.
    #[arg(long)]
    pub(crate) served_model_name: Option<String>,
    /// The most tokens, prompt and output together, of one request; longer ones get status 400. By default as many as the
    /// model and the cache allow.
    #[arg(long, value_name = "TOKENS", value_parser = clap::value_parser!(u64).range(2..))]
    pub(crate) max_model_len: Option<u64>,
    /// Instead of an engine with a batch, fixed timing: the first token after this many milliseconds.
    #[arg(long, value_name = "MS", requires = "itl_ms")]
    pub(crate) ttft_ms: Option<f64>,
    /// With --ttft-ms: each further token after this many milliseconds.
    #[arg(long, value_name = "MS", requires = "ttft_ms")]
    pub(crate) itl_ms: Option<f64>,
    /// End with the standard input, and so with whoever holds its other end.
    #[arg(long, hide = true)]
    pub(crate) until_stdin_ends: bool,
    #[command(flatten)]
    pub(crate) system: SystemArgs,
    #[command(flatten)]
    pub(crate) engine: EngineArgs,
}
