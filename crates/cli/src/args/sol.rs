//! `fizeau sol`.

use clap::{Args, ValueEnum};

use super::{CalibrationArgs, MechanismArgs, SystemArgs, VerbosityArgs};

#[derive(Debug, Args)]
pub(crate) struct SolArgs {
    #[command(flatten)]
    pub(crate) system: SystemArgs,
    #[command(flatten)]
    pub(crate) load: SolLoadArgs,
    #[command(flatten)]
    pub(crate) mechanisms: MechanismArgs,
    #[command(flatten)]
    pub(crate) calibration: CalibrationArgs,
    /// What was measured under this load, such as tpot:12.5,ttft:300: ttft, tpot and e2el in ms, output_tps and rps a second. Says which
    /// share of the bound that is, and with a calibration which constant or input would explain it.
    #[arg(long, value_name = "METRIC:VALUE", num_args = 1.., help_heading = "Calibration",
          conflicts_with_all = ["context", "fit"])]
    pub(crate) measured: Vec<String>,
    #[command(flatten)]
    pub(crate) output: VerbosityArgs,
    /// Answer the queries of a file (`-` for standard input), one JSON object a line, each with one JSON line, in order. The flags
    /// are the defaults for what a line does not say. The exit code is 2 if any line could not be answered.
    #[arg(long, value_name = "FILE.jsonl", conflicts_with_all = ["json", "curve", "batch", "context"],
          conflicts_with_all = BESIDES, help_heading = "Output")]
    pub(crate) points: Option<String>,
    /// Print JSON (fizeau.sol/1) instead of text.
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,
    /// Print a curve as CSV: over the running batch, from 1 to the largest that fits, or over the context, up to a million tokens.
    #[arg(long, value_enum, value_name = "OVER", num_args = 0..=1, default_missing_value = "batch",
          conflicts_with_all = ["json", "context", "calibration"], conflicts_with_all = BESIDES, help_heading = "Output")]
    pub(crate) curve: Option<CurveArg>,
}

/// What belongs to one answer alone.
const BESIDES: [&str; 7] =
    ["draft", "chunk", "disaggregate", "price", "power_limit", "goal", "measured"];

/// What is asked of the system.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Load")]
pub(crate) struct SolLoadArgs {
    /// The prompt length.
    #[arg(long, visible_alias = "random-input-len", alias = "input-len")]
    #[arg(value_name = "TOKENS", default_value_t = 1024)]
    pub(crate) isl: u64,
    /// The output length.
    #[arg(long, visible_alias = "random-output-len", alias = "output-len")]
    #[arg(value_name = "TOKENS", default_value_t = 128)]
    pub(crate) osl: u64,
    /// The number of tokens of each prompt that are cached already; --prefix says whether they are the same for all.
    #[arg(long, value_name = "TOKENS", default_value_t = 0)]
    pub(crate) cached: u64,
    /// The number of requests in flight; as many of them run as fit into memory.
    #[arg(long, visible_alias = "max-concurrency", value_name = "N", default_value_t = 1)]
    pub(crate) concurrency: u64,
    /// The number of sequences that run at once, whether they fit into memory or not.
    #[arg(long, value_name = "N", conflicts_with = "concurrency")]
    pub(crate) batch: Option<u64>,
    /// Answer for one decode step at this context instead of for whole requests.
    #[arg(long, value_name = "TOKENS")]
    #[arg(conflicts_with_all = ["isl", "osl", "cached", "draft", "disaggregate", "calibration"])]
    pub(crate) context: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CurveArg {
    /// Over the running batch.
    Batch,
    /// Over the context.
    Context,
}
