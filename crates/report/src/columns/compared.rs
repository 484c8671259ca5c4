//! Runs that are compared, Fizeau's own and others', as one table.

use fizeau_core::UsdPerHour;
use fizeau_record::{ImportedRun, LevelReport, ReadRun};
use fizeau_roofline::System;

use super::{ImportedTableRun, LevelTable, TableRun};

/// A run that is to stand in a table beside others, with what its folder does not say.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ComparedTableRun {
    /// What tells it from the others, as a reader names it.
    pub name: String,
    /// What was read of it.
    pub content: ComparedContent,
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
pub enum ComparedContent {
    /// A run with tapes.
    Read(Box<ReadRun>),
    /// Figures of another tool.
    Imported(ImportedRun),
}

impl ComparedTableRun {
    /// What was read of a run called `name`, of which nothing else is known.
    #[must_use]
    pub const fn new(name: String, content: ComparedContent) -> Self {
        Self { name, content, devices: None, price: None, quality: None }
    }

    /// The model on its devices, where they are known.
    #[must_use]
    pub fn system(&self) -> Option<&System> {
        match &self.content {
            ComparedContent::Read(run) => Some(run.reference.as_ref()?.reference().system),
            ComparedContent::Imported(_) => None,
        }
    }
}

impl LevelTable {
    /// The levels of `runs` that may be compared, one for each load; those of other tools below.
    #[must_use]
    pub fn of_compared(runs: &[ComparedTableRun]) -> Self {
        let levels = |run: &ComparedTableRun| match &run.content {
            ComparedContent::Read(run) => run.one_a_load(),
            ComparedContent::Imported(_) => Vec::new(),
        };
        let levels: Vec<Vec<LevelReport>> = runs.iter().map(levels).collect();
        let (mut own, mut imported) = (Vec::new(), Vec::new());
        for (compared, levels) in runs.iter().zip(&levels) {
            let ComparedTableRun { name, devices, price, quality, .. } = compared;
            let (devices, price, quality) = (*devices, *price, *quality);
            match &compared.content {
                ComparedContent::Read(read) => {
                    let run = TableRun::of_read(read, levels, name);
                    own.push(TableRun { devices: devices.or(run.devices), price, quality, ..run });
                }
                ComparedContent::Imported(run) => {
                    let name = name.clone();
                    imported.push(ImportedTableRun { name, run, devices, price, quality });
                }
            }
        }
        Self::new(&own).with_imported(&imported)
    }
}
