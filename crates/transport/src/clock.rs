//! The real clock.

use std::time::{Duration, Instant};

use fizeau_core::{Clock, Stamp};

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

    /// `stamp` as the standard library's instant, to sleep until it.
    ///
    /// ```
    /// use fizeau_core::{Nanos, Stamp};
    /// use fizeau_transport::MonotonicClock;
    /// let clock = MonotonicClock::new();
    /// let start = clock.instant_at(Stamp::EPOCH);
    /// let later = clock.instant_at(Stamp::EPOCH + Nanos::from_millis(5));
    /// assert_eq!((later - start).as_millis(), 5);
    /// ```
    #[must_use]
    pub fn instant_at(&self, stamp: Stamp) -> Instant {
        // A stamp reaches 584 years; an instant counts whole seconds in 64 bits, so the sum always fits.
        self.epoch + Duration::from_nanos(stamp.as_nanos())
    }
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
