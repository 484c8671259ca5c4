//! What it all comes to, in a word.

use super::{Alpha, PValue};
use crate::Direction;

/// The answer of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Answer {
    /// The candidate is better than the baseline.
    Better,
    /// It is worse.
    Worse,
    /// No difference was found. That is not equality: see [`Pairs::detectable`](super::Pairs::detectable).
    NoDetectableDifference,
}

impl Answer {
    /// From a p-value, corrected if several metrics are looked at ([`holm`](super::holm)), and the
    /// difference, candidate less baseline.
    ///
    /// A difference is detected where p is at or below alpha. One of zero (or NaN) points nowhere, and is none.
    ///
    /// ```
    /// use fizeau_metrics::{Alpha, Answer, Direction, PValue};
    /// let answer = |p, difference| {
    ///     let p = PValue::new(p)?;
    ///     Ok(Answer::of(p, difference, Direction::HigherIsBetter, Alpha::FIVE_PERCENT))
    /// };
    /// assert_eq!(answer(0.01, 12.0)?, Answer::Better);
    /// assert_eq!(answer(0.05, -12.0)?, Answer::Worse);
    /// assert_eq!(answer(0.06, -12.0)?, Answer::NoDetectableDifference);
    /// # Ok::<(), fizeau_metrics::ShareError>(())
    /// ```
    #[must_use]
    pub fn of(p: PValue, difference: f64, direction: Direction, alpha: Alpha) -> Self {
        if p.get() > alpha.get() {
            return Self::NoDetectableDifference;
        }
        let gain = match direction {
            Direction::HigherIsBetter => difference,
            Direction::LowerIsBetter => -difference,
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
    pub Answer::as_str {
        Better = "better", Worse = "worse", NoDetectableDifference = "no detectable difference",
    }
}
