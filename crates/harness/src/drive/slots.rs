//! The cap on requests in flight: of one driver's own, or one gate for the drivers of all workers.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use fizeau_core::RequestId;

/// Leave to have one more request in flight.
pub(crate) trait Slots {
    /// Takes a slot for request `id`. Where there is none, the task is woken when there may be one: by a request of its
    /// own that ends, or by the waker.
    fn poll_take(&mut self, id: RequestId, cx: &Context<'_>) -> Poll<()>;

    /// Gives back the slot of a request that ended.
    fn give_back(&mut self);
}

impl<L: Slots + ?Sized> Slots for Box<L> {
    fn poll_take(&mut self, id: RequestId, cx: &Context<'_>) -> Poll<()> {
        (**self).poll_take(id, cx)
    }

    fn give_back(&mut self) {
        (**self).give_back();
    }
}

/// A cap that only this driver knows.
pub(crate) struct OwnSlots {
    cap: u64,
    taken: u64,
}

impl OwnSlots {
    /// `cap` slots; none for no cap.
    pub(crate) fn new(cap: Option<NonZeroU32>) -> Self {
        Self { cap: cap.map_or(u64::MAX, |cap| cap.get().into()), taken: 0 }
    }
}

impl Slots for OwnSlots {
    fn poll_take(&mut self, _: RequestId, _: &Context<'_>) -> Poll<()> {
        if self.taken >= self.cap {
            return Poll::Pending;
        }
        self.taken += 1;
        Poll::Ready(())
    }

    fn give_back(&mut self) {
        self.taken -= 1;
    }
}

/// One cap for the drivers of all workers. While slots are free it is one atomic count; only when it is full do drivers
/// queue, in order of their requests' numbers, which is the order of the schedule.
#[derive(Debug)]
pub(crate) struct Gate {
    free: AtomicI64,
    /// How many are in the queue; read without its lock.
    waiting: AtomicUsize,
    queue: Mutex<BTreeMap<RequestId, Waker>>,
}

impl Gate {
    pub(crate) fn new(cap: NonZeroU32) -> Arc<Self> {
        let free = AtomicI64::new(cap.get().into());
        Arc::new(Self { free, waiting: AtomicUsize::new(0), queue: Mutex::default() })
    }

    /// Takes a free slot, whoever else may be waiting.
    fn take(&self) -> bool {
        let less = |free: i64| (free > 0).then(|| free - 1);
        self.free.fetch_update(Ordering::SeqCst, Ordering::SeqCst, less).is_ok()
    }

    fn queue(&self) -> MutexGuard<'_, BTreeMap<RequestId, Waker>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Wakes the first of the queue, if there is a slot for it.
    fn call_next(&self, queue: &BTreeMap<RequestId, Waker>) {
        if self.free.load(Ordering::SeqCst) > 0
            && let Some(first) = queue.values().next()
        {
            first.wake_by_ref();
        }
    }
}

/// One driver's place at a [`Gate`].
pub(crate) struct Seat {
    gate: Arc<Gate>,
    /// The request that it queues for.
    queued: Option<RequestId>,
}

impl Seat {
    pub(crate) const fn new(gate: Arc<Gate>) -> Self {
        Self { gate, queued: None }
    }
}

impl Slots for Seat {
    fn poll_take(&mut self, id: RequestId, cx: &Context<'_>) -> Poll<()> {
        let gate = &*self.gate;
        if gate.waiting.load(Ordering::SeqCst) == 0 && gate.take() {
            return Poll::Ready(());
        }
        let mut queue = gate.queue();
        queue.insert(id, cx.waker().clone());
        self.queued = Some(id);
        // Before the last look at the count: whoever gives a slot back after that look sees somebody waiting.
        gate.waiting.store(queue.len(), Ordering::SeqCst);
        let is_first = queue.keys().next() == Some(&id);
        if !is_first || !gate.take() {
            return Poll::Pending;
        }
        queue.remove(&id);
        self.queued = None;
        gate.waiting.store(queue.len(), Ordering::SeqCst);
        gate.call_next(&queue);
        Poll::Ready(())
    }

    fn give_back(&mut self) {
        self.gate.free.fetch_add(1, Ordering::SeqCst);
        if self.gate.waiting.load(Ordering::SeqCst) > 0 {
            self.gate.call_next(&self.gate.queue());
        }
    }
}

impl Drop for Seat {
    /// Whoever leaves makes room for the next in the queue.
    fn drop(&mut self) {
        if let Some(id) = self.queued.take() {
            let mut queue = self.gate.queue();
            queue.remove(&id);
            self.gate.waiting.store(queue.len(), Ordering::SeqCst);
            self.gate.call_next(&queue);
        }
    }
}
