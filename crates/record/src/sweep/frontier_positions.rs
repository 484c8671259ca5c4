//! Which levels no other beats.

use fizeau_core::LevelLoad;
use fizeau_metrics::{SampleSupport, Throughput};
use fizeau_pareto::{Knee, Objective, StepRule, dominated_by, frontier, knee};

use crate::{LevelReport, TailLatency};

/// How a level stands to the others of its sweep.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FrontierPosition {
    /// No other level has both more requests per second and a lower tail latency.
    Frontier,
    /// Another level is at least as good in both, and better in one.
    Dominated {
        /// The index of such a level.
        by: usize,
    },
    /// It is compared with nothing.
    LeftOut {
        /// Why, in plain words.
        reason: String,
    },
}

const DIRECTIONS: [Objective; 2] = [Objective::Maximize, Objective::Minimize];

/// The place of each level, in the order given.
pub(super) fn places(levels: &[LevelReport]) -> Vec<FrontierPosition> {
    let standing: Vec<Result<[f64; 2], String>> = levels.iter().map(point).collect();
    let compared = standing.iter().enumerate();
    let compared = compared.filter_map(|(i, point)| Some((i, *point.as_ref().ok()?)));
    let (indices, points): (Vec<usize>, Vec<[f64; 2]>) = compared.unzip();
    // Only a NaN makes a point unfit, and `point` lets none through.
    let best = frontier(&points, &DIRECTIONS).unwrap_or_default();
    let place = |(i, standing): (usize, Result<[f64; 2], String>)| match standing {
        Err(reason) => FrontierPosition::LeftOut { reason },
        Ok(_) => {
            let at = indices.iter().position(|&index| index == i).unwrap_or_default();
            let better = dominated_by(&points, &DIRECTIONS, at);
            match better.and_then(|better| indices.get(better)) {
                Some(&by) if !best.contains(&at) => FrontierPosition::Dominated { by },
                _ => FrontierPosition::Frontier,
            }
        }
    };
    standing.into_iter().enumerate().map(place).collect()
}

/// The levels of a closed loop that completed fewer requests a second than the next lower and the next higher load, by more than
/// their intervals, or a twentieth where there are none: each with its neighbours' indices.
pub(super) fn dips_of(levels: &[LevelReport]) -> Vec<[usize; 3]> {
    let rates = |index: &usize| Some(&levels.get(*index)?.summary.throughput);
    let load = |index: &usize| match levels.get(*index).map(|level| level.load) {
        Some(LevelLoad::Concurrency(slots)) => Some(slots),
        _ => None,
    };
    let mut order: Vec<usize> = (0..levels.len()).filter(|index| load(index).is_some()).collect();
    order.sort_by_key(load);
    order.dedup_by_key(|index| load(index));
    let is_below = |low: &usize, other: &usize| {
        let Some((low, other)) = rates(low).zip(rates(other)) else { return false };
        let ends = |of: &Throughput| of.intervals.requests_per_s.and_then(SampleSupport::known);
        match ends(low).zip(ends(other)) {
            Some((low, other)) => low.high.get() < other.low.get(),
            None => low.requests_per_s.get() < 0.95 * other.requests_per_s.get(),
        }
    };
    let neighbours = order.windows(3).filter_map(|of| <[usize; 3]>::try_from(of).ok());
    neighbours.filter(|[one, dip, next]| is_below(dip, one) && is_below(dip, next)).collect()
}

/// Where more load stops paying, among the levels that may be compared, in the order given.
pub(super) fn knee_of(levels: &[LevelReport]) -> Option<Knee> {
    // A level that may not be compared is a NaN, which the search passes over: indices stay those of `levels`.
    // So is one of another kind than the first: a rate is not a higher load than a concurrency.
    let kind = levels.first()?.load;
    let of_kind = |level: &LevelReport| match level.load.kind() == kind.kind() {
        true => point(level).unwrap_or([f64::NAN; 2]),
        false => [f64::NAN; 2],
    };
    let points: Vec<[f64; 2]> = levels.iter().map(of_kind).collect();
    knee(&points, StepRule::KNEE)
}

/// Those of the levels `among` that no other of them beats.
pub(super) fn frontier_among(levels: &[LevelReport], among: &[usize]) -> Vec<usize> {
    let known = among.iter().filter_map(|&i| Some((i, point(levels.get(i)?).ok()?)));
    let (indices, points): (Vec<usize>, Vec<[f64; 2]>) = known.unzip();
    // Only a NaN makes a point unfit, and `point` lets none through.
    let best = frontier(&points, &DIRECTIONS).unwrap_or_default();
    best.into_iter().filter_map(|at| indices.get(at).copied()).collect()
}

/// Requests per second and tail latency, or why the level has no place among the others.
pub(super) fn point(level: &LevelReport) -> Result<[f64; 2], String> {
    if let Some(reason) = level.left_out() {
        return Err(reason);
    }
    if level.summary.throughput.duration.get() <= 0.0 {
        return Err("no time passed, so it has no rates".to_owned());
    }
    let rate = level.summary.throughput.requests_per_s.get();
    let tail = TailLatency::of(&level.summary.metrics.e2el);
    match tail.map(|tail| tail.ms()) {
        Some(ms) if ms.is_finite() && rate.is_finite() => Ok([rate, ms]),
        _ => Err("no end-to-end latency".to_owned()),
    }
}
