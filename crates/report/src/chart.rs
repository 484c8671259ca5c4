//! Charts as SVG text: same input, same bytes. Colours come from the page's style sheet by class, so that one
//! drawing serves light and dark.

mod frame;
mod frontier;
mod labels;
mod load;
mod scale;
mod svg;
mod ticks;

pub(crate) use frontier::{FrontierChart, FrontierPoint, LightLine, Standing};
pub(crate) use load::{LoadChart, LoadPanel, Series};
pub(crate) use svg::escape;

/// The two sizes each chart is drawn at: text cannot shrink with a drawing and stay readable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Size {
    /// For a desk or paper.
    Wide,
    /// For a telephone.
    Narrow,
}

impl Size {
    /// Width in the drawing's own units, which are pixels at full size.
    pub(crate) const fn width(self) -> f64 {
        match self {
            Self::Wide => 760.0,
            Self::Narrow => 360.0,
        }
    }

    /// How many steps an axis of this width has room for.
    pub(crate) const fn steps(self) -> usize {
        match self {
            Self::Wide => 8,
            Self::Narrow => 5,
        }
    }

    /// The class that shows the drawing at the right width of the page.
    pub(crate) const fn class(self) -> &'static str {
        match self {
            Self::Wide => "wide",
            Self::Narrow => "narrow",
        }
    }
}
