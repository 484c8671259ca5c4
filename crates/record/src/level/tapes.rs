//! A level from its tapes and nothing else.

use fizeau_core::{LevelLoad, Tape};
use fizeau_metrics::{ClientWatch, GoodputGoals, LevelTally, ShapeTally};

use super::{LevelContext, LevelDetail, LevelOutcome, LevelReport};
use crate::RequestedLoad;

impl LevelReport {
    /// The report of a level of which there is nothing but its `tapes`, in any order: for programs that measure in their own way.
    ///
    /// It is judged by what tapes show of the client, with the usual thresholds. What it was asked, what its machine saw and how far
    /// it is from the speed of light is not known; whoever knows fills in the fields.
    ///
    /// ```
    /// use fizeau_core::{Arrival, Channel, LoadKind, Nanos, Stamp, Tape};
    /// use fizeau_record::{LevelReport, RunSetup, SweepReport};
    ///
    /// let mut tape = Tape::sent_at(Stamp::EPOCH);
    /// tape.arrivals.push(Arrival::tokens(Stamp::EPOCH + Nanos::from_millis(20), 1, Channel::Visible));
    /// let level = LevelReport::of_tapes(LoadKind::Concurrency.at(1.0), [&tape]);
    /// assert_eq!(level.summary.requests.completed, 1);
    /// let report = SweepReport::new(RunSetup::default(), vec![level], None);
    /// assert_eq!(report.levels().len(), 1);
    /// ```
    #[must_use]
    pub fn of_tapes<'a>(load: LevelLoad, tapes: impl IntoIterator<Item = &'a Tape>) -> Self {
        let (mut tally, mut shape) =
            (LevelTally::new(&GoodputGoals::default()), ShapeTally::default());
        if let LevelLoad::Concurrency(_) = load {
            tally = tally.of_closed_loop();
        }
        for tape in tapes {
            tally.add(tape);
            shape.add(tape);
        }
        tally.settle();
        let (summary, client) = (tally.summary(), tally.proof(ClientWatch::default()));
        let run = LevelOutcome::new(summary, client);
        let report = Self::from_run(load, run, &LevelContext::new(RequestedLoad::default()));
        let detail = LevelDetail { shape: shape.shape(), peers: Vec::new() };
        Self { detail: Some(Box::new(detail)), ..report }
    }
}
