//! Who measures a run.

use fizeau_workload::Shard;

use super::group::ShardGroup;
use crate::level::PreparedLevel;

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

    /// How many requests of `level` those send that are there; of conversations, where some shard is missing, about.
    #[must_use]
    pub fn sent_of(&self, level: &PreparedLevel) -> u64 {
        let requests = level.basis.work.requests().get();
        let Some(here) = self.group().map(ShardGroup::here) else { return requests };
        let share = |shard: Shard| level.level().share(shard).shard.share_of(requests);
        here.into_iter().map(share).sum()
    }

    /// Whether this client has the run's report and folder.
    #[must_use]
    pub fn has_report(&self) -> bool {
        self.group().is_none_or(ShardGroup::is_first)
    }
}
