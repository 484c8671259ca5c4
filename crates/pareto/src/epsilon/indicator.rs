//! By how much one set of points falls short of another.

use crate::{Epsilon, EpsilonError, Points};

impl Points {
    /// By how much all of these points would have to become better in every figure, in its own unit, for each of `others` to
    /// be dominated or equalled: the additive epsilon indicator (Zitzler, Thiele, Laumanns, Fonseca and Grunert da Fonseca
    /// 2003). 0 or less: these points are at least as good already. Scale the figures before where their units differ.
    ///
    /// ```
    /// use fizeau_pareto::{Axis, Points};
    /// let of = |figures: &[[f64; 2]]| {
    ///     let mut points = Points::new(vec![Axis::minimize("a"), Axis::minimize("b")])?;
    ///     figures.iter().try_for_each(|point| points.push(point))?;
    ///     Ok::<_, fizeau_pareto::PointsError>(points)
    /// };
    /// let (before, after) = (of(&[[2.0, 4.0], [4.0, 2.0]])?, of(&[[1.0, 3.0], [3.0, 2.5]])?);
    /// assert_eq!((before.additive_epsilon(&after)?, after.additive_epsilon(&before)?), (1.0, 0.5));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If either has no points, or the axes differ.
    pub fn additive_epsilon(&self, others: &Self) -> Result<f64, EpsilonError> {
        self.indicator(others, |a, b, sign| if a == b { 0.0 } else { (a - b) * sign })
    }

    /// As [`Points::additive_epsilon`], but by what factor: 1 or less says that these points are at least as good already.
    ///
    /// # Errors
    /// As [`Points::additive_epsilon`], or if a figure is not above 0.
    pub fn relative_epsilon(&self, others: &Self) -> Result<f64, EpsilonError> {
        let relative = vec![Epsilon::Relative(0.0); self.axes().len()];
        self.check(&relative, self.figures())?;
        self.check(&relative, others.figures())?;
        self.indicator(others, |a, b, sign| match (a == b, sign < 0.0) {
            (true, _) => 1.0,
            (false, true) => b / a,
            (false, false) => a / b,
        })
    }

    /// The greatest over `others` of the least over these points of the greatest `lack` of a figure.
    fn indicator(
        &self,
        others: &Self,
        lack: impl Fn(f64, f64, f64) -> f64,
    ) -> Result<f64, EpsilonError> {
        if self.axes() != others.axes() {
            return Err(EpsilonError::OtherAxes);
        }
        if self.is_empty() || others.is_empty() {
            return Err(EpsilonError::Empty);
        }
        let (axes, signs) = (self.axes().len(), self.signs());
        let lacks = |a: &[f64], b: &[f64]| {
            let each = a.iter().zip(b).zip(&signs).map(|((a, b), sign)| lack(*a, *b, *sign));
            each.fold(f64::NEG_INFINITY, f64::max)
        };
        let least = |b| {
            let each = self.figures().chunks_exact(axes).map(|a| lacks(a, b));
            each.fold(f64::INFINITY, f64::min)
        };
        Ok(others.figures().chunks_exact(axes).map(least).fold(f64::NEG_INFINITY, f64::max))
    }
}
