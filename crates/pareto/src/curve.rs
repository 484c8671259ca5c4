//! Between the points of a frontier.

use crate::hypervolume::corners;
use crate::{Axis, Points};

/// What is said to be reached between two neighbours on a frontier.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Reading {
    /// What a point has reached: from each point on its figure holds until the next is as good. A staircase.
    #[default]
    Attained,
    /// The straight line between neighbours, which a mix of the two operating points reaches in the mean (not in a
    /// percentile). Never beyond the line, though the truth between two points of a curve that bends may well be.
    Linear,
}

/// A frontier in two axes that can be asked between its points; it never invents a point better than their neighbours
/// support, and says nothing outside of their range.
///
/// ```
/// use fizeau_pareto::{Axis, Points, Reading};
/// let mut levels = Points::new(vec![Axis::maximize("rps"), Axis::minimize("p99_ms")])?;
/// for level in [[4.0, 200.0], [7.0, 500.0], [6.0, 900.0]] {
///     levels.push(&level)?;
/// }
/// let curve = levels.curve()?;
/// assert_eq!(curve.first_at(400.0, Reading::Attained), Some(4.0));
/// assert_eq!(curve.first_at(400.0, Reading::Linear), Some(6.0));
/// assert_eq!(curve.first_at(600.0, Reading::Linear), None); // the frontier ends at 500 ms
/// assert_eq!(curve.second_at(5.0, Reading::Attained), Some(500.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct FrontierCurve {
    signs: [f64; 2],
    line: Line,
}

/// Why points make no curve.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CurveError {
    /// A curve lies between two axes.
    #[error("a curve has two axes, and the points have {0}; choose two")]
    NotTwoAxes(usize),
    /// There is no point.
    #[error("there is no point, so there is no frontier; give at least one")]
    NoPoints,
}

impl Points {
    /// The frontier of these points, to be asked between them.
    ///
    /// # Errors
    /// If there are not two axes, or no point.
    pub fn curve(&self) -> Result<FrontierCurve, CurveError> {
        let [first, second] = self.axes() else {
            return Err(CurveError::NotTwoAxes(self.axes().len()));
        };
        if self.is_empty() {
            return Err(CurveError::NoPoints);
        }
        let signs = [first, second].map(|axis: &Axis| axis.direction().sign());
        Ok(FrontierCurve { signs, line: Line::of(self.costs().as_chunks().0) })
    }
}

impl FrontierCurve {
    /// The points of the frontier, one of each set of copies, from the best figure in the first axis to the worst.
    #[must_use]
    pub fn corners(&self) -> Vec<[f64; 2]> {
        let figures = |[x, y]: &[f64; 2]| [self.turned(0, *x), self.turned(1, *y)];
        self.line.corners.iter().map(figures).collect()
    }

    /// The figure in the second axis that is supported where that in the first is `first`; none outside of the range of
    /// the frontier's points, or at NaN.
    #[must_use]
    pub fn second_at(&self, first: f64, reading: Reading) -> Option<f64> {
        let cost = self.line.at(first * self.signs[0], reading)?;
        Some(self.turned(1, cost))
    }

    /// The figure in the first axis that is supported where that in the second is `second`; none outside of the range of
    /// the frontier's points, or at NaN.
    #[must_use]
    pub fn first_at(&self, second: f64, reading: Reading) -> Option<f64> {
        let cost = self.line.swapped().at(second * self.signs[1], reading)?;
        Some(self.turned(0, cost))
    }

    /// A cost as a figure again. Adding 0 makes -0 of a cost 0 again.
    fn turned(&self, axis: usize, cost: f64) -> f64 {
        cost * self.signs[axis] + 0.0
    }
}

/// The corners of a frontier, less being better in both: rising in the first, falling in the second.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Line {
    pub(crate) corners: Vec<[f64; 2]>,
}

impl Line {
    pub(crate) fn of(costs: &[[f64; 2]]) -> Self {
        Self { corners: corners(costs).into_iter().map(|corner| costs[corner]).collect() }
    }

    /// The same frontier with its axes the other way round.
    pub(crate) fn swapped(&self) -> Self {
        Self { corners: self.corners.iter().rev().map(|[x, y]| [*y, *x]).collect() }
    }

    /// From the best to the worst in the first axis.
    pub(crate) fn range(&self) -> Option<[f64; 2]> {
        Some([self.corners.first()?[0], self.corners.last()?[0]])
    }

    /// What is supported in the second axis at `x`; none outside of the range.
    pub(crate) fn at(&self, x: f64, reading: Reading) -> Option<f64> {
        let next = self.corners.partition_point(|corner| corner[0] <= x);
        let before = self.corners.get(next.checked_sub(1)?)?;
        match self.corners.get(next) {
            Some(after) => Some(between(*before, *after, x, reading)),
            None => (before[0] == x).then_some(before[1]),
        }
    }

    /// The integral of what is supported in the second axis over `low` to `high`, both within the range.
    pub(crate) fn integral(&self, [low, high]: [f64; 2], reading: Reading) -> f64 {
        let pieces = self.corners.windows(2).filter(|pair| pair[0][0] < high && pair[1][0] > low);
        let piece = |pair: &[[f64; 2]]| {
            let (begin, end) = (pair[0][0].max(low), pair[1][0].min(high));
            // The middle of a straight piece is its mean.
            (end - begin) * between(pair[0], pair[1], begin.midpoint(end), reading)
        };
        pieces.map(piece).sum()
    }
}

/// What is supported at `x` from one corner to the next.
fn between([left, high]: [f64; 2], [right, low]: [f64; 2], x: f64, reading: Reading) -> f64 {
    let part = (x - left) / (right - left);
    let on_line = high * (1.0 - part) + low * part;
    match reading {
        // Rounding must not leave the neighbours behind. To what is infinite there is no line.
        Reading::Linear if on_line.is_finite() => on_line.clamp(low, high),
        _ => high,
    }
}
