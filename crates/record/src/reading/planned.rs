//! What is said of one stored level ahead of it: what it was to be.

use std::num::NonZeroU32;

use fizeau_core::LevelLoad;
use fizeau_metrics::LoadPacing;

use crate::{LevelPlan, LevelRole, RunDocument, StoredLevel, level_folder};

/// What a stored level was to be.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct LevelAhead {
    /// Where it is among the levels of `run.json`, and those that their folders tell of.
    pub(crate) index: usize,
    /// How hard it was to press, where it is a level of a sweep.
    pub(crate) load: Option<LevelLoad>,
    /// How many times its load was measured before.
    pub(crate) visit: u32,
    /// What it is for, where it is not a level of the curve.
    pub(crate) role: Option<LevelRole>,
    /// The cap on its requests in flight; none if it had none.
    pub(crate) cap: Option<u32>,
    /// How many requests it was to have.
    pub(crate) requests: u64,
}

impl LevelAhead {
    /// Of `level`. Only a level of a sweep has a name; any other run has one level, or several alike.
    pub(crate) fn of(run: &RunDocument, level: &StoredLevel) -> Self {
        let all = Self::all(run);
        let own = all.iter().find(|ahead| ahead.folder().as_deref() == Some(level.name()));
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
    pub(crate) fn all(run: &RunDocument) -> Vec<Self> {
        let pace = run.pace();
        run.levels.iter().enumerate().map(|(index, plan)| Self::at(index, plan, pace)).collect()
    }

    fn at(index: usize, plan: &LevelPlan, pace: LoadPacing) -> Self {
        let cap = plan.max_in_flight;
        // Sweeps were of concurrencies alone before a level's load was written down. The cap of an open loop is no load.
        let by_cap = || match pace {
            LoadPacing::ClosedLoop => Some(LevelLoad::Concurrency(NonZeroU32::new(cap?)?)),
            LoadPacing::OpenLoop | LoadPacing::AllAtOnce => None,
        };
        Self {
            index,
            load: plan.load.or_else(by_cap),
            visit: plan.visit.unwrap_or_default(),
            role: plan.role,
            cap,
            requests: plan.requests,
        }
    }

    /// The name of its folder within a sweep.
    fn folder(&self) -> Option<String> {
        Some(level_folder(self.load?, self.visit, self.role))
    }
}

/// Whether a folder of this name holds a level of a sweep.
#[must_use]
pub fn is_level_folder(name: &str) -> bool {
    LevelLoad::of_folder(name).is_some() || is_sustained_folder(name)
}

/// Whether a folder of this name holds a sustained run.
#[must_use]
pub(crate) fn is_sustained_folder(name: &str) -> bool {
    let load = name.strip_prefix("sustained-");
    load.is_some_and(|load| LevelLoad::of_folder(load).is_some())
}
