//! A level over time: the load and what came of it, and gaps between tokens with the prefills that stretch them.

use super::axis::Axis;
use super::ink::Ink;
use super::parts;
use super::sheet::{AxisPoint, Dash, KeyEntry, Mark, Panel, Sheet, Sign, Stroke, WIDTH};
use crate::charts::description::ChartDescription;
use crate::{ChartLevel, ChartRun, ChartTimeSeries};

/// At most so many runs have a panel each.
const MOST: usize = 4;

/// Gaps between tokens over time, with the requests that were prefilling behind them: a panel a run.
pub(super) fn itl(runs: &[ChartRun]) -> Result<Sheet, String> {
    let drawn: Vec<(&ChartRun, &ChartLevel, &ChartTimeSeries)> = shown(runs)
        .filter(|(.., timeline)| timeline.itl_p50_ms.iter().any(Option::is_some))
        .collect();
    if drawn.is_empty() {
        return Err(parts::no_tapes("gaps between tokens"));
    }
    let last = drawn.len().min(MOST) - 1;
    let [.., chart, _, _] = ChartDescription::all();
    let panel =
        |(index, (run, level, timeline)): (usize, &(&ChartRun, &ChartLevel, &ChartTimeSeries))| {
            let whose = match runs.len() {
                1 => String::new(),
                // A name may be long: what is cut is its end.
                _ => format!(", at {}: {}", parts::at(run, level), run.name),
            };
            let x_title = (index == last).then(|| chart.across());
            Panel { x_title, ..gaps(&chart, &whose, timeline) }
        };
    let lines = [GapLine::Median, GapLine::Tail, GapLine::Greatest];
    let mut key: Vec<KeyEntry> = lines
        .into_iter()
        .map(|which| KeyEntry::new(Sign::Line(which.stroke()), chart.line(which.key()).name))
        .collect();
    key.push(KeyEntry::new(Sign::Area(Ink::Shade), chart.line("prefilling").name));
    let panels: Vec<Panel> = drawn.iter().take(MOST).enumerate().map(panel).collect();
    let mut notes = vec!["Where both rise together, prefills delay decoding.".to_owned()];
    let mut shown = drawn.iter().zip(&panels);
    if shown.any(|((.., timeline), panel)| is_any_below(timeline, panel)) {
        notes.push(BELOW.to_owned());
    }
    Ok(Sheet {
        title: chart.title.to_owned(),
        subtitle: parts::subtitle_at(runs),
        description:
            "Median, 99th percentile and longest gap between tokens in each part of the level; the \
         area behind them shows how many requests were waiting for their first token. Where both \
         rise together, prefills delay decoding."
                .to_owned(),
        size: (WIDTH, if last == 0 { 540 } else { 150 + 250 * (last as u32 + 1) }),
        columns: 1,
        panels,
        key,
        notes,
    })
}

/// The load and the output over time, and the part of it that the figures are of: a line a run.
pub(super) fn timeline(runs: &[ChartRun]) -> Result<Sheet, String> {
    let drawn: Vec<&ChartTimeSeries> = shown(runs).map(|(.., timeline)| timeline).collect();
    if drawn.is_empty() {
        return Err(parts::no_tapes("timeline over time"));
    }
    let [.., chart, _] = ChartDescription::all();
    let panel = |title: String, of: fn(&ChartTimeSeries) -> &Vec<f64>| {
        let values = || drawn.iter().flat_map(|timeline| of(timeline));
        let ends = drawn.iter().map(|timeline| end(timeline));
        let mut marks: Vec<Mark> = Vec::new();
        // The windows of several runs would hide each other.
        if let [timeline] = drawn.as_slice() {
            let window = timeline.window_s;
            marks.extend(window.map(|(from, to)| Mark::Band { from, to, ink: Ink::Shade }));
        }
        for (index, timeline) in drawn.iter().enumerate() {
            let places =
                of(timeline).iter().enumerate().map(|(bin, value)| (at(timeline, bin), *value));
            marks.push(Mark::line(
                places,
                Stroke { width: 2.0, ..Stroke::solid(Ink::Series(index)) },
            ));
        }
        let values: Vec<f64> = values().copied().collect();
        Panel {
            x: Axis::seconds(ends.fold(0.0, f64::max), 8),
            y: Axis::of(super::axis::AxisScale::Linear, &values, 4),
            x_title: None,
            y_title: title,
            right: None,
            marks,
        }
    };
    let output = panel(chart.up("output_tps"), |timeline| &timeline.output_tps);
    let load = panel(chart.up("in_flight"), |timeline| &timeline.in_flight);
    let mut key = parts::run_key(runs);
    if let [ChartTimeSeries { window_kind: Some(kind), .. }] = drawn.as_slice() {
        key.push(KeyEntry::new(Sign::Area(Ink::Shade), *kind));
    }
    Ok(Sheet {
        title: chart.title.to_owned(),
        subtitle: parts::subtitle_at(runs),
        description: window_words(&drawn),
        size: (WIDTH, 640),
        columns: 1,
        panels: vec![output, Panel { x_title: Some(chart.across()), ..load }],
        key,
        notes: vec![window_words(&drawn)],
    })
}

/// The window of the only run, in words.
fn window_words(drawn: &[&ChartTimeSeries]) -> String {
    match drawn {
        [ChartTimeSeries { window_s: Some((from, to)), window_kind: Some(kind), .. }] => {
            format!("The {kind} is from {from:.1} s to {to:.1} s.")
        }
        [_] => "No part is known to be steady.".to_owned(),
        _ => "A line is a run, each at its own level.".to_owned(),
    }
}

/// The runs whose tapes were read, with the level shown; those with a timeline.
fn shown(runs: &[ChartRun]) -> impl Iterator<Item = (&ChartRun, &ChartLevel, &ChartTimeSeries)> {
    let shown = runs.iter().filter_map(|run| {
        let (level, detail) = parts::shown(run)?;
        Some((run, level, &detail.timeline))
    });
    shown.filter(|(.., timeline)| timeline.bin_s > 0.0 && !timeline.in_flight.is_empty())
}

/// The middle of a bin, in seconds.
fn at(timeline: &ChartTimeSeries, bin: usize) -> f64 {
    (bin as f64 + 0.5) * timeline.bin_s
}

/// When the last bin ends.
fn end(timeline: &ChartTimeSeries) -> f64 {
    timeline.in_flight.len() as f64 * timeline.bin_s
}

/// A line of gaps.
#[derive(Clone, Copy)]
enum GapLine {
    Median,
    Tail,
    Greatest,
}

impl GapLine {
    const fn stroke(self) -> Stroke {
        match self {
            Self::Median => Stroke { width: 2.0, ..Stroke::solid(Ink::Series(0)) },
            Self::Tail => Stroke { width: 2.0, ..Stroke::solid(Ink::Series(1)) },
            Self::Greatest => Stroke::thin(Ink::Grey, Dash::Solid),
        }
    }

    const fn of(self, timeline: &ChartTimeSeries) -> &Vec<Option<f64>> {
        match self {
            Self::Median => &timeline.itl_p50_ms,
            Self::Tail => &timeline.itl_p99_ms,
            Self::Greatest => &timeline.itl_max_ms,
        }
    }
}

fizeau_core::words! {
    GapLine::key {
        Median = "p50", Tail = "p99", Greatest = "max",
    }
}

/// What is said where gaps lie below an axis that cannot begin at zero.
const BELOW: &str =
    "Gaps too short for the axis, such as those of tokens in one chunk, lie at its lower end.";

/// The least gap that an axis by ratio shows: a tenth of a usual median, or a hundredth of a usual p99. Tokens that come in one
/// piece have gaps of nothing, however many of them there are.
fn floor(timeline: &ChartTimeSeries) -> f64 {
    let mean = |gaps: &[Option<f64>]| {
        let known: Vec<f64> = gaps.iter().flatten().copied().collect();
        known.iter().sum::<f64>() / known.len().max(1) as f64
    };
    (mean(&timeline.itl_p50_ms) / 10.0).max(mean(&timeline.itl_p99_ms) / 100.0)
}

fn is_any_below(timeline: &ChartTimeSeries, panel: &Panel) -> bool {
    let lines = [GapLine::Greatest, GapLine::Tail, GapLine::Median];
    let mut gaps = lines.into_iter().flat_map(|which| which.of(timeline)).flatten();
    let (_, per) = parts::latency_unit(gaps.clone().copied());
    let [low, _] = panel.y.ends();
    gaps.any(|gap| *gap / per < low)
}

fn gaps(chart: &ChartDescription, whose: &str, timeline: &ChartTimeSeries) -> Panel {
    let lines = [GapLine::Greatest, GapLine::Tail, GapLine::Median];
    let values = || lines.into_iter().flat_map(|which| which.of(timeline)).flatten().copied();
    let (unit, per) = parts::latency_unit(values());
    let floor = floor(timeline);
    let latencies: Vec<f64> = values().map(|ms| ms.max(floor) / per).collect();
    let waiting: Vec<AxisPoint> = timeline
        .prefilling
        .iter()
        .enumerate()
        .flat_map(|(bin, waiting)| {
            let (from, to) = (bin as f64 * timeline.bin_s, (bin as f64 + 1.0) * timeline.bin_s);
            [(from, *waiting), (to, *waiting)]
        })
        .collect();
    let line = |which: GapLine| {
        let places = which.of(timeline).iter().enumerate();
        let places = places.map(|(bin, gap)| gap.map(|gap| (at(timeline, bin), gap / per)));
        Mark::Line { places: places.collect(), stroke: which.stroke() }
    };
    let behind = Mark::Behind { places: waiting, ink: Ink::Shade };
    let right = Axis::of(super::axis::AxisScale::Linear, &timeline.prefilling, 4);
    Panel {
        x: Axis::seconds(end(timeline), 8),
        y: Axis::suited(&latencies, 4),
        x_title: None,
        y_title: format!("{}, {unit}{whose}", chart.up("gap")),
        right: Some((right, chart.up("prefilling"))),
        marks: std::iter::once(behind).chain(lines.map(line)).collect(),
    }
}
