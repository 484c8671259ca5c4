//! Latency against the requests that were served: where it turns up, there is no more to be had.

use super::axis::{Axis, Spread};
use super::ink::Ink;
use super::parts;
use super::sheet::{Dash, KeyEntry, Mark, Panel, Place, Shape, Sheet, Sign, Stroke, WIDTH};
use crate::{ChartFigure, ChartLevel, ChartPlace, ChartRun};

/// A panel: its figures, and what it shows.
struct Metric {
    median: &'static str,
    tail: &'static str,
    title: &'static str,
}

const METRICS: [Metric; 3] = [
    Metric { median: "p50_ttft_ms", tail: "p99_ttft_ms", title: "Time to first token" },
    Metric { median: "p50_tpot_ms", tail: "p99_tpot_ms", title: "Time per output token" },
    Metric { median: "p50_e2el_ms", tail: "p99_e2el_ms", title: "End-to-end latency" },
];

/// What the horizontal axis shows.
const ACROSS: &str = "requests_per_s";

/// The panels of `runs`, or why there are none.
pub(super) fn sheet(runs: &[ChartRun]) -> Result<Sheet, String> {
    let known = |metric: &&Metric| {
        runs.iter().flat_map(drawn).any(|level| {
            level.figures.get(ACROSS).is_some() && level.figures.get(metric.tail).is_some()
        })
    };
    let metrics: Vec<&Metric> = METRICS.iter().filter(known).collect();
    let Some((last, others)) = metrics.split_last() else {
        return Err("no level that can be compared has a rate and a latency".to_owned());
    };
    let mut panels: Vec<Panel> = others.iter().map(|metric| panel(runs, metric)).collect();
    let title = Some("Requests per second, completed".to_owned());
    panels.push(Panel { x_title: title, ..panel(runs, last) });
    let of_one = |which: Which, text: &str| {
        let (ink, dash) = look(runs, 0, which);
        let ink = if runs.len() == 1 { ink } else { Ink::Soft };
        KeyEntry::new(Sign::Line(Stroke { dash, ..Stroke::solid(ink) }), text)
    };
    let mut key = parts::run_key(runs);
    key.push(of_one(Which::Median, "median (p50)"));
    key.push(of_one(Which::Tail, "p99, with its 95 % interval"));
    let notes = [
        Some(parts::labels_note(runs)),
        star_note(runs),
        parts::levels_note(runs, "Saturated, the queue grew to the end", is_saturated),
        parts::left_out_note(runs),
    ];
    let notes: Vec<String> = notes.into_iter().flatten().collect();
    Ok(Sheet {
        title: "Latency against the rate served".to_owned(),
        subtitle: parts::subtitle(runs),
        description: format!(
            "Median and 99th percentile of each latency at each level. {}",
            notes.join(" ")
        ),
        size: (WIDTH, 130 + 210 * metrics.len() as u32),
        columns: 1,
        panels,
        key,
        notes: vec![notes.join(" ")],
    })
}

/// Which of the two lines.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Which {
    Median,
    Tail,
}

/// Alone, each line has a colour; beside others a run has one.
fn look(runs: &[ChartRun], index: usize, which: Which) -> (Ink, Dash) {
    match (runs.len(), which) {
        (1, Which::Median) => (Ink::Series(0), Dash::None),
        (1, Which::Tail) => (Ink::Series(1), Dash::None),
        (_, Which::Median) => (Ink::Series(index), Dash::Long),
        (_, Which::Tail) => (Ink::Series(index), Dash::None),
    }
}

/// The levels that are drawn, by rising load.
fn drawn(run: &ChartRun) -> Vec<&ChartLevel> {
    let mut levels: Vec<&ChartLevel> = run.levels.iter().collect();
    levels.retain(|level| level.place != ChartPlace::LeftOut);
    levels.sort_by(|a, b| a.load_kind.cmp(b.load_kind).then(a.load_value.total_cmp(&b.load_value)));
    levels
}

fn panel(runs: &[ChartRun], metric: &Metric) -> Panel {
    let figures = |name: &'static str| {
        let levels = runs.iter().flat_map(drawn);
        levels.filter_map(move |level| level.figures.get(name))
    };
    let ends = |of: ChartFigure| [Some(of.value), of.low, of.high].into_iter().flatten();
    let goals = || [metric.median, metric.tail].into_iter().flat_map(|of| parts::goals(runs, of));
    let latencies: Vec<f64> = [metric.median, metric.tail]
        .into_iter()
        .flat_map(figures)
        .flat_map(ends)
        .chain(goals().map(|goal| goal.limit))
        .collect();
    let (unit, per) = parts::latency_unit(latencies.iter().copied());
    let latencies: Vec<f64> = latencies.iter().map(|ms| ms / per).collect();
    let rates: Vec<f64> = figures(ACROSS).map(|of| of.value).collect();
    let mut marks: Vec<Mark> = goals()
        .map(|goal| {
            let text = format!("goal: {}", goal.text);
            Mark::Limit { at: goal.limit / per, text, ink: Ink::Goal }
        })
        .collect();
    for (index, run) in runs.iter().enumerate() {
        let levels = drawn(run);
        for which in [Which::Median, Which::Tail] {
            let name = if which == Which::Median { metric.median } else { metric.tail };
            line(&mut marks, &levels, (name, per), look(runs, index, which));
        }
        let ink = if runs.len() == 1 { Ink::Soft } else { Ink::Series(index) };
        labels(&mut marks, &levels, (metric.tail, per), ink);
    }
    Panel {
        x: Axis::of(Spread::suited(&rates), &rates, 8),
        y: Axis::suited(&latencies, 4),
        x_title: None,
        y_title: format!("{}, {unit}", metric.title),
        right: None,
        marks,
    }
}

/// A line through the levels, of each kind of load one, with whiskers where an interval is known.
fn line(
    marks: &mut Vec<Mark>,
    levels: &[&ChartLevel],
    (name, per): (&str, f64),
    (ink, dash): (Ink, Dash),
) {
    for of_kind in levels.chunk_by(|a, b| a.load_kind == b.load_kind) {
        let figure = |level: &&ChartLevel| {
            Some((level.figures.get(ACROSS)?.value, level.figures.get(name)?))
        };
        let known: Vec<(f64, ChartFigure)> = of_kind.iter().filter_map(figure).collect();
        let place = |(x, of): &(f64, ChartFigure)| -> Place { (*x, of.value / per) };
        marks.push(Mark::line(known.iter().map(place), Stroke { dash, ..Stroke::solid(ink) }));
        for (x, of) in known.iter().filter(|_| name.starts_with("p99")) {
            if let Some((low, high)) = of.low.zip(of.high) {
                let (low, high) = ((*x, low / per), (*x, high / per));
                marks.push(Mark::Interval { low, high, ink });
            }
        }
        let dots = known.iter().map(place);
        marks.extend(dots.map(|at| Mark::Dot { at, ink, shape: Shape::Small }));
    }
}

fn labels(marks: &mut Vec<Mark>, levels: &[&ChartLevel], (name, per): (&str, f64), ink: Ink) {
    for level in levels {
        let figures = level.figures.get(ACROSS).zip(level.figures.get(name));
        let Some((rate, latency)) = figures else { continue };
        let at = (rate.value, latency.value / per);
        let star = if latency.stand_in { "*" } else { "" };
        let texts = vec![format!("{}{star}", level.label)];
        marks.push(Mark::Label { at, texts, ink, shape: Shape::Small });
    }
}

fn is_saturated(level: &ChartLevel) -> bool {
    level.saturated && level.place != ChartPlace::LeftOut
}

/// What a star means, where there is one.
fn star_note(runs: &[ChartRun]) -> Option<String> {
    let tails = METRICS.map(|metric| metric.tail);
    let is_greatest = |level: &ChartLevel| {
        tails.iter().any(|of| level.figures.get(of).is_some_and(|figure| figure.stand_in))
    };
    let any = runs.iter().flat_map(drawn).any(is_greatest);
    any.then(|| "* the greatest of fewer than 100 values, in place of a p99.".to_owned())
}
