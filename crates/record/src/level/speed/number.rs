//! Numbers as JSON.

use fizeau_core::Seconds;
use serde::{Serialize, Serializer};

/// A number without a fraction where it has none, and null where it is not finite.
#[derive(Debug, Clone, Copy)]
pub struct JsonNumber(
    /// The number.
    pub f64,
);

impl JsonNumber {
    /// A time in milliseconds.
    #[must_use]
    pub fn ms(time: Seconds) -> Self {
        Self(time.get() * 1e3)
    }
}

#[cfg(feature = "schema")]
fizeau_core::written_as!(JsonNumber, Option<f64>);

impl Serialize for JsonNumber {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            value if value.fract() == 0.0 && value.abs() < 1e15 => {
                serializer.serialize_i64(value as i64)
            }
            value => serializer.serialize_f64(value),
        }
    }
}
