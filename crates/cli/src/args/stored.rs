//! Commands that take stored runs: `fizeau compare`, `merge`, `convert` and `diagnose`.

use std::path::PathBuf;

use clap::Args;
use fizeau::interop::ForeignFormats;

use super::{DecisionArgs, SpeedOfLightArgs, TrustArgs, VerbosityArgs};

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
    /// rates, and 10 % of percentiles from p90 on, or how much the quarters of the runs differ, if that is more.
    #[arg(long, value_name = "PERCENT")]
    pub(crate) run_to_run: Option<String>,
    /// Compare runs that should not be compared: with other workloads, models or goals, or with the verdict invalid.
    #[arg(long)]
    pub(crate) force: bool,
    /// With --fail-on regression: let a run pass that lacks levels of the baseline, by those that both have.
    #[arg(long)]
    pub(crate) allow_missing_levels: bool,
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
    #[command(flatten)]
    pub(crate) output: VerbosityArgs,
}

// `fizeau merge`.

#[derive(Debug, Args)]
pub(crate) struct MergeArgs {
    /// The folders of the shards, in any order.
    #[arg(value_name = "RUN", required = true)]
    pub(crate) runs: Vec<PathBuf>,
    /// The folder that the merged run is written to.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// Merge them even if they differ in what was asked, or if two are the same share of it.
    #[arg(long)]
    pub(crate) force: bool,
    /// Merge the shards that there are, though some of the run's are missing; the report says which load they offered.
    #[arg(long)]
    pub(crate) allow_missing_shards: bool,
    #[command(flatten)]
    pub(crate) trust: TrustArgs,
}

// `fizeau convert`.

#[derive(Debug, Args)]
#[command(after_long_help = after_help())]
pub(crate) struct ConvertArgs {
    /// Files of other tools, or folders that hold them. With --to, the folder of a run.
    #[arg(required = true, value_name = "FILE|DIR")]
    pub(crate) inputs: Vec<PathBuf>,
    /// The folder that the run is written to; several models or settings each get a folder inside it. With --to, the file to write, or
    /// a folder for the files.
    #[arg(long, value_name = "DIR|FILE")]
    pub(crate) out: PathBuf,
    /// The format of all files; by default it is recognised for each file.
    #[arg(long, value_name = "FORMAT", conflicts_with = "to")]
    pub(crate) from: Option<String>,
    /// Write a run in this format of another tool.
    #[arg(long, value_name = "FORMAT")]
    pub(crate) to: Option<String>,
}

/// The formats, from the table that defines them.
fn after_help() -> String {
    let mut text = "Formats:\n".to_owned();
    for format in ForeignFormats::all() {
        text.push_str(&format!("  {:<15} {}\n", format.key(), format.about()));
    }
    text.push_str(
        "\nA figure of a file is taken over only if both tools define it alike. If the file has the events of each request, the \
         run has tapes, and everything can be computed again; otherwise `fizeau report` says what is not known.",
    );
    text
}

// `fizeau diagnose`.

#[derive(Debug, Args)]
pub(crate) struct DiagnoseArgs {
    /// The folder of a run. With several levels the lightest shows what a step costs where nothing queues.
    #[arg(value_name = "RUN")]
    pub(crate) run: PathBuf,
    /// What `fizeau probe --out DIR` measured of the devices: its folder, or its device.toml.
    #[arg(long, value_name = "DIR|FILE")]
    pub(crate) probe: Option<PathBuf>,
    /// Explain levels that are invalid too.
    #[arg(long)]
    pub(crate) force: bool,
    /// Print JSON (fizeau.diagnosis/1) instead of text.
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,
    /// Write a page to this file too.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) html: Option<PathBuf>,
    /// Write the picture of the fullest level, an SVG, to this file too.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) svg: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) output: VerbosityArgs,
    /// What is not given is as the run had it.
    #[command(flatten)]
    pub(crate) speed_of_light: SpeedOfLightArgs,
}
