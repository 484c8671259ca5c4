//! How much of the space of figures a set of points reaches.

mod cover;
mod few;
mod four;
mod many;
mod order;
mod ranks;
mod sum;

pub(crate) use few::{area, corners};

use crate::{Objective, Points};
use many::MOST_AXES;

/// Why there is no hypervolume.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum HypervolumeError {
    /// More axes than the exact computation is made for.
    #[error(
        "hypervolume is computed over at most {MOST_AXES} axes, and there are {0}; leave some out"
    )]
    TooManyAxes(usize),
    /// The reference has too few figures, or too many.
    #[error("the reference has {figures} figures for {axes} axes; give one for each axis")]
    WrongLength {
        /// How many figures the reference has.
        figures: usize,
        /// How many axes there are.
        axes: usize,
    },
    /// The reference is NaN or infinite in an axis.
    #[error("the reference in `{axis}` is {figure}; give a finite number, worse than the points'")]
    Reference {
        /// The axis.
        axis: String,
        /// The figure given.
        figure: f64,
    },
    /// A point is infinitely good, and better than the reference in every other axis too: its volume has no end.
    #[error(
        "`{axis}` of point {point} (from 0) is infinitely good, so its volume has no end; leave it out"
    )]
    Unbounded {
        /// The point's index.
        point: usize,
        /// The axis.
        axis: String,
    },
    /// The volume is beyond the largest floating-point number.
    #[error("the hypervolume is beyond the largest number; give the figures in larger units")]
    TooLarge,
}

impl Points {
    /// The volume of all that at least one point is as good as and that is better than `reference`: the
    /// hypervolume indicator (Zitzler and Thiele 1998), in the product of the axes' units.
    ///
    /// `reference` has a figure for each axis, in the order and in the direction of the axes. It says where
    /// counting begins: a point that is not strictly better than it in every axis adds nothing. So neither does a
    /// point that is infinitely bad; one that is infinitely good is refused. Without points the volume is 0.
    ///
    /// Exact up to rounding, whatever the order of the points. One and two axes are swept in `O(n log n)`, as
    /// are three (Fonseca, Paquete and Lopez-Ibanez 2006, "An Improved Dimension-Sweep Algorithm for the
    /// Hypervolume Indicator"); four take `O(n^2 log n)` (after Guerreiro, Fonseca and Emmerich 2012, "A Fast
    /// Dimension-Sweep Algorithm for the Hypervolume Indicator in Four Dimensions"). Five and six sum what each
    /// point adds to those before it (While, Bradstreet and Barone 2012, "A Fast Way of Calculating Exact
    /// Hypervolumes"), exponential in the axes at worst.
    ///
    /// ```
    /// use fizeau_pareto::{Axis, Points};
    /// let mut levels = Points::new(vec![Axis::maximize("rps"), Axis::minimize("p99_ms")])?;
    /// for level in [[4.0, 200.0], [7.0, 500.0], [6.0, 900.0]] {
    ///     levels.push(&level)?;
    /// }
    /// // From 0 requests a second and 1 s on: 4 rps x 800 ms, and 3 rps x 500 ms more.
    /// assert_eq!(levels.hypervolume(&[0.0, 1_000.0])?, 3_200.0 + 1_500.0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If there are more than six axes, `reference` has not one finite figure for each, a point's volume is
    /// infinite, or the sum is.
    pub fn hypervolume(&self, reference: &[f64]) -> Result<f64, HypervolumeError> {
        let reference = turned(self, reference)?;
        let volume = many::volume_of_rows(&inside(self, &reference)?, &reference);
        if volume.is_finite() { Ok(volume) } else { Err(HypervolumeError::TooLarge) }
    }
}

/// The points that are strictly better than the `reference` in every axis, both with less being better, point by point.
fn inside(points: &Points, reference: &[f64]) -> Result<Vec<f64>, HypervolumeError> {
    let costs = points.costs();
    let mut rows = Vec::with_capacity(costs.len());
    for (point, row) in costs.chunks_exact(reference.len()).enumerate() {
        if row.iter().zip(reference).any(|(cost, worst)| cost >= worst) {
            continue;
        }
        if let Some(axis) = row.iter().position(|cost| cost.is_infinite()) {
            let axis = points.axes()[axis].name().to_owned();
            return Err(HypervolumeError::Unbounded { point, axis });
        }
        rows.extend_from_slice(row);
    }
    Ok(rows)
}

/// The reference with less being better.
fn turned(points: &Points, reference: &[f64]) -> Result<Vec<f64>, HypervolumeError> {
    let axes = points.axes();
    if axes.len() > MOST_AXES {
        return Err(HypervolumeError::TooManyAxes(axes.len()));
    }
    if reference.len() != axes.len() {
        let figures = reference.len();
        return Err(HypervolumeError::WrongLength { figures, axes: axes.len() });
    }
    let turn = |(&figure, axis): (&f64, &crate::Axis)| {
        if !figure.is_finite() {
            return Err(HypervolumeError::Reference { axis: axis.name().to_owned(), figure });
        }
        Ok(if axis.direction() == Objective::Maximize { -figure } else { figure })
    };
    reference.iter().zip(axes).map(turn).collect()
}
