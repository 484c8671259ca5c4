//! What is said of one stored level ahead of it: what it was to be.

use std::num::NonZeroU32;

use fizeau::core::LevelLoad;
use fizeau::core::PerSec;
use fizeau::record::{LevelRole, RunRecord, StoredLevel, level_folder};

/// What a stored level was to be.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Planned {
    /// Where it is among the levels of `run.json`, and those that their folders tell of.
    pub(crate) index: usize,
    /// How hard it was to press, where it is a level of a sweep.
    pub(crate) load: Option<LevelLoad>,
    /// How many times its load was measured before.
    pub(crate) visit: u32,
    /// What it is for, where it is no level of the curve.
    pub(crate) role: Option<LevelRole>,
    /// The cap on its requests in flight; none if it had none.
    pub(crate) cap: Option<u32>,
    /// How many requests it was to have.
    pub(crate) requests: u64,
}

impl Planned {
    /// Of `level`. Only a level of a sweep has a name; any other run has one level, or several alike.
    pub(crate) fn of(record: &RunRecord, level: &StoredLevel) -> Self {
        let all = Self::all(record);
        let own = all.iter().find(|planned| planned.folder().as_deref() == Some(level.name()));
        let found = own.or_else(|| all.first()).cloned();
        let found = found.unwrap_or(Self {
            index: 0,
            load: None,
            visit: 0,
            role: None,
            cap: None,
            requests: 0,
        });
        // Of a level that no file tells of, its name does.
        match (own, LevelLoad::of_folder(level.name())) {
            (None, Some((load, visit))) => {
                let cap = load.concurrency().map(NonZeroU32::get);
                Self { load: Some(load), visit, role: None, cap, ..found }
            }
            _ => found,
        }
    }

    /// Of all levels that were planned, in the order in which they were to be measured, and then those that were decided
    /// upon later.
    pub(crate) fn all(record: &RunRecord) -> Vec<Self> {
        (0..record.levels()).filter_map(|index| Self::at(record, index)).collect()
    }

    fn at(record: &RunRecord, index: usize) -> Option<Self> {
        let whole = |name: &str| record.whole(&field(index, name));
        let small = |name: &str| whole(name).and_then(|n| u32::try_from(n).ok());
        let slots = small("load.concurrency").and_then(NonZeroU32::new);
        let rate = record.number(&field(index, "load.requests_per_s")).map(PerSec::new);
        let load = slots.map(LevelLoad::Concurrency).or_else(|| rate.map(LevelLoad::Rate));
        let cap = small("max_in_flight");
        // Sweeps were of concurrencies alone before a level's load was written down.
        let by_cap = || Some(LevelLoad::Concurrency(NonZeroU32::new(cap?)?));
        let role = record.text(&field(index, "role"));
        Some(Self {
            index,
            load: load.or_else(by_cap),
            visit: small("visit").unwrap_or_default(),
            role: (role.as_deref() == Some("sustained")).then_some(LevelRole::Sustained),
            cap,
            requests: whole("requests")?,
        })
    }

    /// The name of its folder within a sweep.
    fn folder(&self) -> Option<String> {
        Some(level_folder(self.load?, self.visit, self.role))
    }

    /// The path of one of its fields in `run.json`.
    pub(crate) fn field(&self, name: &str) -> String {
        field(self.index, name)
    }
}

fn field(index: usize, name: &str) -> String {
    format!("levels[{index}].{name}")
}

/// Whether a folder of this name holds a level of a sweep.
pub(crate) fn is_of_sweep(name: &str) -> bool {
    LevelLoad::of_folder(name).is_some() || is_sustained(name)
}

/// Whether a folder of this name holds a sustained run.
pub(crate) fn is_sustained(name: &str) -> bool {
    let load = name.strip_prefix("sustained-");
    load.is_some_and(|load| LevelLoad::of_folder(load).is_some())
}
