//! Charts of memory: bandwidth by size and by threads, latency by size and under load.

use fizeau_core::Bytes;
use fizeau_probe::{
    Component, Figure, Operation, PageAdvice, Peak, Plateau, ProbeDocument, ProbeRow, StoreKind,
};

use super::{DRAWN, Gathered, TYPICAL, giga, point, prefix, threads, typical_point};
use crate::Shown;
use crate::pictures::{
    CurveAxis, CurveChart, CurveLevel, CurveLimit, CurvePanel, CurveSeries, CurveStyle,
};
use crate::probe::cells;

/// A curve by size has as many points at least; fewer are no curve.
const FEWEST_SIZES: usize = 3;

/// Bandwidth by size.
pub(super) fn by_size(of: &Shown<'_, ProbeDocument>) -> Option<CurveChart> {
    let mut gathered = Gathered::default();
    for row in of.believed() {
        let Some((kernel, Some(bytes))) = kernel(row) else { continue };
        let count = row.measured.method.threads.map(|count| format!(", {}", threads(count)));
        let name = format!("{}{kernel}{}", prefix(of, row), count.unwrap_or_default());
        if let Some(rate) = row.figures.stream.or_else(|| row.figures.bandwidth()) {
            gathered.add(name, point(bytes.get(), giga(rate)));
        }
    }
    let mut series = gathered.series(FEWEST_SIZES, CurveStyle::Joined);
    for plateau in of.plateaus.iter().filter(|plateau| plateau.curve != "latency") {
        // `triad by 8` is drawn as `triad, 8 threads`.
        let of = plateau.curve.split_once(" by ");
        let of = of.and_then(|(kernel, count)| Some((kernel, count.parse().ok()?)));
        let Some((kernel, count)) = of else { continue };
        let drawn = format!("{kernel}, {}", threads(count));
        add_level(&mut series, plateau, |curve| curve.ends_with(&drawn));
    }
    let limits = specified_memory(of);
    chart(of, "Bandwidth of memory by size", series, |series| CurvePanel {
        across: CurveAxis::Sizes("Arrays, all together".to_owned()),
        up: CurveAxis::Suited("Bandwidth, each array counted once, GB/s".to_owned()),
        series,
        limits,
    })
}

/// Bandwidth of the largest arrays by threads: of each kernel by the better of its kinds of stores.
pub(super) fn by_threads(of: &Shown<'_, ProbeDocument>) -> Option<CurveChart> {
    let largest = |row: &ProbeRow| {
        let alike = of.believed().filter(|other| other.measured.device == row.measured.device);
        let alike = alike.filter(|other| name_of(other) == name_of(row));
        alike.filter_map(size_of).fold(0.0, f64::max)
    };
    let mut gathered = Gathered::default();
    for row in of.believed() {
        let (Some(name), Some(count)) = (name_of(row), row.measured.method.threads) else {
            continue;
        };
        // Sizes of kernels differ by their number of arrays: of each the largest.
        let is_largest = size_of(row).is_none_or(|bytes| bytes >= largest(row));
        let rate = row.figures.stream.or_else(|| row.figures.bandwidth());
        if let Some(rate) = rate.filter(|_| is_largest) {
            let name = format!("{}{name}", prefix(of, row));
            gathered.add(name, point(f64::from(count), giga(rate)));
        }
    }
    let series = gathered.series(2, CurveStyle::Joined);
    let limits = specified_memory(of);
    chart(of, "Bandwidth of memory by threads", series, |series| CurvePanel {
        across: CurveAxis::Counts("Threads".to_owned()),
        up: CurveAxis::Suited("Bandwidth, each array counted once, GB/s".to_owned()),
        series,
        limits,
    })
}

/// How long a load takes, by size.
pub(super) fn latency(of: &Shown<'_, ProbeDocument>) -> Option<CurveChart> {
    let mut gathered = Gathered::default();
    for row in of.believed() {
        let Operation::Latency { working_set: Some(bytes), path } = &row.measured.operation else {
            continue;
        };
        let pages = row.measured.method.pages.map(|pages| pages.requested);
        let pages = match pages {
            Some(PageAdvice::Small) => ", small pages",
            Some(PageAdvice::Huge) => ", huge pages",
            _ => "",
        };
        let path = path.as_deref().map(|path| format!(" {path}")).unwrap_or_default();
        if let Some(time) = nanos(row) {
            gathered.add(format!("{}load{path}{pages}", prefix(of, row)), point(bytes.get(), time));
        }
    }
    let mut series = gathered.series(1, CurveStyle::Joined);
    for plateau in of.plateaus.iter().filter(|plateau| plateau.curve == "latency") {
        add_level(&mut series, plateau, |curve| !curve.contains("small"));
    }
    let is_curve = series.iter().any(|of| of.points.len() >= FEWEST_SIZES);
    let series = if is_curve { series } else { Vec::new() };
    chart(of, "Latency of a load by size", series, |series| CurvePanel {
        across: CurveAxis::Sizes("What the pointers lie in".to_owned()),
        up: CurveAxis::Suited("Time of a load that waits for the one before, ns".to_owned()),
        series,
        limits: Vec::new(),
    })
}

/// How long a load takes beside traffic, by the traffic.
pub(super) fn loaded_latency(of: &Shown<'_, ProbeDocument>) -> Option<CurveChart> {
    let mut gathered = Gathered::default();
    for row in of.believed() {
        let Operation::LoadedLatency { injectors, .. } = &row.measured.operation else { continue };
        let beside = row.measured.circumstances.beside;
        let (Some(traffic), Some(time)) = (beside, nanos(row)) else { continue };
        let beside = injectors.map(|count| format!(" beside {} that read", threads(count)));
        let name = format!("{}load{}", prefix(of, row), beside.unwrap_or_default());
        // What is typical of both: the best load is that during which the traffic paused.
        gathered.add(name, typical_point(traffic.get() / 1e9, time));
    }
    let series = gathered.series(2, CurveStyle::Joined);
    let limits = Vec::new();
    let mut drawn = chart(of, "Latency of a load under traffic", series, |series| CurvePanel {
        across: CurveAxis::Suited("Traffic to memory at the same time, GB/s".to_owned()),
        up: CurveAxis::Suited("Time of a load that waits for the one before, ns".to_owned()),
        series,
        limits,
    })?;
    drawn.notes = vec![TYPICAL.to_owned()];
    Some(drawn)
}

/// What streams over memory, and over how much of it.
fn kernel(row: &ProbeRow) -> Option<(String, Option<Bytes>)> {
    let Operation::Memory { kernel, stores, working_set } = &row.measured.operation else {
        return None;
    };
    let past = if *stores == Some(StoreKind::NonTemporal) { ", past caches" } else { "" };
    Some((format!("{kernel}{past}"), *working_set))
}

/// The kernel alone.
fn name_of(row: &ProbeRow) -> Option<&'static str> {
    match &row.measured.operation {
        Operation::Memory { kernel, .. } => Some(kernel.as_str()),
        _ => None,
    }
}

fn size_of(row: &ProbeRow) -> Option<f64> {
    kernel(row)?.1.map(Bytes::get)
}

fn nanos(row: &ProbeRow) -> Option<Figure<f64>> {
    Some(row.figures.time?.map(|time| time.get() * 1e6))
}

fn specified_memory(of: &Shown<'_, ProbeDocument>) -> Vec<CurveLimit> {
    let is_measured =
        of.rows.iter().any(|row| row.measured.operation.component() == Component::Memory);
    let found = of.printed(|peak, _| matches!(peak, Peak::Bandwidth(_)));
    let limit = |(rate, source): (f64, &str)| CurveLimit {
        at: rate / 1e9,
        text: format!("data sheet: {} GB/s ({source})", cells::figure(rate / 1e9)),
    };
    found.filter(|_| is_measured).map(limit).into_iter().collect()
}

/// Draws a level of memory over the curve that it is of.
fn add_level(series: &mut [CurveSeries], plateau: &Plateau, is_its: impl Fn(&str) -> bool) {
    let mut own = series.iter_mut().filter(|series| is_its(&series.name));
    if let Some(series) = own.find(|series| !series.points.is_empty()) {
        let (from, to) = (plateau.from.get(), plateau.to.get());
        let (at, unit) = match plateau.curve == "latency" {
            true => (plateau.value, "ns"),
            false => (plateau.value / 1e9, "GB/s"),
        };
        let label = format!("{} {} {unit}", plateau.level, cells::figure(at));
        series.levels.push(CurveLevel { from, to, at, label });
    }
}

/// A chart of one panel; none without a series.
fn chart(
    of: &Shown<'_, ProbeDocument>,
    title: &str,
    series: Vec<CurveSeries>,
    panel: impl FnOnce(Vec<CurveSeries>) -> CurvePanel,
) -> Option<CurveChart> {
    if series.is_empty() {
        return None;
    }
    let mut notes = vec![DRAWN.to_owned()];
    let has_levels = series.iter().any(|series| !series.levels.is_empty());
    notes.extend(has_levels.then(|| {
        "Broad dotted lines are levels of memory: sizes over which the figure stays.".to_owned()
    }));
    let description = described(title, &series);
    Some(CurveChart {
        title: title.to_owned(),
        subtitle: of.subject(),
        description,
        panels: vec![panel(series)],
        notes,
    })
}

/// What a chart shows, for whoever cannot see it: the ends of each series.
pub(super) fn described(title: &str, series: &[CurveSeries]) -> String {
    let one = |series: &CurveSeries| {
        let (first, last) = (series.points.first()?, series.points.last()?);
        let [low, high] = [first, last].map(|point| cells::figure(point.at.1));
        Some(format!("{}: from {low} to {high}", series.name))
    };
    let all: Vec<String> = series.iter().filter_map(one).collect();
    format!("{title}. {}.", all.join("; "))
}
