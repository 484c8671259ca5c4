//! Calibrations: made of measured levels, and used.

use std::path::{Path, PathBuf};

use clap::Args;

/// Calibrations: made from measured levels, and used.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Calibration")]
pub(crate) struct CalibrationArgs {
    /// Fit the constants of devices and engines to measured levels, write them to --out, and say how far predictions with them are
    /// off. A CSV file has the columns model, hardware, isl, osl, concurrency and tpot_ms, and optionally engine, weights,
    /// moe_weights, kv, tp, pp, attention_dp, moe_ep and ttft_ms. A folder is that of a run, which knows its model and devices;
    /// flags override them. A JSONL file has forward-pass records as an engine publishes them, one a line, of the system of
    /// --model-config and --hardware. Levels of a run that are not valid are left out, and rows of a table that are doubtful. The exit
    /// code is 2 if any other level could not be used.
    #[arg(long, value_name = "MEASURED.csv|PASSES.jsonl|RUN", num_args = 1..,
          conflicts_with_all = ["points", "json", "curve", "calibration"])]
    pub(crate) fit: Vec<PathBuf>,
    /// With --fit: the file that the calibration is written to.
    #[arg(long, value_name = "FILE", default_value = "calibration.json", requires = "fit")]
    pub(crate) out: PathBuf,
    /// With --fit: fit levels of runs that are not valid, too.
    #[arg(long, requires = "fit")]
    pub(crate) force: bool,
    /// With --fit: where the config.json is of a model that the measured levels call NAME. It is needed only for names that are
    /// neither built in (see `fizeau models`) nor paths. It does not choose the model of the answer: --model-config does.
    #[arg(long = "model", value_name = "NAME=FILE")]
    pub(crate) models: Vec<String>,
    #[command(flatten)]
    pub(crate) constants: EngineConstantsArgs,
    /// Show each constant of the calibration with its 95 % interval, beside that of all devices, and the share of TPOT that comes from it.
    #[arg(long, conflicts_with_all = ["points", "fit", "context", "curve"])]
    pub(crate) explain_calibration: bool,
}

/// Whose constants predict an engine: those that ship for it, those of a file, or none.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct EngineConstantsArgs {
    /// Predict with the constants of this calibration, which `fizeau sol --fit` or `fizeau calibrate` wrote, or with none. The default is
    /// what ships for the engine on the device, where --engine names it. It predicts whole requests, and steps of a simulated engine.
    #[arg(long, value_name = "FILE|none")]
    pub(crate) calibration: Option<PathBuf>,
    /// The engine, however it is written: vLLM, SGLang and TensorRT-LLM have a calibration that ships. By default the constants of
    /// all engines on the device are used, where --calibration names a file.
    #[arg(long, alias = "calibration-engine", value_name = "NAME")]
    pub(crate) engine: Option<String>,
}

impl EngineConstantsArgs {
    /// The file that is named; none where nothing is to be predicted, or what ships is to be taken.
    pub(crate) fn file(&self) -> Option<&Path> {
        self.calibration.as_deref().filter(|_| !self.is_declined())
    }

    /// Whether nothing is to be predicted.
    pub(crate) fn is_declined(&self) -> bool {
        self.calibration.as_ref().is_some_and(|path| path.as_os_str() == "none")
    }

    /// The engine that is named, unless nothing is to be predicted.
    pub(crate) fn engine(&self) -> Option<&str> {
        self.engine.as_deref().filter(|_| !self.is_declined())
    }
}
