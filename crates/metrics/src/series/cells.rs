//! Counts by short cells of time: what a stream of tapes in any order can keep of its tokens, and of requests too many to keep.

use std::collections::VecDeque;

use fizeau_core::{Arrival, Nanos, PerSec, RequestPurpose, Stamp, Tape, Tokens};

use super::TimeSpan;

/// How long a cell is at first, in nanoseconds.
const CELL: u64 = 1_000_000;

/// The most cells of tokens that are kept: seventeen minutes of a millisecond each, in 8 MiB.
const MOST: u64 = 1 << 20;

/// How many output tokens of completed requests came in each cell of time: exact over any span that begins and ends with a cell.
///
/// A cell is 1 ms long and holds what came after its beginning, up to its end. Where the cells are more than 2^20 from the first to
/// the last token, pairs of them become one, as often as it takes. The order in which tokens or parts of a level are taken in is
/// no matter: the same tokens give the same cells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TokenCells {
    /// The most cells that are kept.
    most: u64,
    /// How often cells were made twice as long.
    folds: u32,
    /// The number of the first cell, from the epoch.
    first: u64,
    /// From the first cell with a token to the last one.
    counts: VecDeque<u64>,
}

/// The highest rate of a level.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct PeakRate {
    /// Tokens per second.
    pub rate: PerSec,
    /// How long the windows were that it is the highest of.
    pub over: Nanos,
}

impl Default for TokenCells {
    fn default() -> Self {
        Self::up_to(MOST)
    }
}

impl TokenCells {
    /// Empty, with at most so many cells.
    pub(crate) const fn up_to(most: u64) -> Self {
        Self { most, folds: 0, first: 0, counts: VecDeque::new() }
    }

    /// Takes in `tokens` that came at `at`. What came at the epoch itself is in the first cell after it.
    pub(crate) fn add(&mut self, at: Stamp, tokens: Tokens) {
        if tokens > Tokens::ZERO {
            self.put(fine(at), tokens.get());
        }
    }

    /// Takes in the tokens of `tape`, unless it failed or is a probe's.
    pub(crate) fn add_tape(&mut self, tape: &Tape) {
        // Failed requests and those of a probe stream have no part in the load's throughput.
        if tape.part == RequestPurpose::Load && tape.is_success() {
            let mut rest = tape.arrivals.as_slice();
            while let Some((new, after)) = self.add_to_known(rest).split_first() {
                self.add(new.at, Tokens::new(new.tokens.into()));
                rest = after;
            }
        }
    }

    /// Takes in the tokens of arrivals as far as their cells are there, as almost all are: this runs for each token of a run. Gives
    /// back what is left, from the first one that needs a new cell.
    fn add_to_known<'a>(&mut self, arrivals: &'a [Arrival]) -> &'a [Arrival] {
        let (first, folds) = (self.first, self.folds);
        let (front, back) = self.counts.as_mut_slices();
        let mut rest = arrivals;
        while let Some((arrival, after)) = rest.split_first() {
            let cell = (fine(arrival.at) >> folds).checked_sub(first).map(|index| index as usize);
            let Some(index) = cell else { break };
            let count = match index.checked_sub(front.len()) {
                None => front.get_mut(index),
                Some(index) => back.get_mut(index),
            };
            let Some(count) = count else { break };
            *count += u64::from(arrival.tokens);
            rest = after;
        }
        rest
    }

    /// Takes in all that `other` has.
    pub(crate) fn merge(&mut self, other: &Self) {
        while self.folds < other.folds {
            self.fold();
        }
        for (cell, &tokens) in (other.first..).zip(&other.counts) {
            if tokens > 0 {
                self.put(cell << other.folds, tokens);
            }
        }
    }

    /// How long a cell is.
    pub(crate) const fn cell(&self) -> Nanos {
        Nanos::from_nanos(CELL << self.folds)
    }

    /// How many bytes they hold.
    #[cfg(test)]
    pub(crate) fn bytes(&self) -> usize {
        8 * self.counts.capacity()
    }

    /// All that came.
    pub(crate) fn total(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// What came in each cell that has anything, at the end of the cell, as if cells were `cell` long, which is no shorter than
    /// they are.
    pub(crate) fn at_ends(&self, cell: Nanos) -> impl Iterator<Item = (Stamp, u64)> {
        let (own, cell) = (self.cell().as_nanos(), cell.as_nanos());
        let end = move |number: u64| Stamp::from_nanos((number * own / cell + 1) * cell);
        let counts = (self.first..).zip(&self.counts).filter(|(_, count)| **count > 0);
        counts.map(move |(number, &count)| (end(number), count))
    }

    /// `span` made smaller until it begins and ends with a cell; of no length where no whole cell is in it.
    pub(crate) fn snapped(&self, span: TimeSpan) -> TimeSpan {
        let cell = self.cell().as_nanos();
        let from = span.from().as_nanos().div_ceil(cell) * cell;
        let to = span.to().as_nanos() / cell * cell;
        TimeSpan::new(Stamp::from_nanos(from), Stamp::from_nanos(to))
    }

    /// How many tokens came within the whole cells of `span`.
    pub(crate) fn within(&self, span: TimeSpan) -> Tokens {
        let (span, cell) = (self.snapped(span), self.cell().as_nanos());
        let index = |at: Stamp| (at.as_nanos() / cell).saturating_sub(self.first) as usize;
        let (from, to) = (index(span.from()), index(span.to()));
        let inside = self.counts.iter().skip(from).take(to - from);
        Tokens::new(inside.sum())
    }

    /// The highest rate over any window of whole cells, and never less than the mean over `whole`, which has to hold all
    /// tokens: the level itself is one of the windows. The others are as long as the greatest whole part of `whole` that is no
    /// longer than `longest`, to the nearest cell. None if `whole` or `longest` has no length.
    pub(crate) fn peak(&self, whole: TimeSpan, longest: Nanos) -> Option<PeakRate> {
        let length = whole.length();
        if length == Nanos::ZERO || longest == Nanos::ZERO {
            return None;
        }
        let all = self.total();
        let mean = PeakRate { rate: rate(all, length), over: length };
        let parts = length.as_nanos().div_ceil(longest.as_nanos());
        let cell = self.cell().as_nanos();
        let cells = ((length.as_nanos() / parts + cell / 2) / cell).max(1);
        let over = Nanos::from_nanos(cells * cell);
        if parts == 1 || over >= length {
            return Some(mean);
        }
        let (mut sum, mut most) = (0, 0);
        for (index, count) in self.counts.iter().enumerate() {
            sum += count;
            let gone = index.checked_sub(cells as usize).and_then(|gone| self.counts.get(gone));
            sum -= gone.copied().unwrap_or(0);
            most = most.max(sum);
        }
        let peak = rate(most, over);
        Some(PeakRate { rate: PerSec::new(peak.get().max(mean.rate.get())), over })
    }

    /// Puts tokens into a cell that is given by its number before any folding.
    fn put(&mut self, fine: u64, tokens: u64) {
        loop {
            let cell = fine >> self.folds;
            // Almost always it is there already, and this runs for each token of a run.
            let known = cell.checked_sub(self.first).map(|index| index as usize);
            if let Some(count) = known.and_then(|index| self.counts.get_mut(index)) {
                *count += tokens;
                return;
            }
            let len = self.counts.len() as u64;
            if len == 0 {
                self.first = cell;
            }
            let last = self.first + len.saturating_sub(1);
            if last.max(cell) - self.first.min(cell) >= self.most {
                self.fold();
                continue;
            }
            while cell < self.first {
                self.counts.push_front(0);
                self.first -= 1;
            }
            let index = (cell - self.first) as usize;
            if index >= self.counts.len() {
                self.counts.resize(index + 1, 0);
            }
            if let Some(count) = self.counts.get_mut(index) {
                *count += tokens;
            }
            return;
        }
    }

    /// Makes one cell of every two.
    fn fold(&mut self) {
        let (first, counts) = (self.first, std::mem::take(&mut self.counts));
        (self.first, self.folds) = (first >> 1, self.folds + 1);
        for (cell, count) in (first..).zip(counts) {
            let index = ((cell >> 1) - self.first) as usize;
            match self.counts.get_mut(index) {
                Some(sum) => *sum += count,
                None => self.counts.push_back(count),
            }
        }
    }
}

/// The number of the cell of what came at `at`, before any folding.
const fn fine(at: Stamp) -> u64 {
    at.as_nanos().saturating_sub(1) / CELL
}

fn rate(tokens: u64, over: Nanos) -> PerSec {
    PerSec::new(tokens as f64 / over.as_secs_f64())
}
