//! Runs that are not of one client of ours: those that were merged, and those that were imported.

use serde::{Deserialize, Serialize};

use crate::ClientHost;

/// A shard of a run that was merged of several.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct MergedShard {
    /// Its folder, as it was given.
    pub folder: String,
    /// Which share of the plan it sent; absent for all of it.
    pub shard: Option<String>,
    /// The squared coefficient of variation of the gaps between its requests; absent where there is no one number.
    pub cv_squared: Option<f64>,
    /// When it began, by the wall clock, as RFC 3339 text.
    pub started: String,
    /// The machine that its client ran on.
    pub host: ClientHost,
    /// Whom it called.
    pub base_url: String,
    /// The command line, word by word, free of secrets.
    pub command_line: Vec<String>,
    /// By how much its stamps were put later, in nanoseconds; below zero where they were put earlier.
    pub put_later_ns: i64,
}

/// Where a run was imported from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ImportedFrom {
    /// What it is called.
    pub name: String,
    /// The file that its first level comes from; absent if it has no levels.
    pub source: Option<ImportedSource>,
    /// Whether its levels have tapes.
    pub has_tapes: bool,
}

/// Where a level comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ImportedSource {
    /// The key of its format.
    pub format: String,
    /// The tool.
    pub tool: String,
    /// Its version; absent where the file does not say.
    pub version: Option<String>,
    /// The file's name, as it was given.
    pub file: String,
    /// 64 bits of FNV-1a over the file's bytes.
    pub checksum: String,
}
