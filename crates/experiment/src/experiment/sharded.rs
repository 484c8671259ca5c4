//! An experiment of several shards: shard 0 leads, the others follow.

mod follow;
mod measure;
mod ordered;
mod share;

pub use follow::{ShardOutcome, ShardPart};
pub(super) use follow::{SharedRun, follow, lead, tell_others};
pub use ordered::OrderedLevel;
pub(super) use ordered::check_together;
pub(crate) use ordered::check_until;
pub(super) use share::check_resumed;
