//! The frontier as a small chart of characters, below the table of a sweep.

mod canvas;
mod scale;

use super::{Charset, TextStyle};
use crate::Shown;
use crate::{ChartLevel, ChartLevelPosition, ChartRun};
use canvas::{Canvas, Ink};
use fizeau_record::SweepReport;
use scale::{Ticks, linear, logarithmic};

/// A chart is no wider: points would be far apart, and lines flat.
const WIDEST: usize = 100;

/// There is no chart on less.
const NARROWEST: usize = 40;

/// What is drawn on the axis of latency: as on the frontier of a sweep.
const LATENCY: &str = "p99_e2el_ms";

/// A chart as lines, and what its marks mean.
pub(crate) struct Chart {
    pub(crate) key: String,
    pub(crate) lines: Vec<String>,
}

/// How a chart is written.
#[derive(Clone, Copy)]
pub(crate) struct Pen {
    pub(crate) width: usize,
    /// The lines that are drawn in, without axes and words.
    pub(crate) rows: usize,
    pub(crate) charset: Charset,
    pub(crate) style: TextStyle,
}

impl Shown<'_, SweepReport> {
    /// Requests per second against p99 E2EL: the levels that are compared, the frontier as a line, the operating point, and
    /// the goal for that latency. None of fewer than two levels, nor where there is no room.
    pub(crate) fn chart(&self, pen: Pen) -> Option<Chart> {
        let run = ChartRun::of(self, "");
        let points: Vec<Point<'_>> =
            run.levels.iter().enumerate().filter_map(|level| Point::of(&run, level)).collect();
        if points.len() < 2 || pen.width < NARROWEST {
            return None;
        }
        let goals = run.goals.iter().filter(|goal| goal.figure == LATENCY);
        let goal = goals.min_by(|a, b| a.limit.total_cmp(&b.limit));
        let (least, most) = ends(points.iter().map(|point| point.latency));
        // A goal that is far off would leave the levels no room.
        let goal = goal.filter(|goal| (least / 4.0..=most * 4.0).contains(&goal.limit));
        let limit = goal.map(|goal| goal.limit);
        let (least, most) = ends([least, most].into_iter().chain(limit));
        let across = logarithmic(least, most);
        let up = linear(ends(points.iter().map(|point| point.rate)).1);
        let has_others = points.iter().any(|point| point.ink == Ink::Other);
        let plot = Plot { pen, points, frontier: &run.frontier, limit, across, up };
        let others = if has_others { "; o beaten by another" } else { "" };
        let goal = goal.map(|goal| format!("; {} {}", Strokes::of(pen.charset).goal, goal.text));
        let key = format!("Requests/s against p99 E2EL{others}{}", goal.unwrap_or_default());
        Some(Chart { key, lines: plot.lines() })
    }
}

/// A level in the chart.
struct Point<'a> {
    index: usize,
    label: &'a str,
    rate: f64,
    latency: f64,
    ink: Ink,
}

impl<'a> Point<'a> {
    fn of(run: &ChartRun, (index, level): (usize, &'a ChartLevel)) -> Option<Self> {
        let ink = match level.position {
            ChartLevelPosition::LeftOut => return None,
            _ if run.operating == Some(index) => Ink::Chosen,
            ChartLevelPosition::Frontier => Ink::Frontier,
            ChartLevelPosition::Dominated => Ink::Other,
        };
        let figure = |name: &str| Some(level.figures.get(name)?.value).filter(|value| *value > 0.0);
        let (rate, latency) = (figure("requests_per_s")?, figure(LATENCY)?);
        Some(Self { index, label: &level.label, rate, latency, ink })
    }
}

/// The least and the greatest.
fn ends(values: impl IntoIterator<Item = f64>) -> (f64, f64) {
    values
        .into_iter()
        .fold((f64::INFINITY, 0.0), |(least, most), value| (value.min(least), value.max(most)))
}

struct Plot<'a> {
    pen: Pen,
    points: Vec<Point<'a>>,
    frontier: &'a [usize],
    limit: Option<f64>,
    across: Ticks,
    up: Ticks,
}

/// The name of the axis that goes up, with its unit.
const UP: &str = "req/s";

/// The unit of the axis across.
const UNIT: &str = "ms";

impl Plot<'_> {
    fn lines(&self) -> Vec<String> {
        let labels: Vec<(f64, &str)> = self.up.marks();
        let margin = labels.iter().map(|(_, label)| label.len()).max().unwrap_or(0).max(UP.len());
        // The last figure of the axis across reaches over its end, and the unit stands behind that.
        let last = self.across.marks().last().map_or(0, |(_, label)| label.len().div_ceil(2));
        let beyond = last + UNIT.len() + 1;
        let columns = self.pen.width.min(WIDEST).saturating_sub(margin + 2 + beyond);
        let canvas = self.draw(columns);
        let row_of = |share: f64| canvas.row(share);
        let strokes = Strokes::of(self.pen.charset);
        let mut lines = vec![format!("{UP:>margin$}")];
        for row in 0..self.pen.rows {
            let label = labels.iter().find(|(share, _)| row_of(*share) == row);
            let label = label.map_or("", |(_, label)| label);
            let axis = if label.is_empty() { strokes.upright } else { strokes.upright_tick };
            let drawn = canvas.line(row, self.pen.style);
            lines.push(format!("{label:>margin$} {axis}{drawn}").trim_end().to_owned());
        }
        lines.extend(self.axis(&canvas, margin + 1));
        lines
    }

    fn draw(&self, columns: usize) -> Canvas {
        let mut canvas = Canvas::new(columns, self.pen.rows, self.pen.charset);
        if let Some(limit) = self.limit {
            canvas.upright(self.across.share(limit), Strokes::of(self.pen.charset).goal);
        }
        let at = |point: &Point<'_>| (self.across.share(point.latency), self.up.share(point.rate));
        let on_frontier = self.frontier.iter();
        let on_frontier: Vec<(f64, f64)> = on_frontier
            .filter_map(|index| self.points.iter().find(|point| point.index == *index).map(at))
            .collect();
        for pair in on_frontier.windows(2) {
            if let [from, to] = pair {
                canvas.segment(*from, *to);
            }
        }
        for point in &self.points {
            canvas.mark(at(point), point.ink);
        }
        // What matters most finds room first.
        for ink in [Ink::Chosen, Ink::Frontier, Ink::Other] {
            for point in self.points.iter().filter(|point| point.ink == ink) {
                canvas.label(at(point), point.label);
            }
        }
        canvas
    }

    /// The axis across, its figures, and what it is of.
    fn axis(&self, canvas: &Canvas, indent: usize) -> [String; 2] {
        let strokes = Strokes::of(self.pen.charset);
        let mut rule: Vec<char> = vec![strokes.level; canvas.columns()];
        let mut figures = String::new();
        for (share, label) in self.across.marks() {
            let column = canvas.column(share);
            if let Some(place) = rule.get_mut(column) {
                *place = strokes.level_tick;
            }
            let start = (column + 1).saturating_sub(label.len() / 2);
            let used = figures.chars().count();
            // Figures that would touch are left out.
            if used == 0 || start > used {
                figures.push_str(&" ".repeat(start.saturating_sub(used)));
                figures.push_str(label);
            }
        }
        let rule: String = rule.into_iter().collect();
        let pad = " ".repeat(indent);
        [format!("{pad}{}{rule}", strokes.corner), format!("{pad}{figures} {UNIT}")]
    }
}

/// What axes are drawn with.
struct Strokes {
    goal: char,
    upright: char,
    upright_tick: char,
    level: char,
    level_tick: char,
    corner: char,
}

const ASCII: Strokes = Strokes {
    goal: ':',
    upright: '|',
    upright_tick: '+',
    level: '-',
    level_tick: '+',
    corner: '+',
};
const UNICODE: Strokes = Strokes {
    goal: '┊',
    upright: '│',
    upright_tick: '┤',
    level: '─',
    level_tick: '┴',
    corner: '└',
};

impl Strokes {
    const fn of(charset: Charset) -> Self {
        match charset {
            Charset::Ascii => ASCII,
            Charset::Unicode => UNICODE,
        }
    }
}
