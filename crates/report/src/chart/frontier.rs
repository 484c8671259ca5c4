//! Throughput against latency: every level a dot, the frontier a line.

use super::frame::Frame;
use super::labels::Taken;
use super::scale::{Scale, suited};
use super::svg::{Anchor, Svg};
use super::{Size, ticks};

/// How a level stands to the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    /// No other beats it.
    Frontier,
    /// On the frontier, and the one to run at.
    OperatingPoint,
    /// Another is at least as good in both and better in one.
    Dominated,
}

/// One level.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct FrontierPoint {
    /// Requests per second.
    pub(crate) throughput: f64,
    /// End-to-end latency in milliseconds.
    pub(crate) latency_ms: f64,
    /// What to write beside the dot.
    pub(crate) label: String,
    /// What to show when the pointer rests on it.
    pub(crate) tip: String,
    /// How it stands to the others.
    pub(crate) standing: Standing,
}

impl FrontierPoint {
    const fn radius(&self) -> f64 {
        match self.standing {
            Standing::OperatingPoint => RING,
            Standing::Frontier | Standing::Dominated => DOT,
        }
    }
}

/// What the hardware could do: a curve beside the measured levels.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct LightLine {
    /// The class that gives its looks.
    pub(crate) class: &'static str,
    /// Requests per second, latency in milliseconds, and what to show when the pointer rests there; ascending.
    pub(crate) points: Vec<(f64, f64, String)>,
}

/// How large a level's dot is, and the ring around the operating point.
const DOT: f64 = 4.5;
const RING: f64 = 9.5;

/// The frontier chart.
#[derive(Debug)]
pub(crate) struct FrontierChart<'a> {
    /// The levels, in any order.
    pub(crate) points: &'a [FrontierPoint],
    /// What the hardware could do, the farthest last.
    pub(crate) light: &'a [LightLine],
    /// What the vertical axis shows, without the unit.
    pub(crate) latency: &'a str,
    /// The limit of the latency goal in milliseconds, and what to write at its line.
    pub(crate) goal: Option<(f64, String)>,
    /// What someone hears who cannot see it.
    pub(crate) description: &'a str,
}

impl FrontierChart<'_> {
    /// The chart as SVG text.
    pub(crate) fn draw(&self, size: Size) -> String {
        let (width, height) = match size {
            Size::Wide => (size.width(), 420.0),
            Size::Narrow => (size.width(), 340.0),
        };
        let light = || self.light.iter().flat_map(|line| &line.points);
        let throughputs = self.points.iter().map(|point| point.throughput);
        let throughputs: Vec<f64> = throughputs.chain(light().map(|point| point.0)).collect();
        let goal = self.goal.as_ref().map(|goal| goal.0);
        let latencies = self.points.iter().map(|point| point.latency_ms);
        let latencies: Vec<f64> =
            latencies.chain(goal).chain(light().map(|point| point.1)).collect();
        // Seconds read better than five-digit milliseconds.
        let greatest = latencies.iter().copied().fold(0.0, f64::max);
        let (unit, per_unit) = if greatest >= 1e4 { ("s", 1e3) } else { ("ms", 1.0) };
        let latencies: Vec<f64> = latencies.iter().map(|ms| ms / per_unit).collect();
        let y_title = format!("{}, {unit}", self.latency);
        let frame = Frame {
            x: axis(&throughputs, (52.0, width - 30.0), size.steps()),
            y: axis(&latencies, (height - 52.0, 40.0), 5),
            x_title: Some("Requests per second"),
            y_title: &y_title,
            x_marks: Vec::new(),
        };
        let title = format!("Requests per second against {}", self.latency);
        let mut svg = Svg::new(size.class(), (width, height), &title, self.description);
        frame.draw(&mut svg, size);
        let mut taken = Taken::default();
        if let Some((limit, text)) = &self.goal {
            let (left, right) = frame.x.range();
            let y = frame.y.place(limit / per_unit);
            svg.line("goal", (left, y), (right, y));
            svg.text("goal-label", (left + 6.0, y - 5.0), Anchor::Start, text);
            taken.line((left, y), (right, y));
            let text_end = left + 6.0 + 7.0 * text.chars().count() as f64;
            taken.line((left + 6.0, y - 9.0), (text_end, y - 9.0));
        }
        self.draw_light(&mut svg, &frame, per_unit, &mut taken);
        self.draw_points(&mut svg, &frame, per_unit, taken);
        svg.finish()
    }

    fn draw_light(&self, svg: &mut Svg, frame: &Frame<'_>, per_unit: f64, taken: &mut Taken) {
        for LightLine { class, points } in self.light {
            let place = |(requests, ms, _): &(f64, f64, String)| {
                (frame.x.place(*requests), frame.y.place(ms / per_unit))
            };
            let line: Vec<_> = points.iter().map(place).collect();
            svg.polyline(&format!("light {class}"), &line);
            for (&from, &to) in line.iter().zip(line.iter().skip(1)) {
                taken.line(from, to);
            }
            for (at, (_, _, tip)) in line.iter().zip(points) {
                svg.circle(&format!("light-dot {class}"), *at, 2.0, tip);
            }
        }
    }

    fn draw_points(&self, svg: &mut Svg, frame: &Frame<'_>, per_unit: f64, mut taken: Taken) {
        let place = |point: &FrontierPoint| {
            let y = frame.y.place(point.latency_ms / per_unit);
            (frame.x.place(point.throughput), y)
        };
        let mut on_frontier: Vec<&FrontierPoint> = self.points.iter().collect();
        on_frontier.retain(|point| point.standing != Standing::Dominated);
        on_frontier.sort_by(|a, b| {
            let by_throughput = a.throughput.total_cmp(&b.throughput);
            by_throughput.then(a.latency_ms.total_cmp(&b.latency_ms))
        });
        let line: Vec<_> = on_frontier.into_iter().map(place).collect();
        svg.polyline("frontier-line", &line);
        for (&from, &to) in line.iter().zip(line.iter().skip(1)) {
            taken.line(from, to);
        }
        // Dominated levels first, so that the frontier lies on top of them.
        let order = [Standing::Dominated, Standing::Frontier, Standing::OperatingPoint];
        let drawn = order.iter().flat_map(|standing| {
            let of = move |point: &&FrontierPoint| point.standing == *standing;
            self.points.iter().filter(of)
        });
        for point in drawn {
            let at = place(point);
            let class = match point.standing {
                Standing::Dominated => "dominated",
                Standing::Frontier | Standing::OperatingPoint => "on-frontier",
            };
            if point.standing == Standing::OperatingPoint {
                svg.circle("operating", at, RING, &point.tip);
            }
            svg.circle(class, at, DOT, &point.tip);
            taken.dot(at, point.radius());
        }
        let (left, right) = frame.x.range();
        for point in self.points {
            let limits = (left, right + 28.0);
            let (at, anchor) = taken.label(place(point), point.radius(), &point.label, limits);
            let class = match point.standing {
                Standing::Dominated => "label faint",
                Standing::Frontier | Standing::OperatingPoint => "label",
            };
            svg.text(class, at, anchor, &point.label);
        }
    }
}

/// An axis that suits `values`: from zero where it is linear.
pub(super) fn axis(values: &[f64], range: (f64, f64), steps: usize) -> Scale {
    let spread = suited(values);
    let positive = values.iter().copied().filter(|v| *v > 0.0);
    let low = match spread {
        super::scale::Spread::Linear => 0.0,
        super::scale::Spread::Log => positive.fold(f64::INFINITY, f64::min),
    };
    let high = values.iter().copied().fold(0.0, f64::max);
    Scale::new(spread, ticks::rounded(spread, (low, high), steps), range)
}
