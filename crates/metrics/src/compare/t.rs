//! Student's paired test.

use fizeau_core::Estimate;
use thiserror::Error;

use super::student::{student_quantile, student_two_sided};
use super::{PValue, PairedValues, SignificanceLevel};

/// The values do not vary, so that a test against their spread has nothing to stand on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("all values are equal, and the test needs values that vary")]
pub struct ZeroVarianceError;

/// What a t-test found; two-sided.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct TTest {
    /// The mean difference over its standard error; positive where the candidate's values are greater.
    pub t: f64,
    /// Degrees of freedom.
    pub df: f64,
    /// How likely a t as far from zero is where the means do not differ.
    pub p: PValue,
}

impl PairedValues {
    /// The paired t-test: SciPy's `ttest_rel(candidate, baseline)`.
    ///
    /// It asks about the mean of the differences, which should be roughly normal; figures of whole rounds
    /// mostly are.
    ///
    /// # Errors
    /// If all differences are alike.
    pub fn t_test(&self) -> Result<TTest, ZeroVarianceError> {
        let (estimate, error, df) = self.mean_and_error()?;
        Ok(TTest {
            t: estimate / error,
            df,
            p: PValue::clipped(student_two_sided(estimate / error, df)),
        })
    }

    /// The mean of the differences, in the unit of the values, with the t-interval that belongs to
    /// [`PairedValues::t_test`]: mean -+ t quantile times standard error.
    ///
    /// # Errors
    /// If all differences are alike.
    pub fn mean_shift(&self, alpha: SignificanceLevel) -> Result<Estimate<f64>, ZeroVarianceError> {
        let (estimate, error, df) = self.mean_and_error()?;
        let reach = student_quantile(alpha.tail(), df) * error;
        let interval = alpha.interval(estimate - reach, estimate + reach);
        Ok(Estimate::widened(estimate, Some(interval)))
    }

    /// Mean difference, its standard error and its degrees of freedom.
    fn mean_and_error(&self) -> Result<(f64, f64, f64), ZeroVarianceError> {
        let moments = Moments::of(self.differences());
        let error = (moments.variance / moments.n).sqrt();
        if (moments.mean / error).is_finite() && error > 0.0 {
            Ok((moments.mean, error, moments.n - 1.0))
        } else {
            Err(ZeroVarianceError)
        }
    }
}

/// What a t-test needs to know of values.
#[derive(Debug, Clone, Copy)]
pub(super) struct Moments {
    pub(super) n: f64,
    pub(super) mean: f64,
    /// Over n - 1.
    pub(super) variance: f64,
}

impl Moments {
    /// In two passes, for the sake of values that lie close together far from zero.
    pub(super) fn of(values: &[f64]) -> Self {
        let n = values.len() as f64;
        let rough = values.iter().sum::<f64>() / n;
        // What rounding left out of a first mean. Equal values are then equal to their mean, and have no spread.
        let mean = rough + values.iter().map(|value| value - rough).sum::<f64>() / n;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        Self { n, mean, variance: squares / (n - 1.0) }
    }
}
