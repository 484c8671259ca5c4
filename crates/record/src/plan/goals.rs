//! What other goals would cost.

use fizeau_metrics::Goal;

use super::{DevicePlanSource, NoPlanReason, PlanQuery, PlannedFleet, planned};
use crate::goal::{is_upper, name, shown};

/// The limits of latency that stand beside those that are asked, as shares of them.
const FACTORS: [f64; 5] = [0.5, 0.75, 1.0, 1.5, 2.0];

/// What the goals are called at the loose ends of their ranges.
pub(super) const LOOSE: &str = "loose end";

/// What other goals would cost.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct GoalPrice {
    /// What the goals are called: `x 0.5`, or as they were given.
    pub label: String,
    /// The goals.
    pub goals: Vec<Goal>,
    /// The plan for them; or why there is none.
    pub outcome: Result<PlannedFleet, NoPlanReason>,
}

/// The prices, and the least share of the limits of latency that can be met at all.
pub(super) fn prices(ask: &PlanQuery, source: &DevicePlanSource) -> (Vec<GoalPrice>, Option<f64>) {
    let has_limits = ask.goals.iter().any(is_limit);
    let scaled = || FACTORS.map(|factor| (format!("x {factor}"), scaled(&ask.goals, factor)));
    let others = match (&*ask.others, has_limits) {
        ([], true) => scaled().into(),
        ([], false) => Vec::new(),
        (others, _) => others.to_vec(),
    };
    let is_range = ask.goals.iter().any(|goal| goal.loosest.is_some());
    let loose = is_range.then(|| (LOOSE.to_owned(), loose(&ask.goals)));
    let price = |(label, goals): (String, Vec<Goal>)| {
        let outcome = planned(ask, source, &goals);
        GoalPrice { label, goals, outcome }
    };
    let tightest = has_limits.then(|| tightest(ask, source)).flatten();
    (loose.into_iter().chain(others).map(price).collect(), tightest)
}

/// Whether a goal is an upper limit on a latency.
fn is_limit(goal: &Goal) -> bool {
    goal.metric.is_latency() && is_upper(goal.comparison)
}

/// The loose ends of ranges.
fn loose(goals: &[Goal]) -> Vec<Goal> {
    let loose =
        |goal: &Goal| Goal { limit: goal.loosest.unwrap_or(goal.limit), loosest: None, ..*goal };
    goals.iter().map(loose).collect()
}

/// The same goals with their limits of latency `factor` times as wide.
fn scaled(goals: &[Goal], factor: f64) -> Vec<Goal> {
    let scale = |goal: &Goal| match is_limit(goal) {
        true => Goal { limit: goal.limit * factor, loosest: None, ..*goal },
        false => Goal { loosest: None, ..*goal },
    };
    goals.iter().map(scale).collect()
}

/// The limits of latency `factor` times as wide, in words: `p99 TTFT 410 ms`.
#[must_use]
pub fn scaled_limits(goals: &[Goal], factor: f64) -> Vec<String> {
    let limits = goals.iter().filter(|goal| is_limit(goal));
    limits.map(|goal| format!("{} {}", name(goal), shown(goal, goal.limit * factor))).collect()
}

/// The least factor at which the goals are met at some load, to a thousandth; none where none up to 1000 is.
fn tightest(ask: &PlanQuery, source: &DevicePlanSource) -> Option<f64> {
    let is_met = |factor: f64| source.capacity(&scaled(&ask.goals, factor)).is_ok();
    let (mut low, mut high) = (0.0_f64, 1000.0_f64);
    if !is_met(high) {
        return None;
    }
    while high - low > 1e-4 * high {
        let middle = f64::midpoint(low, high);
        if is_met(middle) {
            high = middle
        } else {
            low = middle
        }
        if high < 1e-6 {
            break;
        }
    }
    Some(high)
}
