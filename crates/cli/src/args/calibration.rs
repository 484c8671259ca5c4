//! Calibrations: made of measured levels, and used.

use std::path::PathBuf;

use clap::Args;

/// Calibrations: made from measured levels, and used.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Calibration")]
pub(crate) struct CalibrationArgs {
    /// Fit the constants of devices and engines to measured levels, write them to --out, and say how far predictions with them are
    /// off. A CSV file has the columns model, hardware, isl, osl, concurrency and tpot_ms, and optionally engine, weights,
    /// moe_weights, kv, tp, pp, attention_dp, moe_ep and ttft_ms. A folder is that of a run, which knows its model and devices;
    /// flags override them. A JSONL file has forward-pass records as an engine publishes them, one a line, of the system of
    /// --model-config and --hardware. The exit code is 2 if any level could not be used.
    #[arg(long, value_name = "MEASURED.csv|PASSES.jsonl|RUN", num_args = 1..,
          conflicts_with_all = ["points", "json", "curve", "calibration"])]
    pub(crate) fit: Vec<PathBuf>,
    /// With --fit: the file that the calibration is written to.
    #[arg(long, value_name = "FILE", default_value = "calibration.json", requires = "fit")]
    pub(crate) out: PathBuf,
    /// With --fit: where the config.json is of a model that the measured levels call NAME. It is needed only for names that are
    /// neither built in (see `fizeau models`) nor paths. It does not choose the model of the answer: --model-config does.
    #[arg(long = "model", value_name = "NAME=FILE", requires = "fit")]
    pub(crate) models: Vec<String>,
    /// Predict with the constants of this calibration, with intervals, or with none. The default is what ships for the engine on the
    /// device, where --engine says which. It predicts whole requests, neither single steps nor curves.
    #[arg(long, value_name = "FILE|none", conflicts_with_all = ["context", "curve"])]
    pub(crate) calibration: Option<PathBuf>,
    /// The engine, as the calibration calls it: sglang, trtllm or vllm have one that ships. By default the constants of all engines on
    /// the device are used, where --calibration names a file.
    #[arg(long, value_name = "NAME")]
    pub(crate) engine: Option<String>,
    /// Show each constant of the calibration with its 95 % interval, beside that of all devices, and the share of TPOT that is owed to it.
    #[arg(long, conflicts_with_all = ["points", "fit", "context", "curve"])]
    pub(crate) explain_calibration: bool,
}
