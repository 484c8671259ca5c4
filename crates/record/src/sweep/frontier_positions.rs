//! Which levels no other beats.

use fizeau_core::LevelLoad;
use fizeau_metrics::SampleSupport;
use fizeau_pareto::{Knee, Objective, StepRule, dominated_by, frontier, knee};

use super::repeats::{LoadRepeats, MeanOverRuns, requests};
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

/// The requests per second of a load of a closed loop: of its run, or the mean of several.
#[derive(Debug, Clone, Copy)]
pub(super) struct LoadRate {
    pub(super) load: LevelLoad,
    pub(super) rate: f64,
    /// The ends of its interval, where there is one.
    ends: Option<[f64; 2]>,
}

impl LoadRate {
    fn of(level: &LevelReport, repeats: &[LoadRepeats]) -> Self {
        let load = level.load;
        let several = repeats.iter().find(|all| all.load() == Some(load));
        match several.and_then(|all| all.mean(|run| Some(requests(run)))) {
            Some(MeanOverRuns { mean, half_width }) => {
                Self { load, rate: mean, ends: Some([mean - half_width, mean + half_width]) }
            }
            None => {
                let interval = level.summary.throughput.intervals.requests_per_s;
                let ends = interval.and_then(SampleSupport::known);
                let ends = ends.map(|ends| [ends.low.get(), ends.high.get()]);
                Self { load, rate: requests(level), ends }
            }
        }
    }

    /// Whether it is less by more than the intervals, or by more than a twentieth where there are none.
    fn is_below(&self, other: &Self) -> bool {
        match self.ends.zip(other.ends) {
            Some(([_, high], [low, _])) => high < low,
            None => self.rate < 0.95 * other.rate,
        }
    }
}

/// The loads of a closed loop that completed fewer requests a second than the next lower and the next higher one, each between
/// these.
pub(super) fn dips_of(levels: &[LevelReport], repeats: &[LoadRepeats]) -> Vec<[LoadRate; 3]> {
    let slots = |level: &LevelReport| match level.load {
        LevelLoad::Concurrency(slots) => Some((slots, LoadRate::of(level, repeats))),
        _ => None,
    };
    let mut order: Vec<_> = levels.iter().filter_map(slots).collect();
    order.sort_by_key(|(slots, _)| *slots);
    order.dedup_by_key(|(slots, _)| *slots);
    let of_three = |three: &[(_, LoadRate)]| match three {
        [(_, one), (_, dip), (_, next)] if dip.is_below(one) && dip.is_below(next) => {
            Some([*one, *dip, *next])
        }
        _ => None,
    };
    order.windows(3).filter_map(of_three).collect()
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
