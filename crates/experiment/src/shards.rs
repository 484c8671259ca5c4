//! Several clients that measure one run: which of them this is, where they meet, by whose clock they begin, and what they tell one
//! another. What is measured is another's matter (`experiment/sharded.rs`).

mod absence;
mod cut;
mod error;
mod follower;
mod group;
mod health;
mod identity;
mod leader;
mod link;
mod meeting;
mod message;
mod offered;
mod offset;
mod run;
mod secret;
mod spec;
mod start_at;
mod waiting;
mod waits;

pub use absence::{AbsenceReason, MeasuredParts, ShardAbsence};
pub(crate) use absence::{AbsenceTime, LostShard};
pub use error::{LateShardStart, PlanMismatch, ShardError, ShardFault, ShardMismatch};
pub(crate) use group::Gate;
pub use group::ShardGroup;
pub(crate) use health::{FirstRelease, of_part};
pub use identity::{
    EnvironmentVariables, SHARD_VARIABLES, ShardIdentity, ShardIdentityError, ShardSource,
};
pub(crate) use leader::{LevelParts, PartOf};
pub use meeting::{MEETING_VARIABLES, MeetingPoint, MeetingPointError};
pub(crate) use message::PartReport;
pub(crate) use offered::OfferedLoadShare;
pub use run::{RunShards, ShardRequest, ShardRequestError};
pub use secret::ShardSecret;
pub use spec::{ShardOffer, ShardSpec};
pub(crate) use start_at::WallGate;
pub use start_at::{StartTime, StartTimeError};
pub use waiting::{ShardWait, ShardWaits};
