//! `fizeau plan`.

use std::num::NonZeroU64;
use std::path::PathBuf;

use clap::Args;
use fizeau::roofline::HourlyRate;

use super::SpeedOfLightArgs;
use super::values::{above_zero, share};

#[derive(Debug, Args)]
pub(crate) struct PlanArgs {
    /// The measurement of one replica: the folder of a sweep or a search, or a table, as CSV with a header or as JSON Lines. The
    /// columns of a table are rate (sent per second), requests_per_s (completed) or concurrency, and figures by the names of goals,
    /// such as p99_ttft_ms and good_share, each with _low and _high if they are known; input_tokens and output_tokens are means of a
    /// request.
    ///
    /// Several put kinds of device side by side. Each may have settings of its own: h100=DIR,gpus=8,gpu-hour=2.5, and also
    /// hardware=NAME and tco=FILE.
    #[arg(long, required = true, value_name = "[NAME=]PATH[,KEY=VALUE...]")]
    pub(crate) from: Vec<String>,
    /// The requests per second to plan for.
    #[arg(long, visible_alias = "request-rate", value_name = "RATE")]
    pub(crate) rate: f64,
    /// The goals that each replica must keep, such as "p99 ttft<500ms"; given several times, all of them. By default those of the run.
    #[arg(long, value_name = "GOALS")]
    pub(crate) slo: Vec<String>,
    /// Other goals, to see what they would cost; by default the same goals with 0.5, 0.75, 1.5 and 2 times the latency.
    #[arg(long, value_name = "GOALS")]
    pub(crate) goals: Vec<String>,
    /// The share of each replica that is kept free, from 0 to below 1.
    #[arg(long, value_name = "SHARE", value_parser = share, default_value_t = 0.2)]
    pub(crate) headroom: f64,
    /// The number of replicas that may fail while the others still carry the rate: 1 is N+1.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) spare: u32,
    /// The number of devices of a replica; by default as many as the run's model was deployed on.
    #[arg(long, value_name = "N")]
    pub(crate) gpus_per_replica: Option<NonZeroU64>,
    /// The price of one device for an hour in US dollars; by default the lowest published price of the device, where one is known.
    #[arg(long, value_name = "USD", conflicts_with = "tco")]
    pub(crate) gpu_hour: Option<HourlyRate>,
    /// The cost of owning a device instead: a TOML file with purchase_usd, amortisation_years, power_w, pue and
    /// electricity_usd_per_kwh, and optionally resale_usd, hosting_usd_per_month, overhead_share and utilisation.
    #[arg(long, value_name = "FILE")]
    pub(crate) tco: Option<PathBuf>,
    /// The mean length of a prompt, where the file does not say.
    #[arg(long, visible_alias = "isl", alias = "random-input-len", value_name = "TOKENS", value_parser = above_zero)]
    pub(crate) input_len: Option<f64>,
    /// The mean length of an output, where the file does not say.
    #[arg(long, visible_alias = "osl", alias = "random-output-len", value_name = "TOKENS", value_parser = above_zero)]
    pub(crate) output_len: Option<f64>,
    /// The goals of a single request in milliseconds, such as ttft:500 tpot:50, with `or` between groups; by default those of the run.
    #[arg(long, visible_alias = "goal", value_name = "METRIC:MS", num_args = 1..)]
    pub(crate) goodput: Vec<String>,
    /// The engine of a replica, where the run does not say: of vLLM, SGLang and TensorRT-LLM the constants that ship are used, unless
    /// --calibration names others or none.
    #[arg(long, value_name = "TEXT")]
    pub(crate) engine: Option<String>,
    /// How regular the arrivals will be: 1 is a Poisson process, below 1 burstier. Where the engine is known, by --engine, --calibration
    /// or from the run, the simulated engine says how much less a replica then carries.
    #[arg(long, value_name = "B")]
    pub(crate) burstiness: Option<f64>,
    /// Print JSON (fizeau.plan/1) instead of text.
    #[arg(long)]
    pub(crate) json: bool,
    /// What is not given is as the run had it.
    #[command(flatten)]
    pub(crate) speed_of_light: SpeedOfLightArgs,
}
