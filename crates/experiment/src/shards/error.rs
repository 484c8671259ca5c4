//! Why the shards of a run cannot measure together.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::absence::ShardAbsence;

/// Why the shards of a run cannot measure together, or no longer. What each had measured until then lies in its own folder.
#[derive(Debug, Clone, PartialEq, Eq, Error, Serialize, Deserialize)]
#[serde(tag = "why", content = "text", rename_all = "snake_case")]
#[non_exhaustive]
pub enum ShardError {
    /// A shard did not come, or is gone.
    #[error(transparent)]
    PeerMissing(#[from] Box<ShardAbsence>),
    /// The shards are not of one run: another plan, another version, another count, or one of them twice.
    #[error("{0}")]
    Mismatch(String),
    /// A shard could not begin at the instant that was agreed.
    #[error("{0}")]
    LateStart(String),
    /// The place where they are to meet cannot be used, or something there is not understood.
    #[error("{0}")]
    Unusable(String),
    /// What was measured cannot be written down any further, as on a full disk.
    #[error("{0}")]
    NotKept(String),
    /// The run was interrupted while the shards met.
    #[error("interrupted while the shards of the run met")]
    CalledOff,
}

impl ShardError {
    /// Why, without whom it befell.
    pub(super) fn reason(&self) -> String {
        match self {
            Self::PeerMissing(absence) => absence.why.to_string(),
            other => other.to_string(),
        }
    }

    /// As it befell `who`, where it does not say so itself.
    pub(super) fn at(self, who: &str) -> Self {
        match self {
            Self::NotKept(text) => Self::NotKept(format!("{who}: {text}")),
            Self::Unusable(text) => Self::Unusable(format!("{who}: {text}")),
            other => other,
        }
    }
}
