//! Probabilities that must not be taken for one another.

use std::str::FromStr;

use fizeau_core::{Confidence, Interval};
use thiserror::Error;

/// Why a number is not the probability that was wanted.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum ShareError {
    /// A p-value is from 0 to 1.
    #[error("a p-value must be from 0 to 1, not {0}")]
    PValue(f64),
    /// A level of significance leaves room on both sides.
    #[error("a significance level must be above 0 and below 1, such as 0.05, not {0}")]
    Alpha(f64),
    /// A power leaves room on both sides.
    #[error("a power must be above 0 and below 1, such as 0.8, not {0}")]
    Power(f64),
    /// What a difference must be at least cannot be all, nor less than nothing.
    #[error(
        "the smallest change that counts must be at least 0 % and below 100 %, such as 0.1% or 0.001, not {0}"
    )]
    Smallest(String),
    /// How much runs differ among themselves cannot be all, nor less than nothing.
    #[error(
        "the run-to-run spread must be at least 0 % and below 100 %, such as 2% or 0.02, not {0}"
    )]
    RunToRun(String),
}

/// How likely a difference at least as great is where there is none. From 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct PValue(f64);

impl PValue {
    /// From a number.
    ///
    /// # Errors
    /// If it is not from 0 to 1.
    pub fn new(p: f64) -> Result<Self, ShareError> {
        if (0.0..=1.0).contains(&p) { Ok(Self(p)) } else { Err(ShareError::PValue(p)) }
    }

    /// The number, from 0 to 1.
    #[must_use]
    pub const fn get(self) -> f64 {
        self.0
    }

    /// What rounding, or the doubling of a tail, has put past the ends is brought back.
    pub(super) const fn clipped(p: f64) -> Self {
        Self(p.clamp(0.0, 1.0))
    }
}

/// The false-alarm rate that one accepts: how often two equal sides may be told apart. Above 0, below 1.
///
/// Of an interval it is what is left outside: 0.05 gives a 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct SignificanceLevel(f64);

impl SignificanceLevel {
    /// The usual 0.05.
    pub const FIVE_PERCENT: Self = Self(0.05);

    /// From a number.
    ///
    /// # Errors
    /// If it is not above 0 and below 1.
    pub fn new(alpha: f64) -> Result<Self, ShareError> {
        if alpha > 0.0 && alpha < 1.0 { Ok(Self(alpha)) } else { Err(ShareError::Alpha(alpha)) }
    }

    /// The number.
    #[must_use]
    pub const fn get(self) -> f64 {
        self.0
    }

    /// An interval that leaves out the truth as often as this.
    pub(super) fn interval(self, low: f64, high: f64) -> Interval<f64> {
        // Of an alpha so small that 1 less it is 1 no confidence is left to tell.
        let confidence = Confidence::new(1.0 - self.0).unwrap_or(Confidence::P99);
        Interval { low, high, confidence }
    }

    /// What is outside on each side of a two-sided test or interval.
    pub(super) const fn tail(self) -> f64 {
        self.0 / 2.0
    }
}

/// How often a difference that is there must be found. Above 0, below 1.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct TestPower(f64);

impl TestPower {
    /// The usual 0.8.
    pub const EIGHTY_PERCENT: Self = Self(0.8);

    /// From a number.
    ///
    /// # Errors
    /// If it is not above 0 and below 1.
    pub fn new(power: f64) -> Result<Self, ShareError> {
        if power > 0.0 && power < 1.0 { Ok(Self(power)) } else { Err(ShareError::Power(power)) }
    }

    /// The number.
    #[must_use]
    pub const fn get(self) -> f64 {
        self.0
    }
}

/// How great a difference must be, as a share of the baseline's figure, to be called better or worse: however sure one is of
/// it, less is of no account. At least 0, below 1; 0 is for none.
///
/// ```
/// use fizeau_metrics::SmallestChange;
/// assert_eq!("0.1%".parse().map(SmallestChange::get), Ok(0.001));
/// assert_eq!("0".parse::<SmallestChange>().map(SmallestChange::get), Ok(0.0));
/// assert!("3".parse::<SmallestChange>().is_err()); // More than all of it.
/// ```
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct SmallestChange(f64);

impl SmallestChange {
    /// 0.1 %.
    pub(crate) const THOUSANDTH: Self = Self(0.001);

    /// The share.
    #[must_use]
    pub const fn get(self) -> f64 {
        self.0
    }
}

impl FromStr for SmallestChange {
    type Err = ShareError;

    /// `0.1%`, `2 %`, `0.02`, `0`.
    fn from_str(text: &str) -> Result<Self, ShareError> {
        let share = percent(text);
        share.map(Self).ok_or_else(|| ShareError::Smallest(text.to_owned()))
    }
}

/// `0.1%`, `2 %` or `0.02` as a share, below 1; none of what is neither.
pub(super) fn percent(text: &str) -> Option<f64> {
    let text = text.trim();
    let share = match text.strip_suffix('%') {
        Some(percent) => percent.trim().parse::<f64>().ok()? / 100.0,
        None => text.parse().ok()?,
    };
    (0.0..1.0).contains(&share).then_some(share)
}
