//! How many requests are under way, for whoever watches.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// How many requests of a level's load are in flight: released, and their tapes not yet made. Warm-up requests and probes do
/// not count.
///
/// Clones share the count, and any thread may read it at any time. The drivers of all workers keep it with one atomic
/// addition as a request leaves and one as it is back; nothing is sent, locked or woken for it.
///
/// ```
/// use fizeau_harness::InFlight;
///
/// assert_eq!(InFlight::default().get(), 0);
/// ```
#[derive(Debug, Clone, Default)]
pub struct InFlight(Arc<AtomicU64>);

impl InFlight {
    /// How many there are now. Between a request that is back and its notice there is a moment in which it is in neither.
    #[must_use]
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    /// One left.
    pub(crate) fn left(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// So many are back.
    pub(crate) fn back(&self, count: u64) {
        self.0.fetch_sub(count, Ordering::Relaxed);
    }
}
