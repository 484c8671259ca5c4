//! Sleeping until just before an instant.

use std::io;
use std::time::Duration;

use fizeau_core::Nanos;
use mio::{Registry, Token};

/// How long before an instant to stop sleeping and watch the clock: waking a thread costs some tens of
/// microseconds, and more on a virtual machine.
const WATCH: Nanos = Nanos::from_micros(60);

/// Wakes a poll. Polls themselves sleep by the millisecond; where the system has finer timers, this is one.
pub(super) struct PollAlarm(Timer);

impl PollAlarm {
    /// An alarm that wakes polls of `registry` with `token`.
    pub(super) fn new(registry: &Registry, token: Token) -> io::Result<Self> {
        Timer::new(registry, token).map(Self)
    }

    /// Arms the alarm for something due after `left`: how long to poll at most. Zero when it is so near that the
    /// clock is to be watched.
    pub(super) fn arm(&self, left: Nanos) -> io::Result<Option<Duration>> {
        match left.saturating_sub(WATCH) {
            Nanos::ZERO => Ok(Some(Duration::ZERO)),
            sleep => self.0.arm(sleep.into()),
        }
    }
}

#[cfg(target_os = "linux")]
use fine::Timer;

#[cfg(target_os = "linux")]
mod fine {
    use std::io;
    use std::os::fd::{AsRawFd, OwnedFd};
    use std::time::Duration;

    use mio::unix::SourceFd;
    use mio::{Interest, Registry, Token};
    use rustix::time::{
        Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
        timerfd_settime,
    };

    pub(super) struct Timer(OwnedFd);

    impl Timer {
        pub(super) fn new(registry: &Registry, token: Token) -> io::Result<Self> {
            let flags = TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK;
            let timer = timerfd_create(TimerfdClockId::Monotonic, flags)?;
            registry.register(&mut SourceFd(&timer.as_raw_fd()), token, Interest::READABLE)?;
            Ok(Self(timer))
        }

        pub(super) fn arm(&self, sleep: Duration) -> io::Result<Option<Duration>> {
            // Arming takes back an expiry that was not read, so each expiry wakes the poll once.
            let once = Itimerspec {
                it_interval: Timespec { tv_sec: 0, tv_nsec: 0 },
                it_value: Timespec {
                    tv_sec: i64::try_from(sleep.as_secs()).unwrap_or(i64::MAX),
                    tv_nsec: sleep.subsec_nanos().into(),
                },
            };
            timerfd_settime(&self.0, TimerfdTimerFlags::empty(), &once)?;
            Ok(None)
        }
    }
}

#[cfg(not(target_os = "linux"))]
use coarse::Timer;

#[cfg(not(target_os = "linux"))]
mod coarse {
    use std::io;
    use std::time::Duration;

    use mio::{Registry, Token};

    pub(super) struct Timer;

    impl Timer {
        pub(super) fn new(_: &Registry, _: Token) -> io::Result<Self> {
            Ok(Self)
        }

        /// Whole milliseconds, rounded down: what is left is watched.
        pub(super) fn arm(&self, sleep: Duration) -> io::Result<Option<Duration>> {
            let millis = u64::try_from(sleep.as_millis()).unwrap_or(u64::MAX);
            Ok(Some(Duration::from_millis(millis)))
        }
    }
}
