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

/// Lines that point to one another in one random cycle, so that no prefetcher knows the next.
#[derive(Debug)]
pub(super) struct Cycle {
    lines: Array<CacheLine>,
    at: usize,
}

impl Cycle {
    /// A cycle through `bytes` of memory, in the order of `seed`; none if there is no room.
    pub(super) fn through(bytes: usize, advice: PageAdvice, seed: u64) -> Option<Self> {
        let count = (bytes / size_of::<CacheLine>()).max(2);
        let mut lines = Array::filled(count, advice, |index| CacheLine { next: index })?;
        // Sattolo's shuffle: a permutation of one cycle, all of them alike likely (S. Sattolo, Inf. Proc. Letters 22, 1986).
        let mut state = seed;
        for last in (1..count).rev() {
            let other = (split_mix::next(&mut state) % last as u64) as usize;
            let (a, b) = (lines[last].next, lines[other].next);
            (lines[last].next, lines[other].next) = (b, a);
        }
        Some(Self { lines, at: 0 })
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

    /// Whether it is one cycle through all of its lines.
    pub(super) fn is_whole(&self) -> bool {
        let (mut at, mut steps) = (0, 0);
        loop {
            at = self.lines[at].next;
            steps += 1;
            if at == 0 || steps > self.lines.len() {
                return steps == self.lines.len();
            }
        }
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
            cycle.follow(cycle.lines.len() as u64);
            prop_assert_eq!(cycle.at, 0);
        }
    }
}
