//! Real time, waited for exactly.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::future::{Future, poll_fn};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::task::Poll;
use std::thread;

use fizeau_core::{Clock, Nanos, Stamp, Timer};
use fizeau_transport::MonotonicClock;
use futures_util::task::AtomicWaker;

/// How long before an alarm is due its thread stops sleeping and spins: a little over Linux's default timer slack of
/// 50 us.
const SPIN: Nanos = Nanos::from_micros(80);

/// A [`Timer`] on the real clock that is exact to tens of microseconds.
///
/// Timers of async runtimes tick in milliseconds, which would bunch the sends of an open loop. Here a thread of its own
/// sleeps until just before an alarm, spins the rest, and wakes the waiting task; the measuring thread never spins.
#[derive(Debug, Clone)]
pub struct Pacer {
    clock: MonotonicClock,
    alarms: Sender<Alarm>,
}

impl Pacer {
    /// Starts the pacing thread. It ends when the last clone of the pacer is dropped.
    ///
    /// # Errors
    /// If the system refuses a thread.
    pub fn start(clock: MonotonicClock) -> std::io::Result<Self> {
        let (alarms, inbox) = mpsc::channel();
        thread::Builder::new().name("fizeau-pacer".into()).spawn(move || ring(clock, &inbox))?;
        Ok(Self { clock, alarms })
    }
}

impl Clock for Pacer {
    fn now(&self) -> Stamp {
        self.clock.now()
    }
}

impl Timer for Pacer {
    fn sleep_until(&self, at: Stamp) -> impl Future<Output = ()> {
        let mut asleep: Option<Sleeper> = None;
        poll_fn(move |cx| {
            if self.clock.now() >= at {
                return Poll::Ready(());
            }
            if let Some(sleeper) = &asleep {
                sleeper.0.waker.register(cx.waker());
            } else {
                let bell = Arc::new(Bell::default());
                bell.waker.register(cx.waker());
                asleep = Some(Sleeper(Arc::clone(&bell)));
                // The thread lives as long as any sender: this one.
                let _ = self.alarms.send(Alarm { at, bell });
            }
            // The bell may have rung between the two looks at the clock.
            if self.clock.now() >= at { Poll::Ready(()) } else { Poll::Pending }
        })
    }
}

#[derive(Debug, Default)]
struct Bell {
    abandoned: AtomicBool,
    waker: AtomicWaker,
}

/// The waiting side; tells the thread when nobody waits any more, so that it does not spin for nothing.
struct Sleeper(Arc<Bell>);

impl Drop for Sleeper {
    fn drop(&mut self) {
        self.0.abandoned.store(true, Ordering::Release);
    }
}

#[derive(Debug)]
struct Alarm {
    at: Stamp,
    bell: Arc<Bell>,
}

impl PartialEq for Alarm {
    fn eq(&self, other: &Self) -> bool {
        self.at == other.at
    }
}

impl Eq for Alarm {}

impl PartialOrd for Alarm {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Alarm {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.at.cmp(&other.at)
    }
}

/// The pacing thread: sleeps until the earliest alarm is near, spins the rest, rings it.
fn ring(clock: MonotonicClock, inbox: &Receiver<Alarm>) {
    let mut alarms: BinaryHeap<Reverse<Alarm>> = BinaryHeap::new();
    loop {
        let received = match alarms.peek() {
            None => inbox.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some(Reverse(next)) => {
                let sleep = (next.at - SPIN).saturating_since(clock.now());
                inbox.recv_timeout(sleep.into())
            }
        };
        match received {
            Ok(alarm) => alarms.push(Reverse(alarm)),
            Err(RecvTimeoutError::Disconnected) => return,
            Err(RecvTimeoutError::Timeout) => {
                if let Some(Reverse(alarm)) = alarms.pop() {
                    spin_until(clock, &alarm);
                    alarm.bell.waker.wake();
                }
            }
        }
    }
}

fn spin_until(clock: MonotonicClock, alarm: &Alarm) {
    while clock.now() < alarm.at && !alarm.bell.abandoned.load(Ordering::Acquire) {
        std::hint::spin_loop();
    }
}
