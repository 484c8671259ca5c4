//! The highest load within the goals, between the levels that were tested.

use fizeau_metrics::{Goal, Interval, Metric, Slo, Statistic};
use fizeau_pareto::{Departure, Edge, EdgeError, Estimate, Limit, Tested, Trend, departure, edge};

use super::goals::{GoalResult, limit_of, results};
use crate::LevelReport;

/// The highest load of one kind within the goals. Indices of levels are those of the sweep, of limits those of the goals.
#[derive(Debug, Clone, PartialEq)]
pub struct Maximum {
    /// Where it is, or why there is no telling.
    pub edge: Result<Edge, EdgeError>,
    /// The goals whose figure does not go one way as the load rises, beyond what chance explains, with where it does not.
    pub not_monotone: Vec<(usize, Departure)>,
    /// The goals whose figures next to the edge come without an interval, so that how far off the edge may be is not known
    /// either.
    pub without_interval: Vec<usize>,
}

/// The highest load within `slo` among the `compared` levels, all of one kind.
pub(super) fn find(slo: &Slo, levels: &[LevelReport], compared: &[usize]) -> Maximum {
    let mut rising: Vec<usize> = compared.to_vec();
    let load = |index: &usize| levels.get(*index).map_or(f64::NAN, |level| level.load.value());
    rising.sort_by(|a, b| load(a).total_cmp(&load(b)));
    let known: Vec<(usize, Vec<GoalResult>)> = rising
        .iter()
        .filter_map(|&index| Some((index, results(slo, &levels.get(index)?.summary))))
        .collect();
    let figure = |goals: &[GoalResult], at: usize| goals.get(at).and_then(estimate);
    let series = |at: usize| known.iter().filter_map(move |(_, goals)| figure(goals, at));
    let limits: Vec<Limit> = slo
        .goals()
        .iter()
        .enumerate()
        .map(|(at, goal)| limit(goal, &series(at).collect::<Vec<_>>()))
        .collect();
    let tested = known.iter().filter_map(|(index, goals)| {
        let level = levels.get(*index)?;
        let figures = (0..limits.len()).map(|at| figure(goals, at)).collect();
        Some(Tested { load: level.load.value(), throughput: throughput(level)?, figures })
    });
    let tested: Vec<Tested> = tested.collect();
    let edge = edge(&tested, &limits).map(|edge| named(edge, &rising));
    let not_monotone = limits.iter().enumerate().filter_map(|(at, limit)| {
        // Without an interval there is no telling chance from more.
        let has = |(index, goals): &(usize, Vec<GoalResult>)| {
            let sure = goals.get(at).filter(|goal| goal.outcome.interval.is_some())?;
            Some((*index, estimate(sure)?))
        };
        let (indices, figures): (Vec<usize>, Vec<Estimate>) = known.iter().filter_map(has).unzip();
        let found = departure(&figures, limit.trend).filter(Departure::is_significant)?;
        let (earlier, later) = (*indices.get(found.earlier)?, *indices.get(found.later)?);
        Some((at, Departure { earlier, later, ..found }))
    });
    let not_monotone = not_monotone.collect();
    let beside: Vec<usize> = match &edge {
        Ok(Edge::Between(found)) => vec![found.below, found.breaks.level],
        Ok(Edge::Beyond(found)) => vec![found.level],
        Ok(Edge::Unmet(found)) => vec![found.worst.level],
        Err(_) => Vec::new(),
    };
    let lacks = |at: &usize| {
        let mut beside = known.iter().filter(|(index, _)| beside.contains(index));
        beside.any(|(_, goals)| goals.get(*at).is_none_or(|goal| goal.outcome.interval.is_none()))
    };
    let without_interval = (0..limits.len()).filter(lacks).collect();
    Maximum { edge, not_monotone, without_interval }
}

/// What was measured, with its interval where there is one.
fn estimate(result: &GoalResult) -> Option<Estimate> {
    let value = result.outcome.measured.filter(|value| value.is_finite())?;
    with_ends(value, result.outcome.interval)
}

fn throughput(level: &LevelReport) -> Option<Estimate> {
    let rates = &level.summary.throughput;
    let ends = Metric::RequestsPerSec.interval(Statistic::Value, &level.summary);
    with_ends(rates.requests_per_s.get(), ends)
}

/// An interval that leaves its own figure out, as that of a rate may, is widened up to it.
fn with_ends(value: f64, ends: Option<Interval<f64>>) -> Option<Estimate> {
    let Interval { low, high } = ends.unwrap_or(Interval { low: value, high: value });
    Estimate::new(value, low.min(value), high.max(value)).ok()
}

/// The limit of a goal on `figures`, in order of rising load.
fn limit(goal: &Goal, figures: &[Estimate]) -> Limit {
    let (relation, limit) = limit_of(goal);
    let trend = match goal.metric {
        Metric::GoodShare => Trend::Falling,
        Metric::RequestsPerSec | Metric::OutputTokensPerSec => Trend::Rising,
        // It rises with the load and collapses where too much is late: it falls, once the highest load has less than the lowest.
        Metric::GoodputPerSec => match (figures.first(), figures.last()) {
            (Some(first), Some(last)) if last.value() < first.value() => Trend::Falling,
            _ => Trend::Rising,
        },
        _ => Trend::Rising,
    };
    Limit { relation, limit, trend }
}

/// The same edge, its levels by their indices in the sweep.
fn named(edge: Edge, rising: &[usize]) -> Edge {
    let name = |at: usize| rising.get(at).copied().unwrap_or(at);
    match edge {
        Edge::Between(mut found) => {
            found.below = name(found.below);
            found.breaks.level = name(found.breaks.level);
            Edge::Between(found)
        }
        Edge::Beyond(mut found) => {
            found.level = name(found.level);
            Edge::Beyond(found)
        }
        Edge::Unmet(mut found) => {
            found.worst.level = name(found.worst.level);
            Edge::Unmet(found)
        }
    }
}
