//! How the goals came out at a level.

use fizeau_core::document;
use fizeau_metrics::{
    Goal, GoalOutcome, Interval, LevelSummary, Saturation, Slo, StandIn, Statistic,
};
use fizeau_pareto::Constraint;

use super::load::{FigureEnds, over};
use super::{GoalFigure, figure, is_upper, limit_of, measured};
#[cfg(feature = "schema")]
use crate::reasons::listed;
use crate::reasons::reasons;
use crate::text::{percent, supported};

/// How one goal came out at a level.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct GoalResult {
    /// The goal and what was measured.
    pub outcome: GoalOutcome,
    /// What was measured in place of the statistic that the goal is about; absent where it is that one.
    pub stand_in: Option<StandIn>,
    /// Over which runs it was measured; absent where the load was measured once.
    pub over_runs: Option<FigureOverRuns>,
}

/// The runs that a figure is over. Of a mean or a rate it is their mean; of a percentile, whose mean is none, their median, and
/// of an even number of runs the worse of the two in the middle: always what one of them had.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct FigureOverRuns {
    /// How many.
    pub runs: usize,
    /// The least figure of any.
    pub least: f64,
    /// The greatest.
    pub greatest: f64,
}

/// The results of all goals at a level, in the order of the goals.
pub(crate) fn results(slo: &Slo, level: &LevelSummary) -> Vec<GoalResult> {
    slo.goals.iter().map(|goal| GoalResult::of(*goal, level)).collect()
}

/// Whether a level keeps all goals, ranges at their loose ends, and its queue did not grow to the end; none where one goal cannot be
/// judged.
pub(crate) fn keeps(slo: &Slo, level: &LevelSummary) -> Option<bool> {
    let kept = results(&slo.loose(), level)
        .into_iter()
        .map(|result| result.outcome.measured.map(|_| result.is_met()));
    let has_grown = matches!(level.saturation, Some(Saturation::Saturated(_)));
    let kept = kept.collect::<Option<Vec<bool>>>()?;
    Some(!has_grown && kept.into_iter().all(|kept| kept))
}

impl FigureOverRuns {
    /// Of the figures of the runs; none of fewer than two.
    pub(crate) fn of(figures: &[GoalFigure]) -> Option<Self> {
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
        let outcome = GoalOutcome::of(goal, level);
        // The greatest value is no less than any percentile, so it may speak for an upper limit only.
        let upper = goal.metric.distribution(level).filter(|_| is_upper(goal.comparison));
        let reading = upper.and_then(|sample| sample.value_or_max(goal.statistic));
        let Some((greatest, stand_in)) = reading.and_then(|of| Some((of.value, of.stand_in?)))
        else {
            return Self { outcome, stand_in: None, over_runs: None };
        };
        let measured = Some(greatest.get());
        let outcome = GoalOutcome { measured, interval: None, ..outcome };
        Self { outcome, stand_in: Some(stand_in), over_runs: None }
    }

    /// How `goal` came out over `runs` of one load, of which `level` stands for all.
    pub(crate) fn over_runs<'a>(
        goal: &Goal,
        level: &LevelSummary,
        runs: impl Iterator<Item = &'a LevelSummary>,
    ) -> Self {
        let mut result = Self::of(*goal, level);
        let runs: Vec<&LevelSummary> = runs.collect();
        let failed: Vec<f64> = runs.iter().filter_map(|run| run.requests.failed_share()).collect();
        if let [_, _, ..] = *failed {
            let mean = failed.iter().sum::<f64>() / failed.len() as f64;
            result.outcome.failures = goal.missed_by(mean);
        }
        let figures: Vec<GoalFigure> =
            runs.into_iter().filter_map(|run| figure(goal, run)).collect();
        let over_runs = FigureOverRuns::of(&figures);
        if let (Some(_), Some(GoalFigure { estimate, ends })) = (over_runs, over(goal, &figures)) {
            // Where they decide, each run's own over its schedule or over all that it sent is among those figures.
            (result.outcome.from_schedule, result.outcome.over_sent) = (None, None);
            result.outcome.measured = Some(estimate.value());
            let (low, high) = (estimate.low(), estimate.high());
            let is_interval = ends == FigureEnds::Interval;
            result.outcome.interval = is_interval.then_some(Interval::p95(low, high));
            result.over_runs = over_runs;
        }
        result
    }

    /// How far the figure is inside its limit, as a share of the limit: 0.2 is a fifth to spare, -0.1 a tenth too much or too
    /// little. None if the figure is not known.
    #[must_use]
    pub fn margin(&self) -> Option<f64> {
        self.constraint().margin()
    }

    pub(crate) fn constraint(&self) -> Constraint {
        let (relation, limit) = limit_of(&self.outcome.goal);
        Constraint { value: self.outcome.deciding_figure(), relation, limit }
    }

    /// Whether the goal is met; one whose figure is absent is not.
    #[must_use]
    pub fn is_met(&self) -> bool {
        self.outcome.is_met()
    }

    /// How many values its percentile takes, where the greatest of fewer keeps the limit: that the percentile does was not shown.
    #[must_use]
    pub fn values_needed(&self) -> Option<u64> {
        self.stand_in.filter(|_| self.is_met()).map(|few| few.needs)
    }

    /// How many requests have [so many values](Self::values_needed); where not each of those that were `sent` had one, as many more,
    /// and a tenth to be sure.
    pub(crate) fn requests_needed(&self, sent: u64) -> Option<u64> {
        let (needs, values) = (self.values_needed()?, self.stand_in?.values);
        if values == 0 || values >= sent {
            return Some(needs);
        }
        let requests = u128::from(needs) * u128::from(sent) * 11;
        u64::try_from(requests.div_ceil(u128::from(values) * 10)).ok()
    }

    /// The goal and what was measured, in words: `p99 TTFT < 500 ms: met, measured 441 ms, margin 12 %`.
    #[must_use]
    pub fn words(&self) -> String {
        self.outcome_text("measured")
    }

    /// The same of a run that was simulated in virtual time, where nothing was measured.
    #[must_use]
    pub fn words_simulated(&self) -> String {
        self.outcome_text("simulated")
    }

    /// The figure with its unit; over several runs, which of theirs it is, and from where to where they go.
    fn shown(&self, value: f64) -> String {
        let goal = self.outcome.goal;
        let text = measured(&goal, value, self.outcome.interval);
        let Some(FigureOverRuns { runs, least, greatest }) = self.over_runs else { return text };
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

    /// Missed by the `strict` figure alone, beside the plain one.
    fn missed_otherwise(&self, how: &str, strictly: &str, strict: f64, plainly: &str) -> String {
        let goal = self.outcome.goal;
        let (goal_words, strict) = (goal.describe(), measured(&goal, strict, None));
        let plain = self
            .measured_words()
            .map_or_else(String::new, |plain| format!(", and {plain} {plainly}"));
        format!("{goal_words}: missed {strictly}, {how} {strict}{plain}")
    }

    fn outcome_text(&self, how: &str) -> String {
        let goal = self.outcome.goal;
        let shown = |value: f64| self.shown(value);
        let is_met = self.is_met();
        if let Some(failed) = self.outcome.failures {
            let failed = percent(failed);
            let others = self
                .measured_words()
                .map_or_else(String::new, |others| format!("; {how} {others} for the others"));
            return format!("{}: missed: {failed} of the requests failed{others}", goal.describe());
        }
        if let Some(waited) = self.outcome.from_schedule {
            return self.missed_otherwise(
                how,
                "from schedule",
                waited,
                "from the sending of requests",
            );
        }
        if let Some(all) = self.outcome.over_sent {
            return self.missed_otherwise(
                how,
                "over all requests sent",
                all,
                "over those that completed",
            );
        }
        let came_out = match (self.outcome.measured, self.stand_in) {
            (None, _) => format!("missed, not {how}"),
            (Some(value), None) => {
                let (margin, value) = (self.margin(), shown(value));
                match (is_met, margin.filter(|margin| margin.is_finite())) {
                    (true, Some(margin)) => {
                        format!("met, {how} {value}, margin {}", percent(margin))
                    }
                    (true, None) => format!("met, {how} {value}"),
                    (false, Some(margin)) => {
                        format!("missed by {}: {how} {value}", percent(-margin))
                    }
                    (false, None) => format!("missed, {how} {value}"),
                }
            }
            (Some(value), Some(StandIn { values, needs })) => {
                let (greatest, requested) = (shown(value), goal.statistic.as_str());
                // That the greatest of few keeps the limit does not show that the percentile does.
                if is_met {
                    format!(
                        "not decided (maximum {greatest} of {values}; {requested} needs {needs})"
                    )
                } else {
                    format!("missed (maximum {greatest} of {values}; {requested} needs {needs})")
                }
            }
        };
        format!("{}: {came_out}", goal.describe())
    }
}

document! {
    /// How a goal came out, as documents have it.
    #[serde(remote = "Self")]
    #[cfg_attr(feature = "schema", schemars(transform = listed::<Self>))]
    #[non_exhaustive]
    pub struct GoalDocument as "GoalResult", from |result: GoalResult| {
        let GoalResult { outcome, stand_in, over_runs } = result;
        let of = outcome.goal;
    } {
        /// The goal, as it is typed.
        pub goal: String = of.to_string(),
        /// Its limit.
        pub limit: f64 = of.limit,
        /// In what it is counted.
        pub unit: String = of.metric.entry().unit.to_owned(),
        /// What was measured; null where the level has no such figure.
        pub measured: Option<f64> = outcome.measured,
        /// The ends of its interval.
        pub measured_ci: Option<[f64; 2]> = outcome.interval.map(|ends| [ends.low, ends.high]),
        /// How far within the limit it is, as a share of that; below 0 beyond it.
        pub margin: Option<f64> = result.margin(),
        /// The statistic that was measured: the greatest where the sample is too small for the goal's own.
        pub measured_statistic: String = stand_in.map_or(of.statistic, |_| Statistic::Max).as_str().to_owned(),
        /// How many values there are, where they are too few for the goal's own statistic.
        pub values?: u64 = stand_in.map(|few| few.values),
        /// How many it needs.
        pub values_needed?: u64 = stand_in.map(|few| few.needs),
        /// Over how many runs it was measured, where that is more than one.
        pub runs?: u64 = over_runs.map(|over| over.runs as u64),
        /// The least figure of any run.
        pub measured_least?: f64 = over_runs.map(|over| over.least),
        /// The greatest.
        pub measured_greatest?: f64 = over_runs.map(|over| over.greatest),
        /// What was measured from the schedule of an open loop, where that alone misses the goal: `measured` is from the sending.
        pub from_schedule?: f64 = outcome.from_schedule,
        /// The percentile over all that were sent, where that alone misses the goal: `measured` is over those that completed.
        pub over_sent?: f64 = outcome.over_sent,
        /// The share of the requests that failed, where that alone misses the goal.
        pub failed_share?: f64 = outcome.failures,
        /// Whether it was met.
        pub met: bool = result.is_met(),
    }
}

const NO_FIGURE: &str = "the level has no such figure";

reasons!(GoalDocument, |of| {
    measured, margin => NO_FIGURE;
    measured_ci => match of.runs {
        Some(_) => "over several runs a percentile has a range and no interval",
        None => "this figure has no interval",
    };
});
