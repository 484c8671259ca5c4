//! Real time, waited for exactly.

mod alarm;

use fizeau_core::{Clock, Nanos, Stamp, Timer};
use fizeau_transport::MonotonicClock;

use alarm::Alarms;

/// A [`Timer`] on a real clock that is exact to some microseconds, for one worker and its event loop.
///
/// Timers of async runtimes tick in milliseconds, which would bunch the sends of an open loop, and being woken by another
/// thread costs tens of microseconds. Here the worker's own event loop sleeps on an alarm of the kernel's until
/// [`Pacer::SPIN`] before the instant, then goes round and round, serving sockets as it does, until the instant has come.
/// So each wait burns at most about [`Pacer::SPIN`] of CPU time, and a closed loop, which does not wait, none.
///
/// On systems other than Linux the runtime's own timer stands in for the alarm, and a wait burns up to two milliseconds.
///
/// ```
/// use fizeau_core::{Clock, Nanos, Timer};
/// use fizeau_harness::Pacer;
/// use fizeau_transport::MonotonicClock;
///
/// let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
/// let pacer = Pacer::new(MonotonicClock::new());
/// let due = pacer.now() + Nanos::from_micros(300);
/// runtime.block_on(pacer.sleep_until(due));
/// assert!(pacer.now() >= due);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Pacer<C = MonotonicClock> {
    clock: C,
    alarms: Alarms,
}

impl Pacer {
    /// How long before an instant the sleeping ends and the spinning begins: what it takes to wake an idle core, with a
    /// margin.
    pub const SPIN: Nanos = Nanos::from_micros(60);
}

impl<C: Clock> Pacer<C> {
    /// A pacer on `clock`, which must go as fast as the machine's. Waiting needs a tokio runtime with I/O and time; clones share what they wait with, so a pacer
    /// stays with the runtime on which it first waited.
    #[must_use]
    pub fn new(clock: C) -> Self {
        Self { clock, alarms: Alarms::default() }
    }
}

impl<C: Clock> Clock for Pacer<C> {
    fn now(&self) -> Stamp {
        self.clock.now()
    }
}

impl<C: Clock> Timer for Pacer<C> {
    /// # Panics
    /// Outside of a tokio runtime with I/O and time.
    async fn sleep_until(&self, at: Stamp) {
        self.alarms.nap_until(&self.clock, at - Pacer::SPIN).await;
        while self.clock.now() < at {
            // Not a bare spin: what arrives meanwhile is stamped when it arrives.
            tokio::task::yield_now().await;
        }
    }
}
