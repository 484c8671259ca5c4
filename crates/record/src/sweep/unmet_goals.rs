//! What is said where a goal cannot be judged, or cannot be met.

use fizeau_metrics::{Comparison, Goal, GoalOutcome, Metric, Slo, Statistic};

use crate::LevelReport;
use crate::goal::{GoalResult, results, shown};
use crate::text::decimals;
use crate::text::listed;

/// Which goal no level of `of` can be judged by, why, and which figures there are; none if all can.
pub(super) fn reason(slo: &Slo, levels: &[LevelReport], of: &[usize]) -> Option<String> {
    let levels: Vec<&LevelReport> = of.iter().filter_map(|&index| levels.get(index)).collect();
    let lacks = |at: &usize| {
        let known = |level: &&LevelReport| {
            results(slo, &level.summary)
                .get(*at)
                .is_some_and(|goal| goal.outcome.measured.is_some())
        };
        !levels.iter().any(known)
    };
    let goal = slo.goals.get((0..slo.goals.len()).find(lacks)?)?;
    let is_known = |metric: &Metric| {
        let statistic = if metric.is_latency() { Statistic::Mean } else { Statistic::Value };
        levels.iter().any(|level| metric.measured(statistic, &level.summary).is_some())
    };
    let known: Vec<String> = Metric::goals()
        .filter(|metric| is_known(metric) && *metric != goal.metric)
        .map(|metric| metric.entry().label.to_owned())
        .collect();
    let has = if known.is_empty() { "nothing".to_owned() } else { listed(&known) };
    Some(format!("{} cannot be judged: {}; the run has {has}", goal.describe(), why(goal, &levels)))
}

/// Why good requests cannot be counted.
pub(crate) const NEEDS_GOALS: &str = "goodput needs goals for single requests";

fn why(goal: &Goal, levels: &[&LevelReport]) -> String {
    let values = levels.iter().filter_map(|level| goal.metric.distribution(&level.summary));
    match (goal.metric, values.map(|sample| sample.n).max()) {
        (Metric::GoodShare | Metric::GoodputPerSec, _) => NEEDS_GOALS.to_owned(),
        (_, Some(n)) if n > 0 => {
            let requested = goal.statistic.as_str();
            format!("no level has enough values for a {requested} (at most {n})")
        }
        _ => format!("no level has a {}", goal.metric.entry().label),
    }
}

/// The goals that were missed, each with the limit that could be met: `p99 TTFT <= 612 ms`.
pub(super) fn could_be_met(goals: &[GoalResult]) -> Vec<String> {
    let could = |outcome: GoalOutcome| {
        let (goal, measured) = (outcome.goal, outcome.deciding_figure()?);
        let (sign, limit) = match goal.comparison {
            Comparison::Less | Comparison::LessOrEqual => ("<=", rounded(measured, f64::ceil)),
            Comparison::Greater | Comparison::GreaterOrEqual => {
                (">=", rounded(measured, f64::floor))
            }
        };
        let limit = shown(&goal, limit);
        let words = [goal.statistic.as_str(), goal.metric.entry().label, sign, &limit];
        let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
        Some(words.join(" "))
    };
    // Where too much failed, no limit on a latency could be met.
    let missed = |goal: &&GoalResult| !goal.is_met() && goal.outcome.failures.is_none();
    goals.iter().filter(missed).filter_map(|goal| could(goal.outcome)).collect()
}

/// To as many digits as are shown, in the direction in which it can still be met.
fn rounded(value: f64, towards: fn(f64) -> f64) -> f64 {
    let scale = 10_f64.powi(i32::try_from(decimals(value)).unwrap_or_default());
    towards(value * scale) / scale
}
