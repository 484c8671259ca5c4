//! The instants of a plan, one after another.

use fizeau_core::Nanos;

use super::Arrivals;
use super::law::Law;
use crate::parts::Instants;
use crate::seed::Draws;

/// The intended instants of a plan's requests, in order, as offsets from the start of the level; none for each
/// request of a closed loop. Never decreasing.
///
/// An instant beyond the 584 years of [`Nanos`] is given as [`Nanos::MAX`]. `nth` passes over instants as fast as their law
/// allows: a constant one at once, a random one at the cost of its draws.
pub struct Schedule {
    pace: Pace,
    given: u64,
    requests: u64,
}

enum Pace {
    Closed,
    Law(Law),
    Own(Instants),
}

impl Schedule {
    /// The schedule of `requests` requests under a law that passed [`Arrivals::check`].
    pub(crate) fn new(arrivals: &Arrivals, requests: u64, draws: Draws) -> Self {
        let pace = Law::new(arrivals, requests, draws).map_or(Pace::Closed, Pace::Law);
        Self { pace, given: 0, requests }
    }

    /// The schedule of a law of somebody else's, cut after `requests` instants.
    pub(crate) const fn of(instants: Instants, requests: u64) -> Self {
        Self { pace: Pace::Own(instants), given: 0, requests }
    }

    /// The schedule of `requests` requests that leave when a slot is free.
    pub(crate) const fn closed(requests: u64) -> Self {
        Self { pace: Pace::Closed, given: 0, requests }
    }
}

impl std::fmt::Debug for Schedule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Schedule").field("given", &self.given).finish_non_exhaustive()
    }
}

impl Iterator for Schedule {
    type Item = Option<Nanos>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.given == self.requests {
            return None;
        }
        self.given += 1;
        Some(match &mut self.pace {
            Pace::Closed => None,
            Pace::Own(instants) => Some(instants.next()?),
            Pace::Law(law) => {
                // Neither negative nor NaN: what has no nanoseconds is beyond the last of them.
                let seconds = law.next_seconds(self.given);
                Some(Nanos::from_secs_f64(seconds).unwrap_or(Nanos::MAX))
            }
        })
    }

    fn nth(&mut self, n: usize) -> Option<Self::Item> {
        let (skipped, left) = (n as u64, self.requests - self.given);
        if skipped >= left {
            self.given = self.requests;
            return None;
        }
        self.given += skipped;
        match &mut self.pace {
            Pace::Closed => {}
            Pace::Law(law) => law.skip(skipped),
            Pace::Own(instants) => {
                self.given += 1;
                return Some(Some(instants.nth(n)?));
            }
        }
        self.next()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        match usize::try_from(self.requests - self.given) {
            Ok(left) => (left, Some(left)),
            Err(_) => (usize::MAX, None),
        }
    }
}
