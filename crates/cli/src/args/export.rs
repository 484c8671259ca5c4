//! A stored run for other programs.

use std::path::PathBuf;

use clap::Args;

/// What to make of a run for other programs; with any of these the report itself is not shown.
#[derive(Debug, Args)]
#[command(next_help_heading = "For other programs")]
pub(crate) struct ExportArgs {
    /// The levels as comma-separated values, a row each: to standard output, or to FILE.
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "-")]
    pub(crate) csv: Option<PathBuf>,
    /// The requests likewise, a row each, with instants, figures and how they ended.
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "-")]
    pub(crate) requests_csv: Option<PathBuf>,
    /// Both tables as Parquet: levels.parquet and requests.parquet in this folder.
    #[arg(long, value_name = "DIR")]
    pub(crate) parquet: Option<PathBuf>,
    /// The figures as Prometheus reads them: to standard output, or to FILE.
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
