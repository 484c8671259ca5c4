//! `fizeau report`.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Arg, Args};
use fizeau::interop::{Concept, Peer};
use fizeau::metrics::{PercentileRule, WindowEnd};

use super::{ChoosingArgs, ExportArgs, PhysicsArgs, PictureArgs, PriceArgs, TrustArgs};

#[derive(Debug, Args)]
#[command(mut_args(as_the_run_had_it))]
pub(crate) struct ReportArgs {
    /// The folder of a run, of a sweep, or of one level of a sweep. With --explain it may be left out. Of two and more there is a
    /// page that holds them against the first.
    #[arg(value_name = "RUN", required_unless_present = "explain")]
    pub(crate) runs: Vec<PathBuf>,
    /// Write the page there; by default report.html in the run's folder, and comparison.html in this one where there are several.
    #[arg(long, value_name = "FILE",
          conflicts_with_all = ["tools", "explain", "percentile_rule", "percentiles"])]
    pub(crate) html: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) view: ViewArgs,
    /// Per-request goals, such as ttft:500 tpot:50, with `or` between groups; by default those of the run.
    #[arg(long, value_name = "METRIC:MS", num_args = 1..)]
    pub(crate) goodput: Vec<String>,
    /// What to leave out at the front for the figures of the steady state: auto, so many requests (50), or so much time
    /// (30s); by default as the run had it.
    #[arg(long, value_name = "auto|N|Ns")]
    pub(crate) warmup: Option<WindowEnd>,
    /// Likewise at the back.
    #[arg(long, value_name = "auto|N|Ns")]
    pub(crate) cooldown: Option<WindowEnd>,
    /// By default as the run had it.
    #[command(flatten)]
    pub(crate) choosing: ChoosingArgs,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// Print Markdown, for a pull request or a step's summary: `>> "$GITHUB_STEP_SUMMARY"`.
    #[arg(long, conflicts_with_all = ["json", "tools", "explain", "percentile_rule", "percentiles"])]
    pub(crate) markdown: bool,
    #[command(flatten)]
    pub(crate) trust: TrustArgs,
    /// What is not given is as the run had it.
    #[command(flatten)]
    pub(crate) physics: PhysicsArgs,
    #[command(flatten)]
    pub(crate) price: PriceArgs,
    #[command(flatten)]
    pub(crate) pictures: PictureArgs,
    #[command(flatten)]
    pub(crate) export: ExportArgs,
}

/// The flags of a run say what they are by default in a new one.
fn as_the_run_had_it(arg: Arg) -> Arg {
    let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
    for new in ["by default 1", "by default 0.9", "otherwise as many as fit"] {
        if help.ends_with(new) {
            return arg.help(help.replace(new, "by default as the run had it"));
        }
    }
    arg
}

/// What to show of a run; without any of these what `fizeau bench` or `fizeau sweep` showed.
#[derive(Debug, Args)]
pub(crate) struct ViewArgs {
    /// What other tools would have said of the same tapes, by their definitions, in their names and units, beside ours.
    #[arg(long = "as", value_name = "TOOL,...", value_delimiter = ',', value_parser = tools(),
          conflicts_with_all = ["explain", "percentile_rule", "percentiles"])]
    pub(crate) tools: Vec<String>,
    /// What each tool means by a word, with its figure of the run where one is given, and why they differ.
    #[arg(long, value_name = "WORD", value_parser = words(),
          conflicts_with_all = ["percentile_rule", "percentiles"])]
    pub(crate) explain: Option<String>,
    /// Percentiles of the latencies by another rule, beside the linear one.
    #[arg(long, value_name = "RULE", value_parser = rules())]
    pub(crate) percentile_rule: Option<String>,
    /// Which percentiles those are.
    #[arg(long, value_name = "P,...", value_delimiter = ',')]
    pub(crate) percentiles: Vec<f64>,
}

impl ViewArgs {
    /// Whether something is asked for by itself, in place of a report.
    pub(crate) const fn is_asked(&self) -> bool {
        self.explain.is_some() || !self.tools.is_empty() || self.has_percentiles()
    }

    /// Whether percentiles are asked for by themselves.
    pub(crate) const fn has_percentiles(&self) -> bool {
        self.percentile_rule.is_some() || !self.percentiles.is_empty()
    }
}

fn tools() -> PossibleValuesParser {
    Peer::ALL.map(Peer::key).into_iter().chain(["all"]).collect::<Vec<_>>().into()
}

fn words() -> PossibleValuesParser {
    Concept::ALL.map(Concept::key).into()
}

fn rules() -> PossibleValuesParser {
    PercentileRule::ALL.map(PercentileRule::key).into()
}
