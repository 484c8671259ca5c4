//! A record as a run keeps it.

use fizeau_core::Stamp;
use serde::{Deserialize, Serialize};

use super::record::ForwardPass;

/// A line of `forward-pass.jsonl`: a record as the engine sent it, and when it was read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ForwardPassLine {
    /// The stream that it came by: its place among those of the level.
    pub source: u32,
    /// When it was read, on the run's clock: the pass had just ended.
    #[serde(rename = "at_ns")]
    pub at: Stamp,
    /// What it says.
    #[serde(flatten)]
    pub pass: ForwardPass,
}
