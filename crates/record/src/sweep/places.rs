//! Which levels no other beats.

use fizeau_pareto::{Direction, Knee, KneeRule, dominated_by, frontier, knee};

use crate::{LevelReport, Tail};

/// How a level stands to the others of its sweep.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
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

const DIRECTIONS: [Direction; 2] = [Direction::Maximize, Direction::Minimize];

/// The place of each level, in the order given.
pub(super) fn places(levels: &[LevelReport]) -> Vec<Place> {
    let standing: Vec<Result<[f64; 2], String>> = levels.iter().map(point).collect();
    let compared = standing.iter().enumerate();
    let compared = compared.filter_map(|(i, point)| Some((i, *point.as_ref().ok()?)));
    let (indices, points): (Vec<usize>, Vec<[f64; 2]>) = compared.unzip();
    // Only a NaN makes a point unfit, and `point` lets none through.
    let best = frontier(&points, &DIRECTIONS).unwrap_or_default();
    let place = |(i, standing): (usize, Result<[f64; 2], String>)| match standing {
        Err(reason) => Place::LeftOut { reason },
        Ok(_) => {
            let at = indices.iter().position(|&index| index == i).unwrap_or_default();
            let better = dominated_by(&points, &DIRECTIONS, at);
            match better.and_then(|better| indices.get(better)) {
                Some(&by) if !best.contains(&at) => Place::Dominated { by },
                _ => Place::Frontier,
            }
        }
    };
    standing.into_iter().enumerate().map(place).collect()
}

/// Where more load stops paying, among the levels that may be compared, in the order given.
pub(super) fn knee_of(levels: &[LevelReport]) -> Option<Knee> {
    // A level that may not be compared is a NaN, which the search passes over: indices stay those of `levels`.
    // So is one of another kind than the first: a rate is not a higher load than a concurrency.
    let kind = levels.first()?.load;
    let of_kind = |level: &LevelReport| match level.load.same_kind(kind) {
        true => point(level).unwrap_or([f64::NAN; 2]),
        false => [f64::NAN; 2],
    };
    let points: Vec<[f64; 2]> = levels.iter().map(of_kind).collect();
    knee(&points, KneeRule::default())
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
    let tail = Tail::of(&level.summary.metrics.e2el);
    match tail.map(|tail| tail.ms()) {
        Some(ms) if ms.is_finite() && rate.is_finite() => Ok([rate, ms]),
        _ => Err("no end-to-end latency".to_owned()),
    }
}
