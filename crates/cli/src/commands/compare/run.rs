//! One of the runs that are compared.

use std::path::Path;

use fizeau::metrics::{GoodputGoals, Pace};
use fizeau::record::{RunRecord, StoredRun};

use super::choice;
use super::level::Level;
use crate::commands::shared::imported;
use crate::exit::{Fail, Named};

/// A stored run, its levels in the order of their loads.
pub(super) struct Run {
    stored: StoredRun,
    /// What was asked; of a turn of B in an A/B run, with B's endpoint.
    record: RunRecord,
    levels: Vec<Level>,
}

impl Run {
    pub(super) fn open(path: &Path) -> Result<Self, Fail> {
        let stored = imported::open_with_tapes(path)?;
        let record = record(&stored)?;
        let levels = stored.levels().iter();
        let levels = levels.map(|level| Level::read(level, &record));
        let levels = levels.collect::<Result<_, Fail>>()?;
        Ok(Self { stored, record, levels })
    }

    pub(super) fn name(&self) -> String {
        self.stored.path().display().to_string()
    }

    pub(super) const fn record(&self) -> &RunRecord {
        &self.record
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
        self.record().texts("goodput").join(" ").parse().named(&self.name())
    }

    pub(super) fn pace(&self) -> Pace {
        choice::pace(self.record())
    }

    /// Whether both sent what the same plan says, but for the seed.
    pub(super) fn sends_as(&self, other: &Self) -> bool {
        let differing = self.record().differing(other.record(), &["plan", "shard", "lengths"]);
        let has_no_part = ["plan.salt", "plan.seed", "plan.dataset.path"];
        differing.iter().all(|field| has_no_part.contains(&field.field.as_str()))
    }

    /// The seed of a level's own plan, in JSON: a sweep has one for each.
    pub(super) fn seed(&self, level: &Level) -> Option<&str> {
        level.asked(self.record(), "seed").or_else(|| self.record().get("plan.seed"))
    }
}

/// Refuses an A/B run as a whole: its turns are of one load, and its rounds are compared already.
fn record(stored: &StoredRun) -> Result<RunRecord, Fail> {
    let record = stored.record();
    if record.get("ab.rounds").is_none() {
        return Ok(record.clone());
    }
    match stored.levels() {
        [turn] if turn.name().starts_with("b-") => {
            let with_endpoint = record.moved("ab.b_endpoint", "setup.endpoint");
            Ok(with_endpoint.moved("ab.b_probed", "probed"))
        }
        [turn] if turn.name().starts_with("a-") => Ok(record.clone()),
        _ => {
            let path = stored.path().display();
            Err(Fail::usage(format!(
                "{path}: an A/B run; its comparison is in {path}/ab.json, and a single turn of it is {path}/a-01"
            )))
        }
    }
}
