//! A tested load, as a plan sees it: from a run, or from a table of figures.

use fizeau_core::LevelLoad;
use fizeau_metrics::{
    Goal, LevelSummary, Metric, Saturation, Statistic, Verdict, VerdictConcern, VerdictReason,
};
use fizeau_pareto::FigureEstimate;

use crate::LevelReport;
use crate::goal::{FigureEnds, GoalFigure, GoalLevel, figure, is_upper, served};

/// A load that one replica was tested at, and the figures that it had there.
#[derive(Debug, Clone, PartialEq)]
pub struct PlanLevel {
    /// The load of the replica.
    pub load: LevelLoad,
    /// The requests that it completed per second.
    pub requests_per_s: FigureEstimate,
    /// Whether the queue of an open loop grew to the end: it cannot go on so, whatever its latencies.
    pub(super) is_saturated: bool,
    /// The share of its requests that failed, those that the client cancelled counted on neither side.
    pub(super) failed: f64,
    /// Whether so many failed that its figures tell nothing.
    pub(super) is_failed: bool,
    /// Why it is suspect, in words behind its load; none where it is valid.
    pub(super) doubt: Option<String>,
    figures: LevelFigures,
}

/// Why a level of a run is of no use to a plan.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UnusableLevel {
    /// It may be compared with nothing: it is partial or invalid, or nothing completed.
    #[error("{reason}")]
    LeftOut {
        /// Why, in plain words.
        reason: String,
    },
    /// It took no time.
    #[error("it has no length, and so no rate")]
    NoLength,
}

/// A figure of a level, in its metric's unit: milliseconds, per second, or a share.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct PlanFigure {
    /// Of what.
    pub metric: Metric,
    /// Which statistic; [`Statistic::Value`] of a rate or a share.
    pub statistic: Statistic,
    /// The figure, with its interval where there is one.
    pub value: FigureEstimate,
}

impl PlanFigure {
    /// That `statistic` of `metric` is `value`.
    #[must_use]
    pub const fn new(metric: Metric, statistic: Statistic, value: FigureEstimate) -> Self {
        Self { metric, statistic, value }
    }
}

#[derive(Debug, Clone, PartialEq)]
enum LevelFigures {
    Measured(Box<LevelSummary>),
    Given(Vec<PlanFigure>),
}

impl PlanLevel {
    /// A level of a run. One of which most requests failed is too much, whatever the others show.
    ///
    /// # Errors
    /// If the level tells nothing of what the server carries: it is partial, or invalid for another reason than failures.
    pub fn measured(level: &LevelReport) -> Result<Self, UnusableLevel> {
        if level.is_failed() {
            let served = served(&level.summary).unwrap_or(FigureEstimate::ZERO);
            let failed = level.summary.requests.failed_share().unwrap_or_default();
            let figures = LevelFigures::Measured(Box::new(level.summary.clone()));
            let all = Self::given(level.load, served, Vec::new()).with_failed_share(failed);
            return Ok(Self { is_failed: true, figures, ..all });
        }
        if let Some(reason) = level.left_out() {
            return Err(UnusableLevel::LeftOut { reason });
        }
        let is_saturated = level.is_saturated();
        let measured = Self::of(level.load, &level.summary, is_saturated);
        let measured = measured.ok_or(UnusableLevel::NoLength)?;
        Ok(Self { doubt: doubt(level), ..measured })
    }

    /// A level of a simulation; none where nothing completed.
    #[must_use]
    pub fn simulated(load: LevelLoad, summary: &LevelSummary) -> Option<Self> {
        let is_open = matches!(load, LevelLoad::Rate(_));
        let grew = matches!(summary.saturation, Some(Saturation::Saturated(_)));
        (summary.requests.completed > 0).then(|| Self::of(load, summary, is_open && grew)).flatten()
    }

    fn of(load: LevelLoad, summary: &LevelSummary, is_saturated: bool) -> Option<Self> {
        Some(Self {
            load,
            requests_per_s: served(summary)?,
            is_saturated,
            failed: summary.requests.failed_share().unwrap_or_default(),
            is_failed: false,
            doubt: None,
            figures: LevelFigures::Measured(Box::new(summary.clone())),
        })
    }

    /// A load with figures from elsewhere.
    #[must_use]
    pub const fn given(
        load: LevelLoad,
        requests_per_s: FigureEstimate,
        figures: Vec<PlanFigure>,
    ) -> Self {
        let figures = LevelFigures::Given(figures);
        let (is_saturated, failed, is_failed, doubt) = (false, 0.0, false, None);
        Self { load, requests_per_s, is_saturated, failed, is_failed, doubt, figures }
    }

    /// The same, this share of its requests having failed, 0 to 1.
    #[must_use]
    pub(crate) fn with_failed_share(self, failed: f64) -> Self {
        Self { failed, ..self }
    }

    /// The same, its queue having grown to the end.
    #[must_use]
    pub fn saturated(self) -> Self {
        Self { is_saturated: true, ..self }
    }

    /// The same, suspect for a reason in words that stand behind its load.
    pub(super) fn doubted(self, doubt: String) -> Self {
        Self { doubt: Some(doubt), ..self }
    }

    /// The level as `goals` see it, called `index`.
    pub(super) fn seen_by(&self, goals: &[Goal], index: usize) -> GoalLevel {
        let figures = goals.iter().map(|goal| self.figure(goal));
        GoalLevel {
            index,
            load: self.load,
            served: self.requests_per_s,
            is_saturated: self.is_saturated,
            failed: self.failed,
            figures: figures.filter(|_| !self.is_failed).collect(),
        }
    }

    /// The figure that `goal` is about; none where the level does not have it. Of a sample too small for a percentile the
    /// greatest value stands in where the limit is an upper one, being no less than the percentile.
    pub(super) fn figure(&self, goal: &Goal) -> Option<GoalFigure> {
        let figures = match &self.figures {
            LevelFigures::Measured(summary) => return figure(goal, summary),
            LevelFigures::Given(figures) => figures,
        };
        let of = |statistic: Statistic| {
            let is_it = |figure: &&PlanFigure| {
                (figure.metric, figure.statistic) == (goal.metric, statistic)
            };
            figures.iter().find(is_it).map(|figure| figure.value)
        };
        let is_percentile = !matches!(goal.statistic, Statistic::Mean | Statistic::Value);
        let greatest = || {
            let may_stand_in = is_percentile && is_upper(goal.comparison);
            may_stand_in.then(|| of(Statistic::Max)).flatten()
        };
        let estimate = of(goal.statistic).or_else(greatest)?;
        let is_known = estimate.low() < estimate.high();
        let ends = if is_known { FigureEnds::Interval } else { FigureEnds::Unknown };
        Some(GoalFigure { estimate, ends })
    }

    /// The requests in flight on average: as a simulation or a run saw them, of a closed loop as many as its slots, and else by
    /// Little's law where the mean end-to-end latency is given; none where it is not.
    #[must_use]
    pub fn in_flight(&self) -> Option<f64> {
        let given = match &self.figures {
            LevelFigures::Measured(summary) => {
                return summary.over_time.as_ref().map(|over_time| over_time.in_flight.mean);
            }
            LevelFigures::Given(given) => given,
        };
        if let LevelLoad::Concurrency(slots) = self.load {
            return Some(slots.get().into());
        }
        let is_mean = |figure: &&PlanFigure| {
            (figure.metric, figure.statistic) == (Metric::E2el, Statistic::Mean)
        };
        let e2el = given.iter().find(is_mean)?.value.value();
        Some(self.requests_per_s.value() * e2el / 1e3)
    }

    /// What goals can be about here, in the words of a goal; none of a run, which has all of them but for per-request goals.
    pub(super) fn names(&self) -> Option<Vec<String>> {
        let LevelFigures::Given(figures) = &self.figures else { return None };
        let name = |figure: &PlanFigure| {
            let name = format!("{} {}", figure.statistic.as_str(), figure.metric.entry().key);
            name.trim_start().to_owned()
        };
        Some(figures.iter().map(name).collect())
    }
}

/// What speaks against a level. That its queue grew makes it too much, which a plan goes by.
fn doubt(level: &LevelReport) -> Option<String> {
    let counts = |reason: &&VerdictReason| {
        reason.verdict == Verdict::Suspect && reason.about != VerdictConcern::Saturation
    };
    let reasons = level.validity.reasons.iter().filter(counts);
    // Behind the first semicolon stands what explains it.
    let reasons: Vec<&str> = reasons.filter_map(|one| one.text.split(';').next()).collect();
    (!reasons.is_empty()).then(|| format!("suspect: {}", reasons.join("; ")))
}
