//! A whole plan, as a driver sees it.

use std::fmt::{self, Debug};
use std::num::{NonZeroU32, NonZeroU64};
use std::str::FromStr;

use fizeau_core::{Nanos, PerSec, RequestSource, Seconds};
use serde::{Deserialize, Serialize};

use crate::seed::{Seed, StreamPurpose};

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
    fn walk(&self, which: SessionNumbers) -> RequestWalk;

    /// The requests of the numbers that `which` gives out of those to warm an endpoint up with, in that order, which must be
    /// rising: of the same kind, without instants, each standing alone. There are as many as anybody wants; `which` ends
    /// them. Their prompts are none of the plan's, and they count their numbers from 0 as well.
    fn warmup(&self, which: SessionNumbers) -> RequestWalk;
}

/// Numbers of sessions.
pub type SessionNumbers = Box<dyn Iterator<Item = u64> + Send>;

/// Requests of a plan one after another.
pub type RequestWalk = Box<dyn RequestSource<Error = WalkError> + Send>;

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

impl Pacing {
    /// Whether a free slot releases the next request, rather than an instant of the plan's own.
    #[must_use]
    pub const fn waits_for_slots(self) -> bool {
        matches!(self, Self::ClosedLoop | Self::AtOnce)
    }
}

/// One of several shares of a plan: every `count`-th session, from the `index`-th on; or, of a load of so many slots, the sessions of
/// its slots ([`by_slots`](Self::by_slots)).
///
/// Each shard walks the whole sequence of arrivals and keeps its own sessions, so that the shards together are the plan,
/// request for request and instant for instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    index: u64,
    count: NonZeroU64,
    /// Sessions are dealt to so many places in turn, and each place belongs to the shard of its number modulo the count.
    places: NonZeroU64,
}

impl FromStr for Shard {
    type Err = ShardTextError;

    /// `INDEX/COUNT`, counted from 0.
    fn from_str(text: &str) -> Result<Self, ShardTextError> {
        let not_text = || ShardTextError::NotText { text: text.to_owned() };
        let (index, count) = text.split_once('/').ok_or_else(not_text)?;
        let number = |part: &str| part.trim().parse::<u64>().map_err(|_| not_text());
        let shard = Self::new(number(index)?, number(count)?);
        shard.map_err(|error| ShardTextError::NoShard { text: text.to_owned(), error })
    }
}

/// Why a text is no shard.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ShardTextError {
    /// It is not two numbers.
    #[error("{text}: write I/N, counted from 0, such as 0/2 and 1/2")]
    NotText {
        /// The text.
        text: String,
    },
    /// There is no such shard.
    #[error("{text}: {error}")]
    NoShard {
        /// The text.
        text: String,
        /// What is wrong with it.
        error: ShardIndexError,
    },
}

impl Shard {
    /// The whole plan.
    pub const WHOLE: Self = Self { index: 0, count: NonZeroU64::MIN, places: NonZeroU64::MIN };

    /// A share without a session: one of so many that no plan has a session for it.
    pub const EMPTY: Self =
        Self { index: u64::MAX - 1, count: NonZeroU64::MAX, places: NonZeroU64::MAX };

    /// The `index`-th of `count` shares, from 0.
    ///
    /// # Errors
    /// If `count` is 0 or `index` not below it.
    pub fn new(index: u64, count: u64) -> Result<Self, ShardIndexError> {
        match NonZeroU64::new(count) {
            Some(count) if index < count.get() => Ok(Self { index, count, places: count }),
            _ => Err(ShardIndexError { index, count }),
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
    /// # Ok::<(), fizeau_workload::ShardIndexError>(())
    /// ```
    #[must_use]
    pub const fn session(self, n: u64) -> u64 {
        let own = dealt(self.places.get(), self);
        let (round, place) = (n / own, n % own * self.count.get() + self.index);
        round.saturating_mul(self.places.get()).saturating_add(place)
    }

    /// How many of `total` things fall to this share, when they are dealt out one by one to each in turn.
    ///
    /// ```
    /// use fizeau_workload::Shard;
    /// let shares = [0, 1, 2].map(|index| Shard::new(index, 3).map(|shard| shard.share_of(7)));
    /// assert_eq!(shares, [Ok(3), Ok(2), Ok(2)]);
    /// ```
    #[must_use]
    pub const fn share_of(self, total: u64) -> u64 {
        let (rounds, left) = (total / self.places.get(), total % self.places.get());
        rounds * dealt(self.places.get(), self) + dealt(left, self)
    }

    /// The same share of a plan of which all shares together may have `cap` requests in flight. Where there are more shares than
    /// that, each of the first `cap` has one at a time, the plan is divided among those, and the others are [`EMPTY`](Self::EMPTY):
    /// a session that fell to a share without a slot would never be sent.
    ///
    /// ```
    /// use std::num::NonZeroU32;
    ///
    /// use fizeau_workload::Shard;
    /// let two = NonZeroU32::MIN.saturating_add(1);
    /// let shares = [0, 1, 2].map(|index| Shard::new(index, 3).map(|shard| shard.under_cap(two)));
    /// assert_eq!(shares, [Shard::new(0, 2), Shard::new(1, 2), Ok(Shard::EMPTY)]);
    /// ```
    #[must_use]
    pub fn under_cap(self, cap: NonZeroU32) -> Self {
        let slots = NonZeroU64::from(cap);
        match (self.count <= slots, self.index < slots.get()) {
            (true, _) => self,
            (false, true) => Self { index: self.index, count: slots, places: slots },
            (false, false) => Self::EMPTY,
        }
    }

    /// The same share of a closed loop of which all shards together hold `slots` requests in flight: session `s` belongs to slot
    /// `s mod slots`, and slot `k` to shard `k mod count`. So each shard has requests in proportion to its slots, and all are done in
    /// about the same time. Where there are more shares than slots, this is as [`under_cap`](Self::under_cap).
    ///
    /// ```
    /// use std::num::NonZeroU32;
    ///
    /// use fizeau_workload::Shard;
    /// let three = NonZeroU32::MIN.saturating_add(2);
    /// let [first, second] = [0, 1].map(|index| Shard::new(index, 2).map(|shard| shard.by_slots(three)));
    /// assert_eq!([0, 1, 2, 3].map(|n| first.map(|shard| shard.session(n))), [0, 2, 3, 5].map(Ok));
    /// assert_eq!([0, 1, 2, 3].map(|n| second.map(|shard| shard.session(n))), [1, 4, 7, 10].map(Ok));
    /// # Ok::<(), fizeau_workload::ShardIndexError>(())
    /// ```
    #[must_use]
    pub fn by_slots(self, slots: NonZeroU32) -> Self {
        let under = self.under_cap(slots);
        if under == self { Self { places: slots.into(), ..self } } else { under }
    }

    /// The numbers of this shard's sessions, without end.
    #[must_use]
    pub fn sessions(self) -> SessionNumbers {
        Box::new((0..).map(move |n| self.session(n)))
    }
}

/// How many of the first `places` places belong to `shard`. Of all its places it has one at least.
const fn dealt(places: u64, shard: Shard) -> u64 {
    let more = if shard.index < places % shard.count.get() { 1 } else { 0 };
    places / shard.count.get() + more
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
#[error("there is no shard {index} of {count}: write I/N with I from 0 to N-1, such as 0/2")]
pub struct ShardIndexError {
    index: u64,
    count: u64,
}

// Sessions: conversations of requests in order, with time to think in between.

/// The turns and pauses of sessions, where the content does not decide them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Sessions {
    /// How many turns each has.
    pub turns: Turns,
    /// How long the user thinks between the end of a reply and the next turn.
    pub think: ThinkTime,
}

/// How many turns a session has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Turns {
    /// Always this many.
    Fixed(NonZeroU32),
    /// Uniform from `least` to `most`, both included.
    Uniform {
        /// The fewest.
        least: NonZeroU32,
        /// The most.
        most: NonZeroU32,
    },
}

/// How long a user thinks between two turns.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ThinkTime {
    /// Not at all: the next turn leaves as the reply ends.
    #[default]
    None,
    /// Always this long.
    Fixed {
        /// How long.
        seconds: Seconds,
    },
    /// Exponential.
    Exponential {
        /// Its mean.
        mean: Seconds,
    },
    /// Log-normal: most people are quick, a few are slow.
    LogNormal {
        /// Half of all think shorter than this.
        median: Seconds,
        /// The standard deviation of the logarithm.
        sigma: f64,
    },
}

impl Turns {
    /// The most turns that a session can have.
    #[must_use]
    pub const fn most(self) -> NonZeroU32 {
        match self {
            Self::Fixed(turns) | Self::Uniform { most: turns, .. } => turns,
        }
    }
}

impl Sessions {
    /// How many turns `session` has, drawn from `seed`.
    pub(crate) fn turns_of(&self, seed: Seed, session: u64) -> u32 {
        match self.turns {
            Turns::Fixed(turns) => turns.get(),
            Turns::Uniform { least, most } => {
                let span = u64::from(most.get().saturating_sub(least.get())) + 1;
                let more = seed.stream(StreamPurpose::Turns, session).below(span);
                least.get().saturating_add(u32::try_from(more).unwrap_or(u32::MAX))
            }
        }
    }
}

impl ThinkTime {
    /// The thinking before the request of `key`.
    pub(crate) fn draw(self, seed: Seed, key: u64) -> Nanos {
        let mut draws = seed.stream(StreamPurpose::ThinkTime, key);
        let seconds = match self {
            Self::None => 0.0,
            Self::Fixed { seconds } => seconds.get(),
            Self::Exponential { mean } => mean.get() * draws.exponential(),
            Self::LogNormal { median, sigma } => median.get() * libm::exp(sigma * draws.normal()),
        };
        Nanos::from_secs_f64(seconds).unwrap_or(Nanos::MAX)
    }
}
