//! How a shard takes part.

use std::path::PathBuf;

use fizeau_core::Nanos;
use fizeau_record::{MissingShards, StoredEnding, StoredError, StoredRun};
use fizeau_workload::Shard;

use super::identity::ShardSource;
use super::meeting::MeetingPoint;
use super::secret::ShardSecret;

/// How a shard takes part in a run of several.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ShardSpec {
    /// Which it is.
    pub shard: Shard,
    /// Who says so.
    pub source: ShardSource,
    /// Where they meet.
    pub meeting: MeetingPoint,
    /// How long they wait for one another: by default a minute.
    pub patience: Nanos,
    /// Whether some may be missing: by default not. Only a run of one level goes on without.
    pub missing: MissingShards,
    /// What each has to know: by default nothing.
    pub secret: ShardSecret,
}

/// What shard 0 brings to a meeting.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct ShardOffer {
    /// What sets the prompts of the run apart; none for a number that no earlier run had. Those who draw none pay no heed to it.
    pub salt: Option<u64>,
    /// Where the run is kept; none for nowhere.
    pub out: Option<PathBuf>,
    /// The levels of an earlier run that are not measured again, by the names of their folders; none for a run that begins.
    pub finished: Option<Vec<String>>,
}

impl ShardOffer {
    /// That the run in the folder `out` is gone on with, by the salt that it was begun with.
    ///
    /// # Errors
    /// If a file of it cannot be read or is not understood.
    pub fn resuming(out: PathBuf) -> Result<Self, StoredError> {
        let run = StoredRun::open(&out)?;
        let salt = run.written().salt().filter(|salt| *salt != 0);
        Ok(Self { salt, out: Some(out), finished: Some(finished_levels(&run)?) })
    }
}

/// The levels of `run` that came to their end, by the names of their folders.
pub(super) fn finished_levels(run: &StoredRun) -> Result<Vec<String>, StoredError> {
    let mut finished = Vec::new();
    for level in run.levels() {
        if level.ending()? == StoredEnding::Finished {
            finished.push(level.name().to_owned());
        }
    }
    Ok(finished)
}

impl ShardSpec {
    /// How long shards wait for one another by default.
    pub(super) const PATIENCE: Nanos = Nanos::from_secs(60);

    /// That `shard` takes part in what meets there.
    #[must_use]
    pub fn new(shard: Shard, meeting: MeetingPoint) -> Self {
        let (source, patience) = (ShardSource::Explicit, Self::PATIENCE);
        let (missing, secret) = (MissingShards::Refused, ShardSecret::default());
        Self { shard, source, meeting, patience, missing, secret }
    }
}
