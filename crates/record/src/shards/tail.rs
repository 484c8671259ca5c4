//! Whose requests the slowest are.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use fizeau_core::{Nanos, RequestPurpose, Tape};

/// The slowest hundredth of a known number of requests, by the shard that sent each. Memory is that of the slowest alone.
#[derive(Debug, Clone)]
pub struct TailShares {
    most: usize,
    slowest: BinaryHeap<Reverse<(Nanos, usize)>>,
}

/// The tail is one request in so many, at least one.
const ONE_IN: u64 = 100;

impl TailShares {
    /// Of about so many requests.
    #[must_use]
    pub fn of(requests: u64) -> Self {
        let most = usize::try_from(requests.div_ceil(ONE_IN).max(1)).unwrap_or(usize::MAX);
        Self { most, slowest: BinaryHeap::new() }
    }

    /// Takes in a request of the shard with this index: how long it took from its intended instant to its end. One that failed has
    /// no length.
    pub fn add(&mut self, shard: usize, tape: &Tape) {
        let taken = tape.marks.end.and_then(|end| end.since(tape.marks.intended));
        // A probe is none of the load's requests.
        let counts = tape.is_success() && tape.part == RequestPurpose::Load;
        let Some(taken) = taken.filter(|_| counts) else { return };
        let is_full = self.slowest.len() >= self.most;
        if is_full && self.slowest.peek().is_some_and(|Reverse((least, _))| *least >= taken) {
            return;
        }
        self.slowest.push(Reverse((taken, shard)));
        if self.slowest.len() > self.most {
            self.slowest.pop();
        }
    }

    /// How many requests the tail is; none where none completed.
    #[must_use]
    pub fn requests(&self) -> Option<u64> {
        (!self.slowest.is_empty()).then_some(self.slowest.len() as u64)
    }

    /// The part of the tail that the shard with this index has, from 0 to 1; none where there is no tail.
    #[must_use]
    pub fn share(&self, shard: usize) -> Option<f64> {
        let own = self.slowest.iter().filter(|Reverse((_, of))| *of == shard).count();
        self.requests().map(|all| own as f64 / all as f64)
    }
}
