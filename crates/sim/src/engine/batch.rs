//! Batches under way, and runs of steps in which nothing changes.

use fizeau_core::{Nanos, Stamp};

use super::jobs::Slot;
use super::load::Pace;

/// What is computed together, from its beginning to its end.
#[derive(Debug, Clone)]
pub(super) struct Batch {
    /// Those that wait for its end, in the order in which their tokens leave.
    pub(super) members: Vec<Slot>,
    pub(super) end: Stamp,
}

/// Steps of the same sequences, all decoding a token each, of which the lengths are known in advance.
#[derive(Debug, Clone)]
pub(super) struct Run {
    pub(super) pace: Pace,
    /// Which of its steps is the next.
    pub(super) next: u64,
}

impl Run {
    /// The length of the next step, if it is one of the run.
    pub(super) fn next(&mut self) -> Option<Nanos> {
        let length = (self.next < self.pace.steps).then(|| self.pace.at(self.next));
        self.next += 1;
        length
    }
}
