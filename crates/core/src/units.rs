//! Quantities other than instants: a number with its unit, and only the operations that make physical sense.

use std::fmt;
use std::ops::{Add, AddAssign, Div, Mul};

use serde::{Deserialize, Serialize};

use crate::time::{Nanos, NanosError};

macro_rules! float_units {
    ($($(#[$doc:meta])* $name:ident $unit:literal;)+) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Default, Serialize, Deserialize)]
        #[serde(transparent)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
        pub struct $name(f64);

        impl $name {
            #[doc = concat!("`value` ", $unit, ".")]
            #[must_use]
            pub const fn new(value: f64) -> Self {
                Self(value)
            }

            #[doc = concat!("The number of ", $unit, ".")]
            #[must_use]
            pub const fn get(self) -> f64 {
                self.0
            }
        }

        impl Add for $name {
            type Output = Self;

            fn add(self, other: Self) -> Self {
                Self(self.0 + other.0)
            }
        }

        impl Mul<f64> for $name {
            type Output = Self;

            fn mul(self, factor: f64) -> Self {
                Self(self.0 * factor)
            }
        }

        impl Div for $name {
            type Output = f64;

            fn div(self, other: Self) -> f64 {
                self.0 / other.0
            }
        }
    )+};
}

float_units! {
    /// An amount of memory or traffic, in bytes. Floating, because precisions such as MXFP4 take fractions of a byte.
    Bytes "bytes";
    /// Memory or link bandwidth.
    BytesPerSec "bytes per second";
    /// An amount of arithmetic; a multiply-add counts as two.
    Flops "floating-point operations";
    /// A rate of arithmetic, dense (no structured sparsity).
    FlopsPerSec "floating-point operations per second";
    /// A latency as statistics and files carry it; a single measured one is [`Nanos`].
    Millis "milliseconds";
    /// A rate of anything that is counted: requests, tokens.
    PerSec "per second";
    /// A length of time as a model computes it; measured time is [`Nanos`].
    Seconds "seconds";
    /// A power, such as a board's limit.
    Watts "watts";
    /// An energy: one watt for one second.
    Joules "joules";
    /// How many of anything that is counted an energy of one joule gives: tokens.
    PerJoule "per joule";
    /// What renting something costs while the clock runs.
    UsdPerHour "US dollars per hour";
    /// An amount of money.
    Usd "US dollars";
}

impl Nanos {
    /// This length as [`Millis`].
    #[must_use]
    pub fn to_millis(self) -> Millis {
        Millis(self.as_millis_f64())
    }
}

impl Seconds {
    /// The same time as [`Millis`].
    #[must_use]
    pub const fn to_millis(self) -> Millis {
        Millis(self.0 * 1e3)
    }

    /// The longer of two times.
    #[must_use]
    pub fn max(self, other: Self) -> Self {
        Self(self.0.max(other.0))
    }

    /// The same time to the nearest nanosecond.
    ///
    /// # Errors
    /// If the time is negative, not finite, or beyond 584 years.
    pub fn to_nanos(self) -> Result<Nanos, NanosError> {
        Nanos::from_secs_f64(self.0)
    }
}

/// What units make of one another: `Bytes / BytesPerSec = Seconds`.
macro_rules! relations {
    ($($(#[$doc:meta])* $left:ident $op:tt $right:ident = $result:ident: $trait:ident $method:ident;)+) => {$(
        $(#[$doc])*
        impl $trait<$right> for $left {
            type Output = $result;

            fn $method(self, other: $right) -> $result {
                $result(self.0 $op other.0)
            }
        }
    )+};
}

relations! {
    Bytes / BytesPerSec = Seconds: Div div;
    Flops / FlopsPerSec = Seconds: Div div;
    BytesPerSec * Seconds = Bytes: Mul mul;
    FlopsPerSec * Seconds = Flops: Mul mul;
    /// ```
    /// use fizeau_core::{Seconds, Watts};
    /// assert_eq!((Watts::new(700.0) * Seconds::new(3600.0)).get(), 2.52e6);
    /// ```
    Watts * Seconds = Joules: Mul mul;
    Joules / Watts = Seconds: Div div;
    Joules / Seconds = Watts: Div div;
}

/// ```
/// use fizeau_core::{Seconds, UsdPerHour};
/// assert_eq!((UsdPerHour::new(2.0) * Seconds::new(1800.0)).get(), 1.0);
/// ```
impl Mul<Seconds> for UsdPerHour {
    type Output = Usd;

    fn mul(self, time: Seconds) -> Usd {
        Usd(self.0 * (time.0 / 3600.0))
    }
}

/// A count of tokens, of any tokenizer.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(transparent)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
pub struct Tokens(u64);

impl Tokens {
    /// No tokens.
    pub const ZERO: Self = Self(0);

    /// `count` tokens.
    #[must_use]
    pub const fn new(count: u64) -> Self {
        Self(count)
    }

    /// How many tokens.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }

    /// These tokens over `events` events, as evenly as whole numbers go, with the sum exact and the larger shares first, so
    /// that no first event is empty while others are not. A share past `u32` is cut there.
    ///
    /// ```
    /// use fizeau_core::Tokens;
    /// assert!(Tokens::new(7).spread_over(3).eq([3, 2, 2]));
    /// ```
    pub fn spread_over(self, events: usize) -> impl Iterator<Item = u32> {
        let (total, events) = (u128::from(self.0), events as u128);
        let until = move |event: u128| (event * total).div_ceil(events);
        let share = move |event: u128| until(event + 1) - until(event);
        (0..events).map(move |event| u32::try_from(share(event)).unwrap_or(u32::MAX))
    }
}

impl Add for Tokens {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Tokens {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl std::iter::Sum for Tokens {
    fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
        iter.fold(Self::ZERO, Add::add)
    }
}

impl fmt::Display for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}
