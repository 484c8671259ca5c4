//! `fizeau calibrate`.

use std::path::PathBuf;

use clap::Args;
use fizeau::core::{Nanos, Tokens};

use super::values::time;
use super::{ClientArgs, EndpointArgs, LiveArgs, SamplingArgs, SystemArgs, TargetArgs};

#[derive(Debug, Clone, Args)]
pub(crate) struct CalibrateArgs {
    #[command(flatten)]
    pub(crate) target: TargetArgs,
    #[command(flatten)]
    pub(crate) endpoint: EndpointArgs,
    #[command(flatten)]
    pub(crate) system: SystemArgs,
    /// What the calibration calls the engine, such as vllm or sglang. If one ships for that name, the choice of the loads starts from it.
    #[arg(long, value_name = "NAME", help_heading = "Calibration")]
    pub(crate) engine: Option<String>,
    /// The time for all loads, such as 3m or 90s. The loads that determine the constants best in that time are chosen.
    #[arg(long, value_name = "TIME", value_parser = time, default_value = "3m", help_heading = "Calibration")]
    pub(crate) budget: Nanos,
    /// The most tokens that the server takes, prompt and reply together, if that is less than its model has.
    #[arg(long, value_name = "TOKENS", value_parser = tokens, help_heading = "Calibration")]
    pub(crate) max_context: Option<Tokens>,
    /// Fit loads whose level is not valid, too.
    #[arg(long, help_heading = "Calibration")]
    pub(crate) force: bool,
    /// The file that the calibration is written to.
    #[arg(long, value_name = "FILE", default_value = "calibration.json", help_heading = "Result")]
    pub(crate) out: PathBuf,
    /// The folder that gets a folder for each load that is measured; by default one named by the date under fizeau-runs/.
    /// `fizeau sol --fit` takes these folders again.
    #[arg(long, value_name = "DIR", help_heading = "Result")]
    pub(crate) out_dir: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) sampling: SamplingArgs,
    #[command(flatten)]
    pub(crate) client: ClientArgs,
    #[command(flatten)]
    pub(crate) live: LiveArgs,
}

fn tokens(text: &str) -> Result<Tokens, std::num::ParseIntError> {
    text.parse().map(Tokens::new)
}
