//! Charts as files: SVG that follows the reader's light or dark, and PNG. By plotters, from [`ChartRun`]s.
//!
//! A chart is first a `Sheet`: plain data, in the units of its axes. `render` lays it out and draws it.

mod axis;
#[cfg_attr(not(feature = "probe"), allow(dead_code, reason = "charts of a probe draw most of it"))]
mod curves;
mod distributions;
mod families;
mod frontier;
mod ink;
mod labels;
mod load;
mod parts;
#[cfg(feature = "png")]
mod png;
mod render;
mod residuals;
mod sheet;
mod speed_of_light;
mod steps;
mod svg;
mod text;
mod ticks;
mod time;
mod tradeoff;

use fizeau_metrics::Metric;
use thiserror::Error;

#[cfg(feature = "probe")]
pub(crate) use curves::{
    CurveAxis, CurveChart, CurveLevel, CurveLimit, CurvePanel, CurvePoint, CurveSeries, CurveStyle,
};
pub(crate) use families::{Families, Family, Member};
pub use residuals::{CalibrationResidual, ResidualPicture};

use crate::ChartRun;
use sheet::Sheet;

/// A chart as a picture: the same inputs give the same bytes.
///
/// Several runs lie over each other, a colour each, and should have names. What only tapes show is of one level of each run: the
/// one to run at, else the highest whose tapes were read.
///
/// ```
/// use fizeau_report::{ChartRun, Picture, PictureError};
/// # fn of(report: &fizeau_record::SweepReport) -> Result<(), PictureError> {
/// let run = ChartRun::of(report, "");
/// let svg: String = Picture::Frontier.svg(&[run])?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Picture {
    /// Requests per second against p99 E2EL: frontier, interval boxes, what is dominated, speed of light, goal, operating point.
    Frontier,
    /// Likewise against p99 TTFT.
    FrontierTtft,
    /// Likewise against p99 TPOT.
    FrontierTpot,
    /// Tokens per second of a user against those of a device.
    Interactivity,
    /// Median and p99 of each latency against the rate served, with the goals.
    Load,
    /// The distributions of the latencies, on an axis that spreads the tail.
    Quantiles,
    /// Gaps between tokens over time, with the requests that wait for their first token behind them.
    Itl,
    /// Output tokens per second and requests in flight over time, with the window used.
    Timeline,
    /// Time to first token against the length of the prompt.
    Lengths,
    /// Each step of an engine beside its bound, by how much of it is prefill.
    Steps,
}

impl Picture {
    /// The one of that short name.
    #[must_use]
    pub fn from_key(key: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|picture| picture.key() == key)
    }

    /// An SVG file: 960 pixels wide, with a title and a description for whoever cannot see it, and colours for light and dark.
    ///
    /// Foreign text in it is escaped, cut to the room there is, and free of control characters. Fonts are named, not embedded.
    ///
    /// # Errors
    /// [`PictureError::Empty`] if the runs have nothing that it shows.
    pub fn svg(self, runs: &[ChartRun]) -> Result<String, PictureError> {
        let sheet = self.sheet(runs)?;
        svg::svg(&sheet, "").map_err(|reason| PictureError::Failed { picture: self.key(), reason })
    }

    /// A PNG file, light, at twice the size of the SVG: 1920 pixels wide. A text in a script other than Latin has boxes in place of
    /// its letters; the SVG has not.
    ///
    /// # Errors
    /// [`PictureError::Empty`] if the runs have nothing that it shows.
    #[cfg(feature = "png")]
    pub fn png(self, runs: &[ChartRun]) -> Result<Vec<u8>, PictureError> {
        let sheet = self.sheet(runs)?;
        png::png(&sheet).map_err(|reason| PictureError::Failed { picture: self.key(), reason })
    }

    fn sheet(self, runs: &[ChartRun]) -> Result<Sheet, PictureError> {
        let sheet = match self {
            Self::Frontier => frontier::frontier(runs, Metric::E2el),
            Self::FrontierTtft => frontier::frontier(runs, Metric::Ttft),
            Self::FrontierTpot => frontier::frontier(runs, Metric::Tpot),
            Self::Interactivity => frontier::interactivity(runs),
            Self::Load => load::sheet(runs),
            Self::Quantiles => distributions::quantiles(runs),
            Self::Itl => time::itl(runs),
            Self::Timeline => time::timeline(runs),
            Self::Lengths => distributions::lengths(runs),
            Self::Steps => steps::steps(runs),
        };
        sheet.map_err(|reason| PictureError::Empty { picture: self.key(), reason })
    }
}

fizeau_core::words! {
    /// Its short name, for a flag or a file: `frontier-ttft`.
    pub Picture::key, all {
        Frontier = "frontier", FrontierTtft = "frontier-ttft", FrontierTpot = "frontier-tpot",
        Interactivity = "interactivity", Load = "load", Quantiles = "quantiles", Itl = "itl",
        Timeline = "timeline", Lengths = "lengths", Steps = "steps",
    }
}

/// A kind of file that pictures are in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PictureFormat {
    /// An SVG file: [`Picture::svg`].
    Svg,
    /// A PNG file: [`Picture::png`].
    #[cfg(feature = "png")]
    Png,
}

/// The pictures that have data, each with the name of its file, and why the others have not.
pub type DrawnPictures = (Vec<(String, Vec<u8>)>, Vec<PictureError>);

impl PictureFormat {
    /// What the names of its files end in: `svg`.
    #[must_use]
    pub const fn ending(self) -> &'static str {
        match self {
            Self::Svg => "svg",
            #[cfg(feature = "png")]
            Self::Png => "png",
        }
    }

    /// The bytes of a file that shows `picture` of `runs`.
    ///
    /// # Errors
    /// [`PictureError::Empty`] if the runs have nothing that it shows.
    pub fn draw(self, picture: Picture, runs: &[ChartRun]) -> Result<Vec<u8>, PictureError> {
        match self {
            Self::Svg => picture.svg(runs).map(String::into_bytes),
            #[cfg(feature = "png")]
            Self::Png => picture.png(runs),
        }
    }

    /// Every picture of `runs` that has data, each with the name of its file, such as `frontier.svg`; and why the others have not.
    #[must_use]
    pub fn draw_all(self, runs: &[ChartRun]) -> DrawnPictures {
        let (mut files, mut reasons) = (Vec::new(), Vec::new());
        for picture in Picture::ALL {
            match self.draw(picture, runs) {
                Ok(file) => files.push((format!("{}.{}", picture.key(), self.ending()), file)),
                // Few runs have records of steps, and who has none misses nothing.
                Err(PictureError::Empty { .. }) if picture == Picture::Steps => {}
                Err(error) => reasons.push(error),
            }
        }
        (files, reasons)
    }
}

/// Why there is no picture.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PictureError {
    /// There is nothing that it shows.
    #[error("{picture}: nothing to draw: {reason}")]
    Empty {
        /// The short name of the picture.
        picture: &'static str,
        /// What is missing, in plain words.
        reason: String,
    },
    /// The drawing library failed, which is not expected.
    #[error("{picture}: the drawing failed: {reason}")]
    Failed {
        /// The short name of the picture.
        picture: &'static str,
        /// What it said.
        reason: String,
    },
}
