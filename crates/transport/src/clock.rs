//! The real clock.

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
    epoch: Reading,
}

impl MonotonicClock {
    /// A clock whose epoch is now.
    #[must_use]
    pub fn new() -> Self {
        Self { epoch: Reading::now() }
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
        Stamp::from_nanos(self.epoch.nanos_since())
    }
}

#[cfg(not(target_os = "linux"))]
use portable::Reading;
#[cfg(target_os = "linux")]
use system::Reading;

/// Of the kernel's clock itself: a token costs two readings, and the standard library's arithmetic around one takes longer than it.
#[cfg(target_os = "linux")]
mod system {
    use rustix::time::{ClockId, Timespec, clock_gettime};

    /// A reading: the time since the machine began.
    #[derive(Debug, Clone, Copy)]
    pub(super) struct Reading(Timespec);

    impl Reading {
        pub(super) fn now() -> Self {
            Self(clock_gettime(ClockId::Monotonic))
        }

        /// The time from it to now.
        pub(super) fn nanos_since(self) -> u64 {
            let Self(now) = Self::now();
            let seconds = now.tv_sec - self.0.tv_sec;
            // It never goes back, and a program does not run for 292 years.
            (seconds * 1_000_000_000 + (now.tv_nsec - self.0.tv_nsec)).cast_unsigned()
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod portable {
    use std::time::Instant;

    /// A reading of the standard library's clock.
    #[derive(Debug, Clone, Copy)]
    pub(super) struct Reading(Instant);

    impl Reading {
        pub(super) fn now() -> Self {
            Self(Instant::now())
        }

        /// The time from it to now.
        pub(super) fn nanos_since(self) -> u64 {
            u64::try_from(self.0.elapsed().as_nanos()).unwrap_or(u64::MAX)
        }
    }
}
