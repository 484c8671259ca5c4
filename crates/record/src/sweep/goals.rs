//! How the goals came out at a level.

use fizeau_metrics::{Goal, GoalOutcome, LevelSummary, Slo, StandIn, Statistic};
use fizeau_pareto::Constraint;
use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::goal::{Figure, is_upper, limit_of, measured};
use crate::text::{percent, supported};

/// How one goal came out at a level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GoalResult {
    /// The goal and what was measured.
    pub outcome: GoalOutcome,
    /// What was measured in place of the statistic that the goal is about; absent where it is that one.
    pub stand_in: Option<StandIn>,
    /// Over which runs it was measured; absent where the load was measured once.
    pub over_runs: Option<OverRuns>,
}

/// The runs that a figure is over. Of a mean or a rate it is their mean; of a percentile, whose mean is none, their median, and
/// of an even number of runs the worse of the two in the middle: always what one of them had.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OverRuns {
    /// How many.
    pub runs: usize,
    /// The least figure of any.
    pub least: f64,
    /// The greatest.
    pub greatest: f64,
}

/// The results of all goals at a level, in the order of the goals.
pub(crate) fn results(slo: &Slo, level: &LevelSummary) -> Vec<GoalResult> {
    slo.goals().iter().map(|goal| GoalResult::of(*goal, level)).collect()
}

impl OverRuns {
    /// Of the figures of the runs; none of fewer than two.
    pub(super) fn of(figures: &[Figure]) -> Option<Self> {
        let values = || figures.iter().map(|figure| figure.estimate.value());
        (figures.len() > 1).then(|| Self {
            runs: figures.len(),
            least: values().fold(f64::INFINITY, f64::min),
            greatest: values().fold(f64::NEG_INFINITY, f64::max),
        })
    }
}

impl GoalResult {
    /// How `goal` came out at `level`.
    pub(crate) fn of(goal: Goal, level: &LevelSummary) -> Self {
        let measured = goal.metric.measured(goal.statistic, level);
        let interval = goal.metric.interval(goal.statistic, level);
        let outcome = GoalOutcome { goal, measured, interval };
        // The greatest value is no less than any percentile, so it may speak for an upper limit only.
        let upper = goal.metric.distribution(level).filter(|_| is_upper(goal.comparison));
        let reading = upper.and_then(|sample| sample.or_greatest(goal.statistic));
        let Some((greatest, stand_in)) = reading.and_then(|of| Some((of.value, of.stand_in?)))
        else {
            return Self { outcome, stand_in: None, over_runs: None };
        };
        let outcome = GoalOutcome { goal, measured: Some(greatest.get()), interval: None };
        Self { outcome, stand_in: Some(stand_in), over_runs: None }
    }

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

    /// The figure with its unit; over several runs, which of theirs it is, and from where to where they go.
    fn shown(&self, value: f64) -> String {
        let goal = self.outcome.goal;
        let text = measured(&goal, value, self.outcome.interval);
        let Some(OverRuns { runs, least, greatest }) = self.over_runs else { return text };
        let which = match (goal.statistic, runs) {
            (Statistic::Mean | Statistic::Value, _) => "the mean",
            (_, 2) => "the worse",
            _ => "the median",
        };
        let [least, greatest] = [least, greatest].map(|end| supported(end, None));
        match least == greatest {
            true => format!("{text} ({which} of {runs} runs)"),
            false => format!("{text} ({which} of {runs} runs, {least} to {greatest})"),
        }
    }

    /// The figure, and of how many values it is the greatest where it stands in for a percentile; none if it is not known.
    #[must_use]
    pub fn measured_words(&self) -> Option<String> {
        let value = self.shown(self.outcome.measured?);
        Some(match self.stand_in {
            Some(few) => format!("{value}, greatest of {}", few.values),
            None => value,
        })
    }

    fn said(&self, how: &str) -> String {
        let goal = self.outcome.goal;
        let shown = |value: f64| self.shown(value);
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

#[cfg(feature = "schema")]
fizeau_core::object_schema!(GoalResult, "GoalResult", "How a goal came out.", |o| o
    .each(
        &["goal", "unit", "measured_statistic"],
        fizeau_core::schema::ObjectSchema::field::<String>
    )
    .field::<f64>("limit")
    .or_reason::<f64>("measured")
    .or_reason::<[f64; 2]>("measured_ci")
    .or_reason::<f64>("margin")
    .each(&["values", "values_needed", "runs"], fizeau_core::schema::ObjectSchema::may_have::<u64>)
    .each(
        &["measured_least", "measured_greatest"],
        fizeau_core::schema::ObjectSchema::may_have::<f64>
    )
    .field::<bool>("met"));

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
        let ends = self.outcome.interval.map(|ends| [ends.low, ends.high]);
        map.serialize_entry("measured_ci", &ends)?;
        if ends.is_none() {
            let reason = match self.over_runs {
                Some(_) => "a percentile over runs has the least and the greatest of theirs",
                None => "no interval is known of such a figure",
            };
            map.serialize_entry("measured_ci_reason", reason)?;
        }
        map.serialize_entry("margin", &self.margin())?;
        if self.margin().is_none() {
            map.serialize_entry("margin_reason", "the level has no such figure")?;
        }
        let statistic = self.stand_in.map_or(goal.statistic, |_| Statistic::Max);
        map.serialize_entry("measured_statistic", statistic.as_str())?;
        if let Some(stand_in) = self.stand_in {
            map.serialize_entry("values", &stand_in.values)?;
            map.serialize_entry("values_needed", &stand_in.needs)?;
        }
        if let Some(OverRuns { runs, least, greatest }) = self.over_runs {
            map.serialize_entry("runs", &runs)?;
            map.serialize_entry("measured_least", &least)?;
            map.serialize_entry("measured_greatest", &greatest)?;
        }
        map.serialize_entry("met", &self.is_met())?;
        map.end()
    }
}
