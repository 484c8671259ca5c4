//! The cap on requests in flight, and one that the drivers of all workers share.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicI64, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use fizeau_core::{RequestId, Stamp};

/// A request's place in the order of the schedule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ScheduleRank {
    /// Its instant; the level's start for one that has none.
    pub(crate) due: Stamp,
    pub(crate) request: RequestId,
}

/// Leave to have one more request in flight.
pub(crate) trait Slots {
    /// Takes a slot for the request of `rank`. Where there is none, the task is woken when there may be one: by a request of its
    /// own that ends, or by the waker. Tells since when there was a slot, where that is known: what was due before had to wait.
    fn poll_take(&mut self, rank: ScheduleRank, cx: &mut Context<'_>) -> Poll<Option<Stamp>>;

    /// Gives back the slot of a request that ended at `at`.
    fn give_back(&mut self, at: Stamp);
}

impl<L: Slots + ?Sized> Slots for Box<L> {
    fn poll_take(&mut self, rank: ScheduleRank, cx: &mut Context<'_>) -> Poll<Option<Stamp>> {
        (**self).poll_take(rank, cx)
    }

    fn give_back(&mut self, at: Stamp) {
        (**self).give_back(at);
    }
}

/// One cap for the drivers of all workers. While slots are free it is one atomic count; only when it is full do drivers
/// queue, in the order of the schedule.
#[derive(Debug)]
pub(crate) struct SharedCap {
    free: AtomicI64,
    /// How many are in the queue; read without its lock.
    waiting: AtomicUsize,
    /// Until when there were fewer slots than were wanted, in nanoseconds; zero if there always were enough.
    short_until: AtomicU64,
    queue: Mutex<BTreeMap<ScheduleRank, Waker>>,
}

impl SharedCap {
    pub(crate) fn new(cap: NonZeroU32) -> Arc<Self> {
        let free = AtomicI64::new(cap.get().into());
        Arc::new(Self {
            free,
            waiting: AtomicUsize::new(0),
            short_until: AtomicU64::new(0),
            queue: Mutex::default(),
        })
    }

    /// Takes a free slot, whoever else may be waiting.
    fn take(&self) -> bool {
        let less = |free: i64| (free > 0).then(|| free - 1);
        self.free.fetch_update(Ordering::SeqCst, Ordering::SeqCst, less).is_ok()
    }

    fn give_back(&self, at: Stamp) {
        let is_short = |free: i64| free == 0 || self.waiting.load(Ordering::SeqCst) > 0;
        // Before the count rises, so that whoever takes the slot sees it.
        if is_short(self.free.load(Ordering::SeqCst)) {
            self.short_until.fetch_max(at.as_nanos(), Ordering::SeqCst);
        }
        self.free.fetch_add(1, Ordering::SeqCst);
        if self.waiting.load(Ordering::SeqCst) > 0 {
            self.call_next(&self.queue());
        }
    }

    /// Since when there were as many slots as were wanted; none for always.
    fn free_since(&self) -> Option<Stamp> {
        let short_until = self.short_until.load(Ordering::SeqCst);
        (short_until > 0).then(|| Stamp::from_nanos(short_until))
    }

    fn queue(&self) -> MutexGuard<'_, BTreeMap<ScheduleRank, Waker>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Wakes the first of the queue, if there is a slot for it.
    fn call_next(&self, queue: &BTreeMap<ScheduleRank, Waker>) {
        if self.free.load(Ordering::SeqCst) > 0
            && let Some(first) = queue.values().next()
        {
            first.wake_by_ref();
        }
    }
}

/// One driver's place at a [`SharedCap`].
pub(crate) struct CapSeat {
    gate: Arc<SharedCap>,
    /// The request that it queues for.
    queued: Option<ScheduleRank>,
}

impl CapSeat {
    pub(crate) const fn new(gate: Arc<SharedCap>) -> Self {
        Self { gate, queued: None }
    }
}

impl Slots for CapSeat {
    fn poll_take(&mut self, rank: ScheduleRank, cx: &mut Context<'_>) -> Poll<Option<Stamp>> {
        let gate = &*self.gate;
        if gate.waiting.load(Ordering::SeqCst) == 0 && gate.take() {
            return Poll::Ready(gate.free_since());
        }
        let mut queue = gate.queue();
        queue.insert(rank, cx.waker().clone());
        self.queued = Some(rank);
        // Before the last look at the count: whoever gives a slot back after that look sees somebody waiting.
        gate.waiting.store(queue.len(), Ordering::SeqCst);
        let is_first = queue.keys().next() == Some(&rank);
        if !is_first || !gate.take() {
            return Poll::Pending;
        }
        queue.remove(&rank);
        self.queued = None;
        gate.waiting.store(queue.len(), Ordering::SeqCst);
        gate.call_next(&queue);
        Poll::Ready(gate.free_since())
    }

    fn give_back(&mut self, at: Stamp) {
        self.gate.give_back(at);
    }
}

impl Drop for CapSeat {
    /// Whoever leaves makes room for the next in the queue.
    fn drop(&mut self) {
        if let Some(rank) = self.queued.take() {
            let mut queue = self.gate.queue();
            queue.remove(&rank);
            self.gate.waiting.store(queue.len(), Ordering::SeqCst);
            self.gate.call_next(&queue);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU32;
    use std::task::Wake;

    use super::*;

    /// A task that counts how often it was woken.
    #[derive(Default)]
    struct Task(AtomicU32);

    impl Wake for Task {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    impl Task {
        fn woken(&self) -> u32 {
            self.0.load(Ordering::SeqCst)
        }
    }

    fn take(seat: &mut CapSeat, id: u64, task: &Arc<Task>) -> bool {
        let waker = Waker::from(Arc::clone(task));
        let rank = ScheduleRank { due: Stamp::EPOCH, request: RequestId(id) };
        seat.poll_take(rank, &mut Context::from_waker(&waker)).is_ready()
    }

    fn gate<const N: usize>(cap: u32) -> ([CapSeat; N], [Arc<Task>; N]) {
        let gate = SharedCap::new(NonZeroU32::new(cap).unwrap_or(NonZeroU32::MIN));
        let seats = std::array::from_fn(|_| CapSeat::new(Arc::clone(&gate)));
        (seats, std::array::from_fn(|_| Arc::default()))
    }

    #[test]
    fn whom_the_gate_holds_back_passes_in_the_order_of_the_schedule() {
        let ([mut a, mut b, mut c], [first, second, third]) = gate(1);
        assert!(take(&mut a, 0, &first));
        assert!(!take(&mut c, 2, &third) && !take(&mut b, 1, &second));
        a.give_back(Stamp::EPOCH);
        assert_eq!((second.woken(), third.woken()), (1, 0), "1 comes before 2");
        assert!(!take(&mut a, 3, &first), "3 may not pass those that wait");
        assert!(take(&mut b, 1, &second));
        b.give_back(Stamp::EPOCH);
        assert!(third.woken() == 1 && take(&mut c, 2, &third));
        c.give_back(Stamp::EPOCH);
        assert!(first.woken() == 1 && take(&mut a, 3, &first));
    }

    #[test]
    fn two_slots_that_come_free_at_once_serve_two() {
        let ([mut a, mut b, mut c], [_, second, third]) = gate(2);
        let first = Arc::default();
        assert!(take(&mut a, 0, &first) && take(&mut a, 1, &first));
        assert!(!take(&mut b, 2, &second) && !take(&mut c, 3, &third));
        a.give_back(Stamp::EPOCH);
        a.give_back(Stamp::EPOCH);
        assert!(third.woken() == 0 && take(&mut b, 2, &second));
        assert!(third.woken() == 1 && take(&mut c, 3, &third), "the first woke the next");
    }

    #[test]
    fn who_leaves_the_queue_makes_room_for_the_next() {
        let ([mut a, mut b, mut c], [first, second, third]) = gate(1);
        assert!(take(&mut a, 0, &first));
        assert!(!take(&mut b, 1, &second) && !take(&mut c, 2, &third));
        a.give_back(Stamp::EPOCH);
        drop(b);
        assert!(third.woken() == 1 && take(&mut c, 2, &third));
    }

    #[test]
    fn the_gate_neither_loses_nor_makes_slots_between_threads() {
        let gate = SharedCap::new(NonZeroU32::new(3).unwrap_or(NonZeroU32::MIN));
        let (inside, most) = (AtomicI64::new(0), AtomicI64::new(0));
        let pass = |worker: u64| {
            let mut seat = CapSeat::new(Arc::clone(&gate));
            for k in 0..2_000 {
                let rank = ScheduleRank { due: Stamp::EPOCH, request: RequestId(4 * k + worker) };
                let admitted = std::future::poll_fn(|cx| seat.poll_take(rank, cx));
                block_on(admitted);
                most.fetch_max(inside.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                inside.fetch_sub(1, Ordering::SeqCst);
                seat.give_back(Stamp::EPOCH);
            }
        };
        std::thread::scope(|scope| {
            for worker in 0..4 {
                let pass = &pass;
                scope.spawn(move || pass(worker));
            }
        });
        assert!(most.load(Ordering::SeqCst) <= 3);
        assert_eq!(gate.free.load(Ordering::SeqCst), 3);
        assert_eq!(gate.waiting.load(Ordering::SeqCst), 0);
    }

    /// A wake-up that were lost would hang here.
    fn block_on<T>(future: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
    }
}
