//! Which charts of a run become files, and where.

use std::path::PathBuf;

use clap::Args;
#[cfg(feature = "pictures")]
use clap::builder::PossibleValuesParser;
#[cfg(feature = "pictures")]
use fizeau::report::Picture;

/// What is shown of a run in place of pictures.
const OTHERS: [&str; 7] =
    ["json", "markdown", "html", "tools", "explain", "percentile_rule", "percentiles"];

#[derive(Debug, Args)]
#[command(next_help_heading = "Pictures")]
pub(crate) struct PictureArgs {
    /// Write each chart that has data as SVG into this folder; with --chart, that one into this file. Several runs share each chart.
    #[arg(long, value_name = "OUT", conflicts_with_all = OTHERS)]
    pub(crate) svg: Option<PathBuf>,
    /// Write charts as PNG, likewise.
    #[arg(long, value_name = "OUT", conflicts_with_all = OTHERS)]
    pub(crate) png: Option<PathBuf>,
    /// The one chart to write.
    #[arg(long, value_name = "NAME")]
    #[cfg_attr(feature = "pictures", arg(value_parser = names()))]
    pub(crate) chart: Option<String>,
}

impl PictureArgs {
    /// Whether any is asked for.
    pub(crate) const fn is_asked(&self) -> bool {
        self.svg.is_some() || self.png.is_some() || self.chart.is_some()
    }

    /// The chart that is named.
    #[cfg(feature = "pictures")]
    pub(crate) fn chart(&self) -> Option<Picture> {
        self.chart.as_deref().and_then(Picture::from_key)
    }
}

#[cfg(feature = "pictures")]
fn names() -> PossibleValuesParser {
    Picture::ALL.map(Picture::key).into()
}
