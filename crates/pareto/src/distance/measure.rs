//! Two frontiers of plain numbers, less being better, held against each other.

use super::line::FrontierLine;
use super::{FrontierCompareError, FrontierComparisonSpec, NoComparison};
use crate::hypervolume::area;
use crate::{FigureEstimate, UncertainPoints};

/// A figure of a comparison, or why there is none.
pub(super) type FigureAnswer = Result<f64, NoComparison>;

/// What is asked, in costs.
pub(super) struct FrontierQuestion<'a> {
    first: &'a [[FigureEstimate; 2]],
    second: &'a [[FigureEstimate; 2]],
    signs: [f64; 2],
    /// The reference that is asked for, as costs.
    reference: Option<[f64; 2]>,
}

/// The answers, in the order of the axes of equals.
pub(super) struct MeasuredAnswers {
    pub(super) reference: [f64; 2],
    pub(super) ratio: FigureAnswer,
    pub(super) gains: [MeasuredGains; 2],
}

pub(super) struct MeasuredGains {
    pub(super) range: Option<[f64; 2]>,
    pub(super) mean: FigureAnswer,
}

impl<'a> FrontierQuestion<'a> {
    pub(super) fn new(
        first: &'a UncertainPoints,
        second: &'a UncertainPoints,
        asked: &FrontierComparisonSpec,
    ) -> Result<Self, FrontierCompareError> {
        let [a, b] = first.values().axes() else {
            return Err(FrontierCompareError::NotTwoAxes(first.values().axes().len()));
        };
        if first.values().axes() != second.values().axes() {
            return Err(FrontierCompareError::OtherAxes);
        }
        let (first, second) = (first.estimates().as_chunks().0, second.estimates().as_chunks().0);
        let is_finite = |point: &[FigureEstimate; 2]| point.iter().all(|it| it.value().is_finite());
        if !first.iter().any(is_finite) {
            return Err(FrontierCompareError::NothingFirst);
        }
        if !second.iter().any(is_finite) {
            return Err(FrontierCompareError::NothingSecond);
        }
        let signs = [a.direction().sign(), b.direction().sign()];
        if asked.reference.iter().flatten().any(|figure| !figure.is_finite()) {
            return Err(FrontierCompareError::Reference);
        }
        let reference = asked.reference.map(|[x, y]| [x * signs[0], y * signs[1]]);
        Ok(Self { first, second, signs, reference })
    }

    /// Whether any figure has an interval.
    pub(super) fn is_uncertain(&self) -> bool {
        let mut figures = self.first.iter().chain(self.second).flatten();
        figures.any(|figure| figure.low() < figure.high())
    }

    /// A cost as a figure of the axis. Adding 0 makes -0 of a cost 0 again.
    pub(super) fn figure(&self, axis: usize, cost: f64) -> f64 {
        cost * self.signs[axis] + 0.0
    }

    /// Compares the frontiers of what `figure` makes of the estimates.
    pub(super) fn measure(
        &self,
        figure: &mut dyn FnMut(&FigureEstimate) -> f64,
    ) -> MeasuredAnswers {
        let mut line = |points: &[[FigureEstimate; 2]]| {
            let cost = |[x, y]: &[FigureEstimate; 2]| {
                [figure(x) * self.signs[0], figure(y) * self.signs[1]]
            };
            let mut costs: Vec<[f64; 2]> = points.iter().map(cost).collect();
            costs.retain(|point| point.iter().all(|cost| *cost < f64::INFINITY));
            FrontierLine::of(&costs)
        };
        let (a, b) = (line(self.first), line(self.second));
        let reference = self.reference.unwrap_or_else(|| worst_of_both(&a, &b));
        let swapped = (a.swapped(), b.swapped());
        MeasuredAnswers {
            reference,
            ratio: self.ratio(&a, &b, reference),
            gains: [gains(&a, &b), gains(&swapped.0, &swapped.1)],
        }
    }

    /// The volume of `b` over that of `a`, from `reference` on.
    fn ratio(&self, a: &FrontierLine, b: &FrontierLine, reference: [f64; 2]) -> FigureAnswer {
        let better = |corner: &&[f64; 2]| corner[0] < reference[0] && corner[1] < reference[1];
        let volume = |line: &FrontierLine| {
            area(&line.corners.iter().filter(better).copied().collect::<Vec<_>>(), reference)
        };
        let (a, b) = (volume(a), volume(b));
        // From a reference that follows from both frontiers, no volume is no sign that one is worse.
        if a == 0.0 || (b == 0.0 && self.reference.is_none()) {
            return Err(NoComparison::NoVolume);
        }
        known(b / a)
    }
}

/// Gains in the second axis of the lines at equal figures in their first.
fn gains(a: &FrontierLine, b: &FrontierLine) -> MeasuredGains {
    let range = common(a, b);
    let mean = match range {
        None => Err(NoComparison::NoCommonRange),
        Some([low, high]) if low == high => match (a.at(low), b.at(low)) {
            (Some(a), Some(b)) => gain(a, b),
            _ => Err(NoComparison::NoCommonRange),
        },
        Some(range) => gain(a.integral(range), b.integral(range)),
    };
    MeasuredGains { range, mean }
}

/// In each axis the better of the worst figures of both.
fn worst_of_both(a: &FrontierLine, b: &FrontierLine) -> [f64; 2] {
    let worst = |line: &FrontierLine| {
        let x = line.corners.last().map_or(f64::NEG_INFINITY, |corner| corner[0]);
        [x, line.corners.first().map_or(f64::NEG_INFINITY, |corner| corner[1])]
    };
    let (a, b) = (worst(a), worst(b));
    [a[0].min(b[0]), a[1].min(b[1])]
}

/// The range in the first axis that both cover.
fn common(a: &FrontierLine, b: &FrontierLine) -> Option<[f64; 2]> {
    let ([a_low, a_high], [b_low, b_high]) = (a.range()?, b.range()?);
    let range = [a_low.max(b_low), a_high.min(b_high)];
    (range[0] <= range[1]).then_some(range)
}

/// By which part of `a` the cost `b` is less.
fn gain(a: f64, b: f64) -> FigureAnswer {
    if a == 0.0 { Err(NoComparison::OfNothing) } else { known((a - b) / a.abs()) }
}

fn known(answer: f64) -> FigureAnswer {
    if answer.is_finite() { Ok(answer) } else { Err(NoComparison::Unbounded) }
}
