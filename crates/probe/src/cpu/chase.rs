//! Following pointers: how long a load takes that the next one waits for.

#![allow(unsafe_code, reason = "an index that is checked takes longer than the load that is timed")]
#![deny(clippy::undocumented_unsafe_blocks)]

use std::hint;

use fizeau_core::split_mix;

use super::array::Array;
use crate::measurement::PageAdvice;

/// A line of memory, of which only the first word is read.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
struct CacheLine {
    next: usize,
}

/// An order of numbers below a bound, all of them in one cycle that no prefetcher knows: each follows from the one before, so that lines can
/// be written and checked from the first to the last. A shuffle would go through memory at random, which takes longer than all that is
/// measured where arrays are of gigabytes.
#[derive(Debug, Clone, Copy)]
struct CyclicOrder {
    bound: usize,
    /// Of the least power of two that is not below the bound.
    mask: usize,
    /// Half of its bits, rounded up.
    half: u32,
    step: usize,
}

impl CyclicOrder {
    fn of(bound: usize, seed: u64) -> Self {
        let whole = bound.next_power_of_two();
        let half = whole.trailing_zeros().div_ceil(2).max(1);
        let mut state = seed;
        // Odd, so that the generator below has its full period (T. E. Hull, A. R. Dobell, SIAM Review 4, 1962).
        let step = split_mix::next(&mut state) as usize | 1;
        Self { bound, mask: whole - 1, half, step }
    }

    /// What comes after `at`. The generator's low bits repeat soon, so that the high ones are added to them, before and after: to do
    /// so twice changes nothing, and the cycle stays one. What is not below the bound is passed over, and the rest stays one too.
    fn after(self, at: usize) -> usize {
        let mixed = |number: usize| number ^ (number >> self.half);
        let mut state = mixed(at);
        loop {
            state = state.wrapping_mul(FACTOR).wrapping_add(self.step) & self.mask;
            let next = mixed(state);
            if next < self.bound {
                return next;
            }
        }
    }
}

/// The factor of a linear congruential generator modulo 2^64 (D. E. Knuth's MMIX); of its low bits too it is a good one.
const FACTOR: usize = 6_364_136_223_846_793_005_u64 as usize;

/// Lines that point to one another in one cycle.
#[derive(Debug)]
pub(super) struct Cycle {
    lines: Array<CacheLine>,
    order: CyclicOrder,
    at: usize,
}

impl Cycle {
    /// A cycle through `bytes` of memory, in the order of `seed`; none if there is no room.
    pub(super) fn through(bytes: usize, advice: PageAdvice, seed: u64) -> Option<Self> {
        let count = (bytes / size_of::<CacheLine>()).max(2);
        let order = CyclicOrder::of(count, seed);
        let lines = Array::filled(count, advice, |at| CacheLine { next: order.after(at) })?;
        Some(Self { lines, order, at: 0 })
    }

    /// Follows `steps` pointers.
    pub(super) fn follow(&mut self, steps: u64) {
        let lines = self.lines.as_ptr();
        let mut at = self.at;
        for _ in 0..steps {
            // SAFETY: the pointers are a permutation of the indices of the lines, and `at` is one of them.
            at = unsafe { (*lines.add(at)).next };
        }
        self.at = hint::black_box(at);
    }

    /// Whether each of its lines still points to the one that comes after it.
    pub(super) fn is_whole(&self) -> bool {
        self.lines.iter().enumerate().all(|(at, line)| line.next == self.order.after(at))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_line_is_visited_once(bytes in 1_usize..100_000, seed: u64) {
            let mut cycle = Cycle::through(bytes, PageAdvice::Default, seed).unwrap();
            prop_assert!(cycle.is_whole());
            let mut seen = vec![false; cycle.lines.len()];
            for _ in 0..seen.len() {
                seen[cycle.at] = true;
                cycle.follow(1);
            }
            prop_assert!(cycle.at == 0 && seen.into_iter().all(|is_seen| is_seen));
        }
    }
}
