//! Gauges.

use fizeau_core::{Nanos, Stamp, document};

use super::Window;
use crate::samples::SeriesPoint;

document! {
    /// What a gauge was over a window, by the pages within it: those around a level are of an idle server. Between pages nobody knows: each
    /// value stands for the time that is nearer to its page than to another, and not for longer than it may be held.
    #[derive(Copy)]
    #[non_exhaustive]
    pub struct GaugeOver {
        /// The mean, each value weighted by the time that it stands for.
        pub mean: f64,
        /// The least value that was seen; absent of several servers together, as the peak is.
        pub min?: f64,
        /// The largest that was seen; absent of several servers together, whose peaks need not be of one instant.
        pub peak?: f64,
        /// On how many pages it was seen.
        pub pages: u32,
        /// How many times it changed from one page to the next: an exporter that looks every 30 s says the same for 30 pages.
        pub changes: u32,
        /// The mean time between two changes: its true resolution. Absent with fewer than two changes.
        pub resolution as "resolution_ms"?: fizeau_core::Millis,
        /// The share of the window that values stand for, 0 to 1: less than 1 where pages did not come.
        pub covered: f64,
    }
}

impl GaugeOver {
    /// What the gauge of `points` (one a page, in order) was over `window`, where a value stands for at most `hold` on either side
    /// of its page; none where no page within the window says.
    #[must_use]
    pub fn of(points: &[SeriesPoint], window: Window, hold: Nanos) -> Option<Self> {
        let seen = points.iter().filter_map(|point| Some((point.at(), point.value?)));
        let within: Vec<(Stamp, f64)> =
            seen.filter(|(at, _)| window.from <= *at && *at <= window.to).collect();
        let (_, first) = *within.first()?;
        let weights = weights(&within, window, hold);
        let covered: f64 = weights.iter().sum();
        let sum: f64 = within.iter().zip(&weights).map(|((_, value), weight)| value * weight).sum();
        let values = || within.iter().map(|(_, value)| *value);
        let mean = if covered > 0.0 { sum / covered } else { first };
        let length = window.length().as_secs_f64();
        let (changes, resolution) = changes(&within);
        Some(Self {
            mean,
            min: Some(values().fold(first, f64::min)),
            peak: Some(values().fold(first, f64::max)),
            pages: u32::try_from(within.len()).unwrap_or(u32::MAX),
            changes,
            resolution: resolution.map(Nanos::to_millis),
            covered: if length > 0.0 { (covered / length).min(1.0) } else { 1.0 },
        })
    }

    /// The same in another unit.
    #[must_use]
    pub fn scaled(self, factor: f64) -> Self {
        let Self { mean, min, peak, .. } = self;
        Self {
            mean: mean * factor,
            min: min.map(|min| min * factor),
            peak: peak.map(|peak| peak * factor),
            ..self
        }
    }
}

/// For how many seconds of the window each value stands.
fn weights(seen: &[(Stamp, f64)], window: Window, hold: Nanos) -> Vec<f64> {
    let time = |at: usize| seen.get(at).map(|(at, _)| *at);
    let halfway = |left: Stamp, right: Stamp| left + right.saturating_since(left) / 2;
    (0..seen.len())
        .filter_map(|place| {
            let at = time(place)?;
            let before = place.checked_sub(1).and_then(time);
            let from = before.map_or(window.from, |before| halfway(before, at));
            let to = time(place + 1).map_or(window.to, |behind| halfway(at, behind));
            let from = from.max(at - hold).max(window.from);
            let to = to.min(at + hold).min(window.to);
            Some(to.saturating_since(from).as_secs_f64())
        })
        .collect()
}

/// How often the value changed, and the mean time between changes.
fn changes(seen: &[(Stamp, f64)]) -> (u32, Option<Nanos>) {
    let pairs = seen.iter().zip(seen.iter().skip(1));
    let at: Vec<Stamp> = pairs
        .filter(|((_, before), (_, after))| before.to_bits() != after.to_bits())
        .map(|(_, (at, _))| *at)
        .collect();
    let length = at.last().zip(at.first()).map(|(last, first)| last.saturating_since(*first));
    let between = at.len().saturating_sub(1) as u64;
    let resolution = length.filter(|_| between > 0).map(|length| length / between);
    (u32::try_from(at.len()).unwrap_or(u32::MAX), resolution)
}
