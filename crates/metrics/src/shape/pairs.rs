//! An even sample of requests, the same in whatever order they come.

use std::collections::BinaryHeap;

use fizeau_core::{Millis, Tape, Tokens, split_mix};

use super::{LevelShape, PromptTtft};

/// At most [`LevelShape::MOST_PAIRS`] pairs: those whose requests' numbers, scrambled, are the least. Every n-th request would
/// be no fair sample of a workload in which every n-th prompt is alike.
#[derive(Debug, Clone, Default)]
pub(super) struct PairTally(BinaryHeap<RankedPair>);

/// Ordered by the scrambled number first; the rest is there for equal numbers, which a run put together from shards may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct RankedPair {
    rank: u64,
    input: u64,
    ttft_bits: u64,
}

impl PairTally {
    pub(super) fn add(&mut self, tape: &Tape, pair: PromptTtft) {
        let rank = split_mix::next(&mut { tape.request.0 });
        // A latency is finite and not negative: its bits are in the order of its values.
        let ttft_bits = pair.ttft.get().to_bits();
        self.0.push(RankedPair { rank, input: pair.input.get(), ttft_bits });
        if self.0.len() > LevelShape::MOST_PAIRS {
            self.0.pop();
        }
    }

    /// By rising length of the prompt.
    pub(super) fn pairs(&self) -> Vec<PromptTtft> {
        let mut kept: Vec<RankedPair> = self.0.iter().copied().collect();
        kept.sort_unstable_by_key(|one| (one.input, one.ttft_bits));
        let pair = |one: RankedPair| PromptTtft {
            input: Tokens::new(one.input),
            ttft: Millis::new(f64::from_bits(one.ttft_bits)),
        };
        kept.into_iter().map(pair).collect()
    }
}
