//! Which worker sends which request.

use std::convert::Infallible;
use std::num::{NonZeroU32, NonZeroUsize};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use fizeau_core::{Nanos, Request, RequestId, RequestSource, Scheduled, Stamp, Timer};
use fizeau_workload::{Arrivals, Plan};

use crate::drive::{Gate, Opening, OwnSlots, Seat, Slots};
use crate::level::{PlannedLevel, Queue};

/// What one worker has to send, and under which cap.
pub(super) struct Hand {
    plan: Plan,
    deal: Deal,
    warmup: u64,
    place: Place,
    /// Its share of the cap; none for no cap.
    slots: Option<NonZeroU32>,
    /// The cap of all, where it is not split.
    gate: Option<Arc<Gate>>,
}

/// The `index`-th of `of` workers.
#[derive(Debug, Clone, Copy)]
struct Place {
    index: u64,
    of: NonZeroUsize,
}

impl Place {
    /// The number over all workers of this one's `slot`. As the remainder of the cap goes to the first workers, these are
    /// the numbers below the cap, each once.
    const fn number(self, slot: u32) -> u64 {
        slot as u64 * self.of.get() as u64 + self.index
    }

    fn has(self, number: u64) -> bool {
        number % self.of.get() as u64 == self.index
    }
}

/// How requests are come by.
enum Deal {
    /// Each draws the next of all.
    Draw(Arc<AtomicU64>),
    /// Each has its own from the start: every n-th, n being the number of workers.
    Stride,
}

/// The hands of a level for at most `workers` workers; fewer where the cap has not a slot for each.
pub(super) fn hands(level: &PlannedLevel<'_>, workers: usize) -> Vec<Hand> {
    let cap = level.load.max_in_flight;
    let is_closed = matches!(level.plan.spec().arrivals, Arrivals::ClosedLoop);
    let most = cap.map_or(usize::MAX, |cap| cap.get() as usize);
    let of = NonZeroUsize::new(workers.min(most)).unwrap_or(NonZeroUsize::MIN);
    // Those before are the first of each slot.
    let drawn = Arc::new(AtomicU64::new(cap.map_or(0, |cap| cap.get().into())));
    let gate = cap.filter(|_| !is_closed).map(Gate::new);
    let hand = |index: usize| {
        let slots = cap.and_then(|cap| {
            let slots = share(cap.get().into(), of.get(), index);
            NonZeroU32::new(u32::try_from(slots).unwrap_or(u32::MAX))
        });
        Hand {
            plan: level.plan.clone(),
            deal: if is_closed && cap.is_some() {
                Deal::Draw(Arc::clone(&drawn))
            } else {
                Deal::Stride
            },
            warmup: level.warmup,
            place: Place { index: index as u64, of },
            slots,
            gate: gate.clone(),
        }
    };
    (0..of.get()).map(hand).collect()
}

/// The part of `total` that the `index`-th of `of` workers has; the remainder goes to the first.
pub(super) fn share(total: u64, of: usize, index: usize) -> u64 {
    let (of, index) = (of.max(1) as u64, index as u64);
    total / of + u64::from(index < total % of)
}

impl Hand {
    /// The warm-up requests of this worker.
    pub(super) fn warmup(&self) -> impl RequestSource<Error = Infallible> {
        let place = self.place;
        let mine = self.plan.warmup(self.warmup).map(|scheduled| scheduled.request);
        Queue(mine.filter(move |request| place.has(request.id.0)))
    }

    /// The cap of the warm-up, which is a closed loop whatever the level is.
    pub(super) fn warmup_slots<'t, C: Timer>(&self, timer: &'t C) -> OwnSlots<'t, C> {
        OwnSlots::new(timer, self.slots, Opening::at_once(timer.now()))
    }

    /// The measured requests of this worker.
    pub(super) fn requests(&self) -> Box<dyn RequestSource<Error = Infallible>> {
        let plan = self.plan.clone();
        match &self.deal {
            Deal::Draw(drawn) => {
                let (place, slots) = (self.place, self.slots.map_or(0, NonZeroU32::get));
                let first = (0..slots).map(move |slot| place.number(slot));
                Box::new(Drawn { plan, first, drawn: Arc::clone(drawn) })
            }
            Deal::Stride => {
                let place = self.place;
                let mine = (0_u64..).zip(plan.schedule()).filter(move |(k, _)| place.has(*k));
                let scheduled = mine.map(move |(number, at)| {
                    let request = plan.request(RequestId(number));
                    Scheduled { at, request }
                });
                Box::new(Strided(scheduled))
            }
        }
    }

    /// The cap of the level, which begins at `start`.
    pub(super) fn slots<'t>(&self, timer: &'t impl Timer, start: Stamp) -> Box<dyn Slots + 't> {
        let opening = match &self.deal {
            Deal::Draw(_) => Opening {
                first: start + OPENING * self.place.index,
                step: OPENING * self.place.of.get() as u64,
            },
            Deal::Stride => Opening::at_once(start),
        };
        match &self.gate {
            None => Box::new(OwnSlots::new(timer, self.slots, opening)),
            Some(gate) => Box::new(Seat::new(Arc::clone(gate))),
        }
    }
}

/// How far apart the slots of a closed loop open at its start. No client can send a thousand requests at one instant;
/// asked to, it would be late with nearly all of them, and the server would get a burst that no level has again.
const OPENING: Nanos = Nanos::from_micros(250);

/// The first request of each slot of this worker, then the next that no worker has drawn yet.
struct Drawn<I> {
    plan: Plan,
    /// Dealt and not drawn: a worker that wakes early must not take the request of another's first slot.
    first: I,
    drawn: Arc<AtomicU64>,
}

impl<I: Iterator<Item = u64>> RequestSource for Drawn<I> {
    type Error = Infallible;

    fn next_request(&mut self) -> Result<Option<Scheduled>, Infallible> {
        let first = self.first.next();
        let number = first.unwrap_or_else(|| self.drawn.fetch_add(1, Ordering::Relaxed));
        let within = number < self.plan.len().get();
        let request: Option<Request> = within.then(|| self.plan.request(RequestId(number)));
        Ok(request.map(|request| Scheduled { at: None, request }))
    }
}

/// A worker's own part of a schedule.
struct Strided<I>(I);

impl<I: Iterator<Item = Scheduled>> RequestSource for Strided<I> {
    type Error = Infallible;

    fn next_request(&mut self) -> Result<Option<Scheduled>, Infallible> {
        Ok(self.0.next())
    }
}

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
