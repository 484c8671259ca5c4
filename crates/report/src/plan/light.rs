//! A plan's cost beside the speed of light.

use fizeau_core::PerSec;
use fizeau_metrics::{Goal, Metric, Statistic};
use fizeau_pareto::Estimate;

use super::money::PlanCost;
use super::{Money, PlanSource};
use crate::curve::LightPoint;
use crate::goal::is_upper;

/// What the same requests would cost if each replica ran at the bound, within the same limits of latency, busy without a pause
/// and with none to spare: no engine and no fleet of these devices can serve them for less.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct LightCost {
    /// What the bound lets a replica carry within the goals.
    pub requests_per_s: PerSec,
    /// What a replica carries over that, from 0 to 1.
    pub share_of_replica: f64,
    /// What an hour would cost.
    pub usd_per_hour: Money,
    /// That over what the plan costs, from 0 to 1.
    pub share_of_cost: f64,
}

impl LightCost {
    pub(super) fn of(
        source: &PlanSource,
        goals: &[Goal],
        rate: f64,
        cost: &PlanCost,
        carried: Estimate,
    ) -> Result<Self, String> {
        let curve = source.light.as_ref().map_err(Clone::clone)?;
        let (own, asked) = (curve.devices(), source.devices_per_replica.get());
        if own != asked {
            return Err(format!(
                "the run's model lies on {}, and a replica is said to take {asked}",
                counted(own)
            ));
        }
        let within =
            curve.points().iter().filter(|point| goals.iter().all(|goal| may(goal, point)));
        let rates = within.map(|point| point.bound.requests_per_s.get());
        let bound = rates.fold(0.0, f64::max);
        if bound <= 0.0 {
            return Err("the bound itself does not keep the goals".to_owned());
        }
        let at_bound = source.cost(rate / bound, rate).usd_per_hour;
        Ok(Self {
            requests_per_s: PerSec::new(bound),
            share_of_replica: carried.value() / bound,
            usd_per_hour: at_bound,
            share_of_cost: at_bound.middle() / cost.usd_per_hour.middle(),
        })
    }
}

fn counted(devices: u64) -> String {
    match devices {
        1 => "one device".to_owned(),
        many => format!("{many} devices"),
    }
}

/// Whether a load may keep a goal at the bound. The bound is one of the mean, so that it may break upper limits on the mean and
/// on what lies above it, and no others.
fn may(goal: &Goal, point: &LightPoint) -> bool {
    let is_of_tail = !matches!(goal.statistic, Statistic::P50 | Statistic::Value);
    if !(is_upper(goal.comparison) && is_of_tail) {
        return true;
    }
    let least = match goal.metric {
        Metric::Ttft | Metric::TtftScheduled | Metric::FirstVisible => point.bound.ttft,
        Metric::Tpot | Metric::Itl | Metric::Icl => point.bound.tpot,
        Metric::E2el | Metric::E2elScheduled => point.bound.e2el,
        _ => return true,
    };
    least.to_millis().get() <= goal.limit
}
