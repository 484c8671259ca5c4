//! A level over time: step functions that change at events and nowhere else.

mod cells;
mod count;
mod timeline;
mod weighted;

pub use cells::PeakRate;
pub(crate) use cells::TokenCells;
pub(crate) use count::CountSeries;
pub use timeline::Timeline;
pub(crate) use timeline::{EXACT, SentRequest};
pub(crate) use timeline::{FoldedRequests, RequestEvent};
pub(crate) use weighted::TimeWeighted;

use fizeau_core::{Nanos, Stamp, Tape};

/// A stretch of time between two instants.
///
/// A step function has no need to say who owns the two ends. What happens at an instant does: a request belongs to the span
/// in which it was sent, `from <= sent < to`, and a token to the one whose last gap it closes, `from < at <= to`. Spans
/// that follow one another thus share nothing out twice and leave nothing out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeSpan {
    from: Stamp,
    to: Stamp,
}

impl TimeSpan {
    /// From `from` to `to`; of no length at `from` where `to` is before it.
    pub(crate) fn new(from: Stamp, to: Stamp) -> Self {
        Self { from, to: to.max(from) }
    }

    /// Its beginning.
    #[must_use]
    pub const fn from(self) -> Stamp {
        self.from
    }

    /// Its end.
    #[must_use]
    pub const fn to(self) -> Stamp {
        self.to
    }

    /// How long it is.
    #[must_use]
    pub const fn length(self) -> Nanos {
        self.to.saturating_since(self.from)
    }
}

/// When a request was over: its end, or where none was marked its last output, and never before that output.
pub(crate) fn end_of(tape: &Tape) -> Option<Stamp> {
    tape.marks.end.max(tape.last_output())
}
