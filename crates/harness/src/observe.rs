//! Watching a run from outside, for progress.

use fizeau_core::{Nanos, Stamp, Tape};
use fizeau_metrics::{LevelTally, Precision, SampleSupport};

use crate::{Cancel, InFlight};

/// Something worth telling a person.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum DriveNotice<'a> {
    /// The warm-up of a level ends, that of all shards where it has several, and the measuring begins once this is heard.
    WarmedUp {
        /// When it begins at any rate, where that is agreed on with others: hearing this should not take until then.
        agreed: Option<Stamp>,
        /// How many requests were sent and did not count.
        requests: u64,
        /// How many measured requests are in flight, from now to the end of the level.
        in_flight: &'a InFlight,
    },
    /// A measured request ended, and is in the sink: one of the load, or a probe, as its tape says.
    RequestEnded(&'a Tape),
}

/// Whoever watches a run, and takes from its tapes what a report needs beyond the summary. A [`WorkerPool`](crate::WorkerPool) calls it
/// on the collecting side; a [`TaskDriver`](crate::TaskDriver) calls it on the measuring task, where it should be quick.
pub trait Observer {
    /// Takes note.
    fn notice(&mut self, notice: DriveNotice<'_>);
}

/// Nobody watches.
impl Observer for () {
    fn notice(&mut self, _: DriveNotice<'_>) {}
}

/// Both watch, the first first.
impl<A: Observer, B: Observer> Observer for (A, B) {
    fn notice(&mut self, notice: DriveNotice<'_>) {
        self.0.notice(notice);
        self.1.notice(notice);
    }
}

impl<O: Observer + ?Sized> Observer for &mut O {
    fn notice(&mut self, notice: DriveNotice<'_>) {
        (**self).notice(notice);
    }
}

impl<O: Observer + ?Sized> Observer for Box<O> {
    fn notice(&mut self, notice: DriveNotice<'_>) {
        (**self).notice(notice);
    }
}

// Sending until a figure is known well enough.

/// Looks at a level as it grows, and ends it once every figure that was asked for is known well enough.
///
/// The first look is at [`FIRST`] (or, where a level may only be shortened, at [`FEWEST`]) completed requests, each next one when there are a fifth more, or as many as the interval is
/// said to need, but no more than twice as many: what it needs is an estimate. To stop when an interval is narrow favours those
/// that came out narrow by chance, so two looks in succession must find it so.
pub(crate) struct PrecisionWatch<'a> {
    pub(crate) requested: &'a Precision,
    /// Thrown when nothing more is to be released.
    enough: Cancel,
    /// When the level ends anyhow.
    most: Option<Nanos>,
    /// At how many completed requests the next look is.
    next: u64,
    /// Whether the last look found every figure known well enough.
    is_enough: bool,
}

/// As many as a p99 needs: fewer say little about how far requests hang together.
const FIRST: u64 = 100;

/// As many as have a first, a middle and a last.
const FEWEST: u64 = 3;

impl<'a> PrecisionWatch<'a> {
    pub(crate) fn new(requested: &'a Precision, enough: Cancel, most: Option<Nanos>) -> Self {
        let next = if requested.earliest_end().is_some() { FEWEST } else { FIRST };
        Self { requested, enough, most, next, is_enough: false }
    }

    /// Takes note that `tally` has grown.
    pub(crate) fn grown(&mut self, tally: &LevelTally) {
        let n = tally.requests().completed;
        if n < self.next || self.enough.is_cancelled() || !self.may_end(tally) {
            return;
        }
        let outcomes = tally.precision(self.requested);
        let was_enough = self.is_enough;
        let lasted = tally.duration();
        self.is_enough = outcomes.iter().all(|outcome| {
            outcome.is_reached() && outcome.goal.from.is_none_or(|from| lasted >= from)
        });
        if was_enough && self.is_enough {
            return self.enough.cancel();
        }
        let needs = outcomes.iter().filter_map(|outcome| match outcome.half_width {
            Some(SampleSupport::NotSupported { needs, .. }) => Some(needs),
            Some(SampleSupport::Known(_) | SampleSupport::CorrelationUnknown) | None => None,
        });
        self.next = needs.max().unwrap_or(0).clamp(n + n.div_ceil(5), 2 * n);
    }

    /// Whether it is worth a look. A level that is only to be shortened lasts as long as was said, and completes [`FIRST`] requests
    /// where it does so in half of its time: a goal on a p99 is judged by one.
    fn may_end(&self, tally: &LevelTally) -> bool {
        let Some(from) = self.requested.earliest_end() else { return true };
        let (n, lasted) = (tally.requests().completed, tally.duration());
        let by_pace = |most: Nanos| n as f64 * most.as_secs_f64() / lasted.as_secs_f64();
        let comes_to_a_p99 = self.most.is_none_or(|most| by_pace(most) >= 2.0 * FIRST as f64);
        lasted >= from && (n >= FIRST || !comes_to_a_p99)
    }
}
