//! How two systems are told apart: what `fizeau ab` and `fizeau compare` have alike.

use clap::{Args, ValueEnum};

#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Answer")]
pub(crate) struct DecisionArgs {
    /// The metrics to decide by, separated by commas: p50 ttft, p99 tpot, output_tps. By default median and p99 of TTFT and TPOT,
    /// output TPS, and with --goodput the good share. Each further metric makes differences in the others harder to detect.
    #[arg(long, value_name = "METRICS", value_delimiter = ',')]
    pub(crate) metrics: Vec<String>,
    /// The probability of reporting a difference where there is none, over all metrics of all loads and runs together.
    #[arg(long, value_name = "SHARE", default_value_t = 0.05)]
    pub(crate) alpha: f64,
    /// The smallest difference that is called better or worse, as a share of the baseline's figure; 0 for any.
    #[arg(long, value_name = "SHARE", default_value = "0.1%")]
    pub(crate) smallest: String,
    /// When to end with exit code 1: with `regression`, where any metric is worse than the baseline's, or where nothing could be
    /// tested.
    #[arg(long, value_name = "WHAT", value_enum, default_value_t = FailOn::Never)]
    pub(crate) fail_on: FailOn,
    /// The older spelling of --fail-on regression.
    #[arg(long, hide = true)]
    pub(crate) fail_on_worse: bool,
}

impl DecisionArgs {
    /// Whether what is worse is a failure.
    pub(crate) const fn fails_on_regression(&self) -> bool {
        self.fail_on_worse || matches!(self.fail_on, FailOn::Regression)
    }
}

/// What is a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FailOn {
    /// A metric that is worse, or a comparison without an answer
    Regression,
    /// Nothing: any comparison that was made is a success
    Never,
}
