//! The real clock.

use std::time::Instant;

use fizeau_core::{Clock, Nanos, Stamp};

/// The machine's monotonic clock, counted from an epoch of its own: the instant at which it was made.
///
/// The one place of this crate that reads the time. Copies share the epoch, so every worker of a run takes a
/// copy of one clock and all stamps of the run are comparable.
///
/// ```
/// use fizeau_core::Clock;
/// use fizeau_transport::MonotonicClock;
/// let clock = MonotonicClock::new();
/// let first = clock.now();
/// assert!(clock.now() >= first);
/// ```
#[derive(Debug, Clone, Copy)]
pub struct MonotonicClock {
    epoch: Instant,
}

impl MonotonicClock {
    /// A clock whose epoch is now.
    #[must_use]
    pub fn new() -> Self {
        Self { epoch: Instant::now() }
    }
}

/// By how much this machine's wall clock may be off the true time at the most, as its kernel estimates (`maxerror` of adjtimex(2),
/// which NTP and PTP daemons keep); none where the system does not report it, or nobody sets the clock by another.
#[must_use]
pub fn wall_clock_error() -> Option<Nanos> {
    crate::http::wall_clock_error()
}

impl Default for MonotonicClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for MonotonicClock {
    fn now(&self) -> Stamp {
        let passed = self.epoch.elapsed().as_nanos();
        Stamp::from_nanos(u64::try_from(passed).unwrap_or(u64::MAX))
    }
}
