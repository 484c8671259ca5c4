//! Other tools' figures of the same tapes, beside ours.

use fizeau_core::document;
use serde::{Deserialize, Serialize};

/// What a tool would have reported, each figure with ours beside it where we have one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PeerComparison {
    /// The tool's key.
    pub tool: String,
    /// The tool with its version.
    pub version: String,
    /// The figures, in the tool's order.
    pub figures: Vec<PeerRow>,
}

document! {
    /// A figure of another tool, and ours. What is absent is null with a reason.
    pub struct PeerRow {
        /// What the tool calls it.
        pub name: String,
        /// In what it is counted: `ms`, `/s`, `count`, `share`.
        pub unit: String,
        /// What the tool would say.
        pub value: Option<f64>,
        /// Why it would say nothing.
        pub value_reason?: String,
        /// What we call it; absent where we have no such figure.
        pub ours?: String,
        /// Our figure, in the tool's unit; absent where we have no such figure, and null where this level has none.
        #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
        pub ours_value: Option<Option<f64>>,
        /// Why this level has none.
        pub ours_value_reason?: String,
    }
}

/// A null that is written is not one that is left out.
fn present<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<Option<f64>>, D::Error> {
    Option::deserialize(from).map(Some)
}
