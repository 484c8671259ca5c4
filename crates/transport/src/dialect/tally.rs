//! Counts as foreign JSON writes them.

use fizeau_core::Tokens;
use serde::de::{Deserialize, Deserializer};

use super::fields::{Lenient, lenient};

/// A count. One that is written as a fraction is taken if it is whole; what cannot be a count is none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Tally(pub(super) Option<u64>);

impl Tally {
    pub(super) fn tokens(self) -> Option<Tokens> {
        self.0.map(Tokens::new)
    }
}

impl Lenient<'_> for Tally {
    fn of_count(count: u64) -> Self {
        Self(Some(count))
    }

    fn of_fraction(number: f64) -> Self {
        // Beyond this not every whole number is an `f64`, and no count goes so far.
        const MOST: f64 = 9_007_199_254_740_992.0;
        let whole = number.fract() == 0.0 && (0.0..=MOST).contains(&number);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "it is whole and within range"
        )]
        Self(whole.then_some(number as u64))
    }
}

impl<'de> Deserialize<'de> for Tally {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        lenient(from)
    }
}
