//! Which worker sends which request.

use std::convert::Infallible;
use std::num::{NonZeroU32, NonZeroUsize};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use fizeau_core::{Nanos, Request, RequestId, RequestSource, Scheduled};
use fizeau_workload::{Arrivals, Plan};

use crate::drive::{Gate, OwnSlots, Seat, Slots};
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
    let drawn = Arc::new(AtomicU64::new(0));
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
    pub(super) fn warmup_slots(&self) -> OwnSlots {
        OwnSlots::new(self.slots)
    }

    /// The measured requests of this worker.
    pub(super) fn requests(&self) -> Box<dyn RequestSource<Error = Infallible>> {
        let plan = self.plan.clone();
        match &self.deal {
            Deal::Draw(drawn) => {
                let drawn = Arc::clone(drawn);
                Box::new(Drawn { plan, drawn, place: self.place, slots: self.slots, opened: 0 })
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

    /// The cap of the level.
    pub(super) fn slots(&self) -> Box<dyn Slots> {
        match &self.gate {
            None => Box::new(OwnSlots::new(self.slots)),
            Some(gate) => Box::new(Seat::new(Arc::clone(gate))),
        }
    }
}

/// How far apart the slots of a closed loop open at its start. No client can send a thousand requests at one instant;
/// asked to, it would be late with nearly all of them, and the server would get a burst that no level has again.
const OPENING: Nanos = Nanos::from_micros(100);

/// The next request that no worker has drawn yet.
struct Drawn {
    plan: Plan,
    drawn: Arc<AtomicU64>,
    place: Place,
    slots: Option<NonZeroU32>,
    /// How many of this worker's slots have opened.
    opened: u32,
}

impl Drawn {
    /// When the next slot opens, while there are some that have not; then requests follow as slots become free.
    fn opening(&mut self) -> Option<Nanos> {
        let slots = self.slots.map_or(0, NonZeroU32::get);
        (self.opened < slots).then(|| {
            let number = u64::from(self.opened) * self.place.of.get() as u64 + self.place.index;
            self.opened += 1;
            OPENING * number
        })
    }
}

impl RequestSource for Drawn {
    type Error = Infallible;

    fn next_request(&mut self) -> Result<Option<Scheduled>, Infallible> {
        let number = self.drawn.fetch_add(1, Ordering::Relaxed);
        let within = number < self.plan.len().get();
        let request: Option<Request> = within.then(|| self.plan.request(RequestId(number)));
        Ok(request.map(|request| Scheduled { at: self.opening(), request }))
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
