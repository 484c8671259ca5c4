//! Why the shards of a run cannot measure together.

use std::path::PathBuf;

use fizeau_core::Nanos;
use fizeau_workload::ShardIndexError;
use serde::{Deserialize, Serialize, Serializer};
use thiserror::Error;

use super::absence::{MeasuredParts, ShardAbsence};
use super::secret::SECRET;
use super::start_at::StartTime;

/// Why the shards of a run cannot measure together, or no longer. What each had measured until then lies in its own folder.
#[derive(Debug, Clone, PartialEq, Eq, Error, Serialize, Deserialize)]
#[serde(tag = "why", content = "text", rename_all = "snake_case")]
#[non_exhaustive]
pub enum ShardError {
    /// A shard did not come, or is gone.
    #[error(transparent)]
    PeerMissing(#[from] Box<ShardAbsence>),
    /// The shards are not of one run: another plan, another version, another count, or one of them twice.
    #[error(transparent)]
    Mismatch(#[serde(serialize_with = "in_words")] ShardMismatch),
    /// A shard could not begin at the instant that was agreed.
    #[error(transparent)]
    LateStart(#[serde(serialize_with = "in_words")] LateShardStart),
    /// The place where they are to meet cannot be used, or something there is not understood.
    #[error(transparent)]
    Unusable(#[serde(serialize_with = "in_words")] ShardFault),
    /// What was measured cannot be written down any further, as on a full disk.
    #[error(transparent)]
    NotKept(#[serde(serialize_with = "in_words")] ShardFault),
    /// The run was interrupted while the shards met.
    #[error("interrupted while the shards of the run met")]
    CalledOff,
}

/// How the shards are not of one run. What another shard tells arrives in its words.
#[derive(Debug, Clone, PartialEq, Eq, Error, Deserialize)]
#[serde(from = "String")]
#[non_exhaustive]
pub enum ShardMismatch {
    /// Two do not have one secret.
    #[error("{shard} has another secret than {other}: give all the same {SECRET}")]
    Secret {
        /// Who came: `shard 1/2 on n2`.
        shard: String,
        /// Who has another.
        other: String,
    },
    /// Whoever waits where they meet is not known to have the secret.
    #[error(
        "{first} does not prove that it knows the secret of this run: give all the same {SECRET}"
    )]
    Unproved {
        /// Who waits, and where.
        first: String,
    },
    /// One is of another version.
    #[error("{shard} is {version}, and shard 0 is {expected}")]
    Version {
        /// Who came.
        shard: String,
        /// What it is.
        version: String,
        /// What shard 0 is.
        expected: String,
    },
    /// One counts them otherwise.
    #[error("{shard} is one of {count}, and shard 0 one of {expected}")]
    Count {
        /// Who came.
        shard: String,
        /// How many it thinks there are.
        count: u64,
        /// How many shard 0 waits for, itself among them.
        expected: u64,
    },
    /// One has a number that no shard has.
    #[error("{shard}: {error}")]
    Number {
        /// Who came.
        shard: String,
        /// What is wrong with its number.
        error: ShardIndexError,
    },
    /// One of them is there twice.
    #[error("shard {shard} is there twice{}", second(host.as_deref()))]
    Twice {
        /// Which: `1/2`.
        shard: String,
        /// The machine of the second; none where that is not known.
        host: Option<String>,
    },
    /// One came when the others had begun.
    #[error("{shard} came when the run had begun without it; start all shards of a run together")]
    TooLate {
        /// Who came.
        shard: String,
    },
    /// They are about to measure different things.
    #[error("the shards are not of one run, and nothing was sent:\n  {}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n  "))]
    Plans(Vec<PlanMismatch>),
    /// A shard's part of an earlier run cannot be gone on with.
    #[error("shard {shard} on {host} cannot go on with its part in {}: {why}", folder.display())]
    Part {
        /// Which: `1/2`.
        shard: String,
        /// Its machine.
        host: String,
        /// Where its part is.
        folder: PathBuf,
        /// What is against it.
        why: String,
    },
    /// What another shard told.
    #[error("{0}")]
    Told(String),
}

/// What of a run two shards have otherwise.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{field}: {expected} at shard 0 and {found} at {shard}")]
pub struct PlanMismatch {
    /// The field, as its label says it.
    pub field: String,
    /// As shard 0 has it.
    pub expected: String,
    /// As the other has it.
    pub found: String,
    /// The other: `shard 1/2 on n2`.
    pub shard: String,
}

/// How a shard came too late for the instant at which all begin.
#[derive(Debug, Clone, PartialEq, Eq, Error, Deserialize)]
#[serde(from = "String")]
#[non_exhaustive]
pub enum LateShardStart {
    /// Shard 0's instant was over when it was heard of.
    #[error("the level began {:.0} ms before its start reached the shard on {host}", late.to_millis().get())]
    Heard {
        /// By how much.
        late: Nanos,
        /// The shard's machine.
        host: String,
    },
    /// A client was not ready at the instant that was given.
    #[error("the level was to begin at {at}, but this client was ready {:.3} s later; it sent nothing", late.as_secs_f64())]
    Ready {
        /// The instant.
        at: StartTime,
        /// By how much.
        late: Nanos,
    },
    /// What another shard told.
    #[error("{0}")]
    Told(String),
}

/// What cannot be used or written down, and where.
#[derive(Debug, Clone, PartialEq, Eq, Error, Deserialize)]
#[serde(from = "String")]
#[error("{}{what}", place.iter().map(|place| format!("{place}: ")).collect::<String>())]
pub struct ShardFault {
    /// A shard, a file or the place where they meet; none where `what` names it.
    pub place: Option<String>,
    /// What is wrong.
    pub what: String,
}

impl ShardFault {
    /// At `place`.
    pub(crate) fn at(place: &(impl ToString + ?Sized), what: &impl ToString) -> Self {
        Self { place: Some(place.to_string()), what: what.to_string() }
    }
}

fn second(host: Option<&str>) -> String {
    host.map(|host| format!(": {host} is the second")).unwrap_or_default()
}

impl From<String> for ShardMismatch {
    fn from(text: String) -> Self {
        Self::Told(text)
    }
}

impl From<String> for LateShardStart {
    fn from(text: String) -> Self {
        Self::Told(text)
    }
}

impl From<String> for ShardFault {
    fn from(what: String) -> Self {
        Self { place: None, what }
    }
}

/// What shards tell one another of an error is its sentence, which shards of all versions understand.
fn in_words<S: Serializer>(error: &impl ToString, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&error.to_string())
}

impl ShardError {
    /// Why, without whom it befell.
    pub(super) fn reason(&self) -> String {
        match self {
            Self::PeerMissing(absence) => absence.why.to_string(),
            other => other.to_string(),
        }
    }

    /// `known`, where there is one, and `further` that is not there besides.
    pub(super) fn both(known: Option<Self>, further: Self) -> Self {
        match (known, further) {
            (Some(Self::PeerMissing(mut known)), Self::PeerMissing(further)) => {
                known.also.push(*further);
                Self::PeerMissing(known)
            }
            (Some(known), _) => known,
            (None, further) => further,
        }
    }

    /// The same, where `parts` of what was measured until then are kept or not.
    pub(crate) fn with_parts(self, parts: MeasuredParts) -> Self {
        match self {
            Self::PeerMissing(absence) => {
                Self::PeerMissing(Box::new(ShardAbsence { parts, ..*absence }))
            }
            other => other,
        }
    }

    /// As it befell `who`, where it does not say so itself.
    pub(super) fn at(self, who: &str) -> Self {
        match self {
            Self::NotKept(fault) => Self::NotKept(ShardFault::at(who, &fault)),
            Self::Unusable(fault) => Self::Unusable(ShardFault::at(who, &fault)),
            other => other,
        }
    }
}
