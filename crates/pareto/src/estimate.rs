//! A figure, and where its true value lies.

/// A figure with the ends of its interval. Without uncertainty both ends are the figure itself. A type of its own because this
/// crate depends on nothing.
///
/// ```
/// use fizeau_pareto::FigureEstimate;
/// let latency = FigureEstimate::new(480.0, 440.0, 530.0)?;
/// assert_eq!((latency.low(), latency.value(), latency.high()), (440.0, 480.0, 530.0));
/// assert_eq!(FigureEstimate::exact(7.0)?.low(), 7.0);
/// # Ok::<(), fizeau_pareto::FigureEstimateError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FigureEstimate {
    value: f64,
    low: f64,
    high: f64,
}

/// Why three numbers are no estimate.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error("{value} with an interval from {low} to {high}; give numbers with low <= value <= high")]
#[non_exhaustive]
pub struct FigureEstimateError {
    /// The figure.
    pub value: f64,
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl FigureEstimate {
    /// Nothing, exactly.
    pub const ZERO: Self = Self { value: 0.0, low: 0.0, high: 0.0 };

    /// `value`, whose true value lies from `low` to `high`. The ends may be infinite.
    ///
    /// # Errors
    /// If a number is NaN, or `value` is not within the ends.
    pub fn new(value: f64, low: f64, high: f64) -> Result<Self, FigureEstimateError> {
        // A NaN fails both comparisons.
        if low <= value && value <= high {
            Ok(Self { value, low, high })
        } else {
            Err(FigureEstimateError { value, low, high })
        }
    }

    /// A figure that is known exactly.
    ///
    /// # Errors
    /// If it is NaN.
    pub fn exact(value: f64) -> Result<Self, FigureEstimateError> {
        Self::new(value, value, value)
    }

    /// The figure.
    #[must_use]
    pub const fn value(&self) -> f64 {
        self.value
    }

    /// The lower end of its interval.
    #[must_use]
    pub const fn low(&self) -> f64 {
        self.low
    }

    /// The upper end of its interval.
    #[must_use]
    pub const fn high(&self) -> f64 {
        self.high
    }
}
