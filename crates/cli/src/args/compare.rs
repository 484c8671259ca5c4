//! `fizeau compare`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::DecisionArgs;

#[derive(Debug, Args)]
pub(crate) struct CompareArgs {
    /// The baseline, and one or more that are each held against it: folders of runs, whose requests are compared; or files
    /// (sweep.json, summary.json, what `fizeau report --json` prints), of which no more than the intervals can be.
    #[arg(required = true, num_args = 2.., value_name = "RUN")]
    pub(crate) runs: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) decision: DecisionArgs,
    /// Compare what ought not to be: other workloads, models or goals, and runs whose verdict is invalid.
    #[arg(long)]
    pub(crate) force: bool,
    /// When to end with exit code 1. A regression is any metric of any run that is worse than the baseline's, by Holm's
    /// correction over the metrics of all levels and runs together: one that is worse in its own table alone does not
    /// fail. Likewise if no metric of some level could be tested.
    #[arg(long, value_name = "WHAT", value_enum, default_value_t = FailOn::Never)]
    pub(crate) fail_on: FailOn,
    /// The same as --fail-on regression.
    #[arg(long)]
    pub(crate) fail_on_worse: bool,
    /// Print JSON (fizeau.comparison/1) instead of text.
    #[arg(long)]
    pub(crate) json: bool,
    /// Print Markdown, for a pull request or a step's summary: `>> "$GITHUB_STEP_SUMMARY"`.
    #[arg(long, conflicts_with = "json")]
    pub(crate) markdown: bool,
    /// Write JSON (fizeau.comparison/1) to a file too, such as compare.json.
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Write the answers as JUnit XML too, a test case for each metric and load; those that are worse failed.
    #[arg(long, value_name = "FILE")]
    pub(crate) junit: Option<PathBuf>,
}

/// What is a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FailOn {
    /// A metric that is worse.
    Regression,
    /// Nothing: a comparison that was made is a success.
    Never,
}
