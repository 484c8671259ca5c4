//! How the rows of a checklist come out for levels.

mod client;
mod inputs;
mod load;
mod named;
mod sample;

use std::borrow::Borrow;

use crate::{Checklist, ChecklistItem, ChecklistRow, LevelReport, RunSetup};
use inputs::{CheckFinding, CheckInputs};

impl Checklist {
    /// The list for `levels`, which were measured as `setup` says: all levels of a sweep, or the one of a run.
    #[must_use]
    pub fn of<L: Borrow<LevelReport>>(setup: &RunSetup, levels: &[L]) -> Self {
        let levels = levels.iter().map(Borrow::borrow).collect();
        let seen = CheckInputs { setup, levels };
        let row = |check: ChecklistItem| {
            let CheckFinding { outcome, evidence } = seen.finding(check);
            ChecklistRow { check, outcome, evidence }
        };
        Self { rows: ChecklistItem::ALL.into_iter().map(row).collect() }
    }
}

impl CheckInputs<'_> {
    fn finding(&self, check: ChecklistItem) -> CheckFinding {
        match check {
            ChecklistItem::Hardware => self.hardware(),
            ChecklistItem::Precision => self.precision(),
            _ if self.levels.is_empty() => CheckFinding::unknown("nothing was measured"),
            ChecklistItem::WarmUp => self.warm_up(),
            ChecklistItem::OpenLoop => self.open_loop(),
            ChecklistItem::Tail => self.tail(),
            ChecklistItem::Lengths => self.lengths(),
            ChecklistItem::Rates => self.rates(),
            ChecklistItem::Duration => self.duration(),
            ChecklistItem::Batch => self.batch(),
            ChecklistItem::Phases => self.phases(),
            ChecklistItem::Client => self.client(),
            ChecklistItem::Workload => self.workload(),
            ChecklistItem::Caches => self.caches(),
            ChecklistItem::SpeedOfLight => self.speed_of_light(),
        }
    }
}
