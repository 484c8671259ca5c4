//! Which charts of a run become files, and where.

use std::path::PathBuf;

use clap::Args;
use clap::builder::PossibleValuesParser;
use fizeau::report::Picture;

/// What is shown of a run in place of pictures.
const OTHERS: [&str; 7] =
    ["json", "markdown", "html", "tools", "explain", "percentile_rule", "percentiles"];

#[derive(Debug, Args)]
#[command(next_help_heading = "Pictures")]
pub(crate) struct PictureArgs {
    /// Write each chart that has data as SVG into this folder; with --chart the one into this file. Runs named together lie over
    /// each other.
    #[arg(long, value_name = "OUT", conflicts_with_all = OTHERS)]
    pub(crate) svg: Option<PathBuf>,
    /// Likewise as PNG.
    #[arg(long, value_name = "OUT", conflicts_with_all = OTHERS)]
    pub(crate) png: Option<PathBuf>,
    /// Which chart.
    #[arg(long, value_name = "NAME", value_parser = names())]
    pub(crate) chart: Option<String>,
}

impl PictureArgs {
    /// Whether any is asked for.
    pub(crate) const fn is_asked(&self) -> bool {
        self.svg.is_some() || self.png.is_some() || self.chart.is_some()
    }

    /// The chart that is named.
    pub(crate) fn chart(&self) -> Option<Picture> {
        self.chart.as_deref().and_then(Picture::from_key)
    }
}

fn names() -> PossibleValuesParser {
    Picture::ALL.map(Picture::key).into()
}
