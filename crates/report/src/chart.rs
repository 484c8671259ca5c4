//! Charts as SVG text: same input, same bytes. Colours come from the page's style sheet by class, so that one
//! drawing serves light and dark.

mod families;
mod frame;
mod labels;
mod scale;
mod svg;
mod ticks;

pub(crate) use families::{Family, FamilyChart, Member};
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

/// The looks of charts within a page.
#[cfg(feature = "html")]
pub(crate) const STYLE_IN_PAGE: &str = STYLE;

const STYLE: &str = include_str!("chart/style.css");

/// The looks of a chart that is a file of its own: the colours, and what is said of drawings.
pub(crate) fn chart_style() -> String {
    let colours = STYLE.split("/* Drawings").next().unwrap_or_default();
    let drawings =
        STYLE.lines().filter(|line| line.starts_with("svg .") || line.starts_with("svg text"));
    let mut out = colours.to_owned();
    for line in drawings {
        // Keys lie beside drawings, in the page alone.
        let (line, _) = line.split_once(" .key").unwrap_or((line, ""));
        out.push_str(line);
        out.push('\n');
    }
    out.push_str(
        "svg { font-family: system-ui, sans-serif; }\nsvg .paper { fill: var(--paper); }\n",
    );
    out
}
