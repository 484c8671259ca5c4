//! Calling a run off from outside.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use futures_util::task::AtomicWaker;

/// A switch that calls a run off: no further request is released, those in flight are abandoned and recorded as
/// cancelled, and what was measured is kept.
///
/// Clones share the switch; it can be thrown from any thread (a signal handler's, say) and never thrown back.
///
/// ```
/// let cancel = fizeau_harness::Cancel::new();
/// let switch = cancel.clone();
/// switch.cancel();
/// assert!(cancel.is_cancelled());
/// ```
#[derive(Debug, Clone, Default)]
pub struct Cancel(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    thrown: AtomicBool,
    waiting: AtomicWaker,
}

impl Cancel {
    /// A switch that has not been thrown.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Throws it.
    pub fn cancel(&self) {
        self.0.thrown.store(true, Ordering::Release);
        self.0.waiting.wake();
    }

    /// Whether it has been thrown.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.0.thrown.load(Ordering::Acquire)
    }

    /// Ready once it has been thrown. One task waits at a time: the driver of the run.
    pub(crate) fn poll(&self, cx: &Context<'_>) -> Poll<()> {
        self.0.waiting.register(cx.waker());
        if self.is_cancelled() { Poll::Ready(()) } else { Poll::Pending }
    }
}
