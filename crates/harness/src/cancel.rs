//! Calling a run off from outside.

use std::fmt;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll};

use futures_util::task::AtomicWaker;

/// A switch that calls a run off: no further request is released, those in flight are abandoned and recorded as
/// cancelled, and what was measured is kept.
///
/// Clones share the switch; it can be thrown from any thread (a signal handler's, say) and never thrown back. Every
/// worker of a pool sees it at once.
///
/// ```
/// let cancel = fizeau_harness::Cancel::new();
/// let switch = cancel.clone();
/// switch.cancel();
/// assert!(cancel.is_cancelled());
/// ```
#[derive(Clone, Default)]
pub struct Cancel(Arc<CancelState>);

#[derive(Default)]
struct CancelState {
    thrown: AtomicBool,
    listeners: Mutex<Listeners>,
}

#[derive(Default)]
struct Listeners {
    tasks: Vec<Weak<AtomicWaker>>,
    parts: Vec<Weak<CancelState>>,
}

impl Cancel {
    /// A switch that has not been thrown.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Throws it.
    pub fn cancel(&self) {
        self.0.throw();
    }

    /// Whether it has been thrown.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.0.thrown.load(Ordering::SeqCst)
    }

    /// Waits until it is thrown.
    pub async fn cancelled(&self) {
        let watch = self.watch();
        poll_fn(|cx| watch.poll(cx)).await;
    }

    /// What comes of `work`, unless the switch is thrown before.
    pub(crate) async fn unless_thrown<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        let watch = self.watch();
        let mut work = pin!(work);
        poll_fn(|cx| match watch.poll(cx) {
            Poll::Ready(()) => Poll::Ready(None),
            Poll::Pending => work.as_mut().poll(cx).map(Some),
        })
        .await
    }

    /// A switch for a part of the run: thrown with this one, and by itself without it.
    pub(crate) fn part(&self) -> Self {
        let part = Self::new();
        let mut listeners = self.0.listeners();
        listeners.parts.retain(|part| part.strong_count() > 0);
        listeners.parts.push(Arc::downgrade(&part.0));
        drop(listeners);
        if self.is_cancelled() {
            part.cancel();
        }
        part
    }

    /// A task's own ear at the switch. It is told by one waker that is put down again at each look, so that a look takes
    /// no lock.
    pub(crate) fn watch(&self) -> CancelWatch {
        let waker = Arc::new(AtomicWaker::new());
        let mut listeners = self.0.listeners();
        listeners.tasks.retain(|task| task.strong_count() > 0);
        listeners.tasks.push(Arc::downgrade(&waker));
        drop(listeners);
        CancelWatch { switch: self.clone(), waker }
    }
}

impl CancelState {
    fn throw(&self) {
        self.thrown.store(true, Ordering::SeqCst);
        // Outside of the lock: whoever is woken may listen again.
        let Listeners { tasks, parts } = std::mem::take(&mut *self.listeners());
        tasks.iter().filter_map(Weak::upgrade).for_each(|task| task.wake());
        parts.iter().filter_map(Weak::upgrade).for_each(|part| part.throw());
    }

    fn listeners(&self) -> MutexGuard<'_, Listeners> {
        self.listeners.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Cancel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Cancel({})", self.is_cancelled())
    }
}

/// One task's ear at a [`Cancel`].
pub(crate) struct CancelWatch {
    switch: Cancel,
    waker: Arc<AtomicWaker>,
}

impl CancelWatch {
    /// Ready once the switch has been thrown.
    pub(crate) fn poll(&self, cx: &Context<'_>) -> Poll<()> {
        self.waker.register(cx.waker());
        if self.switch.is_cancelled() { Poll::Ready(()) } else { Poll::Pending }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::task::{Context, Wake, Waker};

    use super::Cancel;

    #[test]
    fn a_part_is_thrown_with_the_whole_and_not_the_other_way_round() {
        let whole = Cancel::new();
        let (first, second) = (whole.part(), whole.part());
        first.cancel();
        assert!(first.is_cancelled() && !second.is_cancelled() && !whole.is_cancelled());
        whole.cancel();
        assert!(second.is_cancelled() && second.part().is_cancelled());
    }

    #[derive(Default)]
    struct Rung(AtomicU32);

    impl Wake for Rung {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    #[test]
    fn every_watch_is_woken_when_the_switch_is_thrown() {
        let cancel = Cancel::new();
        let watches = [cancel.watch(), cancel.part().watch(), cancel.watch()];
        let rung = Arc::new(Rung::default());
        let waker = Waker::from(Arc::clone(&rung));
        let cx = Context::from_waker(&waker);
        assert!(watches.iter().all(|watch| watch.poll(&cx).is_pending()));
        cancel.cancel();
        assert_eq!(rung.0.load(Ordering::SeqCst), 3);
        assert!(watches.iter().all(|watch| watch.poll(&cx).is_ready()));
    }
}
