//! A figure with its interval, or how much more it would take.

use super::Confidence;

/// Something that a sample supports, or how large a sample it would take.
///
/// What it needs is a rule or an estimate from the sample at hand (where values hang together, more of them are needed), so
/// a sample that has grown to that size may need a few more.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Support<T> {
    /// The sample supports it.
    Known(T),
    /// The sample is too small.
    NotSupported {
        /// How many values it would take.
        needs: u64,
        /// How many there are.
        has: u64,
    },
}

impl<T> Support<T> {
    /// What is known, if it is.
    ///
    /// ```
    /// use fizeau_metrics::Support;
    /// assert_eq!(Support::Known(3).known(), Some(3));
    /// assert_eq!(Support::<u8>::NotSupported { needs: 662, has: 100 }.known(), None);
    /// ```
    #[must_use]
    pub fn known(self) -> Option<T> {
        match self {
            Self::Known(known) => Some(known),
            Self::NotSupported { .. } => None,
        }
    }

    /// The same, with what is known made into something else.
    ///
    /// ```
    /// use fizeau_metrics::Support;
    /// assert_eq!(Support::Known(3).map(|n| n * 2), Support::Known(6));
    /// ```
    #[must_use]
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Support<U> {
        match self {
            Self::Known(known) => Support::Known(change(known)),
            Self::NotSupported { needs, has } => Support::NotSupported { needs, has },
        }
    }
}

/// A figure and its interval, both in the unit of the sample.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// The figure itself, from the whole sample.
    pub value: f64,
    /// Where the true one lies.
    pub interval: Bounds,
}

/// A confidence interval, in the unit of the sample.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bounds {
    /// Its lower end.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
    /// How often such an interval encloses the truth.
    pub confidence: Confidence,
}

impl Bounds {
    /// Half the width over the size of `value`, which is what "to within 2 %" is about; none at a value of zero.
    ///
    /// ```
    /// use fizeau_metrics::{Bounds, Confidence};
    /// let bounds = Bounds { low: 98.0, high: 102.0, confidence: Confidence::P95 };
    /// assert_eq!(bounds.relative_half_width(100.0), Some(0.02));
    /// ```
    #[must_use]
    pub fn relative_half_width(self, value: f64) -> Option<f64> {
        Some((self.high - self.low) / 2.0 / value.abs()).filter(|width| width.is_finite())
    }
}
