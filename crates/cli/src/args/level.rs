//! What a level is asked, and what is to be kept of it: the flags that `bench` and `simulate` share.

use std::path::PathBuf;

use clap::Args;

use super::{
    ArrivalArgs, GoalArgs, LoadArgs, PriceArgs, ProbeArgs, ReplayArgs, WindowArgs, WorkloadArgs,
};

#[derive(Debug, Clone, Args)]
pub(crate) struct LevelArgs {
    #[command(flatten)]
    pub(crate) workload: WorkloadArgs,
    #[command(flatten)]
    pub(crate) load: LoadArgs,
    #[command(flatten)]
    pub(crate) arrivals: ArrivalArgs,
    #[command(flatten)]
    pub(crate) replay: ReplayArgs,
    #[command(flatten)]
    pub(crate) probe: ProbeArgs,
    #[command(flatten)]
    pub(crate) goals: GoalArgs,
    #[command(flatten)]
    pub(crate) result: ResultArgs,
    #[command(flatten)]
    pub(crate) window: WindowArgs,
}

#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Result")]
pub(crate) struct ResultArgs {
    /// The folder that the run is written to: run.json, tapes.jsonl (every event of every request), summary.json, histograms.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Write vLLM's JSON.
    #[arg(long)]
    pub(crate) save_result: bool,
    /// With --save-result: write the figures of each request too.
    #[arg(long)]
    pub(crate) save_detailed: bool,
    /// Append vLLM's JSON to the file, one object a line, instead of replacing it. It implies --save-result.
    #[arg(long)]
    pub(crate) append_result: bool,
    /// The folder for vLLM's JSON.
    #[arg(long, value_name = "DIR")]
    pub(crate) result_dir: Option<PathBuf>,
    /// The name of vLLM's JSON; by default it is made of backend, rate, model and date.
    #[arg(long, value_name = "NAME")]
    pub(crate) result_filename: Option<String>,
    /// Further entries for vLLM's JSON, as KEY=VALUE.
    #[arg(long, value_name = "KEY=VALUE", num_args = 1..)]
    pub(crate) metadata: Vec<String>,
    /// The run's name in vLLM's JSON, and at the front of its file's name.
    #[arg(long, value_name = "NAME")]
    pub(crate) label: Option<String>,
    /// The metrics that get mean, median and percentiles in vLLM's block and JSON: ttft, tpot, itl, e2el, and with
    /// --max-concurrency client_queue_time and e2el_including_client_queue.
    #[arg(long, value_name = "METRIC,...", default_value = "ttft,tpot,itl", value_delimiter = ',')]
    pub(crate) percentile_metrics: Vec<String>,
    /// The percentiles in vLLM's block and JSON, such as 50,90,99.
    #[arg(long, value_name = "P,...", default_value = "99", value_delimiter = ',')]
    pub(crate) metric_percentiles: Vec<String>,
    #[command(flatten)]
    pub(crate) price: PriceArgs,
}
