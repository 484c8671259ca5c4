//! What shards say to one another, before and after a level and never within it.

use std::path::PathBuf;

use fizeau_core::{Stamp, WarmUp};
use fizeau_metrics::{ClientCeiling, SystemHeadroom};
use fizeau_record::{ClockReading, ShardRecord};
use serde::{Deserialize, Serialize};

use super::error::ShardError;

/// What shards say to one another. Shard 0 is at one end of each of these.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Message {
    /// A shard comes.
    Hello(Hello),
    /// Shard 0 knows the secret of the run: does the other?
    Challenge { drawn: String, proof: String },
    /// It does.
    Proof { proof: String },
    /// It may take part.
    Welcome(Welcome),
    /// What it is about to measure: its `run.json`.
    Terms { document: String },
    /// All are about to measure the same.
    Agreed,
    /// They cannot measure together, or no longer.
    Refused(ShardError),
    /// The level that is next.
    Order { name: String },
    /// The shard has warmed up.
    Ready,
    /// The shard is to read the first one's clock.
    Sync,
    /// What does your clock show?
    Ping,
    /// It showed these as the question came and as this answer left.
    Pong { heard: Stamp, answered: Stamp },
    /// By how much the shard's clock is ahead.
    Reading(ClockReading),
    /// The instant at which the level begins, on the first shard's clock.
    Start { at: Stamp },
    /// The shard's part of the level is over.
    Ended(Box<PartReport>),
    /// The tapes are to be sent; or they are there already, in a folder that both see.
    Tapes { wanted: bool },
    /// So many bytes of compressed tapes follow, and then more; none where that was all. Of a file, how long it is.
    Bytes { bytes: u64 },
    /// There are no more levels; of a run that was called off at shard 0, not all that were planned.
    Done { is_cut: bool },
}

/// A shard that comes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Hello {
    /// Which program, of which version.
    pub(crate) version: String,
    pub(crate) index: u64,
    pub(crate) count: u64,
    pub(crate) host: String,
    /// A number that it drew, for shard 0 to prove that it knows the secret of the run. Earlier versions said none.
    #[serde(default)]
    pub(crate) drawn: String,
}

impl Hello {
    /// `shard 1/8 on n2`.
    pub(crate) fn name(&self) -> String {
        format!("shard {}/{} on {}", self.index, self.count, self.host)
    }
}

/// What shard 0 tells those that came.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Welcome {
    /// A name of the run that no other has.
    pub(crate) token: String,
    /// What sets the prompts of the run apart.
    pub(crate) salt: u64,
    /// Where shard 0 keeps the run.
    pub(crate) out: PathBuf,
    /// Whether all of it is to be removed in the end.
    pub(crate) is_temporary: bool,
    /// What its wall clock showed at its clock's epoch, and by how much that may be wrong, where its kernel knows.
    pub(crate) epoch_unix_ns: u64,
    pub(crate) wall_clock_error_ns: Option<u64>,
    /// The levels that are not measured again, where an earlier run is gone on with.
    #[serde(default)]
    pub(crate) finished: Option<Vec<String>>,
}

/// What came of a shard's part of a level.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct PartReport {
    /// Why it broke off; none where it did not.
    pub(crate) failed: Option<ShardError>,
    pub(crate) is_cancelled: bool,
    /// Whether its time was up before its plan was done.
    pub(crate) is_time_up: bool,
    pub(crate) warm_up: WarmUp,
    pub(crate) held_back: u64,
    pub(crate) abandoned: u64,
    #[serde(default)]
    pub(crate) unsent: u64,
    pub(crate) threads: u32,
    /// What its system allows, as checked before the run.
    #[serde(default)]
    pub(crate) headroom: Option<SystemHeadroom>,
    /// What its client can do at most, where that was measured.
    pub(crate) ceiling: Option<ClientCeiling>,
    /// When it began, and how its client fared.
    pub(crate) record: ShardRecord,
    /// How many tapes it wrote, those of probes among them.
    pub(crate) tapes_written: u64,
    /// Where they lie.
    pub(crate) tapes: PathBuf,
}
