//! The steady window of vLLM's Rust client.

use std::collections::BTreeMap;

use fizeau_core::Stamp;

use super::buckets::RequestSpan;

/// The share of the cap that counts as full.
const THRESHOLD: f64 = 0.95;

/// From the first instant at which enough requests were in flight to the last. It stays open when there are
/// fewer for a while in between.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Window {
    pub(super) start: Stamp,
    pub(super) end: Stamp,
    pub(super) peak: u64,
}

/// The window over `flights` under a cap of `target`; none if the threshold was never reached.
pub(super) fn window(flights: &[RequestSpan], target: u32) -> Option<Window> {
    let mut changes: BTreeMap<Stamp, i64> = BTreeMap::new();
    for flight in flights {
        *changes.entry(flight.sent).or_default() += 1;
        *changes.entry(flight.over.max(flight.sent)).or_default() -= 1;
    }
    let threshold = THRESHOLD * f64::from(target);
    let (mut now, mut peak, mut start, mut end) = (0_i64, 0_i64, None, None);
    for (at, change) in changes {
        let before = now;
        now += change;
        peak = peak.max(now);
        if start.is_none() && now as f64 >= threshold {
            start = Some(at);
        }
        if before as f64 >= threshold && (now as f64) < threshold {
            end = Some(at);
        }
    }
    let peak = u64::try_from(peak).unwrap_or_default();
    Some(Window { start: start?, end: end?, peak })
}

/// How many of these events came within the window, its two ends included.
pub(super) fn events_within(instants: impl Iterator<Item = Stamp>, window: &Window) -> u64 {
    instants.filter(|at| (window.start..=window.end).contains(at)).count() as u64
}
