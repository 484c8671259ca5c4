//! What is kept of requests too many to keep.

use fizeau_core::{Nanos, Stamp};

use super::SentRequest;
use crate::series::{CountSeries, TokenCells};

/// Something that happens to a request once at most, and is counted by time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RequestEvent {
    /// It was due.
    Intended,
    /// It was sent.
    Sent,
    /// Its first token came; its end where there was none.
    First,
    /// It was over.
    Over,
    /// It was over and had succeeded.
    Completed,
    /// It was over and had met its goals.
    Good,
    /// Its prompt, token by token, at its first token; of completed requests.
    Prompt,
}

impl RequestEvent {
    const ALL: [Self; 7] = [
        Self::Intended,
        Self::Sent,
        Self::First,
        Self::Over,
        Self::Completed,
        Self::Good,
        Self::Prompt,
    ];
}

/// The most cells of time that are kept of each event: two minutes of a millisecond each, in 1 MiB.
const MOST_CELLS: u64 = 1 << 17;

/// All requests of a level by cells of time, and which of them are kept one by one: an even part, by lot, so that neither the
/// order in which they come nor the way in which they are shared out matters.
#[derive(Debug, Clone)]
pub(crate) struct FoldedRequests {
    /// One in two to so many is kept.
    halvings: u32,
    /// How many there are.
    all: u64,
    /// In the order of [`RequestEvent::ALL`].
    events: [TokenCells; RequestEvent::ALL.len()],
    prompt_unknown: bool,
}

impl FoldedRequests {
    /// Of these, all of which are still kept.
    pub(super) fn of(requests: &[SentRequest]) -> Self {
        let events = std::array::from_fn(|_| TokenCells::up_to(MOST_CELLS));
        let mut folded = Self { halvings: 0, all: 0, events, prompt_unknown: false };
        requests.iter().for_each(|request| folded.add(request));
        folded
    }

    pub(super) fn add(&mut self, request: &SentRequest) {
        self.all += 1;
        self.prompt_unknown |= request.output().is_some() && request.prompt().is_none();
        for (cells, event) in self.events.iter_mut().zip(RequestEvent::ALL) {
            cells.add(request.when(event), request.amount(event));
        }
    }

    /// Takes in all that `other` has.
    pub(super) fn merge(&mut self, other: &Self) {
        self.halvings = self.halvings.max(other.halvings);
        self.all += other.all;
        self.prompt_unknown |= other.prompt_unknown;
        for (ours, theirs) in self.events.iter_mut().zip(&other.events) {
            ours.merge(theirs);
        }
    }

    /// From now on half as many are kept.
    pub(super) const fn halve(&mut self) {
        self.halvings += 1;
    }

    /// Whether a request is one of those that are kept.
    pub(super) const fn keeps(&self, request: &SentRequest) -> bool {
        request.lot.trailing_zeros() >= self.halvings
    }

    /// How many bytes it holds.
    #[cfg(test)]
    pub(super) fn bytes(&self) -> usize {
        self.events.iter().map(TokenCells::bytes).sum()
    }

    /// How many requests there are.
    pub(crate) const fn all(&self) -> u64 {
        self.all
    }

    /// Whether the length of a completed request's prompt is not known.
    pub(crate) const fn is_prompt_unknown(&self) -> bool {
        self.prompt_unknown
    }

    /// How often something happened.
    pub(crate) fn total(&self, event: RequestEvent) -> u64 {
        self.cells(event).total()
    }

    /// When it happened how often, to the end of a cell.
    pub(crate) fn at_ends(&self, event: RequestEvent) -> impl Iterator<Item = (Stamp, u64)> {
        let cells = self.cells(event);
        cells.at_ends(cells.cell())
    }

    /// How many were between two of their events, as it was at the ends of cells.
    pub(super) fn count(&self, from: RequestEvent, to: RequestEvent) -> CountSeries {
        let (from, to) = (self.cells(from), self.cells(to));
        let cell: Nanos = from.cell().max(to.cell());
        CountSeries::of_ordered(from.at_ends(cell), to.at_ends(cell))
    }

    const fn cells(&self, event: RequestEvent) -> &TokenCells {
        &self.events[event as usize]
    }
}
