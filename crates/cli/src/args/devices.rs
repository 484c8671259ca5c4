//! `fizeau devices`.

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct DevicesArgs {
    /// A device, or a TOML file with one of your own, to show each figure of with its source and date.
    #[arg(value_name = "NAME|FILE")]
    pub(crate) device: Option<String>,
    /// Print JSON.
    #[arg(long, conflicts_with = "toml")]
    pub(crate) json: bool,
    /// Print the device's TOML file, to begin one of your own from.
    #[arg(long, requires = "device")]
    pub(crate) toml: bool,
}
