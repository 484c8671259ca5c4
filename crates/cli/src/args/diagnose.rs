//! `fizeau diagnose`.

use std::path::PathBuf;

use clap::Args;

use super::{SpeedOfLightArgs, VerbosityArgs};

#[derive(Debug, Args)]
pub(crate) struct DiagnoseArgs {
    /// The folder of a run. With several levels the lightest shows what a step costs where nothing queues.
    #[arg(value_name = "RUN")]
    pub(crate) run: PathBuf,
    /// What `fizeau probe --out DIR` measured of the devices: its folder, or its device.toml.
    #[arg(long, value_name = "DIR|FILE")]
    pub(crate) probe: Option<PathBuf>,
    /// Print JSON (fizeau.diagnosis/1) instead of text.
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,
    /// Write a page to this file too.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) html: Option<PathBuf>,
    /// Write the picture of the fullest level, an SVG, to this file too.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) svg: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) output: VerbosityArgs,
    /// What is not given is as the run had it.
    #[command(flatten)]
    pub(crate) speed_of_light: SpeedOfLightArgs,
}
