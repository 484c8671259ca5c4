//! Latency against the requests that were served: where it turns up, there is no more to be had.

use super::axis::{Axis, AxisScale};
use super::ink::Ink;
use super::parts;
use super::sheet::{AxisPoint, Dash, DotShape, KeyEntry, Mark, Panel, Sheet, Sign, Stroke, WIDTH};
use crate::charts::description::{ChartAxis, ChartDescription};
use crate::{ChartFigure, ChartLevel, ChartLevelPosition, ChartRun};

/// A panel: its figures, and what it shows.
struct MetricPanel {
    median: String,
    tail: String,
    title: String,
}

/// A panel for each latency that goes up.
fn panelled(chart: &ChartDescription) -> Vec<MetricPanel> {
    let figure = |statistic: &str, key: &str| format!("{statistic}_{key}_ms");
    let panel = |ChartAxis { key, title, .. }: &ChartAxis| MetricPanel {
        median: figure("p50", key),
        tail: figure("p99", key),
        title: title.clone(),
    };
    chart.up.iter().map(panel).collect()
}

/// What the horizontal axis shows.
const ACROSS: &str = "requests_per_s";

/// The panels of `runs`, or why there are none.
pub(super) fn sheet(runs: &[ChartRun]) -> Result<Sheet, String> {
    let known = |metric: &MetricPanel| {
        runs.iter().flat_map(drawn).any(|level| {
            level.figures.get(ACROSS).is_some() && level.figures.get(&metric.tail).is_some()
        })
    };
    let [.., chart, _, _, _, _] = ChartDescription::all();
    let mut metrics = panelled(&chart);
    metrics.retain(known);
    let Some((last, others)) = metrics.split_last() else {
        return Err("no level that can be compared has a rate and a latency".to_owned());
    };
    let mut panels: Vec<Panel> = others.iter().map(|metric| panel(runs, metric)).collect();
    panels.push(Panel { x_title: Some(chart.across()), ..panel(runs, last) });
    let of_one = |which: LoadLine, text: &str| {
        let (ink, dash) = look(runs, 0, which);
        let ink = if runs.len() == 1 { ink } else { Ink::Soft };
        KeyEntry::new(Sign::Line(Stroke { dash, ..Stroke::solid(ink) }), text)
    };
    let mut key = parts::run_key(runs);
    key.push(of_one(LoadLine::Median, chart.line("p50").name));
    key.push(of_one(LoadLine::Tail, chart.line("p99").name));
    let notes = [
        Some(parts::labels_note(runs)),
        star_note(runs, &metrics),
        parts::levels_note(runs, "Saturated, the queue grew to the end", is_saturated),
        parts::left_out_note(runs),
    ];
    let notes: Vec<String> = notes.into_iter().flatten().collect();
    Ok(Sheet {
        title: chart.title.to_owned(),
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
enum LoadLine {
    Median,
    Tail,
}

/// Alone, each line has a colour; beside others a run has one.
fn look(runs: &[ChartRun], index: usize, which: LoadLine) -> (Ink, Dash) {
    match (runs.len(), which) {
        (1, LoadLine::Median) => (Ink::Series(0), Dash::Solid),
        (1, LoadLine::Tail) => (Ink::Series(1), Dash::Solid),
        (_, LoadLine::Median) => (Ink::Series(index), Dash::Dashed),
        (_, LoadLine::Tail) => (Ink::Series(index), Dash::Solid),
    }
}

/// The levels that are drawn, by rising load.
fn drawn(run: &ChartRun) -> Vec<&ChartLevel> {
    let mut levels: Vec<&ChartLevel> = run.levels.iter().collect();
    levels.retain(|level| level.position != ChartLevelPosition::LeftOut);
    levels.sort_by(|a, b| a.load_kind.cmp(b.load_kind).then(a.load_value.total_cmp(&b.load_value)));
    levels
}

fn panel(runs: &[ChartRun], metric: &MetricPanel) -> Panel {
    let figures = |name: &str| -> Vec<ChartFigure> {
        let levels = runs.iter().flat_map(drawn);
        levels.filter_map(|level| level.figures.get(name)).collect()
    };
    let ends = |of: ChartFigure| [Some(of.value), of.low, of.high].into_iter().flatten();
    let goals = || [&metric.median, &metric.tail].into_iter().flat_map(|of| parts::goals(runs, of));
    let latencies: Vec<f64> = [&metric.median, &metric.tail]
        .into_iter()
        .flat_map(|name| figures(name))
        .flat_map(ends)
        .chain(goals().map(|goal| goal.limit))
        .collect();
    let (unit, per) = parts::latency_unit(latencies.iter().copied());
    let latencies: Vec<f64> = latencies.iter().map(|ms| ms / per).collect();
    let rates: Vec<f64> = figures(ACROSS).iter().map(|of| of.value).collect();
    let mut marks: Vec<Mark> = goals()
        .map(|goal| {
            let text = format!("goal: {}", goal.text);
            Mark::Limit { at: goal.limit / per, text, ink: Ink::Goal }
        })
        .collect();
    for (index, run) in runs.iter().enumerate() {
        let levels = drawn(run);
        for which in [LoadLine::Median, LoadLine::Tail] {
            let name = if which == LoadLine::Median { &metric.median } else { &metric.tail };
            line(&mut marks, &levels, (name, per), look(runs, index, which));
        }
        let ink = if runs.len() == 1 { Ink::Soft } else { Ink::Series(index) };
        labels(&mut marks, &levels, (&metric.tail, per), ink);
    }
    Panel {
        x: Axis::of(AxisScale::suited(&rates), &rates, 8),
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
        let place = |(x, of): &(f64, ChartFigure)| -> AxisPoint { (*x, of.value / per) };
        marks.push(Mark::line(known.iter().map(place), Stroke { dash, ..Stroke::solid(ink) }));
        for (x, of) in known.iter().filter(|_| name.starts_with("p99")) {
            if let Some((low, high)) = of.low.zip(of.high) {
                let (low, high) = ((*x, low / per), (*x, high / per));
                marks.push(Mark::Interval { low, high, ink });
            }
        }
        let dots = known.iter().map(place);
        marks.extend(dots.map(|at| Mark::Dot { at, ink, shape: DotShape::Small }));
    }
}

fn labels(marks: &mut Vec<Mark>, levels: &[&ChartLevel], (name, per): (&str, f64), ink: Ink) {
    for level in levels {
        let figures = level.figures.get(ACROSS).zip(level.figures.get(name));
        let Some((rate, latency)) = figures else { continue };
        let at = (rate.value, latency.value / per);
        let star = if latency.stand_in { "*" } else { "" };
        let texts = vec![format!("{}{star}", level.label)];
        marks.push(Mark::Label { at, texts, ink, shape: DotShape::Small });
    }
}

fn is_saturated(level: &ChartLevel) -> bool {
    level.saturated && level.position != ChartLevelPosition::LeftOut
}

/// What a star means, where there is one.
fn star_note(runs: &[ChartRun], metrics: &[MetricPanel]) -> Option<String> {
    let is_greatest = |level: &ChartLevel| {
        metrics.iter().any(|of| level.figures.get(&of.tail).is_some_and(|figure| figure.stand_in))
    };
    let any = runs.iter().flat_map(drawn).any(is_greatest);
    any.then(|| "* the greatest of fewer than 100 values, in place of a p99.".to_owned())
}
