//! What a page shows of levels beside their figures, taken from their tapes as they come.

use std::borrow::Cow;

use fizeau::core::Tape;
use fizeau::experiment::Watcher;
use fizeau::interop::{DetailTally, PeerSettings};
use fizeau::metrics::GoodputGoals;
use fizeau::record::{LevelDetail, LevelReport, LoadPoint};

/// What the tapes of the level under way show.
pub(crate) struct Details {
    tally: DetailTally,
    goals: GoodputGoals,
}

impl Details {
    pub(crate) fn new(goals: &GoodputGoals) -> Self {
        Self { tally: DetailTally::default(), goals: goals.clone() }
    }

    /// Of a level with so many requests in flight at the most.
    pub(crate) fn finish(&mut self, max_concurrency: Option<u32>) -> LevelDetail {
        let settings = PeerSettings { goals: self.goals.clone(), max_concurrency };
        std::mem::take(&mut self.tally).finish(&settings)
    }
}

impl Watcher for Details {
    fn tape(&mut self, tape: &Tape) {
        self.tally.add(Cow::Borrowed(tape));
    }

    fn detail(&mut self, level: &LevelReport) -> Option<LevelDetail> {
        let cap = match level.load {
            LoadPoint::Concurrency(slots) => Some(slots),
            _ => None,
        };
        Some(self.finish(cap))
    }

    fn watches_requests(&self) -> bool {
        false
    }
}
