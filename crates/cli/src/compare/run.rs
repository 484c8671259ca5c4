//! One of the runs that are compared.

use std::path::Path;

use fizeau::harness::{RunRecord, StoredRun};
use fizeau::metrics::{GoodputGoals, Pace};

use super::level::Level;
use crate::exit::{Fail, Named};

/// A stored run, its levels in the order of their loads.
pub(super) struct Run {
    stored: StoredRun,
    levels: Vec<Level>,
}

impl Run {
    pub(super) fn open(path: &Path) -> Result<Self, Fail> {
        let stored = StoredRun::open(path).map_err(Fail::usage)?;
        let levels = stored.levels().iter();
        let levels = levels.map(|level| Level::read(level, stored.record()));
        let levels = levels.collect::<Result<_, Fail>>()?;
        Ok(Self { stored, levels })
    }

    pub(super) fn name(&self) -> String {
        self.stored.path().display().to_string()
    }

    pub(super) const fn record(&self) -> &RunRecord {
        self.stored.record()
    }

    pub(super) fn levels(&self) -> &[Level] {
        &self.levels
    }

    /// What is to be known of it: parts and doubts, level by level.
    pub(super) fn notes(&self) -> Vec<String> {
        let only = self.levels.len() == 1;
        let named = |level: &Level| {
            let load = if only { String::new() } else { format!("{}: ", level.load) };
            level.notes.iter().map(move |note| format!("{load}{note}")).collect::<Vec<_>>()
        };
        self.levels.iter().flat_map(named).collect()
    }

    /// Why it is not a measurement, if it is not.
    pub(super) fn invalid(&self) -> Option<&str> {
        self.levels.iter().find_map(|level| level.invalid.as_deref())
    }

    /// The goals of goodput that it was given.
    pub(super) fn goals(&self) -> Result<GoodputGoals, Fail> {
        let texts = (0..).map_while(|k| self.record().text(&format!("goodput[{k}]")));
        let texts: Vec<String> = texts.collect();
        texts.join(" ").parse().named(&self.name())
    }

    pub(super) fn pace(&self) -> Pace {
        match self.record().text("plan.arrivals").as_deref() {
            Some("closed_loop") => Pace::ClosedLoop,
            _ => Pace::OpenLoop,
        }
    }

    /// Whether both sent what the same plan says, but for the seed.
    pub(super) fn sends_as(&self, other: &Self) -> bool {
        let differing = self.record().differing(other.record(), &["plan", "shard", "lengths"]);
        let has_no_part = ["plan.salt", "plan.seed", "plan.dataset.path"];
        differing.iter().all(|field| has_no_part.contains(&field.field.as_str()))
    }

    /// The seed of a level's own plan, in JSON: a sweep has one for each.
    pub(super) fn seed(&self, level: &Level) -> Option<&str> {
        let record = self.record();
        let own = (0..)
            .map_while(|k| {
                let slots = record.get(&format!("levels[{k}].max_in_flight"));
                let has_level = record.get(&format!("levels[{k}].requests")).is_some();
                has_level.then(|| (slots, record.get(&format!("levels[{k}].seed"))))
            })
            .find(|(slots, seed)| seed.is_some() && *slots == level.slots.as_deref());
        own.and_then(|(_, seed)| seed).or_else(|| record.get("plan.seed"))
    }
}
