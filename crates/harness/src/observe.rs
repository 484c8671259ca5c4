//! Watching a run from outside, for progress.

use fizeau_core::{Tape, TapeSink};
use fizeau_metrics::LevelTally;

use crate::InFlight;
use crate::until::Looks;

/// Something worth telling a person.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Notice<'a> {
    /// The warm-up of a level ends and the measuring begins.
    WarmedUp {
        /// How many requests were sent and did not count.
        requests: u64,
        /// How many measured requests are in flight, from now to the end of the level.
        in_flight: &'a InFlight,
    },
    /// A measured request ended, and is in the sink: one of the load, or a probe, as its tape says.
    RequestEnded(&'a Tape),
}

/// Whoever watches a run, and takes from its tapes what a report needs beyond the summary. A [`WorkerPool`](crate::WorkerPool) calls it
/// on the collecting side; a [`Rig`](crate::Rig) calls it on the measuring task, where it should be quick.
pub trait Observer {
    /// Takes note.
    fn notice(&mut self, notice: Notice<'_>);
}

/// Nobody watches.
impl Observer for () {
    fn notice(&mut self, _: Notice<'_>) {}
}

/// Both watch, the first first.
impl<A: Observer, B: Observer> Observer for (A, B) {
    fn notice(&mut self, notice: Notice<'_>) {
        self.0.notice(notice);
        self.1.notice(notice);
    }
}

impl<O: Observer + ?Sized> Observer for &mut O {
    fn notice(&mut self, notice: Notice<'_>) {
        (**self).notice(notice);
    }
}

impl<O: Observer + ?Sized> Observer for Box<O> {
    fn notice(&mut self, notice: Notice<'_>) {
        (**self).notice(notice);
    }
}

/// Three sinks in one: the sums of the summary, the caller's own (a file), and whoever watches.
pub(crate) struct Tee<'a, K, O> {
    pub(crate) tally: LevelTally,
    pub(crate) sink: &'a mut K,
    pub(crate) observer: &'a mut O,
    /// Where the level ends once enough is known.
    pub(crate) looks: Option<Looks<'a>>,
}

impl<K: TapeSink, O: Observer> TapeSink for Tee<'_, K, O> {
    type Error = K::Error;

    fn record(&mut self, tape: &Tape) -> Result<(), K::Error> {
        self.sink.record(tape)?;
        self.tally.add(tape);
        self.observer.notice(Notice::RequestEnded(tape));
        self.looks.iter_mut().for_each(|looks| looks.grown(&self.tally));
        Ok(())
    }

    fn flush(&mut self) -> Result<(), K::Error> {
        self.sink.flush()
    }
}
