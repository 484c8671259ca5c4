//! `fizeau sol`.

use clap::builder::RangedU64ValueParser;
use clap::{Args, ValueEnum, value_parser};
use fizeau::experiment::LoadQuery;

use super::{ApartArgs, CalibrationArgs, DraftArgs, SystemArgs, VerbosityArgs};

#[derive(Debug, Args)]
pub(crate) struct SolArgs {
    #[command(flatten)]
    pub(crate) system: SystemArgs,
    #[command(flatten)]
    pub(crate) load: SolLoadArgs,
    /// What was measured of the device's operators (`fizeau probe gemm attention --model-config ... --out DIR`), to stand beside the bound of
    /// each: the folder, or a probe.json. By default what lies beside the file of --hardware.
    #[cfg(feature = "probe")]
    #[arg(long, value_name = "DIR", help_heading = "Model and devices", conflicts_with_all = ["points", "curve"])]
    pub(crate) probe: Option<std::path::PathBuf>,
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
    #[command(flatten, next_help_heading = "Load")]
    pub(crate) uniform: UniformLoadArgs,
    /// The number of sequences that run at once, whether they fit into memory or not.
    #[arg(long, value_name = "N", value_parser = count(1), conflicts_with = "concurrency")]
    pub(crate) batch: Option<u64>,
    /// Answer for one decode step at this context instead of for whole requests.
    #[arg(long, value_name = "TOKENS", value_parser = count(2))]
    #[arg(conflicts_with_all = ["isl", "osl", "cached", "draft", "disaggregate", "calibration"])]
    pub(crate) context: Option<u64>,
}

/// Requests that are all alike.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct UniformLoadArgs {
    /// The prompt length.
    #[arg(long, visible_alias = "random-input-len", alias = "input-len")]
    #[arg(value_name = "TOKENS", value_parser = count(1), default_value_t = 1024)]
    pub(crate) isl: u64,
    /// The output length.
    #[arg(long, visible_alias = "random-output-len", alias = "output-len")]
    #[arg(value_name = "TOKENS", value_parser = count(1), default_value_t = 128)]
    pub(crate) osl: u64,
    /// The number of tokens of each prompt that are cached already.
    #[arg(long, value_name = "TOKENS", default_value_t = 0)]
    pub(crate) cached: u64,
    /// The number of requests in flight, by default 1. In `fizeau sol` as many of them run as fit into memory. Without this flag `--goal
    /// concurrency:N` means N in flight, and `--goal rps:N` as many as run.
    #[arg(long, visible_alias = "max-concurrency", value_name = "N", value_parser = count(1))]
    pub(crate) concurrency: Option<u64>,
}

/// So many at the least.
fn count(least: u64) -> RangedU64ValueParser {
    value_parser!(u64).range(least..=LoadQuery::MOST)
}

impl Default for UniformLoadArgs {
    fn default() -> Self {
        Self { isl: 1024, osl: 128, cached: 0, concurrency: None }
    }
}

impl UniformLoadArgs {
    pub(crate) const fn query(&self) -> LoadQuery {
        let Self { isl, osl, cached, concurrency } = *self;
        let concurrency = match concurrency {
            Some(given) => given,
            None => 1,
        };
        LoadQuery { isl, osl, cached, concurrency }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CurveArg {
    /// Over the running batch.
    Batch,
    /// Over the context.
    Context,
}

// Mechanisms beside plain serving, and questions about them: drafts, chunks, phases apart, prices, power, goals.

/// Mechanisms and questions. Each adds a table, and an object of its name to the JSON.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Mechanisms and goals")]
pub(crate) struct MechanismArgs {
    #[command(flatten)]
    pub(crate) drafts: DraftArgs,
    /// Chunked prefill: read prompts in passes of at most this many tokens.
    #[arg(long, alias = "max-num-batched-tokens", value_name = "TOKENS")]
    #[arg(conflicts_with = "context")]
    pub(crate) chunk: Option<u64>,
    #[command(flatten)]
    pub(crate) apart: ApartArgs,
    /// What tokens cost at this price of one device for an hour in US dollars; with `published` at a published price, with its date.
    #[arg(
        long = "gpu-hour",
        visible_alias = "price",
        value_name = "USD",
        conflicts_with = "context"
    )]
    pub(crate) price: Option<String>,
    /// Energy, and the figures if no device may draw more than this many watts; 70% is a share of the device's own limit, `tdp` that
    /// limit itself.
    #[arg(long, value_name = "WATTS", conflicts_with = "context")]
    pub(crate) power_limit: Option<String>,
    /// The largest batch and context within a goal, and the fewest devices that meet it. A goal is one or more of ttft<300ms (or
    /// ttft:300), tpot<20ms, tps>50 (of one user), rps>10, concurrency:N and context:TOKENS.
    #[arg(long, visible_aliases = ["slo", "goodput"], value_name = "GOAL", num_args = 1.., conflicts_with = "context")]
    pub(crate) goal: Vec<String>,
    /// With --goal: the largest number of devices to try.
    #[arg(long, value_name = "N", value_parser = value_parser!(u64).range(1..=1024), default_value_t = 64, requires = "goal")]
    pub(crate) max_devices: u64,
}

// `fizeau devices`.

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

// `fizeau models`.

#[derive(Debug, Args)]
pub(crate) struct ModelsArgs {
    /// The model to describe: the name of a built-in one, or a Hugging Face config.json. By default all built-in models are listed.
    #[arg(value_name = "NAME|FILE")]
    pub(crate) model: Option<String>,
    /// Print JSON instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}
