//! Cohen's d of pairs.

use fizeau_core::Estimate;

use super::noncentral::above;
use super::student::falling_root;
use super::t::{Moments, ZeroVarianceError};
use super::{PairedValues, SignificanceLevel};

impl PairedValues {
    /// Cohen's d of pairs (d_z): the mean of the differences over their standard deviation (n - 1). No unit.
    ///
    /// The interval holds those d for which the observed t is in neither tail of the noncentral t (J. H.
    /// Steiger and R. T. Fouladi 1997, "Noncentrality interval estimation and the evaluation of statistical
    /// models"). Where the differences hardly vary (|t| above 1000) there is none.
    ///
    /// # Errors
    /// If all differences are alike.
    pub fn cohens_d(&self, alpha: SignificanceLevel) -> Result<Estimate<f64>, ZeroVarianceError> {
        let t = self.t_test()?.t;
        let moments = Moments::of(self.differences());
        let root = moments.n.sqrt();
        let estimate = moments.mean / moments.variance.sqrt();
        // The integral gets finer with t, and nobody reads a d of hundreds.
        let interval = (t.abs() <= 1e3).then(|| {
            let noncentrality = |tail: f64| noncentrality(t, moments.n - 1.0, tail);
            let (low, high) = (noncentrality(alpha.tail()), noncentrality(1.0 - alpha.tail()));
            alpha.interval(low / root, high / root)
        });
        Ok(Estimate::widened(estimate, interval))
    }
}

/// The noncentrality at which a t greater than `t` has the probability `tail`.
fn noncentrality(t: f64, df: f64, tail: f64) -> f64 {
    // Wide enough for any tail of one part in a thousand million, at one degree of freedom too.
    let reach = 10.0 + 8.0 * t.abs();
    falling_root(t - reach, t + reach, |delta| tail - above(t, df, delta))
}
