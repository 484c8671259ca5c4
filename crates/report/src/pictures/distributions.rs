//! What tapes show and no single figure does: whole distributions, and how the time to first token depends on the prompt.

use std::collections::BTreeMap;

use super::axis::Axis;
use super::ink::Ink;
use super::parts;
use super::sheet::{
    AxisPoint, DotShape, HEIGHT, KeyEntry, Mark, Panel, Sheet, Sign, Stroke, WIDTH,
};
use crate::charts::description::{ChartAxis, ChartDescription};
use crate::{ChartDetail, ChartRun};

/// A quantile curve: shares and milliseconds.
type Curve = Vec<(f64, f64)>;

/// At most so many levels have a curve of their own.
const MOST: usize = 8;

/// Distributions: of each level where there is one run, else of the level shown of each.
pub(super) fn quantiles(runs: &[ChartRun]) -> Result<Sheet, String> {
    let curves = curves(runs);
    // Levels have an order; runs have a colour each, the same in every picture.
    let inks: Vec<Ink> = match runs {
        [_] => (0..curves.len()).map(|index| Ink::ordered(index, curves.len())).collect(),
        _ => curves.iter().map(|curve| Ink::Series(curve.run)).collect(),
    };
    let [.., chart, _, _, _] = ChartDescription::all();
    let panel = |axis: &ChartAxis| {
        let key = format!("{}_ms", axis.key);
        let both = inks.iter().zip(&curves);
        let drawn = both.filter_map(|(ink, one)| Some((*ink, one.quantiles.get(&key)?)));
        let drawn: Vec<(Ink, &Curve)> = drawn.filter(|(_, curve)| curve.len() > 1).collect();
        let titles = [format!("{} ({})", axis.title, axis.label), chart.across()];
        (!drawn.is_empty()).then(|| distribution(titles, &drawn))
    };
    let panels: Vec<Panel> = chart.up.iter().filter_map(panel).collect();
    if panels.is_empty() {
        return Err(parts::no_tapes("latencies"));
    }
    let entry = |(ink, one): (&Ink, &LineOwner<'_>)| {
        KeyEntry::new(Sign::Line(Stroke::solid(*ink)), one.name.clone())
    };
    let rows = panels.len().div_ceil(2) as u32;
    Ok(Sheet {
        title: chart.title.to_owned(),
        subtitle: parts::subtitle(runs),
        description:
            "Quantile curves: the longest time that the given share of requests (of tokens for \
             ITL) took. Each further nine has the same width on the horizontal axis."
                .to_owned(),
        size: (WIDTH, 150 + 280 * rows),
        columns: 2,
        panels,
        key: inks.iter().zip(&curves).map(entry).collect(),
        notes: vec!["The share on the axis took at most this long.".to_owned()],
    })
}

/// What a line is of: a level of a run.
#[derive(Clone)]
struct LineOwner<'a> {
    run: usize,
    name: String,
    quantiles: &'a BTreeMap<String, Curve>,
}

fn curves(runs: &[ChartRun]) -> Vec<LineOwner<'_>> {
    if let [run] = runs {
        let known = run.levels.iter().filter_map(|level| {
            let quantiles = &level.detail.as_ref()?.quantiles;
            Some(LineOwner { run: 0, name: level.load.clone(), quantiles })
        });
        let all: Vec<LineOwner<'_>> = known.collect();
        // Of many levels some that are evenly apart, the first and the last among them.
        let last = all.len().saturating_sub(1);
        let kept = all.len().min(MOST);
        let pick = |i: usize| i * last / kept.saturating_sub(1).max(1);
        return (0..kept).filter_map(|i| all.get(pick(i)).cloned()).collect();
    }
    let shown = runs.iter().enumerate().filter_map(|(index, run)| {
        let (level, detail) = parts::shown(run)?;
        let name = format!("{} at {}", run.name, parts::at(run, level));
        Some(LineOwner { run: index, name, quantiles: &detail.quantiles })
    });
    shown.collect()
}

fn distribution([title, across]: [String; 2], curves: &[(Ink, &Curve)]) -> Panel {
    let points = || curves.iter().flat_map(|(_, curve)| curve.iter());
    let (unit, per) = parts::latency_unit(points().map(|point| point.1));
    let latencies: Vec<f64> = points().map(|point| point.1 / per).collect();
    let most = points().map(|point| point.0).filter(|share| *share < 1.0).fold(0.0, f64::max);
    let line = |(ink, curve): &(Ink, &Curve)| {
        let places = curve.iter().map(|(share, ms)| (*share, ms / per));
        let stroke = Stroke { width: 2.0, ..Stroke::solid(*ink) };
        Mark::line(places, stroke)
    };
    Panel {
        x: Axis::shares(most),
        y: Axis::of(super::axis::AxisScale::Log, &latencies, 4),
        x_title: Some(across),
        y_title: format!("{title}, {unit}"),
        right: None,
        marks: curves.iter().map(line).collect(),
    }
}

/// Time to first token against the length of the prompt, a point a request.
pub(super) fn lengths(runs: &[ChartRun]) -> Result<Sheet, String> {
    let of = |run| parts::shown(run).map(|(_, detail): (_, &ChartDetail)| &detail.ttft_by_input);
    let clouds: Vec<(usize, Vec<AxisPoint>)> = runs
        .iter()
        .enumerate()
        .filter_map(|(index, run)| Some((index, of(run)?)))
        .map(|(index, pairs)| (index, pairs.iter().map(|(x, ms)| (*x as f64, *ms)).collect()))
        .filter(|(_, cloud): &(usize, Vec<AxisPoint>)| !cloud.is_empty())
        .collect();
    if clouds.is_empty() {
        return Err(parts::no_tapes("prompt of known length"));
    }
    let all = || clouds.iter().flat_map(|(_, cloud)| cloud.iter());
    let (unit, per) = parts::latency_unit(all().map(|at| at.1));
    let inputs: Vec<f64> = all().map(|at| at.0).collect();
    let latencies: Vec<f64> = all().map(|at| at.1 / per).collect();
    let dot = |index: usize, (x, ms): &AxisPoint| Mark::Dot {
        at: (*x, ms / per),
        ink: Ink::Series(index),
        shape: DotShape::Point,
    };
    let marks = clouds.iter().flat_map(|(index, cloud)| cloud.iter().map(|at| dot(*index, at)));
    let [.., chart] = ChartDescription::all();
    let panel = Panel {
        x: Axis::around(&inputs, 8),
        y: Axis::suited(&latencies, 7),
        x_title: Some(chart.across()),
        y_title: format!("{}, {unit}", chart.up("ttft")),
        right: None,
        marks: marks.collect(),
    };
    let note = format!("A point is a request, {} in all; equal ones overlap.", inputs.len());
    Ok(Sheet {
        title: chart.title.to_owned(),
        subtitle: parts::subtitle_at(runs),
        description: note.clone(),
        size: (WIDTH, HEIGHT),
        columns: 1,
        panels: vec![panel],
        key: parts::dot_key(runs),
        notes: vec![note],
    })
}
