//! `fizeau models`.

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct ModelsArgs {
    /// The model to describe: the name of a built-in one, or a Hugging Face config.json. By default all built-in models are listed.
    #[arg(value_name = "NAME|FILE")]
    pub(crate) model: Option<String>,
    /// Print JSON instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}
