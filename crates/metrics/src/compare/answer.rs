//! The answer of a comparison, in a word.

use super::{PValue, SignificanceLevel};
use crate::BetterDirection;

/// The answer of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ComparisonAnswer {
    /// The candidate is better than the baseline.
    Better,
    /// It is worse.
    Worse,
    /// No difference was found. That is not equality: see [`PairedValues::detectable`](super::PairedValues::detectable).
    NoDetectableDifference,
}

impl ComparisonAnswer {
    /// From a p-value, corrected if several metrics are looked at ([`holm`](super::holm)), and the
    /// difference, candidate less baseline.
    ///
    /// A difference is detected where p is at or below alpha. One of zero (or NaN) points nowhere, and is none.
    ///
    /// ```
    /// use fizeau_metrics::{SignificanceLevel, ComparisonAnswer, BetterDirection, PValue};
    /// let answer = |p, difference| {
    ///     let p = PValue::new(p)?;
    ///     Ok(ComparisonAnswer::of(p, difference, BetterDirection::HigherIsBetter, SignificanceLevel::FIVE_PERCENT))
    /// };
    /// assert_eq!(answer(0.01, 12.0)?, ComparisonAnswer::Better);
    /// assert_eq!(answer(0.05, -12.0)?, ComparisonAnswer::Worse);
    /// assert_eq!(answer(0.06, -12.0)?, ComparisonAnswer::NoDetectableDifference);
    /// # Ok::<(), fizeau_metrics::ShareError>(())
    /// ```
    #[must_use]
    pub fn of(
        p: PValue,
        difference: f64,
        direction: BetterDirection,
        alpha: SignificanceLevel,
    ) -> Self {
        if p.get() > alpha.get() {
            return Self::NoDetectableDifference;
        }
        let gain = match direction {
            BetterDirection::HigherIsBetter => difference,
            BetterDirection::LowerIsBetter => -difference,
        };
        if gain > 0.0 {
            Self::Better
        } else if gain < 0.0 {
            Self::Worse
        } else {
            Self::NoDetectableDifference
        }
    }
}

fizeau_core::words! {
    /// As it is shown: `better`, `worse`, `no detectable difference`.
    pub ComparisonAnswer::as_str {
        Better = "better", Worse = "worse", NoDetectableDifference = "no detectable difference",
    }
}
