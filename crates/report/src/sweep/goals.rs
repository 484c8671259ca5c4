//! How the goals came out at a level.

use fizeau_metrics::{
    Comparison, Distribution, Goal, GoalOutcome, LevelSummary, Quantile, Slo, Statistic,
};
use fizeau_pareto::{Constraint, Relation};
use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::number::{duration_ms, number, percent};

/// How one goal came out at a level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GoalResult {
    /// The goal and what was measured.
    pub outcome: GoalOutcome,
    /// What was measured in place of the statistic that the goal is about; absent where it is that one.
    pub stand_in: Option<StandIn>,
}

/// The greatest value in place of a percentile, where a sample is too small for the percentile. A limit that it
/// keeps was kept by every value there is; how few they are, belongs beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StandIn {
    /// How many values there are.
    pub values: u64,
    /// How many the percentile needs.
    pub needs: u64,
}

/// The results of all goals at a level, in the order of the goals.
pub(crate) fn results(slo: &Slo, level: &LevelSummary) -> Vec<GoalResult> {
    let outcomes = slo.evaluate(level).into_iter();
    outcomes.map(|outcome| result(outcome, level)).collect()
}

fn result(mut outcome: GoalOutcome, level: &LevelSummary) -> GoalResult {
    let goal = outcome.goal;
    // The greatest value is no less than any percentile, so it may speak for an upper limit only.
    let upper = matches!(goal.comparison, Comparison::Less | Comparison::LessOrEqual);
    let sample = goal.metric.distribution(level).filter(|_| upper);
    let stand_in = sample.and_then(|sample| {
        let needs = needed(sample, goal.statistic)?;
        let values = sample.n;
        Some((sample.max?, StandIn { values, needs }))
    });
    if let Some((greatest, _)) = stand_in {
        outcome.measured = Some(greatest.get());
        outcome.interval = None;
    }
    GoalResult { outcome, stand_in: stand_in.map(|(_, stand_in)| stand_in) }
}

/// How many values a percentile needs, where the sample has too few.
fn needed(sample: &Distribution, statistic: Statistic) -> Option<u64> {
    let quantile = match statistic {
        Statistic::P50 => sample.p50,
        Statistic::P90 => sample.p90,
        Statistic::P95 => sample.p95,
        Statistic::P99 => sample.p99,
        Statistic::P999 => sample.p999,
        _ => return None,
    };
    match quantile {
        Quantile::Withheld { needs } => Some(needs),
        Quantile::Absent | Quantile::Known { .. } => None,
    }
}

/// The limit of a goal, itself allowed: a strict one is met from the next number on.
pub(super) fn limit_of(goal: &Goal) -> (Relation, f64) {
    match goal.comparison {
        Comparison::Less => (Relation::AtMost, goal.limit.next_down()),
        Comparison::LessOrEqual => (Relation::AtMost, goal.limit),
        Comparison::Greater => (Relation::AtLeast, goal.limit.next_up()),
        Comparison::GreaterOrEqual => (Relation::AtLeast, goal.limit),
    }
}

impl GoalResult {
    /// How far the figure is inside its limit, as a share of the limit: 0.2 is a fifth to spare, -0.1 a tenth too much or too
    /// little. None if the figure is not known.
    #[must_use]
    pub fn margin(&self) -> Option<f64> {
        self.constraint().margin()
    }

    pub(super) fn constraint(&self) -> Constraint {
        let (relation, limit) = limit_of(&self.outcome.goal);
        Constraint { value: self.outcome.measured, relation, limit }
    }

    /// Whether the goal is met; one whose figure is absent is not.
    #[must_use]
    pub fn is_met(&self) -> bool {
        self.outcome.is_met()
    }

    /// The goal and what was measured, in words: `p99 TTFT < 500 ms: met, measured 441 ms, margin 12 %`.
    #[must_use]
    pub fn words(&self) -> String {
        self.said("measured")
    }

    /// The same of a run that was simulated in virtual time, where nothing was measured.
    #[must_use]
    pub fn words_simulated(&self) -> String {
        self.said("simulated")
    }

    fn said(&self, how: &str) -> String {
        let goal = self.outcome.goal;
        let shown = |value: f64| shown(&goal, value);
        let is_met = self.is_met();
        let came_out = match (self.outcome.measured, self.stand_in) {
            (None, _) => format!("missed, not {how}"),
            (Some(value), None) => {
                let margin = self.margin().filter(|margin| margin.is_finite());
                let margin = margin.map_or_else(String::new, |margin| match is_met {
                    true => format!(", margin {}", percent(margin)),
                    false => format!(", {} beyond", percent(-margin)),
                });
                let came_out = if is_met { "met" } else { "missed" };
                format!("{came_out}, {how} {}{margin}", shown(value))
            }
            (Some(value), Some(StandIn { values, needs })) => {
                let (greatest, asked) = (shown(value), goal.statistic.as_str());
                if is_met {
                    format!(
                        "met by {values} of {values} values, the greatest {greatest}; a {asked} needs {needs}"
                    )
                } else {
                    format!(
                        "missed by the greatest of {values} values, {greatest}; a {asked} needs {needs}"
                    )
                }
            }
        };
        format!("{}: {came_out}", goal.describe())
    }
}

/// A figure of a goal, with its unit.
pub(super) fn shown(goal: &Goal, value: f64) -> String {
    match goal.metric.unit() {
        "ms" => duration_ms(value),
        unit => format!("{} {unit}", number(value)).trim_end().to_owned(),
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
        map.serialize_entry("low", &self.outcome.interval.map(|ends| ends.low))?;
        map.serialize_entry("high", &self.outcome.interval.map(|ends| ends.high))?;
        map.serialize_entry("margin", &self.margin())?;
        let statistic = self.stand_in.map_or(goal.statistic, |_| Statistic::Max);
        map.serialize_entry("measured_statistic", statistic.as_str())?;
        if let Some(stand_in) = self.stand_in {
            map.serialize_entry("values", &stand_in.values)?;
            map.serialize_entry("values_needed", &stand_in.needs)?;
        }
        map.serialize_entry("met", &self.is_met())?;
        map.end()
    }
}
