//! Alarms of the kernel's, as file descriptors that an event loop waits for beside its sockets.

use std::time::Duration;

use fizeau_core::{Clock, Nanos, Stamp};

/// What a pacer sleeps with: an alarm for each sleeper, used again by the next.
#[derive(Debug, Clone, Default)]
pub(super) struct Alarms {
    #[cfg(target_os = "linux")]
    idle: kernel::AlarmPool,
}

impl Alarms {
    /// Sleeps until about `at`, never past it by more than the system takes to wake a thread; where there is no alarm,
    /// some milliseconds less.
    pub(super) async fn nap_until(&self, clock: &impl Clock, at: Stamp) {
        if clock.now() >= at {
            return;
        }
        #[cfg(target_os = "linux")]
        if let Some(alarm) = self.idle.take() {
            return alarm.wait_until(clock, at).await;
        }
        let left = (at - COARSE).saturating_since(clock.now());
        if left > Nanos::ZERO {
            tokio::time::sleep(Duration::from_nanos(left.as_nanos())).await;
        }
    }
}

/// A tick of the runtime's own timer, and one for its rounding up.
const COARSE: Nanos = Nanos::from_millis(2);

#[cfg(target_os = "linux")]
mod kernel {
    use std::io;
    use std::os::fd::OwnedFd;
    use std::sync::{Arc, Mutex, PoisonError};

    use fizeau_core::{Clock, Stamp};
    use rustix::time::{
        Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
        timerfd_settime,
    };
    use tokio::io::Interest;
    use tokio::io::unix::AsyncFd;

    type Fd = AsyncFd<OwnedFd>;

    /// Alarms that nobody sleeps on. The lock is each worker's own, and never contended.
    #[derive(Debug, Clone, Default)]
    pub(super) struct AlarmPool(Arc<Mutex<Vec<Fd>>>);

    impl AlarmPool {
        /// An alarm; none if the system has no file descriptor left.
        pub(super) fn take(&self) -> Option<PacerAlarm> {
            let idle = self.0.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let fd = idle.map_or_else(make, Ok).ok()?;
            Some(PacerAlarm { fd: Some(fd), pool: self.clone() })
        }
    }

    fn make() -> io::Result<Fd> {
        let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
        let fd = timerfd_create(TimerfdClockId::Monotonic, flags)?;
        #[expect(
            deprecated,
            reason = "what replaces it is unsafe for borrowed descriptors; this one is owned"
        )]
        AsyncFd::with_interest(fd, Interest::READABLE)
    }

    /// An alarm in use; it goes back to its pool when dropped.
    pub(super) struct PacerAlarm {
        fd: Option<Fd>,
        pool: AlarmPool,
    }

    impl PacerAlarm {
        /// A system that refuses to set an alarm leaves the wait to the caller's spinning.
        pub(super) async fn wait_until(self, clock: &impl Clock, at: Stamp) {
            let Some(fd) = &self.fd else { return };
            let left = at.saturating_since(clock.now()).as_nanos();
            if left == 0 || set(fd, left).is_err() {
                return;
            }
            while clock.now() < at {
                // What the last sleeper left unread shows as ready once; then the alarm is waited for.
                match fd.readable().await {
                    Ok(mut ready) => ready.clear_ready(),
                    Err(_) => return,
                }
            }
        }
    }

    impl Drop for PacerAlarm {
        fn drop(&mut self) {
            let mut idle = self.pool.0.lock().unwrap_or_else(PoisonError::into_inner);
            idle.extend(self.fd.take());
        }
    }

    /// Rings once, `nanos` from now; what was set before is forgotten.
    fn set(fd: &Fd, nanos: u64) -> io::Result<()> {
        let once = Timespec { tv_sec: 0, tv_nsec: 0 };
        let left = Timespec {
            tv_sec: i64::try_from(nanos / 1_000_000_000).unwrap_or(i64::MAX),
            tv_nsec: (nanos % 1_000_000_000) as _,
        };
        let value = Itimerspec { it_interval: once, it_value: left };
        timerfd_settime(fd.get_ref(), TimerfdTimerFlags::empty(), &value)?;
        Ok(())
    }
}
