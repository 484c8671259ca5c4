//! A share of the speed of light.

use std::fmt;

/// A share of the speed of light: 1 is the bound itself. Finite, never negative.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct BoundShare(f64);

impl BoundShare {
    /// As a fraction: 1 is the bound itself.
    #[must_use]
    pub const fn get(self) -> f64 {
        self.0
    }

    /// As per cent: 100 is the bound itself.
    #[must_use]
    pub const fn percent(self) -> f64 {
        self.0 * 100.0
    }

    /// Whether it is above the whole by more than rounding explains.
    pub(crate) fn is_impossible(self) -> bool {
        const TOLERANCE: f64 = 0.005;
        self.0 > 1.0 + TOLERANCE
    }

    /// A part of a whole in the same unit. None where they make no share: a part below 0, a whole not above it, anything
    /// not finite.
    #[must_use]
    pub fn of(part: f64, whole: f64) -> Option<Self> {
        let share = part / whole;
        (part >= 0.0 && whole > 0.0 && share.is_finite()).then_some(Self(share))
    }
}

impl fmt::Display for BoundShare {
    /// As per cent with one decimal: `61.3 %`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.1} %", self.percent())
    }
}
