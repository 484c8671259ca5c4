//! How the rows of a checklist come out for levels.

mod client;
mod load;
mod named;
mod sample;
mod seen;

use std::borrow::Borrow;

use crate::{Check, CheckRow, Checklist, LevelReport, Setup};
use seen::{Finding, Seen};

impl Checklist {
    /// The list for `levels`, which were measured as `setup` says: all levels of a sweep, or the one of a run.
    #[must_use]
    pub fn of<L: Borrow<LevelReport>>(setup: &Setup, levels: &[L]) -> Self {
        let levels = levels.iter().map(Borrow::borrow).collect();
        let seen = Seen { setup, levels };
        let row = |check: Check| {
            let Finding { outcome, evidence } = seen.finding(check);
            CheckRow { check, outcome, evidence }
        };
        Self { rows: Check::ALL.into_iter().map(row).collect() }
    }
}

impl Seen<'_> {
    fn finding(&self, check: Check) -> Finding {
        match check {
            Check::Hardware => self.hardware(),
            Check::Precision => self.precision(),
            _ if self.levels.is_empty() => Finding::unknown("nothing was measured"),
            Check::WarmUp => self.warm_up(),
            Check::OpenLoop => self.open_loop(),
            Check::Tail => self.tail(),
            Check::Lengths => self.lengths(),
            Check::Rates => self.rates(),
            Check::Duration => self.duration(),
            Check::Batch => self.batch(),
            Check::Phases => self.phases(),
            Check::Client => self.client(),
            Check::Workload => self.workload(),
            Check::Caches => self.caches(),
            Check::Light => self.light(),
        }
    }
}
