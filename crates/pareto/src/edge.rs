//! The highest load within limits, from loads that were tested.

mod curve;

use crate::{Constraint, FigureEstimate, LimitRelation, ResponseTrend};
use curve::{LimitCurve, LimitReach, LoadStep, steps};

/// A load that was tested, and what was measured there.
#[derive(Debug, Clone, PartialEq)]
pub struct TestedLoad {
    /// The load: requests per second, or in flight.
    pub load: f64,
    /// What was served.
    pub throughput: FigureEstimate,
    /// The figure that each limit is about, in the order of the limits; none where it is not known.
    pub figures: Vec<Option<FigureEstimate>>,
}

/// The limit of a figure, and which way the figure goes as the load rises.
///
/// ```
/// use fizeau_pareto::{FigureLimit, ResponseTrend};
/// let latency = FigureLimit::at_most(500.0);
/// assert_eq!(latency.trend, ResponseTrend::Rising);
/// let rate = FigureLimit::at_least(10.0).with_trend(ResponseTrend::Rising); // more load gives more of it
/// # assert_eq!(rate.trend, ResponseTrend::Rising);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FigureLimit {
    /// On which side of the limit the figure must lie.
    pub relation: LimitRelation,
    /// The limit, in the figure's unit; within it itself.
    pub limit: f64,
    /// Which way the figure goes as the load rises.
    pub trend: ResponseTrend,
}

impl FigureLimit {
    /// An upper limit on a figure that rises with the load, as a latency.
    #[must_use]
    pub const fn at_most(limit: f64) -> Self {
        Self { relation: LimitRelation::AtMost, limit, trend: ResponseTrend::Rising }
    }

    /// A lower limit on a figure that falls with the load, as the share of good requests.
    #[must_use]
    pub const fn at_least(limit: f64) -> Self {
        Self { relation: LimitRelation::AtLeast, limit, trend: ResponseTrend::Falling }
    }

    /// The same limit on a figure that goes the other way, such as a lower limit on throughput: it takes a least load and
    /// never bounds the highest.
    #[must_use]
    pub const fn with_trend(self, trend: ResponseTrend) -> Self {
        Self { trend, ..self }
    }

    fn margin(&self, value: f64) -> f64 {
        let constraint =
            Constraint { value: Some(value), relation: self.relation, limit: self.limit };
        // Of numbers there is always a margin.
        constraint.margin().unwrap_or(f64::NEG_INFINITY)
    }
}

/// Where the highest load within all limits lies.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LoadEdge {
    /// Between two tested loads, or on the lower of them.
    Between(EdgeCrossing),
    /// Not reached: every load that was tested, from some load on, keeps all limits, and the edge is above the highest.
    Beyond(EdgeBeyond),
    /// No tested load keeps all limits.
    Unmet(NearestMiss),
}

/// An edge between two tested loads.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct EdgeCrossing {
    /// The load, with its interval: from where the worse ends of the figures' intervals cross a limit to where the better ends
    /// do. All of it within the loads that were tested.
    pub load: FigureEstimate,
    /// Whether the interval goes on below the lowest load that was tested: the worse ends keep the limits nowhere.
    pub is_open_below: bool,
    /// Whether it goes on above the highest: the better ends keep the limits everywhere.
    pub is_open_above: bool,
    /// What is served there, between what the two neighbours serve; its interval covers that of the load.
    pub throughput: FigureEstimate,
    /// The index of the tested load nearest below, which keeps all limits.
    pub below: usize,
    /// Which limit breaks first, and by how much at the next load that was tested.
    pub breaks: LimitBreak,
}

/// The highest load of all keeps all limits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EdgeBeyond {
    /// Its index.
    pub level: usize,
    /// The load.
    pub load: f64,
    /// The load up to which the worse ends of the figures' intervals keep the limits too; at most `load`. Where they do not
    /// keep them there, as those of a figure that more load helps may not, they keep them nowhere: it is the lowest load then.
    pub surely: f64,
    /// Whether it may be below the lowest load that was tested: the worse ends keep the limits nowhere.
    pub is_open_below: bool,
    /// What is served there.
    pub throughput: FigureEstimate,
    /// The limit that has least to spare there, with its margin as a share of the limit; none without limits.
    pub closest: Option<(usize, f64)>,
}

/// A limit that a load breaks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LimitBreak {
    /// The index of the limit.
    pub limit: usize,
    /// The index of the load.
    pub level: usize,
    /// The figure there, after the regression.
    pub value: f64,
    /// How far it is beyond the limit, relative to the limit: 0.1 is a tenth too much or too little.
    pub over_limit: f64,
}

/// The load that comes nearest, where none keeps all limits: its worst miss is least.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NearestMiss {
    /// The limit that it misses most.
    pub worst: LimitBreak,
    /// Whether the better ends of its figures' intervals keep all limits.
    pub is_within_error: bool,
}

/// Why there is no telling where the edge is. Indices are from 0.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum EdgeError {
    /// A level has too few figures, or too many.
    #[error("level {level} (from 0) has {figures} figures for {limits} limits; give one for each")]
    WrongLength {
        /// The level's index.
        level: usize,
        /// How many figures it has.
        figures: usize,
        /// How many limits there are.
        limits: usize,
    },
    /// A load, a throughput or a figure is infinite or NaN.
    #[error("level {0} (from 0) has a load, throughput or figure that is not finite; leave it out")]
    NotFinite(usize),
    /// A limit is NaN.
    #[error("limit {0} (from 0) is not a number")]
    LimitNotANumber(usize),
    /// No level has the figure that a limit is about.
    #[error("no tested level has the figure of limit {0} (from 0); it cannot be judged")]
    NoFigure(usize),
    /// No level was tested, or none has all figures.
    #[error("no tested level has all the figures that the limits are about")]
    NoLevel,
}

/// The highest load within all `limits`, between the loads that were tested.
///
/// Each figure is first made to go its way by [`isotonic`](crate::isotonic) regression over the load, so that one level that
/// came out too good or too bad by chance does not decide; figures count by their precision where all have intervals. The edge
/// lies between the last level that then keeps all limits and the next, where a straight line between the two crosses the
/// limit. Straight, because between two loads nothing was measured, and a line asks for least; and careful, because latency
/// bends upwards as load nears capacity, so that the line lies above the curve and crosses the limit earlier.
///
/// It is never beyond the highest load that was tested, nor below the lowest. A looser limit never lowers it, and exact figures
/// give an exact edge. Levels may come in any order; those of one load are averaged and named by the first, with wider intervals
/// where they scatter by more than their own explain. A level that lacks a figure is passed over, since it shows nothing.
///
/// ```
/// use fizeau_pareto::{LoadEdge, FigureEstimate, FigureLimit, TestedLoad, edge};
/// let level = |load: f64, latency: f64| {
///     let [throughput, latency] = [FigureEstimate::exact(load), FigureEstimate::exact(latency)];
///     Ok::<_, fizeau_pareto::FigureEstimateError>(TestedLoad { load, throughput: throughput?, figures: vec![Some(latency?)] })
/// };
/// let levels = [level(1.0, 210.0)?, level(4.0, 260.0)?, level(8.0, 660.0)?];
/// let LoadEdge::Between(edge) = edge(&levels, &[FigureLimit::at_most(360.0)])? else { unreachable!() };
/// assert_eq!((edge.load.value(), edge.below, edge.breaks.level), (5.0, 1, 2));
/// assert_eq!(edge.breaks.over_limit, 300.0 / 360.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If a level has not one figure for each limit, a number is not one, or no level has all figures.
pub fn edge(levels: &[TestedLoad], limits: &[FigureLimit]) -> Result<LoadEdge, EdgeError> {
    check(levels, limits)?;
    let steps = steps(levels);
    let curves: Vec<LimitCurve> =
        limits.iter().enumerate().map(|(i, limit)| LimitCurve::of(&steps, i, limit)).collect();
    let keeps = |at: usize| curves.iter().all(|curve| curve.keeps(at));
    let Some(last) = (0..steps.len()).rev().find(|&at| keeps(at)) else {
        return nearest(&steps, &curves, limits).map(LoadEdge::Unmet).ok_or(EdgeError::NoLevel);
    };
    let (Some(at), Some(highest)) = (steps.get(last), steps.last()) else {
        return Err(EdgeError::NoLevel);
    };
    let lowest = steps.first().map_or(at.load, |step| step.load);
    let (surely, is_open_below) = match surely(&curves, highest.load) {
        Some(load) => (load, false),
        None => (lowest, true),
    };
    let (perhaps, is_open_above) = match least(curves.iter().map(LimitCurve::reach_of_better)) {
        LimitReach::To(load) => (load, false),
        LimitReach::Nowhere | LimitReach::Everywhere => (highest.load, true),
    };
    let Some((load, breaks)) = first_break(&steps, &curves, limits, last) else {
        let margins =
            curves.iter().zip(limits).map(|(curve, limit)| limit.margin(curve.value(last)));
        let closest = margins.enumerate().reduce(|a, b| if b.1 < a.1 { b } else { a });
        let LoadStep { index: level, load, throughput, .. } = *highest;
        return Ok(LoadEdge::Beyond(EdgeBeyond {
            level,
            load,
            surely,
            is_open_below,
            throughput,
            closest,
        }));
    };
    let load = curve::around(load, surely, perhaps);
    let (throughput, below) = (curve::throughput(&steps, load), at.index);
    Ok(LoadEdge::Between(EdgeCrossing {
        load,
        is_open_below,
        is_open_above,
        throughput,
        below,
        breaks,
    }))
}

/// What is served at a load between those that were tested: on a straight line between its neighbours, its interval covering
/// that of the load. Levels that lack a figure are passed over, as [`edge`] does.
///
/// ```
/// use fizeau_pareto::{FigureEstimate, TestedLoad, throughput_at};
/// let level = |load: f64, served: f64| FigureEstimate::exact(served)
///     .map(|throughput| TestedLoad { load, throughput, figures: Vec::new() });
/// let levels = [level(8.0, 10.0)?, level(16.0, 14.0)?];
/// assert_eq!(throughput_at(&levels, FigureEstimate::exact(12.0)?).value(), 12.0);
/// # Ok::<(), fizeau_pareto::FigureEstimateError>(())
/// ```
#[must_use]
pub fn throughput_at(levels: &[TestedLoad], load: FigureEstimate) -> FigureEstimate {
    curve::throughput(&steps(levels), load)
}

fn check(levels: &[TestedLoad], limits: &[FigureLimit]) -> Result<(), EdgeError> {
    if let Some(limit) = limits.iter().position(|limit| limit.limit.is_nan()) {
        return Err(EdgeError::LimitNotANumber(limit));
    }
    for (level, tested) in levels.iter().enumerate() {
        let (figures, limits) = (tested.figures.len(), limits.len());
        if figures != limits {
            return Err(EdgeError::WrongLength { level, figures, limits });
        }
        let known = tested.figures.iter().flatten();
        let mut values = known.chain([&tested.throughput]).map(FigureEstimate::value);
        if !(tested.load.is_finite() && values.all(f64::is_finite)) {
            return Err(EdgeError::NotFinite(level));
        }
    }
    let lacks = |limit: &usize| {
        levels.iter().all(|level| level.figures.get(*limit).is_none_or(Option::is_none))
    };
    match (0..limits.len()).find(lacks) {
        Some(limit) if !levels.is_empty() => Err(EdgeError::NoFigure(limit)),
        _ => Ok(()),
    }
}

/// The load up to which the worse ends keep all limits; none where they keep them nowhere.
fn surely(curves: &[LimitCurve], highest: f64) -> Option<f64> {
    let load = match least(curves.iter().map(LimitCurve::reach_of_worse)) {
        LimitReach::Nowhere => return None,
        LimitReach::To(load) => load,
        LimitReach::Everywhere => highest,
    };
    // Whom more load helps and who breaks a limit there breaks it at every lower load too.
    curves.iter().all(|curve| curve.surely_helped(load)).then_some(load)
}

/// The limit that breaks first after `last`, and the load where; none if `last` is the highest.
fn first_break(
    steps: &[LoadStep],
    curves: &[LimitCurve],
    limits: &[FigureLimit],
    last: usize,
) -> Option<(f64, LimitBreak)> {
    let next = steps.get(last + 1)?;
    let broken = curves.iter().zip(limits).enumerate().filter_map(|(limit, (curve, asked))| {
        let LimitReach::To(load) = curve.reach() else { return None };
        let value = curve.value(last + 1);
        let over_limit = -asked.margin(value);
        (!curve.keeps(last + 1))
            .then_some((load, LimitBreak { limit, level: next.index, value, over_limit }))
    });
    // Of limits that break at one load, the one that is missed most at the next.
    broken.reduce(|first, other| {
        let is_before =
            other.0 < first.0 || (other.0 == first.0 && other.1.over_limit > first.1.over_limit);
        if is_before { other } else { first }
    })
}

/// The level whose worst miss is least.
fn nearest(
    steps: &[LoadStep],
    curves: &[LimitCurve],
    limits: &[FigureLimit],
) -> Option<NearestMiss> {
    let worst = |(at, step): (usize, &LoadStep)| {
        let breaks = curves.iter().zip(limits).enumerate().map(|(limit, (curve, asked))| {
            let value = curve.value(at);
            LimitBreak { limit, level: step.index, value, over_limit: -asked.margin(value) }
        });
        let worst =
            breaks.reduce(|most, next| if next.over_limit > most.over_limit { next } else { most });
        let is_within_error = curves.iter().all(|curve| curve.may_keep(at));
        worst.map(|worst| NearestMiss { worst, is_within_error })
    };
    let misses = steps.iter().enumerate().filter_map(worst);
    misses.reduce(
        |near, next| if next.worst.over_limit < near.worst.over_limit { next } else { near },
    )
}

fn least(reaches: impl Iterator<Item = LimitReach>) -> LimitReach {
    reaches.fold(LimitReach::Everywhere, |least, next| match (least, next) {
        (LimitReach::Nowhere, _) | (_, LimitReach::Nowhere) => LimitReach::Nowhere,
        (LimitReach::To(a), LimitReach::To(b)) => LimitReach::To(a.min(b)),
        (LimitReach::Everywhere, other) | (other, LimitReach::Everywhere) => other,
    })
}
