//! `fizeau devices`.

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct DevicesArgs {
    /// The device to show, each figure with its source and date: a name from the list, or a TOML file with one of your own. By default
    /// all known devices are listed.
    #[arg(value_name = "NAME|FILE")]
    pub(crate) device: Option<String>,
    /// Print JSON.
    #[arg(long, conflicts_with = "toml")]
    pub(crate) json: bool,
    /// Print the device's TOML file, as a start for one of your own.
    #[arg(long, requires = "device")]
    pub(crate) toml: bool,
}
