//! Several configurations side by side: a line through the levels of each, and what no other beats.

use super::axis::Axis;
use super::ink::Ink;
use super::sheet::{
    AxisPoint, Dash, DotShape, HEIGHT, KeyEntry, Mark, Panel, Sheet, Sign, Stroke, WIDTH,
};
use super::{parts, svg};
use fizeau_record::text::listed;

/// One configuration.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Family {
    /// What to write at the end of its line.
    pub(crate) label: String,
    /// What the label stands for.
    pub(crate) name: String,
    /// Its place among all configurations, which gives its colour.
    pub(crate) index: usize,
    /// Its levels, by rising load.
    pub(crate) members: Vec<Member>,
}

/// One level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Member {
    /// Of the horizontal axis.
    pub(crate) throughput: f64,
    /// In milliseconds.
    pub(crate) latency_ms: f64,
    /// Whether no level of any family beats it.
    pub(crate) best: bool,
    /// Whether it is the one to run at.
    pub(crate) chosen: bool,
}

/// The chart.
#[derive(Debug)]
pub(crate) struct Families<'a> {
    pub(crate) families: &'a [Family],
    /// What they are of: a model; foreign.
    pub(crate) subtitle: String,
    /// What the axes show, the vertical one without its unit.
    pub(crate) throughput: &'a str,
    pub(crate) latency: &'a str,
}

impl Families<'_> {
    /// The chart as a file of its own.
    pub(crate) fn file(&self) -> Option<String> {
        let key = self.families.len().div_ceil(2) as u32;
        self.drawn((WIDTH, HEIGHT + 22 * key.saturating_sub(2)), "")
    }

    /// The chart for a wide page and for a narrow one: text cannot shrink with a picture and stay readable.
    #[cfg(feature = "html")]
    pub(crate) fn inline(&self) -> Option<(String, String)> {
        let key = self.families.len() as u32;
        let narrow = (390, 420 + 22 * key);
        Some((self.drawn((WIDTH, HEIGHT + 11 * key), "wide")?, self.drawn(narrow, "narrow")?))
    }

    fn drawn(&self, size: (u32, u32), class: &str) -> Option<String> {
        // plotters writes into memory: what cannot be drawn has no figures, and has no picture.
        if self.families.is_empty() { None } else { svg::svg(&self.sheet(size), class).ok() }
    }

    fn sheet(&self, size: (u32, u32)) -> Sheet {
        let members = || self.families.iter().flat_map(|of| &of.members);
        let (unit, per) = parts::latency_unit(members().map(|member| member.latency_ms));
        let throughputs: Vec<f64> = members().map(|member| member.throughput).collect();
        let latencies: Vec<f64> = members().map(|member| member.latency_ms / per).collect();
        let mut marks = Vec::new();
        for family in self.families {
            family.lines(&mut marks, per);
        }
        for family in self.families {
            marks.extend(family.label(per));
        }
        let steps = if size.0 < WIDTH { 4 } else { 8 };
        let panel = Panel {
            x: Axis::suited(&throughputs, steps),
            y: Axis::suited(&latencies, 7),
            x_title: Some(self.throughput.to_owned()),
            y_title: format!("{}, {unit}", self.latency),
            right: None,
            marks,
        };
        Sheet {
            title: "Latency against throughput".to_owned(),
            subtitle: self.subtitle.clone(),
            description: self.description(),
            size,
            columns: 1,
            panels: vec![panel],
            key: self.key(),
            notes: vec![
                "Down and to the right is better. Large dots: no level of any configuration \
                 beats them."
                    .to_owned(),
            ],
        }
    }

    fn key(&self) -> Vec<KeyEntry> {
        let entry = |family: &Family| {
            let stroke = Stroke::solid(Ink::Series(family.index));
            KeyEntry::new(Sign::Line(stroke), format!("{} {}", family.label, family.name))
        };
        let mut key: Vec<KeyEntry> = self.families.iter().map(entry).collect();
        let mut members = self.families.iter().flat_map(|of| &of.members);
        if members.any(|member| member.chosen) {
            let ring = Sign::Dot(Ink::Text, DotShape::Ring);
            key.push(KeyEntry::new(ring, "the most within the goals"));
        }
        key
    }

    fn description(&self) -> String {
        let best = |family: &Family| {
            let best = family.members.iter().filter(|member| member.best).count();
            format!("{} {}: {best} of {}", family.label, family.name, family.members.len())
        };
        let best: Vec<String> = self.families.iter().map(best).collect();
        format!(
            "Each configuration is a line through its levels. Levels on the frontier of all: {}.",
            listed(&best)
        )
    }
}

impl Family {
    fn lines(&self, marks: &mut Vec<Mark>, per: f64) {
        let ink = Ink::Series(self.index);
        let places = self.members.iter().map(|member| member.at(per));
        marks.push(Mark::line(places, Stroke { ink, width: 2.0, dash: Dash::Solid }));
        for member in &self.members {
            let (at, shape) =
                (member.at(per), if member.best { DotShape::Full } else { DotShape::Small });
            marks.push(Mark::Dot { at, ink, shape });
            if member.chosen {
                marks.push(Mark::Dot { at, ink: Ink::Text, shape: DotShape::Ring });
            }
        }
    }

    /// At the end of the line.
    fn label(&self, per: f64) -> Option<Mark> {
        let at = self.members.last()?.at(per);
        let (ink, shape) = (Ink::Series(self.index), DotShape::Full);
        Some(Mark::Label { at, texts: vec![self.label.clone()], ink, shape })
    }
}

impl Member {
    fn at(self, per: f64) -> AxisPoint {
        (self.throughput, self.latency_ms / per)
    }
}
