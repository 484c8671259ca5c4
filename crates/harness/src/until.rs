//! Sending until a figure is known well enough.

use fizeau_metrics::{LevelTally, Precision, PrecisionOutcome, Support};

use crate::Cancel;

/// Looks at a level as it grows, and ends it once every figure that was asked for is known well enough.
///
/// The first look is at [`FIRST`] completed requests, each next one when there are a fifth more, or as many as the interval is
/// said to need, but no more than twice as many: what it needs is an estimate. To stop when an interval is narrow favours those
/// that came out narrow by chance, so two looks in succession must find it so.
pub(crate) struct Looks<'a> {
    asked: &'a Precision,
    /// Thrown when nothing more is to be released.
    enough: Cancel,
    /// At how many completed requests the next look is.
    next: u64,
    last: Look,
}

/// What the last look found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Look {
    NotYet,
    WellEnough,
}

/// As many as a p99 needs: fewer say little about how far requests hang together.
const FIRST: u64 = 100;

impl<'a> Looks<'a> {
    pub(crate) const fn new(asked: &'a Precision, enough: Cancel) -> Self {
        Self { asked, enough, next: FIRST, last: Look::NotYet }
    }

    /// What was asked for.
    pub(crate) const fn asked(&self) -> &'a Precision {
        self.asked
    }

    /// Takes note that `tally` has grown.
    pub(crate) fn grown(&mut self, tally: &LevelTally) {
        let n = tally.requests().completed;
        if n < self.next || self.enough.is_cancelled() {
            return;
        }
        let outcomes = tally.precision(self.asked);
        if outcomes.iter().all(PrecisionOutcome::is_reached) {
            if self.last == Look::WellEnough {
                return self.enough.cancel();
            }
            self.last = Look::WellEnough;
        } else {
            self.last = Look::NotYet;
        }
        let needs = outcomes.iter().filter_map(|outcome| match outcome.half_width {
            Some(Support::NotSupported { needs, .. }) => Some(needs),
            Some(Support::Known(_)) | None => None,
        });
        self.next = needs.max().unwrap_or(0).clamp(n + n.div_ceil(5), 2 * n);
    }
}
