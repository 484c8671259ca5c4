//! `fizeau serve`.

use clap::Args;

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
    /// Requests that run at once; further ones queue.
    #[arg(long, alias = "slots")]
    pub(crate) max_num_seqs: Option<u32>,
    /// Instead of an engine with a batch, fixed timing: the first token after this many milliseconds.
    #[arg(long, value_name = "MS", requires = "itl_ms")]
    pub(crate) ttft_ms: Option<f64>,
    /// With --ttft-ms: each further token after this many milliseconds.
    #[arg(long, value_name = "MS", requires = "ttft_ms")]
    pub(crate) itl_ms: Option<f64>,
    /// End with the standard input, and so with whoever holds its other end.
    #[arg(long, hide = true)]
    pub(crate) until_stdin_ends: bool,
}
