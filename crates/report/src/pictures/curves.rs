//! Curves of one quantity over another: points of several series, the levels at which they stay, and what limits them.

use super::axis::{Axis, AxisScale};
use super::ink::Ink;
use super::sheet::{
    AxisPoint, Dash, DotShape, HEIGHT, KeyEntry, Mark, Panel, Sheet, Sign, Stroke, WIDTH,
};
use super::svg;

/// A chart of one panel or of several under each other, which have their series in common.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CurveChart {
    /// What it shows.
    pub(crate) title: String,
    /// Of what; foreign.
    pub(crate) subtitle: String,
    /// What someone hears who cannot see it.
    pub(crate) description: String,
    pub(crate) panels: Vec<CurvePanel>,
    /// How to read it.
    pub(crate) notes: Vec<String>,
}

/// A pair of axes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CurvePanel {
    pub(crate) across: CurveAxis,
    pub(crate) up: CurveAxis,
    pub(crate) series: Vec<CurveSeries>,
    pub(crate) limits: Vec<CurveLimit>,
}

/// What an axis shows, with its unit, and how values are spread along it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum CurveAxis {
    /// Bytes, by powers of two.
    Sizes(String),
    /// Whole numbers from zero.
    Counts(String),
    /// From zero, or by ratio where values span much.
    Suited(String),
    /// By ratio.
    Ratio(String),
    /// Around values that are nearly one.
    Around(String),
}

/// Points that belong together.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CurveSeries {
    /// What the key calls it; empty where it has no place there.
    pub(crate) name: String,
    /// Which colour: series of one index have one.
    pub(crate) index: usize,
    pub(crate) style: CurveStyle,
    pub(crate) points: Vec<CurvePoint>,
    pub(crate) levels: Vec<CurveLevel>,
}

/// How the points of a series look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CurveStyle {
    /// Joined by a line, in their order.
    Joined,
    /// Dots alone.
    Apart,
    /// Many small dots.
    Scattered,
    /// Dots alone that stand out, as what is out of bounds.
    Marked,
    /// A broken line without dots: a bound.
    Bound,
}

/// A point, with the interval of its height where it is known, and words beside it where there is room.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CurvePoint {
    pub(crate) at: AxisPoint,
    pub(crate) ends: Option<[f64; 2]>,
    pub(crate) label: Option<String>,
}

/// A height at which a series stays between two places.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CurveLevel {
    pub(crate) from: f64,
    pub(crate) to: f64,
    pub(crate) at: f64,
    pub(crate) label: String,
}

/// A height that nothing should cross.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CurveLimit {
    pub(crate) at: f64,
    pub(crate) text: String,
}

impl CurveAxis {
    fn title(&self) -> &str {
        match self {
            Self::Sizes(title)
            | Self::Counts(title)
            | Self::Suited(title)
            | Self::Ratio(title)
            | Self::Around(title) => title,
        }
    }

    fn axis(&self, values: &[f64], steps: usize) -> Axis {
        match self {
            Self::Sizes(_) => Axis::sizes(values, steps),
            Self::Counts(_) => Axis::counts(values, steps),
            Self::Suited(_) => Axis::suited(values, steps),
            Self::Ratio(_) => Axis::of(AxisScale::Log, values, steps),
            Self::Around(_) => Axis::around(values, steps),
        }
    }
}

impl CurveChart {
    /// As a file of its own; none where nothing can be drawn.
    pub(crate) fn file(&self) -> Option<String> {
        self.drawn((WIDTH, HEIGHT + self.further(300)), "")
    }

    /// For a wide page and for a narrow one: text cannot shrink with a picture and stay readable.
    #[cfg(feature = "html")]
    pub(crate) fn inline(&self) -> Option<(String, String)> {
        let wide = (WIDTH, HEIGHT - 60 + self.further(240));
        let narrow = (390, 420 + self.further(240));
        Some((self.drawn(wide, "wide")?, self.drawn(narrow, "narrow")?))
    }

    /// The height of all panels but the first.
    const fn further(&self, each: u32) -> u32 {
        each * (self.panels.len() as u32).saturating_sub(1)
    }

    fn drawn(&self, size: (u32, u32), class: &str) -> Option<String> {
        let is_empty = |panel: &CurvePanel| panel.series.iter().all(|of| of.points.is_empty());
        // plotters writes into memory: what cannot be drawn has no figures, and has no picture.
        if self.panels.iter().all(is_empty) {
            None
        } else {
            svg::svg(&self.sheet(size), class).ok()
        }
    }

    fn sheet(&self, size: (u32, u32)) -> Sheet {
        let steps = if size.0 < WIDTH { 4 } else { 9 };
        Sheet {
            title: self.title.clone(),
            subtitle: self.subtitle.clone(),
            description: self.description.clone(),
            size,
            columns: 1,
            panels: self.panels.iter().map(|panel| panel.panel(steps)).collect(),
            key: self.key(),
            notes: self.notes.clone(),
        }
    }

    /// Each series once, whatever panels it is in.
    fn key(&self) -> Vec<KeyEntry> {
        let mut key: Vec<KeyEntry> = Vec::new();
        for series in self.panels.iter().flat_map(|panel| &panel.series) {
            let is_new = key.iter().all(|entry| entry.text != series.name);
            if is_new && !series.name.is_empty() {
                key.push(KeyEntry::new(series.sign(), series.name.clone()));
            }
        }
        key
    }
}

impl CurvePanel {
    fn panel(&self, steps: usize) -> Panel {
        let points = || self.series.iter().flat_map(|series| &series.points);
        let across: Vec<f64> = points().map(|point| point.at.0).collect();
        let ends = points().flat_map(|point| point.ends.unwrap_or([point.at.1; 2]));
        let limits = self.limits.iter().map(|limit| limit.at);
        let up: Vec<f64> = ends.chain(limits).collect();
        let mut marks: Vec<Mark> = self.series.iter().flat_map(CurveSeries::marks).collect();
        marks.extend(self.limits.iter().map(|limit| Mark::Limit {
            at: limit.at,
            text: limit.text.clone(),
            ink: Ink::Goal,
        }));
        Panel {
            x: self.across.axis(&across, steps),
            y: self.up.axis(&up, 6),
            x_title: Some(self.across.title().to_owned()),
            y_title: self.up.title().to_owned(),
            right: None,
            marks,
        }
    }
}

impl CurveSeries {
    const fn ink(&self) -> Ink {
        match self.style {
            CurveStyle::Marked => Ink::Goal,
            CurveStyle::Bound => Ink::Light,
            CurveStyle::Joined | CurveStyle::Apart | CurveStyle::Scattered => {
                Ink::Series(self.index)
            }
        }
    }

    const fn shape(&self) -> DotShape {
        match self.style {
            CurveStyle::Joined | CurveStyle::Marked => DotShape::Small,
            CurveStyle::Scattered => DotShape::Point,
            CurveStyle::Apart | CurveStyle::Bound => DotShape::Full,
        }
    }

    fn sign(&self) -> Sign {
        let ink = self.ink();
        match self.style {
            CurveStyle::Joined => Sign::Line(Stroke::solid(ink)),
            CurveStyle::Bound => Sign::Line(Stroke::thin(ink, Dash::Dashed)),
            CurveStyle::Apart | CurveStyle::Scattered | CurveStyle::Marked => {
                Sign::Dot(ink, self.shape())
            }
        }
    }

    fn marks(&self) -> Vec<Mark> {
        let (ink, shape) = (self.ink(), self.shape());
        let mut marks = Vec::new();
        let places = self.points.iter().map(|point| point.at);
        match self.style {
            CurveStyle::Joined => marks.push(Mark::line(places, Stroke::solid(ink))),
            CurveStyle::Bound => {
                marks.push(Mark::line(places, Stroke::thin(ink, Dash::Dashed)));
                return marks;
            }
            CurveStyle::Apart | CurveStyle::Scattered | CurveStyle::Marked => {}
        }
        for level in &self.levels {
            let ends = [level.from, level.to].map(|x| (x, level.at));
            marks.push(Mark::line(ends, Stroke { ink: Ink::Soft, width: 6.0, dash: Dash::Dotted }));
        }
        for CurvePoint { at, ends, label } in &self.points {
            if let Some([low, high]) = ends {
                marks.push(Mark::Interval { low: (at.0, *low), high: (at.0, *high), ink });
            }
            marks.push(Mark::Dot { at: *at, ink, shape });
            let texts: Vec<String> = label.iter().cloned().collect();
            if !texts.is_empty() {
                marks.push(Mark::Label { at: *at, texts, ink, shape });
            }
        }
        for level in &self.levels {
            let middle = ((level.from * level.to).sqrt(), level.at);
            let texts = vec![level.label.clone()];
            marks.push(Mark::Label { at: middle, texts, ink: Ink::Text, shape: DotShape::Small });
        }
        marks
    }
}

#[cfg(test)]
mod tests {
    use super::{
        CurveAxis, CurveChart, CurveLevel, CurveLimit, CurvePanel, CurvePoint, CurveSeries,
        CurveStyle,
    };

    fn chart(points: Vec<CurvePoint>) -> CurveChart {
        let level = CurveLevel { from: 1024.0, to: 4096.0, at: 2.0, label: "L1".to_owned() };
        let series = CurveSeries {
            name: "<read>".to_owned(),
            index: 0,
            style: CurveStyle::Joined,
            points,
            levels: vec![level],
        };
        let panel = CurvePanel {
            across: CurveAxis::Sizes("bytes".to_owned()),
            up: CurveAxis::Suited("GB/s".to_owned()),
            series: vec![series],
            limits: vec![CurveLimit { at: 3.0, text: "data sheet".to_owned() }],
        };
        CurveChart {
            title: "Bandwidth".to_owned(),
            subtitle: "a & b".to_owned(),
            description: "what it shows".to_owned(),
            panels: vec![panel.clone(), panel],
            notes: Vec::new(),
        }
    }

    #[test]
    fn what_is_drawn_is_named_once_and_escaped() {
        let point =
            |x: f64, y: f64| CurvePoint { at: (x, y), ends: Some([y, 1.1 * y]), label: None };
        let chart = chart(vec![point(1024.0, 2.0), point(4096.0, 2.1), point(65536.0, 1.0)]);
        assert_eq!(chart.key().len(), 1);
        let svg = chart.file().unwrap();
        for said in ["data sheet", "&lt;read&gt;", "a &amp; b", "L1", "KiB"] {
            assert!(svg.contains(said), "{said} in {svg}");
        }
    }

    #[test]
    fn without_a_point_there_is_no_picture() {
        assert_eq!(chart(Vec::new()).file(), None);
    }
}
