//! What a comparison of pairs could have found.

use super::noncentral::above;
use super::student::{falling_root, student_quantile};
use super::t::{Moments, ZeroVarianceError};
use super::{PairedValues, SignificanceLevel, TestPower};

impl PairedValues {
    /// The minimum detectable effect: the least mean difference, in the unit of the values, that a paired
    /// t-test of as many pairs with the spread seen would find with this power.
    ///
    /// The power of a shift D is P(|T| > t quantile) where T is noncentral t with n - 1 degrees of freedom
    /// and the noncentrality D sqrt(n) / s: not the normal approximation, which promises too much at the five
    /// to ten rounds of an A/B run. A difference below it that was not found is no evidence of equality.
    ///
    /// ```
    /// use fizeau_metrics::{SignificanceLevel, PairedValues, TestPower};
    /// let pairs = PairedValues::new(&[10.0, 10.2, 9.9, 10.1, 10.0], &[10.1, 10.0, 10.0, 10.2, 9.9])?;
    /// let least = pairs.detectable(SignificanceLevel::FIVE_PERCENT, TestPower::EIGHTY_PERCENT)?;
    /// assert!(least > 0.2 && least < 0.3);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If all differences are alike.
    pub fn detectable(
        &self,
        alpha: SignificanceLevel,
        power: TestPower,
    ) -> Result<f64, ZeroVarianceError> {
        // Refuses what has no spread.
        self.t_test()?;
        let moments = Moments::of(self.differences());
        let delta = least_noncentrality(alpha, moments.n - 1.0, power);
        Ok(delta * (moments.variance / moments.n).sqrt())
    }
}

/// By how many standard errors a mean must be off zero to be found with this power, where the standard error has `df` degrees
/// of freedom.
pub(super) fn least_noncentrality(alpha: SignificanceLevel, df: f64, power: TestPower) -> f64 {
    let limit = student_quantile(alpha.tail(), df);
    let missing_power =
        |delta: f64| power.get() - above(limit, df, delta) - above(limit, df, -delta);
    // A power at or under alpha is had for nothing.
    let far = 10.0 + 8.0 * limit;
    if missing_power(0.0) > 0.0 { falling_root(0.0, far, missing_power) } else { 0.0 }
}
