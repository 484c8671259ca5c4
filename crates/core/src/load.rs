//! How hard a level presses.

use std::cmp::Ordering;
use std::convert::Infallible;
use std::fmt;
use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

use crate::number::number;
use crate::{Choice, NamedChoice, PerSec, Tape, TapeSink};

/// The load of a level: its operating condition.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum LevelLoad {
    /// So many requests in flight at any time: a closed loop.
    #[serde(rename = "concurrency")]
    Concurrency(NonZeroU32),
    /// So many requests sent per second, whether or not earlier ones are done: an open loop.
    #[serde(rename = "requests_per_s")]
    Rate(PerSec),
}

/// The unit in which a load is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum LoadKind {
    /// In requests per second.
    Rate,
    /// In requests in flight.
    Concurrency,
}

impl Choice for LoadKind {
    const CHOICES: &'static [NamedChoice<Self>] = &[
        NamedChoice::new(
            Self::Rate.as_str(),
            Self::Rate,
            "Requests sent per second, whether or not earlier ones are done",
        ),
        NamedChoice::new(
            Self::Concurrency.as_str(),
            Self::Concurrency,
            "Requests in flight at any time",
        ),
    ];
}

/// The requests that were sent before a level, and are in none of its figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WarmUp {
    /// How many were sent.
    pub sent: u64,
    /// How many of those failed.
    pub failed: u64,
}

impl LevelLoad {
    /// In what it is counted.
    #[must_use]
    pub const fn kind(self) -> LoadKind {
        match self {
            Self::Concurrency(_) => LoadKind::Concurrency,
            Self::Rate(_) => LoadKind::Rate,
        }
    }

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

    /// The number alone, as in a table whose heading names the kind; what has many digits is rounded.
    ///
    /// ```
    /// use fizeau_core::{LevelLoad, LoadKind, PerSec};
    ///
    /// let load = LevelLoad::Rate(PerSec::new(12.345678));
    /// assert_eq!((load.kind(), load.value()), (LoadKind::Rate, 12.345678));
    /// assert_eq!((load.number(), load.to_string()), ("12.3".to_owned(), "12.3 requests/s".to_owned()));
    /// assert_eq!(format!("{load:#}"), "12.345678 requests/s");
    /// ```
    #[must_use]
    pub fn number(self) -> String {
        let (value, whole) = (self.value(), self.value().to_string());
        if whole.len() <= 6 || !value.is_finite() { whole } else { number(value) }
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
    /// use fizeau_core::LevelLoad;
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

impl LoadKind {
    /// So much of it: requests per second, or in flight, of which there are only whole ones and at least one.
    #[must_use]
    pub fn at(self, load: f64) -> LevelLoad {
        match self {
            Self::Rate => LevelLoad::Rate(PerSec::new(load)),
            // A cast of a number beyond what the type holds gives the greatest there is.
            Self::Concurrency => NonZeroU32::new(load as u32).unwrap_or(NonZeroU32::MIN).into(),
        }
    }
}

crate::words! {
    /// Its unit, as a sentence has it: `requests/s`, `in flight`.
    pub LoadKind::words {
        Rate = "requests/s", Concurrency = "in flight",
    }
}

crate::words! {
    /// Its unit, as a column has it: `req/s`, `conc`.
    pub LoadKind::unit {
        Rate = "req/s", Concurrency = "conc",
    }
}

crate::words! {
    /// The key of a load in documents and the word for it in tables: `requests_per_s`, `concurrency`.
    pub LoadKind::key {
        Rate = "requests_per_s", Concurrency = "concurrency",
    }
}

crate::words! {
    /// The name used in files and on the command line: `rate`, `concurrency`.
    pub LoadKind::as_str {
        Rate = "rate", Concurrency = "concurrency",
    }
}

impl From<NonZeroU32> for LevelLoad {
    fn from(slots: NonZeroU32) -> Self {
        Self::Concurrency(slots)
    }
}

/// As a sentence has it: `concurrency 64`, `4 requests/s`; a rate of many digits is rounded, but in full with `{:#}`, which names it.
impl fmt::Display for LevelLoad {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Concurrency(slots) => write!(f, "concurrency {slots}"),
            Self::Rate(rate) if f.alternate() => write!(f, "{} requests/s", rate.get()),
            Self::Rate(_) => write!(f, "{} requests/s", self.number()),
        }
    }
}

/// Counts tapes, and keeps none.
impl TapeSink for WarmUp {
    type Error = Infallible;

    fn record(&mut self, tape: &Tape) -> Result<(), Infallible> {
        self.sent += 1;
        self.failed += u64::from(!tape.is_success());
        Ok(())
    }
}
