//! How the goals came out at a level.

use fizeau_core::Millis;
use fizeau_metrics::{Comparison, GoalOutcome, LevelSummary, Slo, Statistic};
use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::number::{duration_ms, number};

/// How one goal came out at a level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GoalResult {
    /// The goal and what was measured.
    pub outcome: GoalOutcome,
    /// The statistic that was measured in place of the one asked for; absent where it is that one. Where a
    /// sample is too small for a percentile, the greatest value stands in for it: a limit that this keeps is
    /// kept by every percentile of the sample.
    pub stand_in: Option<Statistic>,
}

/// The results of all goals at a level, in the order of the goals.
pub(super) fn results(slo: &Slo, level: &LevelSummary) -> Vec<GoalResult> {
    let outcomes = slo.evaluate(level).into_iter();
    outcomes.map(|outcome| result(outcome, level)).collect()
}

fn result(mut outcome: GoalOutcome, level: &LevelSummary) -> GoalResult {
    use Statistic::{P50, P90, P95, P99, P999};
    let goal = outcome.goal;
    let percentile = matches!(goal.statistic, P50 | P90 | P95 | P99 | P999);
    // The greatest value is no less than any percentile, so it may speak for an upper limit only.
    let upper = matches!(goal.comparison, Comparison::Less | Comparison::LessOrEqual);
    let mut stand_in = None;
    if outcome.measured.is_none() && percentile && upper {
        let greatest = goal
            .metric
            .distribution(level)
            .and_then(|sample| sample.max);
        outcome.measured = greatest.map(Millis::get);
        stand_in = greatest.map(|_| Statistic::Max);
    }
    GoalResult { outcome, stand_in }
}

impl GoalResult {
    /// Whether the goal is met; one whose figure is absent is not.
    #[must_use]
    pub fn is_met(&self) -> bool {
        self.outcome.is_met()
    }

    /// The goal and what was measured, in words: `p99 TTFT < 500 ms: met, measured 441 ms`.
    pub(crate) fn words(&self) -> String {
        let goal = self.outcome.goal;
        let unit = goal.metric.unit();
        let shown = |value: f64| match unit {
            "ms" => duration_ms(value),
            _ => format!("{} {unit}", number(value)).trim_end().to_owned(),
        };
        let asked = goal.statistic.as_str();
        let measured = match (self.outcome.measured, self.stand_in) {
            (None, _) => "not measured".to_owned(),
            (Some(value), None) => format!("measured {}", shown(value)),
            (Some(value), Some(_)) => {
                format!(
                    "greatest value {} (too few requests for a {asked})",
                    shown(value)
                )
            }
        };
        let came_out = if self.is_met() { "met" } else { "missed" };
        format!("{}: {came_out}, {measured}", goal.describe())
    }
}

impl Serialize for GoalResult {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let goal = self.outcome.goal;
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("goal", &goal.to_string())?;
        map.serialize_entry("limit", &goal.limit)?;
        map.serialize_entry("unit", goal.metric.unit())?;
        map.serialize_entry("measured", &self.outcome.measured)?;
        if self.outcome.measured.is_none() {
            map.serialize_entry("measured_reason", "the level has no such figure")?;
        }
        let statistic = self.stand_in.unwrap_or(goal.statistic);
        map.serialize_entry("measured_statistic", statistic.as_str())?;
        map.serialize_entry("met", &self.is_met())?;
        map.end()
    }
}
