//! How long shards wait for what, in one place. What a user sets is [`ShardSpec::patience`](super::ShardSpec::patience), which bounds
//! each wait in which nothing is measured, merged or decided; the waits here are for what takes as long as it takes.

use std::time::Duration;

use fizeau_core::Nanos;

/// How long one that has come to shard 0 may take to say who it is: a message or two.
pub(super) const GREETING: Duration = Duration::from_secs(5);

/// How long another shard 0 at the same place may take to say that it is one.
pub(super) const TWICE: Nanos = Nanos::from_secs(5);

/// How long the slowest of all may warm up, beyond the patience: a warm-up takes what its requests take.
pub(super) const WARM_UP: Duration = Duration::from_secs(600);

/// How far ahead a level's beginning is named: longer than any message takes to reach everybody.
pub(super) const LEAD: Nanos = Nanos::from_secs(1);

/// How long a shard whose part is over waits for the others, beyond what its own part took. Nothing is said while a level is measured, so
/// that nobody knows how long the slowest still takes, and a process that stands still looks like one that measures.
pub(super) const LAST_OF_LEVEL: Duration = Duration::from_secs(600);

/// How long shard 0 may take between two levels, to take in the tapes of all, merge them and decide, and how long a shard waits for its
/// turn to hand them over.
pub(super) const BETWEEN_LEVELS: Duration = Duration::from_secs(3_600);

/// How long one write to a connection may take.
pub(super) const WRITE: Duration = Duration::from_secs(60);

/// After how long without an answer from the other end's system a connection is cut: half a minute, and what was sent last is not waited
/// for any longer than that.
#[cfg(target_os = "linux")]
pub(super) const CUT: Duration = Duration::from_secs(30);

/// How long the count of shard 0 in a folder may stand still. A client of NFS may take a minute to see what another wrote into a folder
/// (nfs(5), `acdirmax`).
pub(super) const SILENT_FOLDER: Duration = Duration::from_secs(90);
