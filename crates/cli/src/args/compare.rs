//! `fizeau compare`.

use std::path::PathBuf;

use clap::Args;

use super::DecisionArgs;

#[derive(Debug, Args)]
pub(crate) struct CompareArgs {
    /// The baseline, and one or more runs that are each compared with it: folders, or files (sweep.json, summary.json, the output of
    /// `fizeau report --json`). Repeats of one side are separated by commas (main-1,main-2,main-3); four runs or more in all show how
    /// much runs differ among themselves.
    #[arg(required = true, num_args = 2.., value_name = "RUN")]
    pub(crate) runs: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) decision: DecisionArgs,
    /// How much runs of this server differ among themselves, as a standard deviation in percent of each metric: 2%, or 0 for not
    /// at all. It widens the intervals where each side is one run; repeats show it themselves. The default is 3 % of medians, means and
    /// rates, and 10 % of percentiles from p90 on.
    #[arg(long, value_name = "PERCENT")]
    pub(crate) run_to_run: Option<String>,
    /// Compare runs that should not be compared: with other workloads, models or goals, or with the verdict invalid.
    #[arg(long)]
    pub(crate) force: bool,
    /// Print JSON (fizeau.comparison/1) instead of text.
    #[arg(long)]
    pub(crate) json: bool,
    /// Print Markdown, for a pull request or the summary of a CI step: `>> "$GITHUB_STEP_SUMMARY"`.
    #[arg(long, conflicts_with = "json")]
    pub(crate) markdown: bool,
    /// Write JSON (fizeau.comparison/1) to this file too.
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Write the answers as JUnit XML too, with a test case for each metric and load, which fails where the metric is worse.
    #[arg(long, value_name = "FILE")]
    pub(crate) junit: Option<PathBuf>,
}
