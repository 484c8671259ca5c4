//! A clock that jumps, and the executor that makes it jump.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::fmt;
use std::pin::{Pin, pin};
use std::rc::{Rc, Weak};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use fizeau_core::{Clock, Stamp, Timer};

/// Virtual time: a clock, a timer and a single-threaded executor in one.
///
/// Time stands still while anything can run. When nothing can, it jumps to the next timer or engine event, so
/// that an hour of load takes as long as its computation. Clones share the one clock.
///
/// ```
/// use fizeau_core::{Clock, Nanos, Stamp, Timer};
/// use fizeau_sim::VirtualTime;
///
/// let time = VirtualTime::new();
/// let hour = Nanos::from_secs(3_600);
/// time.block_on(time.sleep_until(Stamp::EPOCH + hour))?;
/// assert_eq!(time.now(), Stamp::EPOCH + hour);
/// assert!(time.block_on(std::future::pending::<()>()).is_err());
/// # Ok::<(), fizeau_sim::Deadlock>(())
/// ```
#[derive(Clone, Default)]
pub struct VirtualTime {
    shared: Rc<TimeState>,
}

/// Nothing can run, and nothing will happen that could change that: the future waits for something outside of
/// virtual time, or for itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "nothing can run and nothing is due, {} after the epoch: \
     a future waits for what no timer and no engine will bring",
    .at.saturating_since(Stamp::EPOCH)
)]
#[non_exhaustive]
pub struct Deadlock {
    /// The virtual instant at which everything stood still.
    pub at: Stamp,
}

/// Something beside timers that makes things happen: an engine.
pub(crate) trait EventSource {
    /// When something will happen next.
    fn next_event(&self) -> Option<Stamp>;

    /// Lets time pass until `to`; the tasks that can go on are added to `ready`, not woken, because what
    /// waking runs may come back to the source.
    fn advance(&self, to: Stamp, ready: &mut Vec<Waker>);
}

#[derive(Default)]
struct TimeState {
    now: Cell<Stamp>,
    timers: RefCell<BTreeMap<TimerKey, Waker>>,
    next_timer: Cell<u64>,
    sources: RefCell<Vec<Weak<dyn EventSource>>>,
}

/// When it is due, and a number that makes it unique and keeps the order of registration among equals.
type TimerKey = (Stamp, u64);

impl VirtualTime {
    /// A clock that stands at the epoch.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Runs `future` to its end, jumping over all waiting.
    ///
    /// At one instant, timers fire first, then what they woke runs, then engines act: what is submitted at
    /// the instant at which a step begins is part of that step.
    ///
    /// # Errors
    /// If nothing can run and nothing is due. The future is then dropped.
    pub fn block_on<F: Future>(&self, future: F) -> Result<F::Output, Deadlock> {
        let woken = Arc::new(Woken(AtomicBool::new(true)));
        let waker = Waker::from(Arc::clone(&woken));
        let mut context = Context::from_waker(&waker);
        let mut future = pin!(future);
        loop {
            while woken.0.swap(false, Ordering::Relaxed) {
                if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
                    return Ok(output);
                }
            }
            self.shared.jump()?;
        }
    }

    /// Makes `source` take part in this time for as long as it lives.
    pub(crate) fn add_source(&self, source: Weak<dyn EventSource>) {
        self.shared.sources.borrow_mut().push(source);
    }
}

impl TimeState {
    /// Moves on, from one thing that happens to the next, until somebody can run again.
    fn jump(&self) -> Result<(), Deadlock> {
        let sources = self.living_sources();
        let mut ready = Vec::new();
        while ready.is_empty() {
            let events = sources.iter().filter_map(|source| source.next_event());
            let (event, timer) = (events.min(), self.first_timer());
            let at = [event, timer].into_iter().flatten().min();
            let Some(at) = at else {
                return Err(Deadlock { at: self.now.get() });
            };
            // An event may be due since before now, if it was submitted late; time does not run backwards for it.
            let now = self.now.get().max(at);
            self.now.set(now);
            match timer {
                Some(timer) if timer <= now => self.take_due_timers(now, &mut ready),
                _ => sources.iter().for_each(|source| source.advance(now, &mut ready)),
            }
        }
        ready.into_iter().for_each(Waker::wake);
        Ok(())
    }

    fn living_sources(&self) -> Vec<Rc<dyn EventSource>> {
        let mut sources = self.sources.borrow_mut();
        sources.retain(|source| source.strong_count() > 0);
        sources.iter().filter_map(Weak::upgrade).collect()
    }

    fn first_timer(&self) -> Option<Stamp> {
        let timers = self.timers.borrow();
        timers.first_key_value().map(|(&(at, _), _)| at)
    }

    /// Takes out the timers that are due, in order.
    fn take_due_timers(&self, now: Stamp, due: &mut Vec<Waker>) {
        let mut timers = self.timers.borrow_mut();
        while let Some(first) = timers.first_entry().filter(|first| first.key().0 <= now) {
            due.push(first.remove());
        }
    }
}

impl Clock for VirtualTime {
    fn now(&self) -> Stamp {
        self.shared.now.get()
    }
}

impl Timer for VirtualTime {
    fn sleep_until(&self, at: Stamp) -> impl Future<Output = ()> {
        Sleep { shared: Rc::clone(&self.shared), at, key: None }
    }
}

impl fmt::Debug for VirtualTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VirtualTime")
            .field("now", &self.now())
            .field("timers", &self.shared.timers.borrow().len())
            .finish_non_exhaustive()
    }
}

struct Sleep {
    shared: Rc<TimeState>,
    at: Stamp,
    /// Its place among the timers, once it has been polled.
    key: Option<TimerKey>,
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if self.at <= self.shared.now.get() {
            return Poll::Ready(());
        }
        let key = self.key.unwrap_or_else(|| {
            let number = self.shared.next_timer.get();
            self.shared.next_timer.set(number + 1);
            (self.at, number)
        });
        self.key = Some(key);
        let waker = context.waker().clone();
        let previous = self.shared.timers.borrow_mut().insert(key, waker);
        // Dropped after the borrow has ended: a waker may own what owns timers.
        drop(previous);
        Poll::Pending
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        if let Some(key) = self.key {
            let waker = self.shared.timers.borrow_mut().remove(&key);
            drop(waker);
        }
    }
}

/// Whether the future given to the executor can go on.
struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}
