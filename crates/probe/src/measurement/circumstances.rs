//! What surrounds a measurement: clocks, a busy machine, whether the result was right, who measured.

use fizeau_core::{BytesPerSec, PerSec};
use serde::{Deserialize, Serialize};

/// Clocks before and after, and what else went on.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Circumstances {
    /// The clock of what computes, in cycles per second, before.
    #[serde(rename = "clock_before_per_s", default, skip_serializing_if = "Option::is_none")]
    pub clock_before: Option<PerSec>,
    /// The same after.
    #[serde(rename = "clock_after_per_s", default, skip_serializing_if = "Option::is_none")]
    pub clock_after: Option<PerSec>,
    /// The share of the time of the processors that it ran on that a hypervisor gave to others meanwhile, 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steal_share: Option<f64>,
    /// The share of the time of the processors that it ran on that other programs of this system took meanwhile, 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub others_share: Option<f64>,
    /// Traffic to memory that ran beside, as measured: of a latency under load.
    #[serde(
        rename = "background_bytes_per_s",
        alias = "beside_bytes_per_s",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub beside: Option<BytesPerSec>,
}

/// Whether what was computed is right.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "outcome")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub enum Verification {
    /// It was held against a reference, and is.
    Right {
        /// The largest error relative to the reference's scale.
        error: f64,
        /// What would still have been right.
        tolerance: f64,
    },
    /// It was, and is not.
    Wrong {
        /// The largest error relative to the reference's scale; none where an error cannot be said.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<f64>,
        /// In words.
        what: String,
    },
    /// It was not held against anything, or nobody says so.
    NotChecked {
        /// Why.
        reason: String,
    },
}

/// The larger of two errors. What is no number is larger than any: a maximum of floating point passes over it, and a result that is none
/// would be right.
#[cfg(any(feature = "cpu", feature = "cuda"))]
pub(crate) const fn worse(worst: f64, error: f64) -> f64 {
    if error > worst || error.is_nan() { error } else { worst }
}

impl Verification {
    /// An `error` relative to the reference's scale, of which `tolerance` is still right. What is not a number is wrong.
    #[must_use]
    pub fn within(error: f64, tolerance: f64) -> Self {
        if error <= tolerance {
            return Self::Right { error, tolerance };
        }
        let what = format!(
            "off by {error:.1e} of the reference's scale, where {tolerance:.1e} is allowed"
        );
        Self::Wrong { error: error.is_finite().then_some(error), what }
    }

    /// Nobody looked, for that reason.
    #[must_use]
    pub fn not_checked(reason: impl Into<String>) -> Self {
        Self::NotChecked { reason: reason.into() }
    }
}

/// Who measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "origin")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub enum Provenance {
    /// This crate.
    Native {
        /// Its version.
        version: String,
    },
    /// Another tool, whose file was read.
    Imported {
        /// Which: `nccl-tests`.
        tool: String,
        /// Its version, where the file says.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        version: Option<String>,
        /// The file, as it was named.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        file: Option<String>,
    },
}

impl Provenance {
    /// This crate, in this version.
    #[must_use]
    pub fn native() -> Self {
        Self::Native { version: env!("CARGO_PKG_VERSION").to_owned() }
    }
}
