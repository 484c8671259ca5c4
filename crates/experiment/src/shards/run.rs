//! Who measures a run.

use fizeau_workload::Shard;

use super::group::ShardGroup;

/// Who measures a run.
#[derive(Debug, Clone)]
pub enum RunShards {
    /// This client alone.
    Alone,
    /// This one measures a share, and others theirs whenever they do; their folders are merged later.
    Apart(Shard),
    /// Several, together.
    Together(ShardGroup),
}

impl RunShards {
    /// The shards that measure together.
    #[must_use]
    pub const fn group(&self) -> Option<&ShardGroup> {
        match self {
            Self::Together(group) => Some(group),
            Self::Alone | Self::Apart(_) => None,
        }
    }

    /// Whether this client has the run's report and folder.
    #[must_use]
    pub fn has_report(&self) -> bool {
        self.group().is_none_or(ShardGroup::is_first)
    }
}
