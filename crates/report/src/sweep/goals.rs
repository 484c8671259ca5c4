//! How the goals came out at a level.

use fizeau_metrics::{
    Comparison, Distribution, GoalOutcome, LevelSummary, Quantile, Slo, Statistic,
};
use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::number::{duration_ms, number};

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

impl GoalResult {
    /// Whether the goal is met; one whose figure is absent is not.
    #[must_use]
    pub fn is_met(&self) -> bool {
        self.outcome.is_met()
    }

    /// The goal and what was measured, in words: `p99 TTFT < 500 ms: met, measured 441 ms`.
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
        let unit = goal.metric.unit();
        let shown = |value: f64| match unit {
            "ms" => duration_ms(value),
            _ => format!("{} {unit}", number(value)).trim_end().to_owned(),
        };
        let is_met = self.is_met();
        let came_out = match (self.outcome.measured, self.stand_in) {
            (None, _) => format!("missed, not {how}"),
            (Some(value), None) if is_met => format!("met, {how} {}", shown(value)),
            (Some(value), None) => format!("missed, {how} {}", shown(value)),
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
