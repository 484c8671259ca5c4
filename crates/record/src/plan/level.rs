//! A tested load, as a plan sees it: from a run, or from a table of figures.

use fizeau_metrics::{Goal, LevelSummary, Metric, Saturation, Statistic};
use fizeau_pareto::Estimate;

use crate::goal::{Ends, Figure, Measured, figure, is_upper, served};
use crate::{LevelReport, LoadPoint};

/// A load that one replica was tested at, and the figures that it had there.
#[derive(Debug, Clone, PartialEq)]
pub struct PlanLevel {
    /// The load of the replica.
    pub load: LoadPoint,
    /// The requests that it completed per second.
    pub requests_per_s: Estimate,
    /// Whether the queue of an open loop grew to the end: it cannot go on so, whatever its latencies.
    pub(super) is_saturated: bool,
    figures: Figures,
}

/// A figure of a level, in its metric's unit: milliseconds, per second, or a share.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlanFigure {
    /// Of what.
    pub metric: Metric,
    /// Which statistic; [`Statistic::Value`] of a rate or a share.
    pub statistic: Statistic,
    /// The figure, with its interval where there is one.
    pub value: Estimate,
}

#[derive(Debug, Clone, PartialEq)]
enum Figures {
    Measured(Box<LevelSummary>),
    Given(Vec<PlanFigure>),
}

impl PlanLevel {
    /// A level of a run.
    ///
    /// # Errors
    /// The reason, in plain words, why the level may be compared with nothing: it is partial or invalid, or nothing completed.
    pub fn measured(level: &LevelReport) -> Result<Self, String> {
        if let Some(reason) = level.left_out() {
            return Err(reason);
        }
        let is_saturated = level.is_saturated();
        Self::of(level.load, &level.summary, is_saturated)
            .ok_or_else(|| "it has no length, and so no rate".to_owned())
    }

    /// A level of a simulation; none where nothing completed.
    #[must_use]
    pub fn simulated(load: LoadPoint, summary: &LevelSummary) -> Option<Self> {
        let is_open = matches!(load, LoadPoint::Rate(_));
        let grew = matches!(summary.saturation, Some(Saturation::Saturated(_)));
        (summary.requests.completed > 0).then(|| Self::of(load, summary, is_open && grew)).flatten()
    }

    fn of(load: LoadPoint, summary: &LevelSummary, is_saturated: bool) -> Option<Self> {
        Some(Self {
            load,
            requests_per_s: served(summary)?,
            is_saturated,
            figures: Figures::Measured(Box::new(summary.clone())),
        })
    }

    /// A load with figures from elsewhere.
    #[must_use]
    pub const fn given(
        load: LoadPoint,
        requests_per_s: Estimate,
        figures: Vec<PlanFigure>,
    ) -> Self {
        Self { load, requests_per_s, is_saturated: false, figures: Figures::Given(figures) }
    }

    /// The same, its queue having grown to the end.
    #[must_use]
    pub fn saturated(self) -> Self {
        Self { is_saturated: true, ..self }
    }

    /// The level as `goals` see it, called `index`.
    pub(super) fn seen_by(&self, goals: &[Goal], index: usize) -> Measured {
        Measured {
            index,
            load: self.load,
            served: self.requests_per_s,
            is_saturated: self.is_saturated,
            figures: goals.iter().map(|goal| self.figure(goal)).collect(),
        }
    }

    /// The figure that `goal` is about; none where the level does not have it. Of a sample too small for a percentile the
    /// greatest value stands in where the limit is an upper one, being no less than the percentile.
    pub(super) fn figure(&self, goal: &Goal) -> Option<Figure> {
        let figures = match &self.figures {
            Figures::Measured(summary) => return figure(goal, summary),
            Figures::Given(figures) => figures,
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
        let ends = if is_known { Ends::Interval } else { Ends::Unknown };
        Some(Figure { estimate, ends })
    }

    /// The requests in flight on average: as a simulation or a run saw them, of a closed loop as many as its slots, and else by
    /// Little's law where the mean end-to-end latency is given; none where it is not.
    #[must_use]
    pub fn in_flight(&self) -> Option<f64> {
        let given = match &self.figures {
            Figures::Measured(summary) => {
                return summary.over_time.as_ref().map(|over_time| over_time.in_flight.mean);
            }
            Figures::Given(given) => given,
        };
        if let LoadPoint::Concurrency(slots) = self.load {
            return Some(slots.into());
        }
        let is_mean = |figure: &&PlanFigure| {
            (figure.metric, figure.statistic) == (Metric::E2el, Statistic::Mean)
        };
        let e2el = given.iter().find(is_mean)?.value.value();
        Some(self.requests_per_s.value() * e2el / 1e3)
    }

    /// What goals can be about here, in the words of a goal; none of a run, which has all of them but for per-request goals.
    pub(super) fn names(&self) -> Option<Vec<String>> {
        let Figures::Given(figures) = &self.figures else { return None };
        let name = |figure: &PlanFigure| {
            let name = format!("{} {}", figure.statistic.as_str(), figure.metric.entry().key);
            name.trim_start().to_owned()
        };
        Some(figures.iter().map(name).collect())
    }
}
