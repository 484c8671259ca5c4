//! `fizeau compare`.

use std::path::PathBuf;

use clap::Args;

use super::DecisionArgs;

#[derive(Debug, Args)]
pub(crate) struct CompareArgs {
    /// Folders of runs: the baseline, and one or more that are each held against it.
    #[arg(required = true, num_args = 2.., value_name = "RUN")]
    pub(crate) runs: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) decision: DecisionArgs,
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
