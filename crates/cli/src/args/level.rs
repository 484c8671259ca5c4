//! What a level is asked, and what is to be kept of it: the flags that `bench` and `simulate` share.

use std::path::PathBuf;

use clap::Args;

use super::{ArrivalArgs, PriceArgs, WindowArgs, WorkloadArgs};

#[derive(Debug, Clone, Args)]
pub(crate) struct LevelArgs {
    #[command(flatten)]
    pub(crate) workload: WorkloadArgs,
    #[command(flatten)]
    pub(crate) lengths: LengthArgs,
    #[command(flatten)]
    pub(crate) load: LoadArgs,
    #[command(flatten)]
    pub(crate) arrivals: ArrivalArgs,
    #[command(flatten)]
    pub(crate) result: ResultArgs,
    #[command(flatten)]
    pub(crate) window: WindowArgs,
}

#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Lengths")]
pub(crate) struct LengthArgs {
    /// Prompt length in tokens, or a law: uniform:200-300, normal:mean=500,sd=100,min=50,max=2000,
    /// lognormal:median=500,sigma=0.8,min=50,max=4000, histogram:1-100=5,101-1000=3.
    #[arg(long, alias = "input-len", value_name = "TOKENS|LAW", default_value = "1024",
          conflicts_with_all = ["length_preset", "length_pairs"])]
    pub(crate) random_input_len: String,
    /// Output length in tokens, or a law.
    #[arg(long, alias = "output-len", value_name = "TOKENS|LAW", default_value = "128",
          conflicts_with_all = ["length_preset", "length_pairs"])]
    pub(crate) random_output_len: String,
}

#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Load")]
pub(crate) struct LoadArgs {
    /// How many requests to send; by default 1000, of a smaller data set as many as it has, of a trace all.
    #[arg(long)]
    pub(crate) num_prompts: Option<u64>,
    /// Send until a figure is known well enough, at most --num-prompts requests (then by default 100000): ci=2% (the mean
    /// end-to-end latency), p99 ttft ci=5%, output_tps ci=1%. The number is half the width of its 95 % interval over the
    /// figure. Several are separated by commas. If one is not reached, the exit code is 1.
    #[arg(long, value_name = "FIGURE")]
    pub(crate) until: Option<String>,
    /// The most requests in flight at once; by default there is no limit.
    #[arg(long)]
    pub(crate) max_concurrency: Option<i64>,
    /// Requests sent first that never count, 0 for none; by default a tenth of --num-prompts, at most 50.
    #[arg(long)]
    pub(crate) num_warmups: Option<u64>,
    /// Send the I-th of N shares of the run, counted from 0: run the same line with the same --seed and --salt on N machines.
    #[arg(long, value_name = "I/N")]
    pub(crate) shard: Option<String>,
}

#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Result")]
pub(crate) struct ResultArgs {
    /// Per-request goals in milliseconds, such as ttft:500 tpot:50; gives goodput. A request is good if it meets all
    /// goals of one group; the word or begins another: ttft:500 tpot:50 or e2el:2000.
    #[arg(long, value_name = "METRIC:MS", num_args = 1..)]
    pub(crate) goodput: Vec<String>,
    /// A folder for the run: run.json, tapes.jsonl, summary.json, histograms.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Write vLLM's JSON.
    #[arg(long)]
    pub(crate) save_result: bool,
    /// With --save-result: keep the figures of each request too.
    #[arg(long)]
    pub(crate) save_detailed: bool,
    /// Append vLLM's JSON to the file, one object a line, instead of replacing it; saves by itself.
    #[arg(long)]
    pub(crate) append_result: bool,
    /// Where vLLM's JSON goes.
    #[arg(long, value_name = "DIR")]
    pub(crate) result_dir: Option<PathBuf>,
    /// The name of vLLM's JSON; by default it is made of backend, rate, model and date.
    #[arg(long, value_name = "NAME")]
    pub(crate) result_filename: Option<String>,
    /// Extra pairs for vLLM's JSON, as KEY=VALUE.
    #[arg(long, value_name = "KEY=VALUE", num_args = 1..)]
    pub(crate) metadata: Vec<String>,
    /// The run's name in vLLM's JSON, and at the front of its file's name.
    #[arg(long)]
    pub(crate) label: Option<String>,
    /// Which metrics get mean, median and percentiles in vLLM's block and JSON: ttft, tpot, itl, e2el, and under
    /// --max-concurrency client_queue_time and e2el_including_client_queue.
    #[arg(long, default_value = "ttft,tpot,itl", value_delimiter = ',')]
    pub(crate) percentile_metrics: Vec<String>,
    /// Which percentiles those are, such as 50,90,99.
    #[arg(long, default_value = "99", value_delimiter = ',')]
    pub(crate) metric_percentiles: Vec<String>,
    #[command(flatten)]
    pub(crate) price: PriceArgs,
}
