//! When requests leave.

use std::num::{NonZeroU32, NonZeroU64};
use std::path::PathBuf;

use clap::Args;
use fizeau::workload::RampShape;

use super::choice::choice;
use super::values::{from_zero, pair, rate, seconds, span, speed};
use super::{GoalArgs, PriceArgs, WindowArgs, WorkloadArgs};

/// The load of one level: how many requests, how fast, and for how long.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Load")]
pub(crate) struct LoadArgs {
    /// The number of requests to send. By default 1000, or every record of a trace or of a smaller data set; with
    /// --level-seconds as many as its time has room for.
    #[arg(long, value_name = "N")]
    pub(crate) num_prompts: Option<NonZeroU64>,
    /// Send no further request after this many seconds; those in flight are finished. By default only --num-prompts ends it.
    #[arg(long, visible_alias = "duration", value_name = "SECONDS", value_parser = seconds)]
    pub(crate) level_seconds: Option<f64>,
    /// Send until a figure is known well enough, at most --num-prompts requests (then by default 100000): ci=2% (the mean
    /// end-to-end latency), p99 ttft ci=5%, output_tps ci=1%. The number is half the width of the figure's 95 % interval over the
    /// figure. Several are separated by commas. If one is not reached, the exit code is 1; "ci=2% from 2s" need not be reached.
    #[arg(long, value_name = "FIGURE")]
    pub(crate) until: Option<String>,
    #[command(flatten)]
    pub(crate) in_flight: InFlightArgs,
    /// The number of requests to send first that never count, 0 for none; by default a tenth of --num-prompts, at most 50.
    #[arg(long, value_name = "N")]
    pub(crate) num_warmups: Option<u64>,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct InFlightArgs {
    /// The most requests in flight at once; by default there is no limit.
    #[arg(long, visible_alias = "concurrency", value_name = "N")]
    pub(crate) max_concurrency: Option<NonZeroU32>,
}

#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Arrivals")]
pub(crate) struct ArrivalArgs {
    /// Requests per second. With conversations (--turns) it is the number that begin each second, each of which then sends its
    /// turns; `fizeau sweep --rates` counts every turn instead. The default is inf, which sends them all at once (or as
    /// --max-concurrency allows). A trace has its own times; inf, where it is given, ignores them.
    #[arg(long, visible_alias = "rate", value_name = "RATE", value_parser = rate)]
    pub(crate) request_rate: Option<f64>,
    #[command(flatten)]
    pub(crate) spacing: SpacingArgs,
    /// Stretch the arrivals so that the last of N requests leaves at exactly N/RATE, as vLLM does. By default they are left as drawn.
    #[arg(long)]
    pub(crate) arrival_rescale: bool,
    /// Let the rate rise (or fall) from --ramp-up-start-rps to --ramp-up-end-rps over all requests, or the time if that alone is given.
    #[arg(long, value_parser = choice::<RampShape>(), value_name = "SHAPE", requires = "ramp_up_start_rps", requires = "ramp_up_end_rps")]
    pub(crate) ramp_up_strategy: Option<RampShape>,
    /// The rate that the ramp begins with.
    #[arg(long, value_name = "RATE", value_parser = from_zero, requires = "ramp_up_strategy")]
    pub(crate) ramp_up_start_rps: Option<f64>,
    /// The rate that the ramp ends with.
    #[arg(long, value_name = "RATE", value_parser = from_zero, requires = "ramp_up_strategy")]
    pub(crate) ramp_up_end_rps: Option<f64>,
    /// The time that the ramp takes, whatever the number of requests; the rate then stays.
    #[arg(long, value_name = "SECONDS", value_parser = span, requires = "ramp_up_strategy")]
    pub(crate) ramp_up_seconds: Option<f64>,
    /// One rate after another, as RATE:SECONDS,...; the last one stays. For example 10:30,20:60.
    #[arg(long, value_name = "STAGES")]
    pub(crate) request_rate_series: Option<String>,
    /// Bursts: the rate while on, the rate while off, and how long each lasts on average. For example
    /// on=100,off=5,on-s=2,off-s=8.
    #[arg(long, value_name = "KEY=VALUE,...")]
    pub(crate) burst: Option<String>,
    /// A rate that goes up and down like a sine, by a share of its mean. For example mean=20,swing=0.5,period-s=600.
    #[arg(long, value_name = "KEY=VALUE,...")]
    pub(crate) diurnal: Option<String>,
}

#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct SpacingArgs {
    /// How regular the arrivals of a rate are: 1 is a Poisson process, below 1 burstier, above 1 smoother, inf at equal distances.
    #[arg(long, value_name = "B", default_value_t = 1.0)]
    pub(crate) burstiness: f64,
}

/// What is sent of a recorded trace, and when.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Arrivals")]
pub(crate) struct ReplayArgs {
    /// Replay a trace this many times as fast.
    #[arg(long, value_name = "FACTOR", value_parser = speed)]
    pub(crate) trace_speedup: Option<f64>,
    /// Ignore the times of a trace: send each request as soon as fewer than --max-concurrency are in flight.
    #[arg(long, conflicts_with = "trace_speedup")]
    pub(crate) ignore_trace_times: bool,
}

/// A thin stream beside the load, in the spelling of vLLM where it has one.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Probe stream")]
pub(crate) struct ProbeArgs {
    /// Beside the load, send small requests at this constant rate and report them apart: what another user of the server sees.
    #[arg(long, value_name = "RATE")]
    pub(crate) probe_request_rate: Option<f64>,
    /// The prompt length of a probe.
    #[arg(long, value_name = "TOKENS", default_value_t = 32, requires = "probe_request_rate")]
    pub(crate) probe_input_len: u64,
    /// The output length of a probe.
    #[arg(long, value_name = "TOKENS", default_value_t = 8, requires = "probe_request_rate")]
    pub(crate) probe_output_len: u64,
}

// What a level is asked, and what is to be kept of it: the flags that `bench` and `simulate` share.

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
    #[arg(long, value_name = "KEY=VALUE", value_parser = pair, num_args = 1..)]
    pub(crate) metadata: Vec<(String, String)>,
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
