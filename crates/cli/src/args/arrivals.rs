//! When requests leave.

use clap::{Args, ValueEnum};

#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Arrivals")]
pub(crate) struct ArrivalArgs {
    /// Requests per second; by default inf, which sends them all at once (or as --max-concurrency allows). A trace
    /// has its own times; inf, where it is given, ignores them.
    #[arg(long, value_name = "RATE")]
    pub(crate) request_rate: Option<f64>,
    /// How regular the arrivals are: 1 is Poisson, below 1 burstier, above 1 smoother, inf at equal distances.
    #[arg(long, default_value_t = 1.0)]
    pub(crate) burstiness: f64,
    /// Stretch the arrivals so that the last of N leaves at exactly N/RATE, as vLLM does. By default they are left as drawn.
    #[arg(long)]
    pub(crate) arrival_rescale: bool,
    /// A rate that rises (or falls) from --ramp-up-start-rps to --ramp-up-end-rps over all requests.
    #[arg(long, value_enum, requires = "ramp_up_start_rps", requires = "ramp_up_end_rps")]
    pub(crate) ramp_up_strategy: Option<RampArg>,
    /// The rate that the ramp begins with.
    #[arg(long, value_name = "RATE", requires = "ramp_up_strategy")]
    pub(crate) ramp_up_start_rps: Option<f64>,
    /// The rate that the ramp ends with.
    #[arg(long, value_name = "RATE", requires = "ramp_up_strategy")]
    pub(crate) ramp_up_end_rps: Option<f64>,
    /// The ramp takes so long, whatever the number of requests; the rate then stays.
    #[arg(long, value_name = "SECONDS", requires = "ramp_up_strategy")]
    pub(crate) ramp_up_seconds: Option<f64>,
    /// One rate after another, RATE:SECONDS; the last one stays. Such as 10:30,20:60.
    #[arg(long, value_name = "STAGES")]
    pub(crate) request_rate_series: Option<String>,
    /// Bursts: a rate while on, one while off, and how long each lasts in the mean. Such as on=100,off=5,on-s=2,off-s=8.
    #[arg(long, value_name = "KEY=VALUE,...")]
    pub(crate) burst: Option<String>,
    /// A rate that goes up and down as a sine does, by a share of its mean. Such as mean=20,swing=0.5,period-s=600.
    #[arg(long, value_name = "KEY=VALUE,...")]
    pub(crate) diurnal: Option<String>,
    /// Replay a trace this many times as fast.
    #[arg(long, value_name = "FACTOR")]
    pub(crate) trace_speedup: Option<f64>,
    /// Send a trace's requests as slots of --max-concurrency get free, whatever its times.
    #[arg(long, conflicts_with = "trace_speedup")]
    pub(crate) ignore_trace_times: bool,
    #[command(flatten)]
    pub(crate) probe: ProbeArgs,
}

/// A thin stream beside the load, in the spelling of vLLM where it has one.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Probe stream")]
pub(crate) struct ProbeArgs {
    /// Beside the load, send small requests at this constant rate, with figures of their own: what somebody else meets.
    #[arg(long, value_name = "RATE")]
    pub(crate) probe_request_rate: Option<f64>,
    /// Prompt length of a probe.
    #[arg(long, value_name = "TOKENS", default_value_t = 32, requires = "probe_request_rate")]
    pub(crate) probe_input_len: u64,
    /// Output length of a probe.
    #[arg(long, value_name = "TOKENS", default_value_t = 8, requires = "probe_request_rate")]
    pub(crate) probe_output_len: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum RampArg {
    /// By the same amount each step.
    Linear,
    /// By the same factor each step.
    Exponential,
}
