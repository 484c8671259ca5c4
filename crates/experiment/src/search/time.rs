//! How a search shares out the time that it has.

use std::time::Duration;

use fizeau_core::Nanos;

use super::LoadSearchSpec;
use crate::sweep::share_of_budget;

/// The time of a search, and what of it has passed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct SearchTime {
    total: Duration,
    /// What is kept for the long levels at the end.
    reserve: Duration,
    /// The longest level.
    longest: Nanos,
    /// The longest level at the end.
    longest_confirmation: Duration,
    /// How many levels the time is planned for, and how long each would be, were all alike.
    planned: u32,
    planned_share: Duration,
    elapsed: Duration,
    /// How much more than was intermediate with a level takes for its warm-up and for the replies that come after its end.
    around: Duration,
}

/// Of a shorter time nothing is left for a level.
pub(super) const SHORTEST_BUDGET: Nanos = Nanos::from_secs(10);
/// The longest level by default: a longer one tells little more.
const LONGEST_LEVEL: Nanos = Nanos::from_secs(300);
/// What is kept for long levels, as a share of all: enough for one that misses the goals and one below it.
const RESERVE: f64 = 0.35;
/// How much of what is left the first of them takes.
const FIRST: f64 = 0.6;
/// A level of this length is long enough to tell on which side of the edge it lies; more time goes into more levels.
const ENOUGH: f64 = 15.0;
/// It takes some three levels to enclose the edge.
const FEWEST: f64 = 5.0;
/// How much of a level's time its warm-up takes, and the requests in flight at its end.
const AROUND: f64 = 0.15;

impl SearchTime {
    /// That of `spec`; none where it has all the time it takes.
    pub(super) fn of(spec: &LoadSearchSpec) -> Option<Self> {
        let total = Duration::from(spec.budget?);
        let long = spec.confirm.map_or(Nanos::ZERO, |size| size.time.unwrap_or(LONGEST_LEVEL));
        let reserve = total.mul_f64(RESERVE).min(2 * Duration::from(long));
        let for_levels = total.saturating_sub(reserve).as_secs_f64() * (1.0 - AROUND);
        let most = f64::from(spec.most_levels);
        let planned = (for_levels / ENOUGH).ceil().max(FEWEST).min(most);
        let longest = spec.size.time.unwrap_or(LONGEST_LEVEL);
        Some(Self {
            total,
            reserve,
            longest,
            longest_confirmation: long.into(),
            planned: planned as u32,
            planned_share: Duration::from_secs_f64(for_levels / planned).min(longest.into()),
            elapsed: Duration::ZERO,
            around: Duration::ZERO,
        })
    }

    /// Takes note that so much time has passed since the search began, the last level of which released requests for
    /// `released`.
    pub(super) fn note(&mut self, elapsed: Nanos, released: Option<Nanos>) {
        let took = Duration::from(elapsed).saturating_sub(self.elapsed);
        self.elapsed = elapsed.into();
        if let Some(released) = released {
            self.around = took.saturating_sub(Duration::from(released).mul_f64(1.0 + AROUND));
        }
    }

    /// What is left.
    pub(super) fn left(&self) -> Duration {
        self.total.saturating_sub(self.elapsed)
    }

    /// How long the next level may release requests, of which `done` are over; none if the time for levels is used up.
    /// `rate` is how many requests per second are expected to complete, and `overload` how many times as long as it
    /// releases requests the level is expected to take.
    pub(super) fn of_level(&self, done: usize, rate: Option<f64>, overload: f64) -> Option<Nanos> {
        let done = u32::try_from(done).unwrap_or(u32::MAX);
        let left = self.left().saturating_sub(self.reserve);
        // Where replies take long, fewer levels than were planned have time enough.
        let most = self.planned.saturating_sub(done).max(1);
        let time = (1..=most).rev().find_map(|to_go| {
            let left = left.saturating_sub(self.around * to_go);
            let time = share_of_budget(left, to_go, self.longest, rate)?;
            (Duration::from(time) >= self.planned_share / 2).then_some(time)
        })?;
        let seconds = (time.as_secs_f64() / overload.max(1.0)).max(1.0);
        Nanos::from_secs_f64(seconds).ok()
    }

    /// The same, with all of it for levels: where none kept the goals, there is nothing to confirm.
    pub(super) fn without_confirmation(self) -> Self {
        Self { reserve: Duration::ZERO, ..self }
    }

    /// How long the next level at the end may release requests; none where that shows no more than those before.
    pub(super) fn of_confirmation(&self, is_first: bool) -> Option<Nanos> {
        let left = self.left().saturating_sub(self.around).mul_f64(1.0 - AROUND);
        let (shares, least) = match is_first {
            true => (&[FIRST, 1.0][..], self.planned_share),
            false => (&[1.0][..], self.planned_share / 2),
        };
        let times = shares.iter().map(|share| left.mul_f64(*share).min(self.longest_confirmation));
        times.into_iter().find(|time| *time >= least).map(Nanos::from)
    }
}
