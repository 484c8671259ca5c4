//! Throughput against latency of several configurations: a line each, and what no other beats.

use super::Size;
use super::frame::Frame;
use super::frontier::axis;
use super::labels::Taken;
use super::svg::Svg;

/// One configuration.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Family {
    /// The class that gives its colour.
    pub(crate) class: String,
    /// What to write at the end of its line.
    pub(crate) label: String,
    /// Its levels, by rising load.
    pub(crate) members: Vec<Member>,
}

/// One level.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Member {
    /// Of the horizontal axis.
    pub(crate) throughput: f64,
    /// In milliseconds.
    pub(crate) latency_ms: f64,
    /// What to show when the pointer rests on it.
    pub(crate) tip: String,
    /// Whether no level of any family beats it.
    pub(crate) best: bool,
    /// Whether it is the one to run at.
    pub(crate) chosen: bool,
}

/// The chart.
#[derive(Debug)]
pub(crate) struct FamilyChart<'a> {
    pub(crate) families: &'a [Family],
    /// What the axes show, the vertical one without its unit.
    pub(crate) throughput: &'a str,
    pub(crate) latency: &'a str,
    /// What someone hears who cannot see it.
    pub(crate) description: &'a str,
}

/// How large dots are: on the frontier of all, elsewhere, and the ring around the level to run at.
const BEST: f64 = 5.0;
const DOT: f64 = 2.5;
const RING: f64 = 9.5;

impl FamilyChart<'_> {
    /// The chart as SVG text.
    pub(crate) fn draw(&self, size: Size) -> String {
        let height = match size {
            Size::Wide => 440.0,
            Size::Narrow => 360.0,
        };
        let (width, members) = (size.width(), || self.families.iter().flat_map(|of| &of.members));
        let throughputs: Vec<f64> = members().map(|member| member.throughput).collect();
        let greatest = members().map(|member| member.latency_ms).fold(0.0, f64::max);
        // Seconds read better than five-digit milliseconds.
        let (unit, per_unit) = if greatest >= 1e4 { ("s", 1e3) } else { ("ms", 1.0) };
        let latencies: Vec<f64> = members().map(|member| member.latency_ms / per_unit).collect();
        let y_title = format!("{}, {unit}", self.latency);
        let frame = Frame {
            x: axis(&throughputs, (52.0, width - 34.0), size.steps()),
            y: axis(&latencies, (height - 52.0, 40.0), 5),
            x_title: Some(self.throughput),
            y_title: &y_title,
            x_marks: Vec::new(),
        };
        let title = format!("{} against {}", self.throughput, self.latency);
        let mut svg = Svg::new(size.class(), (width, height), &title, self.description);
        frame.draw(&mut svg, size);
        let mut taken = Taken::default();
        for family in self.families {
            family.draw(&mut svg, &frame, per_unit, &mut taken);
        }
        let (left, right) = frame.x.range();
        for family in self.families {
            let end = family.members.last().map(|member| place(&frame, member, per_unit));
            if let Some(end) = end {
                let (at, anchor) = taken.label(end, RING, &family.label, (left, right + 30.0));
                svg.text(&format!("label {}", family.class), at, anchor, &family.label);
            }
        }
        svg.finish()
    }
}

impl Family {
    fn draw(&self, svg: &mut Svg, frame: &Frame<'_>, per_unit: f64, taken: &mut Taken) {
        let at = |member: &Member| place(frame, member, per_unit);
        let line: Vec<_> = self.members.iter().map(at).collect();
        svg.polyline(&format!("family {}", self.class), &line);
        for member in &self.members {
            let radius = if member.best { BEST } else { DOT };
            svg.circle(&format!("member {}", self.class), at(member), radius, &member.tip);
            if member.chosen {
                svg.circle("operating", at(member), RING, &member.tip);
            }
            taken.dot(at(member), if member.chosen { RING } else { radius });
        }
    }
}

fn place(frame: &Frame<'_>, member: &Member, per_unit: f64) -> (f64, f64) {
    (frame.x.place(member.throughput), frame.y.place(member.latency_ms / per_unit))
}
