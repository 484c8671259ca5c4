//! Points that no other point beats.

mod filter;
mod many;
mod rows;
mod stairs;

use crate::{Objective, Points};
use rows::CostRow;
pub(crate) use rows::{dominates, lexicographic, no_worse};
pub(crate) use stairs::{Stairs, key};

/// Why points have no frontier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FrontierError {
    /// A figure cannot be compared with the others.
    #[error(
        "figure {dimension} of point {point} (both from 0) is not a number; leave the point out"
    )]
    NotANumber {
        /// The point's index.
        point: usize,
        /// The figure's place within the point.
        dimension: usize,
    },
}

impl Points {
    /// The indices of the points that no other dominates, rising.
    ///
    /// A point dominates another if it is at least as good in every figure and better in one. Equal points do not dominate
    /// each other: all of them are kept. Infinite figures compare as one would think, and -0 is 0.
    ///
    /// Takes time in `O(n)` for one axis, `O(n log n)` for two and three, and `O(n log^(d-2) n)` for `d` axes, though with many
    /// axes hardly more than `O(n^2)`: a sweep with a staircase of the best so far in up to three dimensions, divide and conquer
    /// above (Kung, Luccio and Preparata, "On finding the maxima of a set of vectors", 1975). A first pass throws out what a few
    /// strong points dominate, so that of independent figures few are left to sort.
    ///
    /// ```
    /// use fizeau_pareto::{Axis, Points};
    /// let axes = vec![Axis::maximize("tps"), Axis::minimize("usd_per_hour"), Axis::maximize("quality")];
    /// let mut points = Points::new(axes)?;
    /// for point in [[900.0, 2.5, 0.71], [400.0, 2.5, 0.74], [400.0, 2.5, 0.70]] {
    ///     points.push(&point)?;
    /// }
    /// assert_eq!(points.frontier(), [0, 1]);
    /// # Ok::<(), fizeau_pareto::PointsError>(())
    /// ```
    #[must_use]
    pub fn frontier(&self) -> Vec<usize> {
        nondominated(self.figures(), &self.signs())
    }

    /// The first of the points that dominates point `index`, to say what beats it; none if it is on the frontier or beyond the
    /// points.
    ///
    /// ```
    /// use fizeau_pareto::{Axis, Points};
    /// let mut points = Points::new(vec![Axis::maximize("rps"), Axis::minimize("p99_ms")])?;
    /// for point in [[1.0, 210.0], [7.0, 480.0], [6.5, 900.0]] {
    ///     points.push(&point)?;
    /// }
    /// assert_eq!((points.dominated_by(1), points.dominated_by(2)), (None, Some(1)));
    /// # Ok::<(), fizeau_pareto::PointsError>(())
    /// ```
    #[must_use]
    pub fn dominated_by(&self, index: usize) -> Option<usize> {
        let (point, signs) = (self.point(index)?, self.signs());
        let beats = |rival: &[f64]| {
            let each =
                || rival.iter().zip(point).zip(&signs).map(|((a, b), sign)| (a * sign, b * sign));
            each().all(|(a, b)| a <= b) && each().any(|(a, b)| a < b)
        };
        self.figures().chunks_exact(self.axes().len()).position(beats)
    }
}

/// The indices of the points that no other dominates, rising: [`Points::frontier`] where the number of figures is known
/// when the program is built.
///
/// ```
/// use fizeau_pareto::{Objective::{Maximize, Minimize}, frontier};
/// // The second is beaten by the first, which is as good in the one figure and better in the other.
/// let points = [[2.0, 5.0], [2.0, 6.0], [1.0, 4.0], [2.0, 5.0]];
/// assert_eq!(frontier(&points, &[Maximize, Minimize])?, [0, 2, 3]);
/// # Ok::<(), fizeau_pareto::FrontierError>(())
/// ```
///
/// # Errors
/// If a figure is NaN; the error names the first such point.
pub fn frontier<const D: usize>(
    points: &[[f64; D]],
    directions: &[Objective; D],
) -> Result<Vec<usize>, FrontierError> {
    let figures = points.as_flattened();
    if let Some(place) = figures.iter().position(|figure| figure.is_nan()) {
        return Err(FrontierError::NotANumber { point: place / D, dimension: place % D });
    }
    if D == 0 {
        // Without figures all are equal.
        return Ok((0..points.len()).collect());
    }
    Ok(nondominated(figures, &directions.map(Objective::sign)))
}

/// The first of `points` that dominates point `index`, to say what beats it; none if it is on the frontier.
///
/// There is none either if `index` is beyond the points, and a point with a NaN neither dominates nor is
/// dominated.
///
/// ```
/// use fizeau_pareto::{Objective, dominated_by};
/// let points = [[3.0], [1.0], [2.0]];
/// assert_eq!(dominated_by(&points, &[Objective::Minimize], 0), Some(1));
/// assert_eq!(dominated_by(&points, &[Objective::Minimize], 1), None);
/// ```
#[must_use]
pub fn dominated_by<const D: usize>(
    points: &[[f64; D]],
    directions: &[Objective; D],
    index: usize,
) -> Option<usize> {
    let signs = directions.map(Objective::sign);
    let cost: [f64; D] = turned(points.get(index)?, &signs);
    points.iter().position(|rival| dominates(&turned::<D>(rival, &signs), &cost))
}

/// The rising indices of the points in `figures`, point by point, that no other dominates once each figure is multiplied by
/// its sign and less is better. There is a sign for each axis, at least one, and no figure is NaN.
pub(crate) fn nondominated(figures: &[f64], signs: &[f64]) -> Vec<usize> {
    match signs.len() {
        1 => least(figures, signs),
        2 => indices(&stairs::front_of_two(unbeaten(figures, signs))),
        3 => indices(&stairs::front_of_three(unbeaten(figures, signs))),
        // Of arrays the length is known, which makes comparisons faster than those of slices.
        4 => indices(&many::front(unbeaten::<4>(figures, signs))),
        5 => indices(&many::front(unbeaten::<5>(figures, signs))),
        6 => indices(&many::front(unbeaten::<6>(figures, signs))),
        axes => {
            let signed = figures.iter().zip(signs.iter().cycle());
            let costs: Vec<f64> = signed.map(|(figure, sign)| figure * sign).collect();
            indices(&many::front(filter::unbeaten(&costs, axes, |cost| cost)))
        }
    }
}

/// Of one axis, all that equal the best.
fn least(figures: &[f64], signs: &[f64]) -> Vec<usize> {
    let sign = signs.first().copied().unwrap_or(1.0);
    let least = figures.iter().map(|figure| figure * sign).fold(f64::INFINITY, f64::min);
    let best = |&(_, figure): &(usize, &f64)| *figure * sign == least;
    figures.iter().enumerate().filter(best).map(|(point, _)| point).collect()
}

fn unbeaten<const D: usize>(figures: &[f64], signs: &[f64]) -> Vec<CostRow<[f64; D]>> {
    filter::unbeaten(figures, D, |point| turned(point, signs))
}

/// The same point with less of every figure better.
#[inline]
fn turned<const D: usize>(figures: &[f64], signs: &[f64]) -> [f64; D] {
    let mut costs = [0.0; D];
    for (cost, (figure, sign)) in costs.iter_mut().zip(figures.iter().zip(signs)) {
        *cost = figure * sign;
    }
    costs
}

fn indices<C>(kept: &[CostRow<C>]) -> Vec<usize> {
    let mut indices: Vec<usize> = kept.iter().map(|row| row.point).collect();
    indices.sort_unstable();
    indices
}
