//! Calibrations: made of measured levels, and used.

use std::path::PathBuf;

use clap::Args;

/// Calibrations: made of measured levels, and used.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Calibration")]
pub(crate) struct CalibrationArgs {
    /// Fit the constants of devices and engines on measured levels, write them to --out and say how far predictions with them are
    /// off. A CSV file has the columns model, hardware, isl, osl, concurrency and tpot_ms, and where it is known engine,
    /// weights, moe_weights, kv, tp, pp, attention_dp, moe_ep and ttft_ms. A folder is that of a run, whose system is as the run kept
    /// it, but for what the flags say otherwise. Exit code 2 if any level could not be used.
    #[arg(long, value_name = "MEASURED.csv|RUN", num_args = 1..,
          conflicts_with_all = ["points", "json", "curve", "calibration"])]
    pub(crate) fit: Vec<PathBuf>,
    /// With --fit: where the calibration goes.
    #[arg(long, value_name = "FILE", default_value = "calibration.json", requires = "fit")]
    pub(crate) out: PathBuf,
    /// With --fit: the config.json of a model that the levels call NAME; others are built in (see `fizeau models`) or paths.
    #[arg(long = "model", value_name = "NAME=FILE", requires = "fit")]
    pub(crate) models: Vec<String>,
    /// Predict with the constants of this calibration, with intervals. It predicts requests: not a step alone, nor curves.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["context", "curve"])]
    pub(crate) calibration: Option<PathBuf>,
    /// The engine, as the calibration calls it; otherwise its constants are those of all engines on the device.
    #[arg(long, value_name = "NAME")]
    pub(crate) engine: Option<String>,
}
