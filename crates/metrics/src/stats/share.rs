//! Shares of a whole, checked when they are made.

use thiserror::Error;

/// Which percentile: a number from 0 to 100.
///
/// It is kept in percent, as tools spell it, because `n * 99 / 100` is exact where `n * 0.99` is not.
///
/// ```
/// use fizeau_metrics::Percent;
/// assert_eq!(Percent::new(99.0), Ok(Percent::P99));
/// assert!(Percent::new(101.0).is_err());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Percent(f64);

impl Percent {
    /// The median.
    pub const P50: Self = Self(50.0);
    /// The 90th percentile.
    pub const P90: Self = Self(90.0);
    /// The 95th percentile.
    pub const P95: Self = Self(95.0);
    /// The 99th percentile.
    pub const P99: Self = Self(99.0);
    /// The 99.9th percentile.
    pub const P999: Self = Self(99.9);

    /// The percentile `percent`.
    ///
    /// # Errors
    /// If it is not a number from 0 to 100.
    pub fn new(percent: f64) -> Result<Self, PercentError> {
        let fits = (0.0..=100.0).contains(&percent);
        fits.then_some(Self(percent)).ok_or(PercentError { percent })
    }

    /// The number, from 0 to 100.
    #[must_use]
    pub const fn get(self) -> f64 {
        self.0
    }

    /// The same as a share, from 0 to 1.
    pub(crate) const fn share(self) -> f64 {
        self.0 / 100.0
    }
}

/// Why a number is not a [`Percent`].
#[derive(Debug, Clone, Copy, PartialEq, Error)]
#[error("percentile {percent}: it must be a number from 0 to 100")]
#[non_exhaustive]
pub struct PercentError {
    /// What was given.
    pub percent: f64,
}
