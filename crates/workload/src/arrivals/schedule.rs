//! The instants of a plan, one after another.

use fizeau_core::Nanos;

use super::ArrivalLaw;
use super::law::ArrivalGenerator;
use crate::parts::Instants;
use crate::seed::RandomStream;

/// The intended instants of a plan's requests, in order, as offsets from the start of the level; none for each
/// request of a closed loop. Never decreasing.
///
/// An instant beyond the 584 years of [`Nanos`] is given as [`Nanos::MAX`]. `nth` passes over instants as fast as their law
/// allows: a constant one at once, a random one at the cost of its draws.
pub struct ArrivalSchedule {
    pace: ScheduleSource,
    given: u64,
    requests: u64,
}

enum ScheduleSource {
    Closed,
    Law(ArrivalGenerator),
    Own(Instants),
}

impl ArrivalSchedule {
    /// The schedule of `requests` requests under a law that passed [`ArrivalLaw::check`].
    pub(crate) fn new(arrivals: &ArrivalLaw, requests: u64, draws: RandomStream) -> Self {
        let pace = ArrivalGenerator::new(arrivals, requests, draws)
            .map_or(ScheduleSource::Closed, ScheduleSource::Law);
        Self { pace, given: 0, requests }
    }

    /// The schedule of a law of somebody else's, cut after `requests` instants.
    pub(crate) const fn of(instants: Instants, requests: u64) -> Self {
        Self { pace: ScheduleSource::Own(instants), given: 0, requests }
    }

    /// The schedule of `requests` requests that leave when a slot is free.
    pub(crate) const fn closed(requests: u64) -> Self {
        Self { pace: ScheduleSource::Closed, given: 0, requests }
    }
}

fizeau_core::debug_in_part!(ArrivalSchedule { given });

impl Iterator for ArrivalSchedule {
    type Item = Option<Nanos>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.given == self.requests {
            return None;
        }
        self.given += 1;
        Some(match &mut self.pace {
            ScheduleSource::Closed => None,
            ScheduleSource::Own(instants) => Some(instants.next()?),
            ScheduleSource::Law(law) => {
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
            ScheduleSource::Closed => {}
            ScheduleSource::Law(law) => law.skip(skipped),
            ScheduleSource::Own(instants) => {
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
