//! A whole plan, as a driver sees it.

use std::fmt::{self, Debug};
use std::num::NonZeroU64;

use fizeau_core::{PerSec, RequestSource};

/// A whole plan, whatever it is made from: [`crate::Plan`] is one, a trace that is read as it is replayed another. A
/// program with a plan of its own implements this.
///
/// The plan is a row of sessions in order of their intended instants. Any number of drivers, on any number of machines,
/// share one by walking different sessions of it.
pub trait Workload: Debug + Send + Sync {
    /// How many requests there are, warm-up not counted.
    fn requests(&self) -> NonZeroU64;

    /// What releases requests.
    fn pacing(&self) -> Pacing;

    /// The sessions of the numbers that `which` gives, in that order, which must be rising: the first request of each,
    /// and through [`RequestSource::after`] those that follow from it. The walk ends with `which`, or at the first number
    /// that the plan does not have.
    fn walk(&self, which: Numbers) -> Walk;

    /// The requests of the numbers that `which` gives out of those to warm an endpoint up with, in that order, which must be
    /// rising: of the same kind, without instants, each standing alone. There are as many as anybody wants; `which` ends
    /// them. Their prompts are none of the plan's, and they count their numbers from 0 as well.
    fn warmup(&self, which: Numbers) -> Walk;
}

/// Numbers of sessions.
pub type Numbers = Box<dyn Iterator<Item = u64> + Send>;

/// Requests of a plan one after another.
pub type Walk = Box<dyn RequestSource<Error = WalkError> + Send>;

/// Why a plan cannot be walked further: what it is read from gave way in the midst of a run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct WalkError(String);

impl WalkError {
    /// An error that says `message`.
    #[must_use]
    pub fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}

/// What releases the first requests of sessions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Pacing {
    /// A free slot: the endpoint sets the pace.
    ClosedLoop,
    /// The start of the level: all at once.
    AtOnce,
    /// Instants of their own.
    OpenLoop {
        /// The highest rate that lasts, where it is known.
        peak: Option<PerSec>,
    },
}

/// One of several shares of a plan: every `count`-th session, from the `index`-th on.
///
/// Each shard walks the whole sequence of arrivals and keeps its own sessions, so that the shards together are the plan,
/// request for request and instant for instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    index: u64,
    count: NonZeroU64,
}

impl Shard {
    /// The whole plan.
    pub const WHOLE: Self = Self { index: 0, count: NonZeroU64::MIN };

    /// The `index`-th of `count` shares, from 0.
    ///
    /// # Errors
    /// If `count` is 0 or `index` not below it.
    pub fn new(index: u64, count: u64) -> Result<Self, ShardError> {
        match NonZeroU64::new(count) {
            Some(count) if index < count.get() => Ok(Self { index, count }),
            _ => Err(ShardError { index, count }),
        }
    }

    /// Which of the shares this is, from 0.
    #[must_use]
    pub const fn index(self) -> u64 {
        self.index
    }

    /// How many shares there are.
    #[must_use]
    pub const fn count(self) -> NonZeroU64 {
        self.count
    }

    /// The number of this shard's `n`-th session within the whole plan.
    ///
    /// ```
    /// use fizeau_workload::Shard;
    /// let second = Shard::new(1, 3)?;
    /// assert_eq!([0, 1, 2].map(|n| second.session(n)), [1, 4, 7]);
    /// # Ok::<(), fizeau_workload::ShardError>(())
    /// ```
    #[must_use]
    pub const fn session(self, n: u64) -> u64 {
        n.saturating_mul(self.count.get()).saturating_add(self.index)
    }

    /// The numbers of this shard's sessions, without end.
    #[must_use]
    pub fn sessions(self) -> Numbers {
        Box::new((0..).map(move |n| self.session(n)))
    }
}

impl fmt::Display for Shard {
    /// `0/2` of two shares the first.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.count)
    }
}

impl Default for Shard {
    fn default() -> Self {
        Self::WHOLE
    }
}

/// Why there is no such shard.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "there is no shard {index} of {count}: shards are counted from 0, and there is at least one"
)]
pub struct ShardError {
    index: u64,
    count: u64,
}
