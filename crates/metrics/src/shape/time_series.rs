//! A level bin by bin, from tapes in any order.

use std::collections::VecDeque;

use fizeau_core::{Millis, Nanos, PerSec, Stamp, Tape, Tokens};

use super::gaps::GapCounts;
use super::{LevelShape, LevelTimeSeries, TimeSeriesBin};
use crate::series::end_of;

/// How long a bin is at first, in nanoseconds: short enough for a level of a tenth of a second, and doubled 125 us, 250 us, 500 us,
/// 1 ms, 2 ms, ...
const FINEST: u64 = 125_000;

/// Bins from the first release to the last end so far. They begin at multiples of their length from the epoch, and where there are
/// more than [`LevelShape::MOST_BINS`], pairs become one: so the order in which tapes come does not matter.
#[derive(Debug, Clone)]
pub(super) struct TimelineTally {
    /// How long a bin is, in nanoseconds.
    width: u64,
    /// The number of the first bin, from the epoch.
    first: u64,
    bins: VecDeque<BinTally>,
    /// How long replies were silent between events, however many tokens those brought.
    silences: GapCounts,
}

/// What is added up of a bin. Times are sums over requests, in nanoseconds.
#[derive(Debug, Clone, Default)]
struct BinTally {
    in_flight: u128,
    prefilling: u128,
    tokens: u64,
    /// Times to first token.
    ttfts: GapCounts,
    gaps: GapCounts,
}

impl Default for TimelineTally {
    fn default() -> Self {
        Self { width: FINEST, first: 0, bins: VecDeque::new(), silences: GapCounts::default() }
    }
}

impl TimelineTally {
    /// Takes in a tape of the load, but for its gaps: whatever became of it, it was in flight from send start to end. Its tokens
    /// count if it completed.
    pub(super) fn add(&mut self, tape: &Tape) {
        let from = begin_of(tape);
        let over = end_of(tape).unwrap_or(from).max(from);
        // A file may have arrivals in any order.
        let last = tape.arrivals.iter().map(|arrival| arrival.at).fold(over, Stamp::max);
        self.cover(from, last);
        if let Some(sent) = tape.marks.send_start {
            let first = tape.first_token().unwrap_or(over).clamp(sent, over.max(sent));
            self.add_time(sent, over, |bin| &mut bin.in_flight);
            self.add_time(sent, first, |bin| &mut bin.prefilling);
        }
        if tape.is_success() {
            for arrival in &tape.arrivals {
                if let Some(bin) = self.bin_ending_at(arrival.at, from) {
                    bin.tokens = bin.tokens.saturating_add(arrival.tokens.into());
                }
            }
        }
    }

    /// Takes in how long the first token of a tape that was taken in took.
    pub(super) fn add_ttft(&mut self, tape: &Tape, ttft: Nanos) {
        let Some(first) = tape.first_token() else { return };
        if let Some(bin) = self.bin_ending_at(first, begin_of(tape)) {
            bin.ttfts.add(ttft, Tokens::new(1));
        }
    }

    /// Takes in the gaps of a tape that was taken in: of each when it ended, and of how many tokens it is.
    pub(super) fn add_gaps(
        &mut self,
        tape: &Tape,
        gaps: impl Iterator<Item = (Stamp, Nanos, Tokens)>,
    ) {
        let from = begin_of(tape);
        for (at, gap, tokens) in gaps {
            self.silences.add(gap * tokens.get(), Tokens::new(1));
            if let Some(bin) = self.bin_ending_at(at, from) {
                bin.gaps.add(gap, tokens);
            }
        }
    }

    /// The timeline in bins of at least two silences where there are enough for that, and of a `reply` where there are many of those.
    pub(super) fn timeline(&self, reply: Nanos) -> LevelTimeSeries {
        if self.bins.is_empty() {
            return LevelTimeSeries::default();
        }
        let long = self.width.saturating_mul(self.bins.len() as u64);
        let is_many = long / LevelShape::MANY_REPLIES >= reply.as_nanos();
        let silence = self.silences.percentile(99).map_or(0.0, Millis::get);
        let silences = (2e6 * silence) as u64;
        let least = if is_many { silences.max(reply.as_nanos()) } else { silences };
        let is_wide = |one: &Self| one.width >= least || one.bins.len() < LevelShape::FEW_BINS;
        if is_wide(self) {
            return self.seen();
        }
        let mut wider = self.clone();
        while !is_wide(&wider) {
            wider.fold();
        }
        wider.seen()
    }

    fn seen(&self) -> LevelTimeSeries {
        let (width, bin) = (self.width as f64, Nanos::from_nanos(self.width));
        let seen = |bin: &BinTally| TimeSeriesBin {
            in_flight: bin.in_flight as f64 / width,
            prefilling: bin.prefilling as f64 / width,
            output_tokens_per_s: PerSec::new(bin.tokens as f64 / (width / 1e9)),
            ttft_p50: bin.ttfts.percentile(50),
            ttft_max: bin.ttfts.longest(),
            itl_p50: bin.gaps.percentile(50),
            itl_p99: bin.gaps.percentile(99),
            itl_max: bin.gaps.longest(),
        };
        let start = Stamp::from_nanos(self.first.saturating_mul(self.width));
        LevelTimeSeries { start, bin, bins: self.bins.iter().map(seen).collect() }
    }

    /// Adds the time from `from` to `to` up, bin by bin; all of them are there.
    fn add_time(&mut self, from: Stamp, to: Stamp, sum: fn(&mut BinTally) -> &mut u128) {
        let (from, to) = (from.as_nanos(), to.as_nanos());
        let skipped = (from / self.width).saturating_sub(self.first);
        let bins = (self.first + skipped..).zip(self.bins.iter_mut().skip(skipped as usize));
        for (number, bin) in bins {
            let begin = number.saturating_mul(self.width);
            if begin >= to {
                break;
            }
            let end = begin.saturating_add(self.width);
            *sum(bin) += u128::from(to.min(end).saturating_sub(from.max(begin)));
        }
    }

    /// The bin after whose beginning and up to whose end `at` is, but none before the one in which its tape begins.
    fn bin_ending_at(&mut self, at: Stamp, from: Stamp) -> Option<&mut BinTally> {
        let number = last_bin(at, self.width).max(from.as_nanos() / self.width);
        let index = number.checked_sub(self.first)?;
        self.bins.get_mut(usize::try_from(index).ok()?)
    }

    /// Makes bins for all that is from `from` to `to`.
    fn cover(&mut self, from: Stamp, to: Stamp) {
        loop {
            let (low, high) = (from.as_nanos() / self.width, last_bin(to, self.width));
            let high = high.max(low);
            let Some(behind) = self.bins.len().checked_sub(1) else {
                self.first = low;
                self.bins.push_back(BinTally::default());
                continue;
            };
            let (first, last) = (self.first.min(low), (self.first + behind as u64).max(high));
            if last - first >= LevelShape::MOST_BINS as u64 {
                self.fold();
                continue;
            }
            while self.first > first {
                self.bins.push_front(BinTally::default());
                self.first -= 1;
            }
            let wanted = (last - first) as usize + 1;
            return self.bins.resize_with(wanted, BinTally::default);
        }
    }

    /// Makes one bin of every two.
    fn fold(&mut self) {
        let (first, bins) = (self.first, std::mem::take(&mut self.bins));
        (self.first, self.width) = (first / 2, self.width.saturating_mul(2));
        for (number, bin) in (first..).zip(bins) {
            match self.bins.back_mut() {
                Some(before) if number % 2 == 1 => before.merge(bin),
                _ => self.bins.push_back(bin),
            }
        }
    }
}

impl BinTally {
    fn merge(&mut self, other: Self) {
        self.in_flight += other.in_flight;
        self.prefilling += other.prefilling;
        self.tokens = self.tokens.saturating_add(other.tokens);
        self.ttfts.merge(other.ttfts);
        self.gaps.merge(other.gaps);
    }
}

/// When a tape begins to matter.
fn begin_of(tape: &Tape) -> Stamp {
    let released = tape.marks.released;
    tape.marks.send_start.map_or(released, |sent| sent.min(released))
}

/// The number of the last bin of what ends at `to`.
const fn last_bin(to: Stamp, width: u64) -> u64 {
    to.as_nanos().saturating_sub(1) / width
}
