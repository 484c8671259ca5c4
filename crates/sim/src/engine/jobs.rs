//! The live jobs, each in a place of its own.

use std::ops::{Index, IndexMut};

use super::hash::NumberMap;
use super::sequence::Sequence;
use crate::job::JobId;

/// The place of a live job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Slot(u32);

/// As many places as there ever were live jobs at once, used over and over.
#[derive(Debug, Clone, Default)]
pub(super) struct Jobs {
    sequences: Vec<Sequence>,
    vacant: Vec<Slot>,
    live: NumberMap<JobId, Slot>,
}

impl Jobs {
    pub(super) fn slot(&self, id: JobId) -> Option<Slot> {
        self.live.get(&id).copied()
    }

    pub(super) fn insert(&mut self, sequence: Sequence) -> Slot {
        let id = sequence.id;
        let slot = if let Some(slot) = self.vacant.pop() {
            self[slot] = sequence;
            slot
        } else {
            let slot = Slot(self.sequences.len() as u32);
            self.sequences.push(sequence);
            slot
        };
        self.live.insert(id, slot);
        slot
    }

    /// The job is over; its place is the next one's.
    pub(super) fn remove(&mut self, slot: Slot) {
        let sequence = &mut self[slot];
        sequence.content = None;
        let id = sequence.id;
        self.live.remove(&id);
        self.vacant.push(slot);
    }

    /// How many there are.
    #[cfg(test)]
    pub(super) fn live(&self) -> usize {
        assert_eq!(self.sequences.len(), self.live.len() + self.vacant.len());
        self.live.len()
    }
}

// A `Slot` is made by `insert` alone, behind the sequence that it numbers, and places are never taken away.
impl Index<Slot> for Jobs {
    type Output = Sequence;

    fn index(&self, slot: Slot) -> &Sequence {
        &self.sequences[slot.0 as usize]
    }
}

impl IndexMut<Slot> for Jobs {
    fn index_mut(&mut self, slot: Slot) -> &mut Sequence {
        &mut self.sequences[slot.0 as usize]
    }
}
