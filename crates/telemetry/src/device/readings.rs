//! Counters that an exporter reads now and then, and shows on every page.

use fizeau_core::Stamp;

use crate::samples::{Fetch, SeriesPoint};
use crate::window::{CounterOver, Window};

/// By how much the counter of `points` grew over `window`; none where its readings lie over less than half of the window. Between an edge
/// and the reading next to it, where none lies beyond, it grows as it does between the readings on the average: in the least not at all,
/// and at most by `most` a second, or as fast as between any two readings.
pub(super) fn grown(points: &[SeriesPoint], window: Window, most: f64) -> Option<CounterOver> {
    let readings = taken(points);
    if let Some(known) = CounterOver::of(&readings, window) {
        return Some(known);
    }
    let (first, last) = (readings.first()?, readings.last()?);
    let told = seconds(first.at().max(window.from), last.at().min(window.to));
    if told <= 0.0 || told * 2.0 < window.length().as_secs_f64() {
        return None;
    }
    let mean = rate(&readings)?;
    let fastest = readings.windows(2).filter_map(rate).fold(most.max(mean), f64::max);
    let growing = |rate: f64| CounterOver::of(&up_to_edges(&readings, window, rate), window);
    let (low, high) = (growing(0.0)?.low, growing(fastest)?.high);
    Some(CounterOver { low, high, ..growing(mean)? })
}

/// `readings`, and what the counter would have been at each edge that they do not reach where it grows by `rate` a second.
fn up_to_edges(readings: &[SeriesPoint], window: Window, rate: f64) -> Vec<SeriesPoint> {
    let mut all = readings.to_vec();
    let edge = |at, near: &SeriesPoint, grown: f64| SeriesPoint {
        fetch: Fetch { requested: at, answered: at },
        value: near.value.map(|value| value + grown),
        is_unclear: false,
    };
    if let Some(first) = readings.first().filter(|first| first.fetch.answered > window.from) {
        all.insert(0, edge(window.from, first, -rate * seconds(window.from, first.at())));
    }
    if let Some(last) = readings.last().filter(|last| last.fetch.requested < window.to) {
        all.push(edge(window.to, last, rate * seconds(last.at(), window.to)));
    }
    all
}

/// By how much a second the counter grew between the first and the last of `readings`; none of one.
fn rate(readings: &[SeriesPoint]) -> Option<f64> {
    let (first, last) = (readings.first()?, readings.last()?);
    let grown =
        CounterOver::of(readings, Window::alone(first.fetch.answered, last.fetch.requested))?;
    Some(grown.delta / seconds(first.at(), last.at())).filter(|rate| rate.is_finite())
}

fn seconds(from: Stamp, to: Stamp) -> f64 {
    to.saturating_since(from).as_secs_f64()
}

/// The first page with each value, since how old a value is on later ones cannot be known. That of the very first page counts where
/// the next one has another: the exporter looks as often as it is asked.
fn taken(points: &[SeriesPoint]) -> Vec<SeriesPoint> {
    let is_new = |before: &SeriesPoint, after: &SeriesPoint| {
        after.value.is_some() && before.value != after.value
    };
    let mut pairs = points.iter().zip(points.iter().skip(1)).peekable();
    let first =
        pairs.peek().filter(|(before, after)| is_new(before, after)).map(|(first, _)| **first);
    let later = pairs.filter(|(before, after)| is_new(before, after)).map(|(_, after)| *after);
    first.into_iter().chain(later).collect()
}
