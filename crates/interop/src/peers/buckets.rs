//! Peaks by the second, as vLLM's and SGLang's clients count them.

use std::collections::BTreeMap;

use fizeau_core::Stamp;

const SECOND_NS: u64 = 1_000_000_000;

/// The two peaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Peaks {
    /// Most requests that touch one second: not in flight together, merely within the same second.
    pub(super) requests: u64,
    /// Most events in one second, which pass for tokens.
    pub(super) tokens: u64,
}

/// When a request was sent, and when it was over.
#[derive(Debug, Clone, Copy)]
pub(super) struct RequestSpan {
    pub(super) sent: Stamp,
    pub(super) over: Stamp,
}

/// The peaks over seconds that are counted from the first sending on, of requests whose events came at these `instants`, those of one
/// reply after those of another.
pub(super) fn peaks(flights: &[RequestSpan], instants: impl Iterator<Item = Stamp>) -> Peaks {
    let Some(origin) = flights.iter().map(|flight| flight.sent).min() else {
        return Peaks::default();
    };
    let second = |at: Stamp| at.saturating_since(origin).as_nanos() / SECOND_NS;
    let mut tokens: BTreeMap<u64, u64> = BTreeMap::new();
    // Of one reply many come within one second.
    let (mut here, mut within) = (0, 0);
    for at in instants.map(second) {
        if at != here {
            *tokens.entry(here).or_default() += std::mem::take(&mut within);
            here = at;
        }
        within += 1;
    }
    *tokens.entry(here).or_default() += within;
    // What enters with a second and what has left with the next.
    let mut changes: BTreeMap<u64, i64> = BTreeMap::new();
    for flight in flights {
        *changes.entry(second(flight.sent)).or_default() += 1;
        *changes.entry(second(flight.over.max(flight.sent)) + 1).or_default() -= 1;
    }
    let touching = changes.values().scan(0, |now, change| {
        *now += change;
        Some(*now)
    });
    Peaks {
        requests: touching.max().and_then(|peak: i64| u64::try_from(peak).ok()).unwrap_or_default(),
        tokens: tokens.values().copied().max().unwrap_or_default(),
    }
}
