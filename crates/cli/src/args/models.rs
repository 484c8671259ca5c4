//! `fizeau models`.

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct ModelsArgs {
    /// One model: a built-in one's name, or a Hugging Face config.json. Otherwise all that are built in are listed.
    #[arg(value_name = "NAME|FILE")]
    pub(crate) model: Option<String>,
    /// Print JSON instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}
