//! A table of points with named, directed axes.

use std::borrow::Cow;

use crate::Objective;

/// One figure that every point has: its name, and whether more or less of it is better.
///
/// ```
/// use fizeau_pareto::Axis;
/// let axes = [Axis::maximize("requests_per_s"), Axis::minimize("p99_e2el_ms")];
/// assert_eq!(axes[1].name(), "p99_e2el_ms");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Axis {
    name: Cow<'static, str>,
    direction: Objective,
}

impl Axis {
    /// An axis of which more is better.
    #[must_use]
    pub fn maximize(name: impl Into<Cow<'static, str>>) -> Self {
        Self { name: name.into(), direction: Objective::Maximize }
    }

    /// An axis of which less is better.
    #[must_use]
    pub fn minimize(name: impl Into<Cow<'static, str>>) -> Self {
        Self { name: name.into(), direction: Objective::Minimize }
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether more or less of it is better.
    #[must_use]
    pub const fn direction(&self) -> Objective {
        self.direction
    }
}

/// Points with named, directed axes, all of one number of dimensions that is known when the program runs.
///
/// Figures may be infinite, but not NaN: what is not known has no place among points.
///
/// ```
/// use fizeau_pareto::{Axis, Points};
/// let mut points = Points::new(vec![Axis::maximize("rps"), Axis::minimize("p99_ms")])?;
/// for point in [[1.0, 210.0], [7.0, 480.0], [6.5, 900.0]] {
///     points.push(&point)?;
/// }
/// assert_eq!(points.len(), 3);
/// assert_eq!(points.point(1), Some(&[7.0, 480.0][..]));
/// # Ok::<(), fizeau_pareto::PointsError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Points {
    axes: Vec<Axis>,
    /// Point by point.
    figures: Vec<f64>,
}

/// Why figures are no points.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PointsError {
    /// There is no axis.
    #[error("points need at least one axis; name one to maximize or to minimize")]
    NoAxis,
    /// Two axes have one name.
    #[error("axis `{0}` is given twice; name each axis once")]
    SameAxis(String),
    /// A point has too few figures, or too many.
    #[error("point {point} (from 0) has {figures} figures for {axes} axes; give one for each axis")]
    WrongLength {
        /// The point's index.
        point: usize,
        /// How many figures it has.
        figures: usize,
        /// How many axes there are.
        axes: usize,
    },
    /// A figure cannot be compared with the others.
    #[error("`{axis}` of point {point} (from 0) is not a number; leave the point out")]
    NotANumber {
        /// The point's index.
        point: usize,
        /// The axis.
        axis: String,
    },
}

impl Points {
    /// No points yet, of these `axes`.
    ///
    /// # Errors
    /// If there is no axis, or two have one name.
    pub fn new(axes: Vec<Axis>) -> Result<Self, PointsError> {
        if axes.is_empty() {
            return Err(PointsError::NoAxis);
        }
        let is_repeated = |i: usize| axes[..i].iter().any(|axis| axis.name() == axes[i].name());
        match (1..axes.len()).find(|&i| is_repeated(i)) {
            Some(i) => Err(PointsError::SameAxis(axes[i].name().to_owned())),
            None => Ok(Self { axes, figures: Vec::new() }),
        }
    }

    /// Adds a point: a figure for each axis, in the order of the axes.
    ///
    /// # Errors
    /// If there are too few figures or too many, or one is NaN.
    pub fn push(&mut self, figures: &[f64]) -> Result<(), PointsError> {
        let (point, axes) = (self.len(), self.axes.len());
        if figures.len() != axes {
            return Err(PointsError::WrongLength { point, figures: figures.len(), axes });
        }
        if let Some((_, axis)) = figures.iter().zip(&self.axes).find(|(figure, _)| figure.is_nan())
        {
            return Err(PointsError::NotANumber { point, axis: axis.name().to_owned() });
        }
        self.figures.extend_from_slice(figures);
        Ok(())
    }

    /// How many points there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.figures.len() / self.axes.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.figures.is_empty()
    }

    /// The axes, in the order of the figures.
    #[must_use]
    pub fn axes(&self) -> &[Axis] {
        &self.axes
    }

    /// The figures of point `index`; none beyond the last.
    #[must_use]
    pub fn point(&self, index: usize) -> Option<&[f64]> {
        self.figures.chunks_exact(self.axes.len()).nth(index)
    }

    /// All figures, point by point, as they were given.
    pub(crate) fn figures(&self) -> &[f64] {
        &self.figures
    }

    /// For each axis what to multiply its figures by so that less is better.
    pub(crate) fn signs(&self) -> Vec<f64> {
        self.axes.iter().map(|axis| axis.direction.sign()).collect()
    }

    /// All figures, point by point, each turned so that less is better.
    pub(crate) fn costs(&self) -> Vec<f64> {
        let signs = self.signs();
        self.figures.iter().zip(signs.iter().cycle()).map(|(figure, sign)| figure * sign).collect()
    }
}
