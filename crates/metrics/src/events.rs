//! What several figures want to know of all arrivals of a tape, found in one pass.

use fizeau_core::{Arrival, Stamp, Tape, Tokens};

/// Sums over the arrivals of one tape: this runs for each token of a run, so no figure makes its own.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Events {
    /// All tokens, however the request ended.
    pub(crate) tokens: Tokens,
    /// Gaps between events, as [`inter_chunk`](crate::inter_chunk) has them: none of a request that failed.
    pub(crate) gaps: u64,
    /// Those of no length.
    pub(crate) zero_gaps: u64,
    /// Those that were lost because the events on both sides were read at once, too late for the first.
    pub(crate) merged: u64,
    /// Whether every event after the first is a token that came later, so that a gap between events is one between tokens.
    pub(crate) are_tokens: bool,
}

impl Events {
    pub(crate) fn of(tape: &Tape) -> Self {
        let Some((first, later)) = tape.arrivals.split_first() else {
            let tokens = Tokens::ZERO;
            return Self { tokens, gaps: 0, zero_gaps: 0, merged: 0, are_tokens: true };
        };
        let mut are_tokens = later.first().is_none_or(|second| !is_together(first.at, second.at));
        let mut tokens = u64::from(first.tokens);
        let (mut gaps, mut zero_gaps, mut last) = (0, 0, first.at);
        let mut reads = MergedReads::after(first);
        for event in later {
            tokens += u64::from(event.tokens);
            are_tokens &= event.tokens == 1;
            gaps += u64::from(event.at >= last);
            zero_gaps += u64::from(event.at == last);
            last = event.at;
            reads.note(event);
        }
        let counts = u64::from(tape.is_success());
        let [gaps, zero_gaps, merged] = [gaps, zero_gaps, reads.merged].map(|n| counts * n);
        Self { tokens: Tokens::new(tokens), gaps, zero_gaps, merged, are_tokens }
    }
}

/// Finds reads that took in several events and came so late by the stream's own pace that the first had waited for the others: their
/// stamps are all that of the last, and the gaps between them are lost.
///
/// A server that sends several events at once does so at its own pace, and its reads are none of these.
struct MergedReads {
    /// When the last event came, and in which read.
    last: (Stamp, u32),
    /// How long the read that brought it came after the one before, in nanoseconds; none of the first.
    gap: Option<u64>,
    /// Whether that is more than one event's share.
    is_late: bool,
    /// Whether it brought more than one event nevertheless.
    is_merged: bool,
    /// The last gaps between reads that were not merged.
    pace: [Option<u64>; 2],
    merged: u64,
}

/// Whether what came at `later` came with what came at `earlier`.
pub(crate) fn is_together(earlier: Stamp, later: Stamp) -> bool {
    later.saturating_since(earlier) < Tape::TOGETHER
}

/// Where events come faster than this, a gap that is lost is off by no more.
const SHORTEST_PACE_NS: u64 = 500_000;

impl MergedReads {
    const fn after(first: &Arrival) -> Self {
        let (is_late, is_merged) = (false, false);
        let last = (first.at, first.read);
        Self { last, gap: None, is_late, is_merged, pace: [None; 2], merged: 0 }
    }

    fn note(&mut self, event: &Arrival) {
        let (at, read) = self.last;
        let gap = event.at.saturating_since(at).as_nanos();
        if event.read == read || is_together(at, event.at) {
            self.is_merged |= self.is_late;
            self.merged += u64::from(self.is_late);
        } else {
            if !self.is_merged {
                self.pace = [self.gap, self.pace[0]];
            }
            self.is_late = self.is_beyond_pace(gap);
            (self.gap, self.is_merged) = (Some(gap), false);
        }
        self.last = (event.at, event.read);
    }

    /// Whether a second event was due by now: after one and three quarters of the longer of two gaps, since an event in two packets
    /// has a short one within it.
    fn is_beyond_pace(&self, gap: u64) -> bool {
        let [Some(newer), Some(older)] = self.pace else { return false };
        let pace = newer.max(older);
        pace >= SHORTEST_PACE_NS && gap.saturating_mul(4) >= pace.saturating_mul(7)
    }
}
