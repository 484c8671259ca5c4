//! How far to believe what was measured, of an endpoint or of a machine.

use serde::{Deserialize, Serialize};

/// How far a measurement is to be believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Verdict {
    /// Nothing speaks against it.
    Valid,
    /// Something is odd; look before you use it.
    Suspect,
    /// Not a measurement of what it is about.
    Invalid,
}

crate::words! {
    /// The word for it, as reports and files have it: `valid`, `suspect` or `invalid`.
    pub Verdict::as_str {
        Valid = "valid", Suspect = "suspect", Invalid = "invalid",
    }
}
