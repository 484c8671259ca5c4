//! How far a figure may be off: an interval with its confidence, and a figure with its interval.

use std::fmt;

use thiserror::Error;

/// How often an interval made in the same way would enclose the truth: a share above 0 and below 1.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Confidence(f64);

impl Confidence {
    /// Nine times in ten.
    pub const P90: Self = Self(0.90);
    /// Nineteen times in twenty: the usual one.
    pub const P95: Self = Self(0.95);
    /// Ninety-nine times in a hundred, as MLPerf's rules ask for.
    pub const P99: Self = Self(0.99);

    /// The confidence `share`.
    ///
    /// # Errors
    /// If it is not above 0 and below 1.
    pub fn new(share: f64) -> Result<Self, ConfidenceError> {
        let fits = share > 0.0 && share < 1.0;
        fits.then_some(Self(share)).ok_or(ConfidenceError { share })
    }

    /// The share, above 0 and below 1.
    #[must_use]
    pub const fn get(self) -> f64 {
        self.0
    }

    /// What is left outside on each side of a two-sided interval.
    #[must_use]
    pub const fn tail(self) -> f64 {
        (1.0 - self.0) / 2.0
    }
}

/// Why a number is not a [`Confidence`].
#[derive(Debug, Clone, Copy, PartialEq, Error)]
#[error("the confidence is {share}: it must be a share above 0 and below 1, such as 0.95")]
#[non_exhaustive]
pub struct ConfidenceError {
    /// What was given.
    pub share: f64,
}

/// Where a true figure lies: both ends in the figure's unit, and how often such an interval encloses the truth.
///
/// ```
/// use fizeau_core::{Confidence, Interval, Millis};
/// let ttft = Interval::p95(Millis::new(180.0), Millis::new(220.0));
/// assert_eq!(ttft.confidence, Confidence::P95);
/// assert_eq!(ttft.map(Millis::get).ends(), [180.0, 220.0]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval<T> {
    /// Its lower end.
    pub low: T,
    /// Its upper end.
    pub high: T,
    /// How often an interval made in the same way encloses the truth.
    pub confidence: Confidence,
}

impl<T> Interval<T> {
    /// From `low` to `high`, made so that it encloses the truth nineteen times in twenty.
    #[must_use]
    pub const fn p95(low: T, high: T) -> Self {
        Self { low, high, confidence: Confidence::P95 }
    }

    /// The same interval in another unit. `change` keeps the order: of a figure that falls as this one rises, give the ends
    /// the other way round.
    #[must_use]
    pub fn map<U>(self, change: impl Fn(T) -> U) -> Interval<U> {
        let Self { low, high, confidence } = self;
        Interval { low: change(low), high: change(high), confidence }
    }

    /// Both ends, the lower one first: how an interval is written in JSON.
    #[must_use]
    pub fn ends(self) -> [T; 2] {
        [self.low, self.high]
    }
}

/// A figure, with the interval that it lies in where that is known.
///
/// ```
/// use fizeau_core::{Estimate, Interval};
/// let rate = Estimate::new(12.0, Interval::p95(11.0, 13.5))?;
/// assert_eq!((rate.low(), rate.value(), rate.high()), (11.0, 12.0, 13.5));
/// assert!(Estimate::new(14.0, Interval::p95(11.0, 13.5)).is_err());
/// assert_eq!(Estimate::widened(14.0, Some(Interval::p95(11.0, 13.5))).high(), 14.0);
/// assert_eq!(Estimate::widened(14.0, None).interval(), None);
/// # Ok::<(), fizeau_core::EstimateError<f64>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate<T> {
    value: T,
    interval: Option<Interval<T>>,
}

impl<T: Copy + PartialOrd> Estimate<T> {
    /// `value`, whose true value lies in `interval`.
    ///
    /// # Errors
    /// If the value is not within the interval, as no NaN is.
    pub fn new(value: T, interval: Interval<T>) -> Result<Self, EstimateError<T>>
    where
        T: fmt::Debug,
    {
        if interval.low <= value && value <= interval.high {
            Ok(Self { value, interval: Some(interval) })
        } else {
            Err(EstimateError { value, interval })
        }
    }

    /// `value` with `interval`, widened as far as the value where it ends before it, as rounding or another definition of the
    /// figure may bring about; without one where it is not known how far the value may be off.
    #[must_use]
    pub fn widened(value: T, interval: Option<Interval<T>>) -> Self {
        let interval = interval.map(|Interval { low, high, confidence }| Interval {
            low: if low <= value { low } else { value },
            high: if value <= high { high } else { value },
            confidence,
        });
        Self { value, interval }
    }

    /// The figure.
    #[must_use]
    pub const fn value(&self) -> T {
        self.value
    }

    /// Where its true value lies, if that is known.
    #[must_use]
    pub const fn interval(&self) -> Option<Interval<T>> {
        self.interval
    }

    /// The lower end of its interval; the figure itself where there is none.
    #[must_use]
    pub fn low(&self) -> T {
        self.interval.map_or(self.value, |interval| interval.low)
    }

    /// The upper end of its interval; the figure itself where there is none.
    #[must_use]
    pub fn high(&self) -> T {
        self.interval.map_or(self.value, |interval| interval.high)
    }

    /// The same in another unit. `change` keeps the order.
    #[must_use]
    pub fn map<U>(self, change: impl Fn(T) -> U) -> Estimate<U> {
        let Self { value, interval } = self;
        Estimate { value: change(value), interval: interval.map(|interval| interval.map(&change)) }
    }
}

/// Why a figure and an interval are no [`Estimate`].
#[derive(Debug, Clone, Copy, PartialEq, Error)]
#[error(
    "{value:?} with an interval from {low:?} to {high:?}; give numbers with low <= value <= high",
    low = .interval.low, high = .interval.high
)]
#[non_exhaustive]
pub struct EstimateError<T: fmt::Debug> {
    /// The figure.
    pub value: T,
    /// Its interval.
    pub interval: Interval<T>,
}
