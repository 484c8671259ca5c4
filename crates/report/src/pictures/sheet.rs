//! A picture before it is drawn: panels with what is in them, in the units of their axes, and the key below. Plain data, so that
//! what a chart shows can be tried without reading a drawing.

use super::axis::Axis;
use super::ink::Ink;
pub(super) use crate::charts::description::Dash;

/// A whole picture.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Sheet {
    /// What it shows.
    pub(super) title: String,
    /// Of what: model, hardware, engine; foreign.
    pub(super) subtitle: String,
    /// What someone hears who cannot see it.
    pub(super) description: String,
    /// Width and height in pixels at full size; a long key makes it higher.
    pub(super) size: (u32, u32),
    /// How many panels stand side by side.
    pub(super) columns: usize,
    /// From left to right, then from top to bottom.
    pub(super) panels: Vec<Panel>,
    /// What the colours are.
    pub(super) key: Vec<KeyEntry>,
    /// What else is to be known, a paragraph each.
    pub(super) notes: Vec<String>,
}

/// The width of a picture: of a slide, half that of a full one.
pub(super) const WIDTH: u32 = 960;

/// Its height with one panel, for the same.
pub(super) const HEIGHT: u32 = 540;

/// A pair of axes and what is drawn by them.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Panel {
    /// From left to right.
    pub(super) x: Axis,
    /// From bottom to top.
    pub(super) y: Axis,
    /// What the horizontal axis shows, with its unit; absent where the panel below has the same.
    pub(super) x_title: Option<String>,
    /// What the vertical axis shows, with its unit; it stands above the axis, where it can be read without turning.
    pub(super) y_title: String,
    /// The axis on the right and what it shows: that of [`Mark::Behind`].
    pub(super) right: Option<(Axis, String)>,
    /// What is drawn, the lowest first; labels come on top of all.
    pub(super) marks: Vec<Mark>,
}

/// A place in the units of the axes.
pub(super) type AxisPoint = (f64, f64);

/// Something in a panel.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Mark {
    /// A line through places; a gap where one is absent.
    Line { places: Vec<Option<AxisPoint>>, stroke: Stroke },
    /// An area from the bottom to values of the axis on the right, behind everything.
    Behind { places: Vec<AxisPoint>, ink: Ink },
    /// The time from one value of the horizontal axis to another, behind everything.
    Band { from: f64, to: f64, ink: Ink },
    /// A limit on the vertical axis, with words where there is room.
    Limit { at: f64, text: String, ink: Ink },
    /// A level.
    Dot { at: AxisPoint, ink: Ink, shape: DotShape },
    /// Where a figure's interval and another's lie, from the low ends to the high ones; a whisker where one has none.
    Interval { low: AxisPoint, high: AxisPoint, ink: Ink },
    /// Words beside a dot: the first that have room there, or none.
    Label { at: AxisPoint, texts: Vec<String>, ink: Ink, shape: DotShape },
}

/// How a level looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DotShape {
    /// A dot.
    Full,
    /// A small dot.
    Small,
    /// One of many.
    Point,
    /// A circle.
    Hollow,
    /// A ring around a dot.
    Ring,
}

impl DotShape {
    /// In pixels.
    pub(super) const fn radius(self) -> f64 {
        match self {
            Self::Full | Self::Hollow => 5.5,
            Self::Small => 3.0,
            Self::Point => 2.25,
            Self::Ring => 11.0,
        }
    }
}

/// How a line looks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Stroke {
    pub(super) ink: Ink,
    /// In pixels.
    pub(super) width: f64,
    pub(super) dash: Dash,
}

impl Stroke {
    /// What was measured.
    pub(super) const fn solid(ink: Ink) -> Self {
        Self { ink, width: 2.5, dash: Dash::Solid }
    }

    /// What is said beside it.
    pub(super) const fn thin(ink: Ink, dash: Dash) -> Self {
        Self { ink, width: 1.75, dash }
    }
}

impl Dash {
    /// How long a dash is and how long a gap, in pixels.
    pub(crate) const fn lengths(self) -> Option<(f64, f64)> {
        match self {
            Self::Solid => None,
            Self::Dotted => Some((3.0, 5.0)),
            Self::Dashed => Some((12.0, 6.0)),
        }
    }
}

/// A sign and what it means.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct KeyEntry {
    pub(super) sign: Sign,
    /// Foreign where it is a run's name.
    pub(super) text: String,
}

/// A sign of the key.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Sign {
    Line(Stroke),
    Dot(Ink, DotShape),
    /// The box of an interval.
    Box(Ink),
    /// What lies behind.
    Area(Ink),
}

impl KeyEntry {
    pub(super) fn new(sign: Sign, text: impl Into<String>) -> Self {
        Self { sign, text: text.into() }
    }
}

impl Mark {
    /// A line through all of `places`.
    pub(super) fn line(places: impl IntoIterator<Item = AxisPoint>, stroke: Stroke) -> Self {
        Self::Line { places: places.into_iter().map(Some).collect(), stroke }
    }
}
