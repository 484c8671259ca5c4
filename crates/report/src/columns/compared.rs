//! Runs that are compared, Fizeau's own and others', as one table.

use fizeau_core::UsdPerHour;
use fizeau_record::{EngineRecord, ImportedRun, LevelReport, ReadRun, RunSetup};
use fizeau_roofline::System;

use crate::text::requested_lengths;

use super::{ImportedTableRun, LevelTable, TableRun};

/// A run that is to stand in a table beside others, with what its folder does not say.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct LevelTableRun {
    /// What tells it from the others, as a reader names it.
    pub name: String,
    /// What was read of it.
    pub content: LevelTableContent,
    /// How many devices it takes; absent as its folder says.
    pub devices: Option<u64>,
    /// What an hour of one of them costs.
    pub price: Option<UsdPerHour>,
    /// How good its output is, by whatever measure the reader has.
    pub quality: Option<f64>,
}

/// What was read of a run.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum LevelTableContent {
    /// A run with tapes.
    Read(Box<ReadRun>),
    /// Figures of another tool.
    Imported(ImportedRun),
}

impl LevelTableRun {
    /// What was read of a run called `name`, of which nothing else is known.
    #[must_use]
    pub const fn new(name: String, content: LevelTableContent) -> Self {
        Self { name, content, devices: None, price: None, quality: None }
    }

    /// The model on its devices, where they are known.
    #[must_use]
    pub fn system(&self) -> Option<&System> {
        match &self.content {
            LevelTableContent::Read(run) => Some(run.reference.as_ref()?.reference().system),
            LevelTableContent::Imported(_) => None,
        }
    }

    /// What each of `runs` was asked and on what, in words, where that is not the same of all: they stand in one table all the same.
    /// What another tool measured is not known so well.
    #[must_use]
    pub fn differing_loads(runs: &[Self]) -> Option<String> {
        let words = |run: &Self| match &run.content {
            LevelTableContent::Read(read) => Some((run.name.clone(), asked(&read.setup))),
            LevelTableContent::Imported(_) => None,
        };
        let all: Vec<(String, String)> = runs.iter().filter_map(words).collect();
        let differ = all.windows(2).any(|pair| matches!(pair, [one, other] if one.1 != other.1));
        let each = all.into_iter().map(|(name, asked)| format!("{name}: {asked}"));
        differ.then(|| each.collect::<Vec<_>>().join("; "))
    }
}

/// `random: 250 tokens in, 64 out; simulated`.
fn asked(setup: &RunSetup) -> String {
    let lengths = requested_lengths(&setup.workload);
    let how = match setup.engine {
        EngineRecord::Simulated { .. } => "simulated",
        EngineRecord::Remote { .. } => "measured",
    };
    format!("{}, {lengths}, {how}", setup.workload.dataset)
}

impl LevelTable {
    /// The levels of `runs` that may be compared, one for each load; those of other tools below.
    #[must_use]
    pub fn of_compared(runs: &[LevelTableRun]) -> Self {
        let levels = |run: &LevelTableRun| match &run.content {
            LevelTableContent::Read(run) => run.one_a_load(),
            LevelTableContent::Imported(_) => Vec::new(),
        };
        let levels: Vec<Vec<LevelReport>> = runs.iter().map(levels).collect();
        let (mut own, mut imported) = (Vec::new(), Vec::new());
        for (compared, levels) in runs.iter().zip(&levels) {
            let LevelTableRun { name, devices, price, quality, .. } = compared;
            let (devices, price, quality) = (*devices, *price, *quality);
            match &compared.content {
                LevelTableContent::Read(read) => {
                    let run = TableRun::of_read(read, levels, name);
                    own.push(TableRun { devices: devices.or(run.devices), price, quality, ..run });
                }
                LevelTableContent::Imported(run) => {
                    let name = name.clone();
                    imported.push(ImportedTableRun { name, run, devices, price, quality });
                }
            }
        }
        Self::new(&own).with_imported(&imported)
    }
}
