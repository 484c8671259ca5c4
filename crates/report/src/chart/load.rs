//! What happens as the load grows: panels one above the other on one horizontal axis, so that the level at which
//! throughput goes flat and waiting begins is seen at one glance.

use super::Size;
use super::frame::Frame;
use super::frontier::axis;
use super::scale::{Scale, Spread};
use super::svg::{Anchor, Svg};

/// One line of a panel.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Series {
    /// What to write at its end.
    pub(crate) name: &'static str,
    /// The class that gives its colour.
    pub(crate) class: &'static str,
    /// Load and value, ascending in load.
    pub(crate) points: Vec<(f64, f64)>,
}

/// One panel.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct LoadPanel {
    /// What the vertical axis shows, with its unit.
    pub(crate) title: &'static str,
    /// Its lines.
    pub(crate) series: Vec<Series>,
}

/// The chart: panels from top to bottom.
#[derive(Debug)]
pub(crate) struct LoadChart<'a> {
    /// What the horizontal axis shows, with its unit.
    pub(crate) load: &'a str,
    /// The levels' loads and labels, ascending.
    pub(crate) marks: Vec<(f64, String)>,
    /// The panels.
    pub(crate) panels: &'a [LoadPanel],
    /// What someone hears who cannot see it.
    pub(crate) description: &'a str,
}

/// Height of a panel's plot, and of what stands above each.
const PLOT: f64 = 150.0;
const ABOVE: f64 = 44.0;

impl LoadChart<'_> {
    /// The chart as SVG text.
    pub(crate) fn draw(&self, size: Size) -> String {
        let width = size.width();
        let height = (PLOT + ABOVE) * self.panels.len() as f64 + 52.0;
        let title = format!("Throughput and time to first token against {}", self.load);
        let mut svg = Svg::new(size.class(), (width, height), &title, self.description);
        let x = self.loads(width);
        let last = self.panels.len().saturating_sub(1);
        for (i, panel) in self.panels.iter().enumerate() {
            let top = ABOVE + (PLOT + ABOVE) * i as f64;
            let lines = panel.series.iter().flat_map(|series| &series.points);
            let values: Vec<f64> = lines.map(|point| point.1).collect();
            let frame = Frame {
                x,
                y: axis(&values, (top + PLOT, top), 4),
                x_title: (i == last).then_some(self.load),
                y_title: panel.title,
                x_marks: self.marks.clone(),
            };
            frame.draw(&mut svg, size);
            draw_panel(&mut svg, &frame, panel);
        }
        svg.finish()
    }

    /// Levels of a sweep mostly double, so ratios take equal room; a little air on both sides.
    fn loads(&self, width: f64) -> Scale {
        let loads = || self.marks.iter().map(|mark| mark.0);
        let low = loads().fold(f64::INFINITY, f64::min);
        let high = loads().fold(0.0, f64::max);
        let domain = (low / 1.15, high * 1.15);
        Scale::new(Spread::Log, domain, (52.0, width - 76.0))
    }
}

fn draw_panel(svg: &mut Svg, frame: &Frame<'_>, panel: &LoadPanel) {
    let mut ends: Vec<(f64, f64, &Series)> = Vec::new();
    for series in &panel.series {
        let place = |&(load, value): &(f64, f64)| (frame.x.place(load), frame.y.place(value));
        let places: Vec<_> = series.points.iter().map(place).collect();
        svg.polyline(&format!("series {}", series.class), &places);
        for (at, (load, value)) in places.iter().zip(&series.points) {
            let tip = format!("{} at {load}: {value:.1}", series.name);
            svg.circle(&format!("dot {}", series.class), *at, 3.0, &tip);
        }
        if let Some(&(x, y)) = places.last() {
            ends.push((x, y, series));
        }
    }
    // Names stand at the lines' ends, at least a line's height apart.
    ends.sort_by(|a, b| a.1.total_cmp(&b.1));
    let mut free_from = f64::NEG_INFINITY;
    for (x, y, series) in ends {
        let y = y.max(free_from);
        free_from = y + 14.0;
        let class = format!("label {}", series.class);
        svg.text(&class, (x + 8.0, y + 4.0), Anchor::Start, series.name);
    }
}
