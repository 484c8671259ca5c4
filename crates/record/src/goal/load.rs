//! A load, and the figures of all its runs.

use fizeau_core::LevelLoad;
use fizeau_metrics::{Comparison, Confidence, Goal, LevelSummary, Metric, Statistic, mean_of_runs};
use fizeau_pareto::{FigureEstimate, ResponseTrend, TestedLoad, isotonic};

use super::{is_upper, served};

/// The figure of a goal.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct GoalFigure {
    pub(crate) estimate: FigureEstimate,
    pub(crate) ends: FigureEnds,
}

/// What the ends of a figure are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FigureEnds {
    /// Nothing is known of how far off it may be: both are the figure itself.
    Unknown,
    /// Those of an interval.
    Interval,
    /// The least and the greatest of several runs.
    Runs,
}

/// A level, as goals see it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct GoalLevel {
    /// What the level is called by who asks; of the runs of one load the first counts.
    pub(crate) index: usize,
    pub(crate) load: LevelLoad,
    /// What was completed.
    pub(crate) served: FigureEstimate,
    /// Whether the queue of an open loop grew to the end.
    pub(crate) is_saturated: bool,
    /// The share of the requests that failed.
    pub(crate) failed: f64,
    /// Of each goal, in order; empty where only that requests failed is known.
    pub(crate) figures: Vec<Option<GoalFigure>>,
}

impl GoalLevel {
    /// A level at `load` of which so many requests [failed](crate::LevelReport::is_failed) that its figures tell nothing.
    pub(crate) fn failed(index: usize, load: LevelLoad, level: &LevelSummary) -> Self {
        Self {
            index,
            load,
            served: served(level).unwrap_or(FigureEstimate::ZERO),
            is_saturated: false,
            failed: level.requests.failed_share().unwrap_or_default(),
            figures: Vec::new(),
        }
    }
}

/// All runs of one load.
pub(super) struct LoadRuns {
    pub(super) index: usize,
    pub(super) load: LevelLoad,
    served: FigureEstimate,
    figures: Vec<Option<GoalFigure>>,
    /// 1 where it is too much by its queue, else 0.
    too_much: f64,
    /// The share of the requests that failed.
    failed: f64,
}

/// The loads of `measured`, rising.
pub(super) fn loads(goals: &[Goal], measured: &[GoalLevel]) -> Vec<LoadRuns> {
    let mut rising: Vec<&GoalLevel> = measured.iter().collect();
    // A stable sort: the first of a load stays the first.
    rising.sort_by(|a, b| a.load.value().total_cmp(&b.load.value()));
    let same = |a: &&GoalLevel, b: &&GoalLevel| a.load.value() == b.load.value();
    let groups: Vec<&[&GoalLevel]> = rising.chunk_by(same).collect();
    let too_much = too_much(&groups);
    let load = |(runs, too_much): (&&[&GoalLevel], f64)| {
        let first = runs.first()?;
        let served: Vec<FigureEstimate> = runs.iter().map(|run| run.served).collect();
        let figure = |(at, goal): (usize, &Goal)| {
            let of: Vec<GoalFigure> = runs.iter().filter_map(|run| *run.figures.get(at)?).collect();
            over(goal, &of)
        };
        Some(LoadRuns {
            index: first.index,
            load: first.load,
            served: match &*served {
                [one] => *one,
                many => mean(many.iter().copied())?,
            },
            figures: goals.iter().enumerate().map(figure).collect(),
            too_much,
            failed: runs.iter().map(|run| run.failed).sum::<f64>() / runs.len() as f64,
        })
    };
    let mut loads: Vec<LoadRuns> = groups.iter().zip(too_much).filter_map(load).collect();
    stand_in(goals, &groups, &mut loads);
    loads
}

/// Gives loads of which only failures are known figures that no regression over the loads takes for better than those below: they are
/// to break the limit of failures, and no other.
fn stand_in(goals: &[Goal], groups: &[&[&GoalLevel]], loads: &mut [LoadRuns]) {
    let is_failed = |load: &LoadRuns| {
        let mut runs = groups.iter().flat_map(|runs| runs.iter());
        runs.all(|run| run.load.value() != load.load.value() || run.figures.is_empty())
    };
    let failed: Vec<bool> = loads.iter().map(is_failed).collect();
    for at in (0..loads.len()).filter(|at| failed.get(*at) == Some(&true)) {
        let own = |(other, load): (usize, &LoadRuns)| {
            (failed.get(other) == Some(&false)).then(|| (other < at, load.figures.clone()))
        };
        let (below, above): (Vec<_>, Vec<_>) =
            loads.iter().enumerate().filter_map(own).partition(|(is_below, _)| *is_below);
        let beside = if below.is_empty() { above.get(..1).unwrap_or_default() } else { &below };
        let of = |(index, goal): (usize, &Goal)| {
            worst(goal, beside.iter().filter_map(|(_, figures)| *figures.get(index)?).collect())
        };
        let figures = goals.iter().enumerate().map(of).collect();
        if let Some(load) = loads.get_mut(at) {
            load.figures = figures;
        }
    }
}

/// The figure of rising loads that is furthest where more load takes it: the greatest, or of what falls with the load the least.
fn worst(goal: &Goal, figures: Vec<GoalFigure>) -> Option<GoalFigure> {
    let value = |figure: &GoalFigure| figure.estimate.value();
    let ends = figures.first().map(value).zip(figures.last().map(value));
    let falls = goal.metric == Metric::GoodShare
        || goal.metric == Metric::GoodputPerSec && ends.is_some_and(|(first, last)| last < first);
    let by_value = |a: &GoalFigure, b: &GoalFigure| value(a).total_cmp(&value(b));
    let figures = figures.into_iter();
    if falls { figures.min_by(by_value) } else { figures.max_by(by_value) }
}

/// A figure over the runs of a load: that of one run as it is; of several the mean with Student's interval, and of percentiles,
/// whose mean is none, the [middle] one with the range.
pub(crate) fn over(goal: &Goal, runs: &[GoalFigure]) -> Option<GoalFigure> {
    if let [one] = runs {
        return Some(*one);
    }
    let (estimate, ends) = match goal.statistic {
        Statistic::Mean | Statistic::Value => {
            (mean(runs.iter().map(|run| run.estimate)), FigureEnds::Interval)
        }
        _ => {
            let values = runs.iter().map(|run| run.estimate.value()).collect();
            (middle(values, goal.comparison), FigureEnds::Runs)
        }
    };
    Some(GoalFigure { estimate: estimate?, ends })
}

fn mean(runs: impl Iterator<Item = FigureEstimate>) -> Option<FigureEstimate> {
    let values: Vec<f64> = runs.map(|run| run.value()).collect();
    let found = mean_of_runs(&values, Confidence::P95)?;
    // Student's interval of two unlike runs reaches below zero, which no figure of a goal does.
    FigureEstimate::new(found.value(), found.low().max(0.0), found.high()).ok()
}

/// The median, between the least and the greatest: one of the values themselves, of an even number the worse of the two in the
/// middle, as a limit has it.
pub(crate) fn middle(mut values: Vec<f64>, limit: Comparison) -> Option<FigureEstimate> {
    values.sort_by(f64::total_cmp);
    let last = values.len().checked_sub(1)?;
    let middle = if is_upper(limit) { values.len() / 2 } else { last / 2 };
    let at = |i: usize| values.get(i).copied();
    FigureEstimate::new(at(middle)?, at(0)?, at(last)?).ok()
}

/// 1 for a load of which most runs saturated, else 0. Isotonic regression keeps a run that saturated by chance from deciding.
fn too_much(groups: &[&[&GoalLevel]]) -> Vec<f64> {
    let grew = |runs: &&[&GoalLevel]| {
        runs.iter().filter(|run| run.is_saturated).count() as f64 / runs.len().max(1) as f64
    };
    let seen: Vec<f64> = groups.iter().map(grew).collect();
    let runs: Vec<f64> = groups.iter().map(|runs| runs.len() as f64).collect();
    let fitted = isotonic(&seen, &runs, ResponseTrend::Rising).unwrap_or(seen);
    fitted.into_iter().map(|share| f64::from(share > 0.5)).collect()
}

impl LoadRuns {
    /// The figure of a goal; behind the goals, whether it is too much by its queue, and behind that how much failed.
    pub(super) fn estimate(&self, goal: usize) -> Option<FigureEstimate> {
        match goal.checked_sub(self.figures.len()) {
            None => self.figures.get(goal)?.map(|figure| figure.estimate),
            Some(0) => FigureEstimate::exact(self.too_much).ok(),
            Some(_) => FigureEstimate::exact(self.failed).ok(),
        }
    }

    /// What the ends of the figure of a goal are.
    pub(super) fn ends(&self, goal: usize) -> FigureEnds {
        let figure = self.figures.get(goal).copied().flatten();
        figure.map_or(FigureEnds::Unknown, |figure| figure.ends)
    }

    pub(super) fn tested(&self, goals: usize) -> TestedLoad {
        TestedLoad {
            load: self.load.value(),
            throughput: self.served,
            figures: (0..goals + 2).map(|at| self.estimate(at)).collect(),
        }
    }
}
