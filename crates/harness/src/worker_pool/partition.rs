//! Which worker sends which request.

use std::num::{NonZeroU32, NonZeroUsize};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use fizeau_core::{Nanos, Stamp, Timer};
use fizeau_workload::{Pacing, RequestWalk, SessionNumbers, Shard};

use crate::drive::{CapSeat, LoadHold, LocalSlots, ProbeStream, SharedCap, SlotOpening, Slots};
use crate::level::PlannedLevel;

/// What one worker has to send, and under which cap.
pub(super) struct Assignment {
    /// The warm-up requests of this worker.
    pub(super) warmup: RequestWalk,
    /// Its measured requests.
    pub(super) requests: RequestWalk,
    pub(super) cap: CapShare,
    /// To be dropped when its load is over.
    pub(super) load_hold: LoadHold,
    /// The probe stream, for one worker alone.
    pub(super) probe: Option<ProbeStream<RequestWalk>>,
}

/// A worker's share of the cap.
pub(super) struct CapShare {
    place: WorkerIndex,
    is_closed: bool,
    /// None for no cap.
    slots: Option<NonZeroU32>,
    /// The cap of all, where it is not split.
    gate: Option<Arc<SharedCap>>,
}

/// The `index`-th of `of` workers.
#[derive(Debug, Clone, Copy)]
struct WorkerIndex {
    index: u64,
    of: NonZeroUsize,
}

impl WorkerIndex {
    /// The number over all workers of this one's `slot`. As the remainder of the cap goes to the first workers, these are
    /// the numbers below the cap, each once.
    const fn number(self, slot: u32) -> u64 {
        slot as u64 * self.of.get() as u64 + self.index
    }

    /// The sessions of this worker: of those that are `shard`'s every `of`-th, or, in a closed loop, the first of each of
    /// its `slots`, then the next that no worker has `drawn` yet. The first are assigned beforehand, not drawn: a worker that wakes
    /// early must not take the session of another's first slot.
    fn sessions(self, shard: Shard, slots: u32, drawn: Option<Arc<AtomicU64>>) -> SessionNumbers {
        match drawn {
            Some(drawn) => {
                let first = (0..slots).map(move |slot| self.number(slot));
                let next = std::iter::repeat_with(move || drawn.fetch_add(1, Ordering::Relaxed));
                Box::new(first.chain(next).map(move |n| shard.session(n)))
            }
            None => {
                let (of, index) = (self.of.get(), self.index);
                Box::new((index..).step_by(of).map(move |n| shard.session(n)))
            }
        }
    }
}

/// The assignments of a level for at most `workers` workers; fewer where the cap has not a slot for each.
pub(super) fn assignments(level: &PlannedLevel<'_>, workers: usize) -> Vec<Assignment> {
    let cap = level.load.max_in_flight;
    let is_closed = cap.is_some() && level.plan.pacing() == Pacing::ClosedLoop;
    let most = cap.map_or(usize::MAX, |cap| cap.get() as usize);
    let of = NonZeroUsize::new(workers.min(most)).unwrap_or(NonZeroUsize::MIN);
    // Those before are the first of each slot.
    let drawn = Arc::new(AtomicU64::new(cap.map_or(0, |cap| cap.get().into())));
    let gate = cap.filter(|_| !is_closed).map(SharedCap::new);
    let (load_hold, over) = LoadHold::new();
    let assignment = |index: usize| {
        let slots = cap.and_then(|cap| {
            let slots = share(cap.get().into(), of.get(), index);
            NonZeroU32::new(u32::try_from(slots).unwrap_or(u32::MAX))
        });
        let place = WorkerIndex { index: index as u64, of };
        let assigned = slots.map_or(0, NonZeroU32::get);
        let drawn = is_closed.then(|| Arc::clone(&drawn));
        let shard = level.shard;
        let warmup = (place.index..shard.share_of(level.warmup)).step_by(of.get());
        let warmup = warmup.map(move |n| shard.session(n));
        Assignment {
            warmup: level.plan.warmup(Box::new(warmup)),
            requests: level.plan.walk(place.sessions(level.shard, assigned, drawn)),
            cap: CapShare { place, is_closed, slots, gate: gate.clone() },
            load_hold: load_hold.clone(),
            probe: level.probe.filter(|_| index == 0).map(|probe| probe.until(&over, shard)),
        }
    };
    (0..of.get()).map(assignment).collect()
}

/// The part of `total` that the `index`-th of `of` workers has; the remainder goes to the first.
pub(super) fn share(total: u64, of: usize, index: usize) -> u64 {
    let (of, index) = (of.max(1) as u64, index as u64);
    total / of + u64::from(index < total % of)
}

impl CapShare {
    /// The cap of the warm-up, which is a closed loop whatever the level is.
    pub(super) fn warmup_slots<'t, C: Timer>(&self, timer: &'t C) -> LocalSlots<'t, C> {
        LocalSlots::new(timer, self.slots, SlotOpening::at_once(timer.now()))
    }

    /// The cap of the level, which begins at `start`.
    pub(super) fn slots<'t>(&self, timer: &'t impl Timer, start: Stamp) -> Box<dyn Slots + 't> {
        let opening = match self.is_closed {
            true => SlotOpening {
                first: start + OPENING * self.place.index,
                step: OPENING * self.place.of.get() as u64,
            },
            false => SlotOpening::at_once(start),
        };
        match &self.gate {
            None => Box::new(LocalSlots::new(timer, self.slots, opening)),
            Some(gate) => Box::new(CapSeat::new(Arc::clone(gate))),
        }
    }
}

/// How far apart the slots of a closed loop open at its start. No client can send a thousand requests at one instant;
/// asked to, it would be late with nearly all of them, and the server would get a burst that no level has again.
const OPENING: Nanos = Nanos::from_micros(250);

#[cfg(test)]
mod tests {
    use super::share;

    #[test]
    fn shares_sum_to_the_whole_and_differ_by_one_at_most() {
        for (total, of) in [(0, 1), (1, 3), (7, 3), (1_000, 2), (5, 8)] {
            let shares: Vec<u64> = (0..of).map(|index| share(total, of, index)).collect();
            assert_eq!(shares.iter().sum::<u64>(), total);
            assert!(shares.is_sorted_by(|a, b| a >= b), "{shares:?}");
            assert!(shares[0] - shares[of - 1] <= 1);
        }
    }
}
