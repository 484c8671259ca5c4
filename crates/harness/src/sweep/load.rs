//! How hard a level of a sweep presses, and how large it is.

use std::cmp::Ordering;
use std::fmt;
use std::num::{NonZeroU32, NonZeroU64};

use fizeau_core::{Nanos, PerSec};
use fizeau_workload::Seed;
use serde::Serialize;

/// How hard a level of a sweep presses.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub enum LevelLoad {
    /// So many requests in flight at any time: a closed loop.
    #[serde(rename = "concurrency")]
    Concurrency(NonZeroU32),
    /// So many requests sent per second, whether or not earlier ones are done: an open loop.
    #[serde(rename = "requests_per_s")]
    Rate(PerSec),
}

/// One level to be measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LevelAsk {
    /// How hard it presses.
    pub load: LevelLoad,
    /// How many times this load was measured before. Each visit has prompts and instants of its own.
    pub visit: u32,
    /// How large it is.
    pub size: LevelSize,
}

/// How large a level is at most. It ends when its requests are done, or its time is up and those in flight have finished.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LevelSize {
    /// How many requests. By default, of a closed loop ten for each slot, of an open one as many as come in the level's time
    /// (or in a minute, where it has none); and at least 100, which a p99 needs.
    pub requests: Option<NonZeroU64>,
    /// Release nothing more after this time.
    pub time: Option<Nanos>,
    /// How many requests to send first that do not count. By default, of a closed loop one for each slot, of an open one a
    /// tenth of the level; at most 50.
    pub warmup: Option<u64>,
}

impl LevelLoad {
    /// The requests in flight; none of an open loop.
    #[must_use]
    pub const fn concurrency(self) -> Option<NonZeroU32> {
        match self {
            Self::Concurrency(slots) => Some(slots),
            Self::Rate(_) => None,
        }
    }

    /// The load as a number: requests in flight, or per second.
    #[must_use]
    pub fn value(self) -> f64 {
        match self {
            Self::Concurrency(slots) => slots.get().into(),
            Self::Rate(rate) => rate.get(),
        }
    }

    /// The seed of a level of this load, so that no two levels of a sweep have prompts in common.
    #[must_use]
    pub fn seed(self, of: Seed, visit: u32) -> Seed {
        let own = match self {
            Self::Concurrency(slots) => of.child(slots.get().into()),
            Self::Rate(rate) => of.child(rate.get().to_bits()),
        };
        if visit == 0 { own } else { own.child(visit.into()) }
    }

    /// The name of the folder of a level of this load: `concurrency-0008`, `rate-00012.500`, and of a second visit
    /// `concurrency-0008-2`.
    #[must_use]
    pub fn folder(self, visit: u32) -> String {
        let mut name = match self {
            Self::Concurrency(slots) => format!("concurrency-{slots:04}"),
            Self::Rate(rate) => format!("rate-{:09.3}", rate.get()),
        };
        if visit > 0 {
            name.push_str(&format!("-{}", u64::from(visit) + 1));
        }
        name
    }

    /// The load and the visit that a folder is named for; none if it is named for something else. Of a rate it has three
    /// decimals.
    ///
    /// ```
    /// use fizeau_harness::LevelLoad;
    ///
    /// let (load, visit) = LevelLoad::of_folder("rate-00012.500-2").expect("the name of a level");
    /// assert_eq!((load.to_string().as_str(), visit), ("12.5 requests/s", 1));
    /// assert_eq!(LevelLoad::of_folder("concurrency-0008-partial"), None);
    /// ```
    #[must_use]
    pub fn of_folder(name: &str) -> Option<(Self, u32)> {
        let (kind, rest) = name.split_once('-')?;
        let (load, visit) = match rest.split_once('-') {
            None => (rest, 0),
            Some((load, visit)) => (load, visit.parse::<u32>().ok()?.checked_sub(1)?),
        };
        let load = match kind {
            "concurrency" => Self::Concurrency(load.parse().ok()?),
            "rate" => Self::Rate(
                load.parse().ok().filter(|rate: &f64| rate.is_finite()).map(PerSec::new)?,
            ),
            _ => return None,
        };
        (load.folder(visit) == name).then_some((load, visit))
    }

    /// The order in which levels are shown: the closed loops first, each kind rising.
    #[must_use]
    pub fn rising(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Concurrency(one), Self::Concurrency(other)) => one.cmp(other),
            (Self::Rate(one), Self::Rate(other)) => one.get().total_cmp(&other.get()),
            (Self::Concurrency(_), Self::Rate(_)) => Ordering::Less,
            (Self::Rate(_), Self::Concurrency(_)) => Ordering::Greater,
        }
    }
}

impl From<NonZeroU32> for LevelLoad {
    fn from(slots: NonZeroU32) -> Self {
        Self::Concurrency(slots)
    }
}

impl fmt::Display for LevelLoad {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Concurrency(slots) => write!(f, "concurrency {slots}"),
            Self::Rate(rate) => write!(f, "{} requests/s", rate.get()),
        }
    }
}

impl LevelSize {
    /// The most requests that a level of `load` has.
    #[must_use]
    pub fn requests_at(&self, load: LevelLoad) -> NonZeroU64 {
        let by_default = || match load {
            LevelLoad::Concurrency(slots) => NonZeroU64::from(slots).saturating_mul(PER_SLOT),
            LevelLoad::Rate(rate) => {
                let seconds = self.time.map_or(60.0, Nanos::as_secs_f64);
                // A cast of a number above what the type holds gives the greatest there is.
                NonZeroU64::new((rate.get() * seconds).ceil() as u64).unwrap_or(FOR_A_P99)
            }
        };
        self.requests.unwrap_or_else(|| by_default().max(FOR_A_P99))
    }

    /// How many warm-up requests a level of `load` has.
    #[must_use]
    pub fn warmup_at(&self, load: LevelLoad) -> u64 {
        let by_default = match load {
            LevelLoad::Concurrency(slots) => slots.get().into(),
            LevelLoad::Rate(_) => self.requests_at(load).get().div_ceil(10),
        };
        self.warmup.unwrap_or_else(|| by_default.min(MOST_WARMUPS))
    }
}

/// Ten requests a slot: each slot's first and last are then a fifth of the whole.
const PER_SLOT: NonZeroU64 = NonZeroU64::new(10).unwrap();
const FOR_A_P99: NonZeroU64 = NonZeroU64::new(100).unwrap();
const MOST_WARMUPS: u64 = 50;
