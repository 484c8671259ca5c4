//! `fizeau report`.

use std::path::PathBuf;

use clap::Args;
use clap::builder::PossibleValuesParser;
use fizeau::interop::{Peer, PeerTerm};
use fizeau::metrics::{PercentileRule, WindowEnd};
use fizeau::report::Picture;

use super::{ChoosingArgs, PriceArgs, SpeedOfLightArgs, TrustArgs};

#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// The folder of a run, of a sweep, or of one level of a sweep. With --explain it may be left out. Two or more are compared with
    /// the first.
    #[arg(value_name = "RUN", required_unless_present = "explain")]
    pub(crate) runs: Vec<PathBuf>,
    /// The file that the page is written to; by default report.html in the run's folder, and for several runs comparison.html in the
    /// current folder.
    #[arg(long, value_name = "FILE",
          conflicts_with_all = ["tools", "explain", "percentile_rule", "percentiles"])]
    pub(crate) html: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) view: ViewArgs,
    /// The goals that must hold, such as "p99 ttft<500ms, p99 tpot<20ms", in place of those of the run; given several times, all of
    /// them. The exit code is 1 if they are missed.
    #[arg(long, value_name = "GOALS", help_heading = "Goals")]
    pub(crate) slo: Vec<String>,
    /// The goals of a single request in milliseconds, such as ttft:500 tpot:50, with `or` between groups; by default those of the run.
    #[arg(long, visible_alias = "goal", value_name = "METRIC:MS", num_args = 1.., help_heading = "Goals")]
    pub(crate) goodput: Vec<String>,
    /// What to leave out at the beginning for the figures of the steady state: auto, a number of requests (50), or a time (30s);
    /// by default what the run left out.
    #[arg(long, value_name = "auto|N|Ns")]
    pub(crate) warmup: Option<WindowEnd>,
    /// What to leave out at the end for the figures of the steady state, as with --warmup.
    #[arg(long, value_name = "auto|N|Ns")]
    pub(crate) cooldown: Option<WindowEnd>,
    /// Keep every value in memory, a few hundred bytes a request and four a token, so that percentiles of a level of more than 131,072
    /// requests are exact as well.
    #[arg(long)]
    pub(crate) exact: bool,
    /// What is not given is as the run had it.
    #[command(flatten)]
    pub(crate) choosing: ChoosingArgs,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// Print Markdown, for a pull request or the summary of a CI step: `>> "$GITHUB_STEP_SUMMARY"`.
    #[arg(long, conflicts_with_all = ["json", "tools", "explain", "percentile_rule", "percentiles"])]
    pub(crate) markdown: bool,
    #[command(flatten)]
    pub(crate) trust: TrustArgs,
    /// What is not given is as the run had it.
    #[command(flatten)]
    pub(crate) speed_of_light: SpeedOfLightArgs,
    #[command(flatten)]
    pub(crate) price: PriceArgs,
    #[command(flatten)]
    pub(crate) pictures: PictureArgs,
    #[command(flatten)]
    pub(crate) export: ExportArgs,
    /// The flags that the line has.
    #[arg(skip)]
    pub(crate) typed: Vec<String>,
}

impl ReportArgs {
    /// Whether the report or a view of it is asked for beside what is for other programs.
    pub(crate) const fn is_shown(&self) -> bool {
        self.json || self.markdown || self.html.is_some() || self.view.is_asked()
    }
}

/// What to show of a run; by default what `fizeau bench` or `fizeau sweep` showed.
#[derive(Debug, Args)]
pub(crate) struct ViewArgs {
    /// Show what other tools would have reported for the same requests, by their definitions, names and units, beside ours.
    #[arg(long = "as", value_name = "TOOL,...", value_delimiter = ',', value_parser = tools(),
          conflicts_with_all = ["explain", "percentile_rule", "percentiles"])]
    pub(crate) tools: Vec<String>,
    /// Explain what each tool means by a word, with its figure for the run if one is given, and why they differ.
    #[arg(long, value_name = "WORD", value_parser = PeerTerm::ALL.map(PeerTerm::key),
          conflicts_with_all = ["percentile_rule", "percentiles"])]
    pub(crate) explain: Option<String>,
    /// Show percentiles of the latencies by another rule, beside the linear one.
    #[arg(long, value_name = "RULE", value_parser = PercentileRule::ALL.map(PercentileRule::key))]
    pub(crate) percentile_rule: Option<String>,
    /// The percentiles that --percentile-rule shows.
    #[arg(long, value_name = "P,...", value_delimiter = ',')]
    pub(crate) percentiles: Vec<f64>,
}

impl ViewArgs {
    /// Whether something is asked for by itself, in place of a report.
    pub(crate) const fn is_asked(&self) -> bool {
        self.flag().is_some()
    }

    /// The flag that asks for it.
    pub(crate) const fn flag(&self) -> Option<&'static str> {
        match self {
            Self { explain: Some(_), .. } => Some("--explain"),
            Self { percentile_rule: Some(_), .. } => Some("--percentile-rule"),
            _ if !self.tools.is_empty() => Some("--as"),
            _ if !self.percentiles.is_empty() => Some("--percentiles"),
            _ => None,
        }
    }

    /// Whether percentiles are asked for by themselves.
    pub(crate) const fn has_percentiles(&self) -> bool {
        self.percentile_rule.is_some() || !self.percentiles.is_empty()
    }
}

fn tools() -> PossibleValuesParser {
    Peer::ALL.map(Peer::key).into_iter().chain(["all"]).collect::<Vec<_>>().into()
}

// Which charts of a run become files, and where.

/// What is shown of a run in place of pictures.
const OTHERS: [&str; 7] =
    ["json", "markdown", "html", "tools", "explain", "percentile_rule", "percentiles"];

#[derive(Debug, Args)]
#[command(next_help_heading = "Pictures")]
pub(crate) struct PictureArgs {
    /// Write each chart that has data as SVG into this folder; with --chart, that one into this file. Several runs share each chart.
    #[arg(long, value_name = "OUT", conflicts_with_all = OTHERS)]
    pub(crate) svg: Option<PathBuf>,
    /// Write charts as PNG, as with --svg.
    #[arg(long, value_name = "OUT", conflicts_with_all = OTHERS)]
    pub(crate) png: Option<PathBuf>,
    /// The one chart to write.
    #[arg(long, value_name = "NAME", value_parser = Picture::ALL.map(Picture::key))]
    pub(crate) chart: Option<String>,
}

impl PictureArgs {
    /// Whether any is asked for.
    pub(crate) const fn is_asked(&self) -> bool {
        self.flag().is_some()
    }

    /// The flag that asks for it.
    pub(crate) const fn flag(&self) -> Option<&'static str> {
        match self {
            Self { svg: Some(_), .. } => Some("--svg"),
            Self { png: Some(_), .. } => Some("--png"),
            Self { chart: Some(_), .. } => Some("--chart"),
            _ => None,
        }
    }

    /// The chart that is named.
    pub(crate) fn chart(&self) -> Option<Picture> {
        self.chart.as_deref().and_then(Picture::from_key)
    }
}

// A stored run for other programs.

/// What to make of a run for other programs; with any of these the report itself is not shown.
#[derive(Debug, Args)]
#[command(next_help_heading = "For other programs")]
pub(crate) struct ExportArgs {
    /// Print the levels as comma-separated values, one row each, or write them to FILE.
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "-")]
    pub(crate) csv: Option<PathBuf>,
    /// Print the requests as comma-separated values, one row each with times, figures and outcome, or write them to FILE.
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "-")]
    pub(crate) requests_csv: Option<PathBuf>,
    /// Write both tables as Parquet: levels.parquet and requests.parquet in this folder.
    #[arg(long, value_name = "DIR")]
    pub(crate) parquet: Option<PathBuf>,
    /// Print the figures in the text format of Prometheus, or write them to FILE.
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "-")]
    pub(crate) prometheus: Option<PathBuf>,
    /// Send the figures to a Pushgateway, http://HOST:9091, or to an OTLP endpoint, otlp+http://HOST:4318.
    #[arg(long, value_name = "URL")]
    pub(crate) push: Vec<String>,
}

impl ExportArgs {
    /// Whether anything is wanted.
    pub(crate) const fn is_wanted(&self) -> bool {
        let tables = self.csv.is_some() || self.requests_csv.is_some() || self.parquet.is_some();
        tables || self.prometheus.is_some() || !self.push.is_empty()
    }
}
