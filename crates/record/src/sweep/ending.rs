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
    /// It does not say: it was killed, or is still under way. Its folder has levels and no `sweep.json`.
    Unfinished,
}

impl SweepEnding {
    /// Whether there was nothing more to measure.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        *self == Self::Complete
    }

    /// Why not all was measured that was to be; none where it was.
    #[must_use]
    pub const fn reason(&self) -> Option<&'static str> {
        match self {
            Self::Complete => None,
            Self::Interrupted => Some("Interrupted: not all that was to be measured was"),
            Self::Unfinished => Some(
                "Unfinished: there is no sweep.json, so that the run was killed or still goes on",
            ),
        }
    }
}
