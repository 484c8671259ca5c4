//! The slots of one driver alone.

use std::collections::VecDeque;
use std::future::Future;
use std::num::NonZeroU32;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use fizeau_core::{Nanos, Stamp, Timer};

use super::slots::{ScheduleRank, Slots};

/// A cap that only this driver knows. It remembers when each slot became free, which is when a request without an instant
/// of its own ought to have left.
pub(crate) struct LocalSlots<'t, C> {
    timer: &'t C,
    opening: SlotOpening,
    /// None for no cap.
    cap: Option<NonZeroU32>,
    opened: u64,
    /// Since when the slots are free that have been used and given back.
    free: VecDeque<Stamp>,
    /// Rings when the next slot opens.
    alarm: Option<Pin<Box<dyn Future<Output = ()> + 't>>>,
}

/// When the slots of a driver open for the first time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SlotOpening {
    /// The first one's instant.
    pub(crate) first: Stamp,
    /// How much later each other one's is than the one's before.
    pub(crate) step: Nanos,
}

impl SlotOpening {
    /// All at `at`.
    pub(crate) const fn at_once(at: Stamp) -> Self {
        Self { first: at, step: Nanos::ZERO }
    }

    fn of(self, number: u64) -> Stamp {
        self.first + self.step * number
    }
}

impl<'t, C: Timer> LocalSlots<'t, C> {
    /// `cap` slots that open as `opening` says; none for no cap.
    pub(crate) const fn new(timer: &'t C, cap: Option<NonZeroU32>, opening: SlotOpening) -> Self {
        Self { timer, opening, cap, opened: 0, free: VecDeque::new(), alarm: None }
    }

    /// When the next slot opens that never was used.
    fn next_opening(&self) -> Option<Stamp> {
        let unopened = self.cap.is_none_or(|cap| self.opened < cap.get().into());
        unopened.then(|| self.opening.of(self.opened))
    }

    /// The slot that is free for the longest time.
    fn take(&mut self) -> Option<Stamp> {
        let opening = self.next_opening().filter(|at| *at <= self.timer.now());
        match (self.free.front().copied(), opening) {
            (Some(freed), opening) if opening.is_none_or(|opening| freed <= opening) => {
                self.free.pop_front()
            }
            (_, Some(opening)) => {
                self.opened += 1;
                self.alarm = None;
                Some(opening)
            }
            (_, None) => None,
        }
    }
}

impl<C: Timer> Slots for LocalSlots<'_, C> {
    fn poll_take(&mut self, _: ScheduleRank, cx: &mut Context<'_>) -> Poll<Option<Stamp>> {
        loop {
            if let Some(since) = self.take() {
                return Poll::Ready(Some(since));
            }
            let Some(opening) = self.next_opening() else {
                return Poll::Pending;
            };
            let timer = self.timer;
            let alarm = self.alarm.get_or_insert_with(|| Box::pin(timer.sleep_until(opening)));
            ready!(alarm.as_mut().poll(cx));
            self.alarm = None;
        }
    }

    fn give_back(&mut self, at: Stamp) {
        if self.cap.is_some() {
            self.free.push_back(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::task::Waker;

    use fizeau_core::{Clock, RequestId};

    use super::*;

    /// A clock that is set by hand; waiting on it is over once it has come so far.
    struct Assignment(Cell<Stamp>);

    impl Clock for Assignment {
        fn now(&self) -> Stamp {
            self.0.get()
        }
    }

    impl Timer for Assignment {
        fn sleep_until(&self, at: Stamp) -> impl Future<Output = ()> {
            std::future::poll_fn(move |_| match self.now() >= at {
                true => Poll::Ready(()),
                false => Poll::Pending,
            })
        }
    }

    fn ms(ms: u64) -> Stamp {
        Stamp::EPOCH + Nanos::from_millis(ms)
    }

    #[test]
    fn slots_open_one_after_another_and_the_one_free_longest_goes_first() {
        let clock = Assignment(Cell::new(ms(0)));
        let opening = SlotOpening { first: ms(10), step: Nanos::from_millis(10) };
        let mut slots = LocalSlots::new(&clock, NonZeroU32::new(3), opening);
        let take = |slots: &mut LocalSlots<'_, Assignment>, now| {
            clock.0.set(ms(now));
            let rank = ScheduleRank { due: ms(0), request: RequestId(0) };
            match slots.poll_take(rank, &mut Context::from_waker(Waker::noop())) {
                Poll::Ready(since) => since,
                Poll::Pending => None,
            }
        };
        assert_eq!(take(&mut slots, 9), None);
        assert_eq!(take(&mut slots, 10), Some(ms(10)));
        assert_eq!(take(&mut slots, 12), None);
        slots.give_back(ms(13));
        slots.give_back(ms(14));
        assert_eq!(take(&mut slots, 15), Some(ms(13)), "a free one is used before the next opens");
        assert_eq!(take(&mut slots, 25), Some(ms(14)));
        assert_eq!(take(&mut slots, 26), Some(ms(20)), "late, and its instant stays");
        assert_eq!(take(&mut slots, 30), Some(ms(30)));
        assert_eq!(take(&mut slots, 99), None, "there are no more than three");
    }
}
