//! How a sweep came to its end.

use serde::{Deserialize, Serialize};

/// How a sweep came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SweepEnding {
    /// All that was to be measured was, or was left out for a reason of its own.
    #[default]
    Complete,
    /// It was called off before: more was to be measured.
    Interrupted,
}

impl SweepEnding {
    /// Whether there was nothing more to measure.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        *self == Self::Complete
    }
}
