//! A stored run for other programs.

use std::path::PathBuf;

use clap::Args;

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
