//! The time that a sweep may take, shared out.

use std::time::Duration;

use fizeau_core::{Nanos, Stamp};

/// The time that a sweep may take, by the clock of its run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Budget {
    end: Stamp,
    /// What is kept for the sustained run.
    sustain: Duration,
}

/// A sustained run takes no longer by default.
const LONGEST_SUSTAINED: Duration = Duration::from_secs(300);
/// Nor more than this share of the budget.
const SUSTAINED_SHARE: u32 = 5;
/// A shorter one shows nothing that the level did not.
const SHORTEST_SUSTAINED: Duration = Duration::from_secs(20);
/// How much of a level's share its warm-up takes, and the requests that are in flight at its end.
const AROUND: f64 = 0.15;
/// As many requests as a p99 needs.
const FOR_A_P99: f64 = 100.0;
/// Below it there is no time for one level and what is around it.
pub(crate) const SHORTEST_BUDGET: Nanos = Nanos::from_secs(2);
/// A level that has less time shows its own beginning.
const SHORTEST_LEVEL: Duration = Duration::from_secs(1);
/// A level may take so many shares where it needs them for a p99: slow levels come first, and fast ones leave some over.
const MOST_SHARES: f64 = 1.5;

impl Budget {
    /// All of `total` from `now` on, of which `sustain` is kept for the sustained run, where that was said.
    pub(crate) fn new(now: Stamp, total: Duration, sustain: Option<Nanos>) -> Self {
        let by_default = LONGEST_SUSTAINED.min(total / SUSTAINED_SHARE);
        let by_default = Some(by_default).filter(|time| *time >= SHORTEST_SUSTAINED);
        let sustain = sustain.map(Duration::from).or(by_default).unwrap_or_default();
        Self { end: now + Nanos::from(total), sustain }
    }

    /// What is left of it.
    pub(crate) fn left(&self, now: Stamp) -> Duration {
        self.end.saturating_since(now).into()
    }

    /// How long the next of `to_go` levels may take, at most as long as `most`; none if the time is used up. `rate` is how many
    /// requests per second it is expected to complete: where its share of the time is too short for a p99, it may have a little
    /// more, but the levels after it come first. A level of fewer requests is marked, and one that is missing tells nothing.
    pub(crate) fn of_level(
        &self,
        now: Stamp,
        to_go: u32,
        most: Nanos,
        rate: Option<f64>,
    ) -> Option<Nanos> {
        share_of_budget(self.left(now).saturating_sub(self.sustain), to_go, most, rate)
    }

    /// How long the sustained run may take; none if the time is used up.
    pub(crate) fn of_sustained(&self, now: Stamp) -> Option<Nanos> {
        let time = self.left(now).mul_f64(1.0 - AROUND).min(LONGEST_SUSTAINED.max(self.sustain));
        (time >= SHORTEST_SUSTAINED).then(|| Nanos::from(time))
    }
}

/// An equal share of what is `left`, or up to half as much again where 100 requests take that at the expected `rate`; at most
/// `most`.
pub(crate) fn share_of_budget(
    left: Duration,
    to_go: u32,
    most: Nanos,
    rate: Option<f64>,
) -> Option<Nanos> {
    let left = left.mul_f64(1.0 - AROUND);
    let needs = rate.filter(|rate| *rate > 0.0).map(|rate| FOR_A_P99 / rate);
    let needs = needs.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    let most = Duration::from_nanos(most.as_nanos());
    let share = left / to_go.max(1);
    let longest = share.mul_f64(MOST_SHARES).min(left);
    let time = share.max(needs.unwrap_or_default().min(longest)).max(SHORTEST_LEVEL).min(most);
    (time <= left).then(|| Nanos::from(time))
}

#[cfg(test)]
mod tests {
    use super::{Budget, Duration, Nanos, Stamp, share_of_budget};

    const MINUTE: Nanos = Nanos::from_nanos(60_000_000_000);

    fn seconds(left: u64, to_go: u32, rate: Option<f64>) -> Option<u64> {
        let share = share_of_budget(Duration::from_secs(left), to_go, MINUTE, rate)?;
        Some(share.as_nanos() / 1_000_000_000)
    }

    #[test]
    fn levels_share_the_time_alike_up_to_a_minute() {
        assert_eq!(seconds(1_000, 10, None), Some(60), "no longer than asked for");
        assert_eq!(seconds(200, 10, None), Some(17), "a share, less what is around a level");
        assert_eq!(seconds(200, 10, Some(5.0)), Some(20), "100 requests at 5 a second");
        assert_eq!(seconds(200, 10, Some(0.2)), Some(25), "but not all of what others need");
        assert_eq!(seconds(40, 10, Some(2.0)), Some(5), "few requests rather than none");
        assert_eq!(seconds(0, 1, None), None);
    }

    /// Of what was asked for, not of what is too short to be worth it.
    #[test]
    fn a_sustained_run_that_was_asked_for_has_its_time_however_short_it_is() {
        let left = |sustain: Option<u64>| {
            let (now, sustain) = (Stamp::EPOCH, sustain.map(Nanos::from_secs));
            let budget = Budget::new(now, Duration::from_secs(60), sustain);
            budget.of_level(now, 1, MINUTE, None).map(|time| time.as_secs_f64().round())
        };
        assert_eq!(left(Some(15)), Some(38.0), "45 s, less what is around a level");
        assert_eq!(left(None), Some(51.0), "a fifth of the budget is too short");
    }

    /// What an engine of 60 requests/s at 16 slots is asked for: eight concurrencies, and three places kept for refinement.
    #[test]
    fn a_short_budget_covers_all_that_was_asked() {
        let (mut left, mut to_go) = (Duration::from_secs(40), 11);
        let mut before = None;
        for rate in [4.0, 8.0, 15.0, 30.0, 60.0, 60.0, 60.0, 60.0] {
            let time =
                share_of_budget(left, to_go, MINUTE, before).expect("every level has a share");
            // What is in flight at its end comes on top.
            left = left.saturating_sub(Duration::from_nanos(time.as_nanos()).mul_f64(1.1));
            (before, to_go) = (Some(rate), to_go - 1);
        }
    }
}
