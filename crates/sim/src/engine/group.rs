//! One attention group: a queue, slots and blocks.

use std::collections::BTreeMap;

use super::blocks::Blocks;
use super::config::{EngineConfig, Order};
use super::jobs::{Jobs, Slot};
use super::sequence::{Place, Rank};

/// What waits and runs together.
#[derive(Debug, Clone)]
pub(super) struct Group {
    /// Its number.
    number: usize,
    pub(super) waiting: BTreeMap<Rank, Slot>,
    /// In order of admission.
    pub(super) running: Vec<Slot>,
    pub(super) blocks: Blocks,
}

impl Group {
    pub(super) fn new(config: &EngineConfig, number: usize) -> Self {
        let blocks = Blocks::new(config);
        Self { number, waiting: BTreeMap::new(), running: Vec::new(), blocks }
    }

    pub(super) fn jobs(&self) -> usize {
        self.waiting.len() + self.running.len()
    }

    /// Puts a job into the queue.
    pub(super) fn enqueue(&mut self, jobs: &mut Jobs, slot: Slot) {
        jobs[slot].place = Place::Waiting(self.number);
        self.waiting.insert(jobs[slot].rank, slot);
    }

    /// Takes a job out of the queue and gives it a slot.
    pub(super) fn start(&mut self, jobs: &mut Jobs, slot: Slot) {
        self.waiting.remove(&jobs[slot].rank);
        jobs[slot].place = Place::Running(self.number);
        self.running.push(slot);
    }

    /// Takes slot and blocks away from a job.
    pub(super) fn stop(&mut self, jobs: &mut Jobs, slot: Slot) {
        if let Some(index) = self.running.iter().position(|&other| other == slot) {
            self.running.remove(index);
        }
        self.blocks.release(&mut jobs[slot].hold);
    }

    /// Where in the running ones the one is that must make room: of those that wait for no batch under way the last to have been
    /// admitted, or to go first. One may have chunks of its prompt under way: they were read for nothing.
    pub(super) fn victim(&self, jobs: &Jobs, order: Order) -> Option<usize> {
        let mut candidates =
            self.running.iter().enumerate().rev().filter(|(_, slot)| !jobs[**slot].under_way);
        let victim = match order {
            Order::Arrival => candidates.next(),
            Order::Priority => candidates.max_by_key(|(_, slot)| {
                let rank = jobs[**slot].rank;
                (rank.priority, rank.arrival)
            }),
        };
        victim.map(|(index, _)| index)
    }
}
