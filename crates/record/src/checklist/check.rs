//! The rows by name, and which of them are required.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// One thing that a benchmark must show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum ChecklistItem {
    /// Requests that do not count were sent before each level.
    WarmUp,
    /// At some level requests left at a rate of their own, whether or not earlier ones were done.
    OpenLoop,
    /// Each latency has enough values for its 99th percentile, at each level.
    Tail,
    /// Prompts and outputs are not of one length.
    Lengths,
    /// Three loads or more were measured.
    Rates,
    /// Each level took a minute or more.
    Duration,
    /// The report says on what devices it was measured.
    Hardware,
    /// The report says in what formats weights and key-value cache were.
    Precision,
    /// How many requests the server had at once is known, and is what was asked for.
    Batch,
    /// Prefill and decode were both measured.
    Phases,
    /// The client was not the bottleneck.
    Client,
    /// What was sent and came back is what was asked for.
    Workload,
    /// The server's prefix cache supplied what was asked for, and nothing else.
    Caches,
    /// Nothing was measured beyond the speed of light.
    #[serde(alias = "light")]
    SpeedOfLight,
}

impl ChecklistItem {
    fn named(key: &str) -> Option<Self> {
        let key = key.replace('-', "_");
        Self::ALL.into_iter().find(|check| check.key() == key)
    }
}

fizeau_core::words! {
    /// What is asked, in words.
    pub ChecklistItem::words {
        WarmUp = "warm-up sent and not counted", OpenLoop = "open loop at some level",
        Tail = "enough values for tail percentiles", Lengths = "realistic lengths", Rates = "several rates",
        Duration = "a minute per level", Hardware = "hardware named", Precision = "precision named",
        Batch = "batch size known and filled", Phases = "prefill and decode measured",
        Client = "client not the bottleneck", Workload = "workload as requested",
        Caches = "cache hits as requested", SpeedOfLight = "nothing beyond the speed of light",
    }
}

fizeau_core::words! {
    /// The name in files and on the command line.
    pub ChecklistItem::key, all {
        WarmUp = "warm_up", OpenLoop = "open_loop", Tail = "tail", Lengths = "lengths",
        Rates = "rates", Duration = "duration", Hardware = "hardware", Precision = "precision",
        Batch = "batch", Phases = "phases", Client = "client", Workload = "workload",
        Caches = "caches", SpeedOfLight = "speed_of_light",
    }
}

impl fmt::Display for ChecklistItem {
    /// Its [key](ChecklistItem::key).
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.key())
    }
}

/// Which rows a run must pass; by default none.
///
/// ```
/// use fizeau_record::{ChecklistItem, RequiredChecks};
///
/// let required: RequiredChecks = "client,warm-up".parse()?;
/// assert!(required.contains(ChecklistItem::Client) && required.contains(ChecklistItem::WarmUp));
/// assert!(!required.contains(ChecklistItem::Tail));
/// assert!("all".parse::<RequiredChecks>()?.contains(ChecklistItem::SpeedOfLight));
/// # Ok::<(), fizeau_record::UnknownCheck>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RequiredChecks(Vec<ChecklistItem>);

impl RequiredChecks {
    /// Whether the row is among them.
    #[must_use]
    pub fn contains(&self, check: ChecklistItem) -> bool {
        self.0.contains(&check)
    }
}

impl FromStr for RequiredChecks {
    type Err = UnknownCheck;

    /// `all`, or [keys](ChecklistItem::key) separated by commas; a hyphen is as good as an underscore.
    ///
    /// # Errors
    /// If a name is no row's.
    fn from_str(text: &str) -> Result<Self, UnknownCheck> {
        let mut checks = Vec::new();
        for name in text.split(',').map(str::trim) {
            match ChecklistItem::named(name) {
                Some(check) => checks.push(check),
                None if name == "all" => checks.extend(ChecklistItem::ALL),
                None => return Err(UnknownCheck { name: name.to_owned() }),
            }
        }
        Ok(Self(checks))
    }
}

/// A name that is no row's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{name}` is no row of the checklist; these are: all, {}", ChecklistItem::ALL.map(ChecklistItem::key).join(", "))]
#[non_exhaustive]
pub struct UnknownCheck {
    /// What was given.
    pub name: String,
}
