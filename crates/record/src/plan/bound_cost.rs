//! A plan's cost beside the speed of light.

use fizeau_core::PerSec;
use fizeau_metrics::{Goal, Metric, Statistic};
use fizeau_pareto::{FigureEstimate, Fleet};

use super::{DevicePlanSource, MoneyRange};
use crate::curve::SpeedOfLightPoint;
use crate::goal::is_upper;
use crate::text::counted_devices;

/// What the same requests would cost if each replica ran at the bound, within the same limits of latency, busy without a pause
/// and with none to spare: no engine and no fleet of these devices can serve them for less.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct BoundCost {
    /// The most that the bound may let a replica carry within the goals: what it carries at the first place of its curve beyond
    /// them. The places stand at most a quarter apart in requests in flight, and between two of them the bound keeps the goals
    /// up to somewhere; taking the upper one never makes an engine look nearer to the bound than it is.
    pub requests_per_s: PerSec,
    /// What a replica carries over that, from 0 to 1.
    pub share_of_replica: f64,
    /// What an hour would cost; none where no price is known.
    pub usd_per_hour: Option<MoneyRange>,
    /// The replicas that would do, over those of the plan, from 0 to 1: the share of its cost that is the hardware's floor.
    pub share_of_cost: f64,
}

/// Why it is not known what the bound would cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NoBoundCost {
    /// Model and device are not known.
    #[error("no model and device are known")]
    NoReference,
    /// The model lies on another number of devices.
    #[error("the run's model uses {}, but a replica was given {replica}", counted_devices(*.model))]
    OtherDevices {
        /// The devices of the model.
        model: u64,
        /// The devices of a replica.
        replica: u64,
    },
    /// There is no load at which the bound keeps the goals.
    #[error("even the bound misses the goals")]
    GoalsMissed,
}

impl BoundCost {
    pub(super) fn of(
        source: &DevicePlanSource,
        goals: &[Goal],
        rate: f64,
        fleet: Fleet,
        carried: FigureEstimate,
    ) -> Result<Self, NoBoundCost> {
        let curve = source.light.as_ref().ok_or(NoBoundCost::NoReference)?;
        let (model, replica) = (curve.devices(), source.devices_per_replica.get());
        if model != replica {
            return Err(NoBoundCost::OtherDevices { model, replica });
        }
        let bound = most_within(curve.points(), curve.requests_are_alike(), goals)
            .ok_or(NoBoundCost::GoalsMissed)?;
        let replicas = rate / bound;
        Ok(Self {
            requests_per_s: PerSec::new(bound),
            share_of_replica: carried.value() / bound,
            usd_per_hour: source.cost(replicas, rate).map(|cost| cost.usd_per_hour),
            share_of_cost: replicas / fleet.installed() as f64,
        })
    }
}

/// The most requests per second up to the place after the last that may keep the goals; none if no place may.
fn most_within(points: &[SpeedOfLightPoint], are_alike: bool, goals: &[Goal]) -> Option<f64> {
    let goals = || goals.iter().filter(|goal| is_limited(goal, are_alike));
    let last = points.iter().rposition(|point| goals().all(|goal| may(goal, point)))?;
    let rates = points.iter().take(last + 2).map(|point| point.bound.requests_per_s.get());
    rates.reduce(f64::max).filter(|most| *most > 0.0)
}

/// Whether the bound may break a goal. It is one of the mean, and so it limits the mean and the greatest value. Of requests of
/// different lengths a few long ones may lift the mean above any percentile; where all are alike, the upper ones are limited too.
fn is_limited(goal: &Goal, are_alike: bool) -> bool {
    is_upper(goal.comparison)
        && match goal.statistic {
            Statistic::Mean | Statistic::Max => true,
            Statistic::P50 | Statistic::Value => false,
            _ => are_alike,
        }
}

/// Whether a load may keep a goal that the bound limits.
fn may(goal: &Goal, point: &SpeedOfLightPoint) -> bool {
    let least = match goal.metric {
        Metric::Ttft | Metric::TtftScheduled | Metric::FirstVisible => point.bound.ttft,
        Metric::Tpot | Metric::Itl | Metric::Icl => point.bound.tpot,
        Metric::E2el | Metric::E2elScheduled => point.bound.e2el,
        _ => return true,
    };
    least.to_millis().get() <= goal.limit
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "an unwrap that panics is a test that fails")]

    use std::num::NonZeroU64;

    use fizeau_core::{PerSec, Seconds};
    use fizeau_metrics::Slo;

    use super::most_within;
    use crate::{SpeedOfLightFigures, SpeedOfLightPoint};

    /// So many in flight, at 100 ms a request and 10 ms more for each.
    fn place(n: u32) -> SpeedOfLightPoint {
        let latency = Seconds::new(0.1 + 0.01 * f64::from(n));
        let rate = PerSec::new(f64::from(n) / latency.get());
        let bound = SpeedOfLightFigures {
            ttft: Seconds::new(0.02),
            tpot: Seconds::new(0.01),
            e2el: latency,
            output_tokens_per_s: rate,
            requests_per_s: rate,
        };
        let concurrency = NonZeroU64::new(n.into()).unwrap();
        SpeedOfLightPoint { concurrency, bound, expected: None, calibrated: None }
    }

    fn most_of(points: &[SpeedOfLightPoint], are_alike: bool, goal: &str) -> Option<f64> {
        let slo: Slo = goal.parse().unwrap();
        most_within(points, are_alike, &slo.goals)
    }

    /// Of 99 requests of 10 ms and one of 10 s the mean is 110 ms, and the 99th percentile 10 ms.
    #[test]
    fn a_percentile_may_lie_below_the_bound_of_the_mean() {
        let points = [8, 16, 20, 24].map(place);
        let all = Some(points[3].bound.requests_per_s.get());
        for goal in ["p90 e2el<150", "p99 ttft<10", "p95 tpot<5"] {
            assert_eq!(most_of(&points, false, goal), all, "{goal}");
            assert_eq!(most_of(&points, true, goal), None, "{goal}");
        }
        for goal in ["mean e2el<150", "max e2el<150"] {
            assert_eq!(most_of(&points, false, goal), None, "{goal}");
        }
        assert_eq!(most_of(&points, true, "p50 e2el<150"), all);
    }

    /// At 17 in flight the latency is 270 ms, and there is no place at 17.
    #[test]
    fn the_bound_between_two_places_is_not_understated() {
        let points = [8, 16, 20, 24].map(place);
        let most = |goal: &str| most_of(&points, true, goal);
        let carried = place(17).bound.requests_per_s.get();
        assert!(most("mean e2el<271").unwrap() >= carried);
        assert_eq!(most("mean e2el<271"), Some(points[2].bound.requests_per_s.get()));
        assert_eq!(most("mean e2el<9s"), Some(points[3].bound.requests_per_s.get()));
        assert_eq!(most("mean e2el<150"), None);
    }
}
