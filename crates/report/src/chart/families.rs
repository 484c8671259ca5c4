//! Throughput against latency of several configurations: a line each, and what no other beats.

use super::Size;
use super::frame::Frame;
use super::labels::Taken;
use super::scale::{Scale, Spread, suited};
use super::svg::{Anchor, Svg};
use super::ticks;

/// One configuration.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Family {
    /// The class that gives its colour.
    pub(crate) class: String,
    /// What to write at the end of its line.
    pub(crate) label: String,
    /// What the label stands for.
    pub(crate) name: String,
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
    /// What large dots and rings are.
    pub(crate) marks: &'a str,
    /// What someone hears who cannot see it.
    pub(crate) description: &'a str,
}

/// How large dots are: on the frontier of all, elsewhere, and the ring around the level to run at.
const BEST: f64 = 5.0;
const DOT: f64 = 2.5;
const RING: f64 = 9.5;

/// Height of a line of the key, and how many of its characters fit side by side.
const KEY: f64 = 20.0;
const KEY_CHARACTERS: usize = 96;

impl FamilyChart<'_> {
    /// The chart as SVG text, for a page that has its looks and its key.
    pub(crate) fn draw(&self, size: Size) -> String {
        let (title, area) = (self.title(), (size.width(), height(size)));
        let mut svg = Svg::new(size.class(), area, &title, self.description);
        self.draw_on(&mut svg, size);
        svg.finish()
    }

    /// The chart as a file of its own, with looks and key.
    pub(crate) fn draw_alone(&self, style: &str) -> String {
        let (width, top) = (Size::Wide.width(), height(Size::Wide) + KEY);
        let area = (width, top + KEY * (self.families.len() + 1) as f64);
        let mut svg = Svg::alone(area, &self.title(), self.description, style);
        self.draw_on(&mut svg, Size::Wide);
        for (index, family) in self.families.iter().enumerate() {
            let y = top + KEY * index as f64;
            svg.polyline(&format!("family {}", family.class), &[(14.0, y - 4.0), (40.0, y - 4.0)]);
            let text = format!("{} {}", family.label, family.name);
            svg.text("key", (48.0, y), Anchor::Start, &shortened(&text));
        }
        let y = top + KEY * self.families.len() as f64;
        svg.text("key", (48.0, y), Anchor::Start, self.marks);
        svg.finish()
    }

    fn title(&self) -> String {
        format!("{} against {}", self.throughput, self.latency)
    }

    fn draw_on(&self, svg: &mut Svg, size: Size) {
        let (width, members) = (size.width(), || self.families.iter().flat_map(|of| &of.members));
        let throughputs: Vec<f64> = members().map(|member| member.throughput).collect();
        let greatest = members().map(|member| member.latency_ms).fold(0.0, f64::max);
        // Seconds read better than five-digit milliseconds.
        let (unit, per_unit) = if greatest >= 1e4 { ("s", 1e3) } else { ("ms", 1.0) };
        let latencies: Vec<f64> = members().map(|member| member.latency_ms / per_unit).collect();
        let y_title = format!("{}, {unit}", self.latency);
        let frame = Frame {
            x: axis(&throughputs, (52.0, width - 34.0), size.steps()),
            y: axis(&latencies, (height(size) - 52.0, 40.0), 5),
            x_title: Some(self.throughput),
            y_title: &y_title,
            x_marks: Vec::new(),
        };
        frame.draw(svg, size);
        let mut taken = Taken::default();
        for family in self.families {
            family.draw(svg, &frame, per_unit, &mut taken);
        }
        let (left, right) = frame.x.range();
        for family in self.families {
            let end = family.members.last().map(|member| place(&frame, member, per_unit));
            if let Some(end) = end {
                let (at, anchor) = taken.label(end, RING, &family.label, (left, right + 30.0));
                svg.text(&format!("label {}", family.class), at, anchor, &family.label);
            }
        }
    }
}

const fn height(size: Size) -> f64 {
    match size {
        Size::Wide => 440.0,
        Size::Narrow => 360.0,
    }
}

/// `text`, or as much of it as fits.
fn shortened(text: &str) -> String {
    match text.char_indices().nth(KEY_CHARACTERS) {
        Some((end, _)) => format!("{}...", text.get(..end).unwrap_or(text)),
        None => text.to_owned(),
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

/// An axis that suits `values`: from zero where it is linear.
fn axis(values: &[f64], range: (f64, f64), steps: usize) -> Scale {
    let spread = suited(values);
    let positive = values.iter().copied().filter(|v| *v > 0.0);
    let low = match spread {
        Spread::Linear => 0.0,
        Spread::Log => positive.fold(f64::INFINITY, f64::min),
    };
    let high = values.iter().copied().fold(0.0, f64::max);
    Scale::new(spread, ticks::rounded(spread, (low, high), steps), range)
}
