//! `fizeau compare`.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct CompareArgs {
    /// Folders of runs: the baseline, and one or more that are each held against it.
    #[arg(required = true, num_args = 2.., value_name = "RUN")]
    pub(crate) runs: Vec<PathBuf>,
    /// What to decide over, with commas between: p50 ttft, p99 tpot, output_tps. By default median and p99 of TTFT and TPOT,
    /// output TPS, and the good share where there are goals. Each more makes every other harder to tell apart.
    #[arg(long, value_delimiter = ',', value_name = "METRICS")]
    pub(crate) metrics: Vec<String>,
    /// The chance of seeing some difference where there is none, over all metrics of one table together.
    #[arg(long, value_name = "SHARE", default_value_t = 0.05)]
    pub(crate) alpha: f64,
    /// What a difference must be at least, as a share of the baseline's figure, to be called better or worse; 0 for any.
    #[arg(long, value_name = "SHARE", default_value = "0.1%")]
    pub(crate) smallest: String,
    /// Compare what ought not to be: other workloads, models or goals, and runs whose verdict is invalid.
    #[arg(long)]
    pub(crate) force: bool,
    /// End with exit code 1 if any metric of any run is worse than the baseline's, by Holm's correction over the metrics of all
    /// levels and runs together: one that is worse in its own table alone does not fail. Likewise if no metric
    /// of some level could be tested.
    #[arg(long)]
    pub(crate) fail_on_worse: bool,
    /// Print JSON (fizeau.comparison/1) instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}
