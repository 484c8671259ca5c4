//! When a rising sweep has seen enough.

use fizeau_core::LevelLoad;
use fizeau_core::{Millis, PerSec};
use fizeau_metrics::{Verdict, VerdictConcern, VerdictReason};
use fizeau_record::{LevelReport, LevelStatus};

/// What a level came to, as far as it says whether more load still pays.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LevelYield {
    /// Its load.
    pub load: LevelLoad,
    /// Requests sent per second while they were sent, in an open loop: what chance made of its rate. None in a closed one,
    /// where what is sent follows from what is served.
    pub sent: Option<PerSec>,
    /// Requests completed per second.
    pub requests: PerSec,
    /// The mean end-to-end latency; none if no request completed.
    pub latency: Option<Millis>,
    /// Whether the queue of an open loop was seen to grow.
    pub is_saturated: bool,
}

impl LevelYield {
    /// What a level at `load` says of saturation; nothing if it was cut short, or its client was at its limit.
    #[must_use]
    pub fn of(load: LevelLoad, level: &LevelReport) -> Option<Self> {
        // As the arrivals, which are those of sessions, came out by chance, or else as requested.
        let sent = || match load {
            LevelLoad::Rate(rate) => {
                let drawn = level.summary.arrivals.and_then(|arrivals| arrivals.intended.rate);
                let law = level.requested.arrivals.and_then(|arrivals| arrivals.rate);
                let share = drawn.zip(law).map_or(1.0, |(drawn, law)| drawn.get() / law.get());
                Some(rate * share)
            }
            LevelLoad::Concurrency(_) => None,
        };
        let is_client = |reason: &VerdictReason| {
            reason.verdict == Verdict::Invalid && reason.about == VerdictConcern::Client
        };
        let is_whole = level.status == LevelStatus::Finished;
        (is_whole && !level.validity.reasons.iter().any(is_client)).then(|| Self {
            load,
            sent: sent(),
            requests: level.summary.throughput.requests_per_s,
            latency: level.summary.metrics.e2el.mean,
            is_saturated: level.is_saturated(),
        })
    }
}

/// When to stop raising the load.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct StopRule {
    /// A level pays if it completes more requests per second than every lower one by at least this share, or if its mean latency
    /// is no greater than that of the best lower one. An open loop pays as well if it completes as much of what was sent as the
    /// best lower one did, to within twice this share: it can gain no more than its rate rose, which may be little. One whose
    /// queue grew does not pay, nor one of which no request completed.
    pub least_gain: f64,
    /// Stop after so many levels in succession that do not pay: the first shows saturation, each further one confirms it.
    pub in_succession: u32,
}

impl Default for StopRule {
    /// A gain of 5 %, and one level that confirms: below that share a level's own scatter decides. Half of the gain that
    /// [`fizeau_pareto::StepRule`] asks for where it chooses among levels that were measured: what was never measured cannot be
    /// chosen, so that a sweep goes on for less.
    fn default() -> Self {
        Self { least_gain: 0.05, in_succession: 2 }
    }
}

/// That more load no longer pays.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct LoadSaturation {
    /// The level of most requests per second among those that paid; none if the lowest did not.
    pub best: Option<LevelYield>,
    /// The first of the levels at the end that did not pay.
    pub beyond: LevelYield,
}

impl StopRule {
    /// Whether `levels`, of one kind of load and rising, have shown that more load does not pay.
    ///
    /// ```
    /// use std::num::NonZeroU32;
    ///
    /// use fizeau_core::{Millis, PerSec};
    /// use fizeau_experiment::{LevelYield, StopRule};
    /// use fizeau_core::LevelLoad;
    ///
    /// let level = |slots, requests, latency| LevelYield {
    ///     load: LevelLoad::Concurrency(NonZeroU32::new(slots).expect("more than none")),
    ///     sent: None,
    ///     requests: PerSec::new(requests),
    ///     latency: Some(Millis::new(latency)),
    ///     is_saturated: false,
    /// };
    /// let flat = [level(8, 40.0, 200.0), level(16, 41.0, 390.0), level(32, 41.0, 780.0)];
    /// let found = StopRule::default().saturated(&flat).expect("two levels that do not pay");
    /// assert_eq!((found.best, found.beyond), (Some(flat[0]), flat[1]));
    /// assert_eq!(StopRule::default().saturated(&flat[..2]), None, "not confirmed yet");
    /// ```
    #[must_use]
    pub fn saturated(&self, levels: &[LevelYield]) -> Option<LoadSaturation> {
        let mut best: Option<LevelYield> = None;
        let (mut beyond, mut in_succession) = (None, 0);
        for &level in levels {
            if self.pays(level, best) {
                (beyond, in_succession) = (None, 0);
                // What is beyond saturation may be a hair's breadth faster: the best is where it paid.
                if best.is_none_or(|best| level.requests.get() > best.requests.get()) {
                    best = Some(level);
                }
            } else {
                beyond = beyond.or(Some(level));
                in_succession += 1;
            }
        }
        let stopped = in_succession >= self.in_succession;
        let beyond = beyond?;
        stopped.then_some(LoadSaturation { best, beyond })
    }

    fn pays(&self, level: LevelYield, best: Option<LevelYield>) -> bool {
        let Some(best) = best else { return !level.is_saturated && level.latency.is_some() };
        let gains = level.requests.get() >= best.requests.get() * (1.0 + self.least_gain);
        let is_slower = match (level.latency, best.latency) {
            (Some(own), Some(best)) => own.get() > best.get(),
            (None, _) => true,
            (Some(_), None) => false,
        };
        !level.is_saturated && (gains || !is_slower || self.keeps_up(level, best))
    }

    /// Whether an open loop completes as much of what was sent as `best`. Held against another level and not against all that was
    /// sent: the time that the last replies take lowers the rate of each.
    fn keeps_up(&self, level: LevelYield, best: LevelYield) -> bool {
        let share = |of: LevelYield| of.sent.map(|sent| of.requests.get() / sent.get());
        share(level)
            .zip(share(best))
            .is_some_and(|(own, best)| own >= best * (1.0 - 2.0 * self.least_gain))
    }
}
