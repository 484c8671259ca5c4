//! Counts as foreign JSON writes them.

use std::fmt;

use fizeau_core::Tokens;
use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// A count. One that is written as a fraction is taken if it is whole; what cannot be a count is none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Tally(pub(super) Option<u64>);

impl Tally {
    pub(super) fn tokens(self) -> Option<Tokens> {
        self.0.map(Tokens::new)
    }
}

impl<'de> Deserialize<'de> for Tally {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct TallyVisitor;

        impl<'de> Visitor<'de> for TallyVisitor {
            type Value = Tally;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("anything")
            }

            fn visit_u64<E: Error>(self, count: u64) -> Result<Self::Value, E> {
                Ok(Tally(Some(count)))
            }

            fn visit_f64<E: Error>(self, number: f64) -> Result<Self::Value, E> {
                // Beyond this not every whole number is an `f64`, and no count goes so far.
                const MOST: f64 = 9_007_199_254_740_992.0;
                let whole = number.fract() == 0.0 && (0.0..=MOST).contains(&number);
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "it is whole and within range"
                )]
                Ok(Tally(whole.then_some(number as u64)))
            }

            fn visit_i64<E: Error>(self, _: i64) -> Result<Self::Value, E> {
                Ok(Tally(None))
            }

            fn visit_bool<E: Error>(self, _: bool) -> Result<Self::Value, E> {
                Ok(Tally(None))
            }

            fn visit_str<E: Error>(self, _: &str) -> Result<Self::Value, E> {
                Ok(Tally(None))
            }

            fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
                Ok(Tally(None))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                while seq.next_element::<IgnoredAny>()?.is_some() {}
                Ok(Tally(None))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(Tally(None))
            }
        }

        from.deserialize_any(TallyVisitor)
    }
}
