//! How two systems are told apart: what `fizeau ab` and `fizeau compare` have alike.

use clap::Args;

#[derive(Debug, Args)]
#[command(next_help_heading = "Answer")]
pub(crate) struct DecisionArgs {
    /// What to decide over, with commas between: p50 ttft, p99 tpot, output_tps. By default median and p99 of TTFT and TPOT,
    /// output TPS, and the good share where there are goals. Each more makes every other harder to tell apart.
    #[arg(long, value_name = "METRICS", value_delimiter = ',')]
    pub(crate) metrics: Vec<String>,
    /// The chance of seeing some difference where there is none, over all metrics of one table together.
    #[arg(long, value_name = "SHARE", default_value_t = 0.05)]
    pub(crate) alpha: f64,
    /// What a difference must be at least, as a share of the baseline's figure, to be called better or worse; 0 for any.
    #[arg(long, value_name = "SHARE", default_value = "0.1%")]
    pub(crate) smallest: String,
}
