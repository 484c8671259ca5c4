//! Instants and durations: monotonic nanoseconds, never a bare number.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, Mul, Sub};
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// An instant: whole nanoseconds since the run's epoch, on a monotonic clock.
///
/// Range: 584 years. Arithmetic saturates, so no input can panic or wrap.
///
/// ```
/// use fizeau_core::{Nanos, Stamp};
/// let sent = Stamp::from_nanos(1_000);
/// let first_token = sent + Nanos::from_millis(20);
/// assert_eq!(first_token.since(sent), Some(Nanos::from_millis(20)));
/// assert_eq!(sent.since(first_token), None);
/// ```
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(transparent)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
pub struct Stamp(u64);

impl Stamp {
    /// The run's epoch itself.
    pub const EPOCH: Self = Self(0);

    /// The instant `nanos` nanoseconds after the epoch.
    #[must_use]
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// Nanoseconds since the epoch.
    #[must_use]
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// The time that passed since `earlier`; none if `earlier` is in fact later.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Option<Nanos> {
        match self.0.checked_sub(earlier.0) {
            Some(nanos) => Some(Nanos(nanos)),
            None => None,
        }
    }

    /// The time that passed since `earlier`, or zero if `earlier` is in fact later.
    ///
    /// For control flow (how long to sleep). A measurement uses [`Stamp::since`] and keeps the absence.
    #[must_use]
    pub const fn saturating_since(self, earlier: Self) -> Nanos {
        Nanos(self.0.saturating_sub(earlier.0))
    }
}

impl Add<Nanos> for Stamp {
    type Output = Self;

    fn add(self, span: Nanos) -> Self {
        Self(self.0.saturating_add(span.0))
    }
}

impl AddAssign<Nanos> for Stamp {
    fn add_assign(&mut self, span: Nanos) {
        *self = *self + span;
    }
}

/// A length of time in whole nanoseconds, never negative.
///
/// ```
/// use fizeau_core::Nanos;
/// assert_eq!(Nanos::from_micros(1_500).as_millis_f64(), 1.5);
/// assert_eq!(Nanos::from_millis(20).to_string(), "20 ms");
/// ```
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(transparent)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
pub struct Nanos(u64);

/// How long after its stamp something was read, in whole nanoseconds; longer than 4.29 s counts as 4.29 s. Small,
/// because every arrival has one.
///
/// ```
/// use fizeau_core::{Nanos, ReadLag};
/// assert_eq!(ReadLag::of(Nanos::from_micros(7)).to_nanos(), Nanos::from_micros(7));
/// assert_eq!(ReadLag::of(Nanos::from_secs(9)), ReadLag::MAX);
/// ```
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(transparent)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
pub struct ReadLag(u32);

impl ReadLag {
    /// None at all.
    pub const ZERO: Self = Self(0);
    /// The longest that can be told.
    pub const MAX: Self = Self(u32::MAX);

    /// The lag `length`, cut at [`ReadLag::MAX`].
    #[must_use]
    pub fn of(length: Nanos) -> Self {
        u32::try_from(length.0).map_or(Self::MAX, Self)
    }

    /// As a length of time.
    #[must_use]
    pub fn to_nanos(self) -> Nanos {
        Nanos(self.0.into())
    }
}

/// Why a floating number of seconds is not a length of time.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error("{0} seconds is not a length of time; give a number of seconds from 0, such as 30")]
pub struct NanosError(f64);

/// Why a text is not a length of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("it must be a number with a unit (ns, us, ms, s, m or h), such as 150us, 5s or 20m")]
pub struct ParseNanosError;

/// The units in which people write a length of time, in seconds.
const UNITS: [(&str, f64); 6] =
    [("ns", 1e-9), ("us", 1e-6), ("ms", 1e-3), ("s", 1.0), ("m", 60.0), ("h", 3_600.0)];

impl Nanos {
    /// No time at all.
    pub const ZERO: Self = Self(0);
    /// The longest length of time there is; stands for "no limit" in comparisons.
    pub const MAX: Self = Self(u64::MAX);

    /// `nanos` nanoseconds.
    #[must_use]
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// `micros` microseconds.
    #[must_use]
    pub const fn from_micros(micros: u64) -> Self {
        Self(micros.saturating_mul(1_000))
    }

    /// `millis` milliseconds.
    #[must_use]
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis.saturating_mul(1_000_000))
    }

    /// `secs` seconds.
    #[must_use]
    pub const fn from_secs(secs: u64) -> Self {
        Self(secs.saturating_mul(1_000_000_000))
    }

    /// A floating number of seconds, rounded to the nearest nanosecond.
    ///
    /// # Errors
    /// If `secs` is negative, not finite, or beyond 584 years.
    pub fn from_secs_f64(secs: f64) -> Result<Self, NanosError> {
        let nanos = (secs * 1e9).round();
        // 2^64 is exactly representable, `u64::MAX as f64` rounds up to it: hence the open end.
        if (0.0..18_446_744_073_709_551_616.0).contains(&nanos) {
            Ok(Self(nanos as u64))
        } else {
            Err(NanosError(secs))
        }
    }

    /// Reads a length of time as [`Nanos::from_str`] does, where a number without a unit counts in `bare`.
    ///
    /// # Errors
    /// If it is no number, negative, or beyond 584 years.
    ///
    /// ```
    /// use fizeau_core::Nanos;
    /// assert_eq!(Nanos::parse_in("2", Nanos::from_secs(1)), Ok(Nanos::from_secs(2)));
    /// assert_eq!(Nanos::parse_in("2ms", Nanos::from_secs(1)), Ok(Nanos::from_millis(2)));
    /// ```
    pub fn parse_in(text: &str, bare: Self) -> Result<Self, ParseNanosError> {
        Self::read(text.trim(), bare.as_secs_f64()).ok_or(ParseNanosError)
    }

    /// Likewise, with the seconds of a number without a unit.
    fn read(text: &str, bare: f64) -> Option<Self> {
        let with_unit =
            UNITS.iter().find_map(|(unit, each)| Some((text.strip_suffix(unit)?, *each)));
        let (number, each) = with_unit.unwrap_or((text, bare));
        match number.trim_end().parse().ok()? {
            0.0 => Some(Self::ZERO),
            number => Self::from_secs_f64(number * each).ok(),
        }
    }

    /// Whole nanoseconds.
    #[must_use]
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Floating milliseconds, the unit of every latency in reports and files.
    #[must_use]
    pub fn as_millis_f64(self) -> f64 {
        self.0 as f64 / 1e6
    }

    /// Floating seconds.
    #[must_use]
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// This length less `other`, or zero where `other` is longer.
    #[must_use]
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl Add for Nanos {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Nanos {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub<Nanos> for Stamp {
    type Output = Self;

    fn sub(self, span: Nanos) -> Self {
        Self(self.0.saturating_sub(span.0))
    }
}

impl Mul<u64> for Nanos {
    type Output = Self;

    fn mul(self, times: u64) -> Self {
        Self(self.0.saturating_mul(times))
    }
}

impl Div<u64> for Nanos {
    type Output = Self;

    /// Divides, rounding down; by zero gives [`Nanos::MAX`].
    fn div(self, by: u64) -> Self {
        self.0.checked_div(by).map_or(Self::MAX, Self)
    }
}

impl Sum for Nanos {
    fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
        iter.fold(Self::ZERO, Add::add)
    }
}

impl From<Duration> for Nanos {
    fn from(duration: Duration) -> Self {
        Self(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX))
    }
}

impl From<Nanos> for Duration {
    fn from(nanos: Nanos) -> Self {
        Self::from_nanos(nanos.0)
    }
}

impl FromStr for Nanos {
    type Err = ParseNanosError;

    /// `150us`, `2 ms`, `1.5s`, `20m`, `1h`; only 0 needs no unit.
    fn from_str(text: &str) -> Result<Self, ParseNanosError> {
        Self::read(text.trim(), f64::INFINITY).ok_or(ParseNanosError)
    }
}

impl fmt::Display for Nanos {
    /// The unit a person would choose, with at most two decimals: `850 ns`, `12.5 us`, `20 ms`, `3.21 s`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nanos = self.0 as f64;
        let (figure, unit) = match self.0 {
            0..1_000 => (nanos, "ns"),
            1_000..1_000_000 => (nanos / 1e3, "us"),
            1_000_000..1_000_000_000 => (nanos / 1e6, "ms"),
            _ => (nanos / 1e9, "s"),
        };
        // Rounded first, so that the shortest text of the number has no more than two decimals.
        write!(f, "{} {unit}", (figure * 100.0).round() / 100.0)
    }
}
