//! The live jobs, each in a place of its own.

use std::collections::BTreeMap;
use std::ops::{Index, IndexMut};

use fizeau_core::{Stamp, Tokens};

use super::blocks::{BlockPool, HeldBlocks};
use super::config::{AdmissionOrder, EngineConfig};
use crate::chance::NumberMap;
use crate::serve::{BlockHashes, Emission, EngineJob, Gauges, JobId, JobTiming};

/// The place of a live job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct JobSlot(u32);

/// As many places as there ever were live jobs at once, used over and over.
#[derive(Debug, Clone, Default)]
pub(super) struct JobTable {
    sequences: Vec<Sequence>,
    vacant: Vec<JobSlot>,
    live: NumberMap<JobId, JobSlot>,
}

impl JobTable {
    pub(super) fn slot(&self, id: JobId) -> Option<JobSlot> {
        self.live.get(&id).copied()
    }

    pub(super) fn insert(&mut self, sequence: Sequence) -> JobSlot {
        let id = sequence.id;
        let slot = if let Some(slot) = self.vacant.pop() {
            self[slot] = sequence;
            slot
        } else {
            let slot = JobSlot(self.sequences.len() as u32);
            self.sequences.push(sequence);
            slot
        };
        self.live.insert(id, slot);
        slot
    }

    /// The job is over; its place is the next one's.
    pub(super) fn remove(&mut self, slot: JobSlot) {
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

// A `JobSlot` is made by `insert` alone, behind the sequence that it numbers, and places are never taken away.
impl Index<JobSlot> for JobTable {
    type Output = Sequence;

    fn index(&self, slot: JobSlot) -> &Sequence {
        &self.sequences[slot.0 as usize]
    }
}

impl IndexMut<JobSlot> for JobTable {
    fn index_mut(&mut self, slot: JobSlot) -> &mut Sequence {
        &mut self.sequences[slot.0 as usize]
    }
}

// One live job.

/// A job and how far it is.
///
/// What it is to have computed is its prompt and what it has given so far, but for the token given last: decoding computes that
/// one and gives the next.
#[derive(Debug, Clone)]
pub(super) struct Sequence {
    pub(super) id: JobId,
    pub(super) content: Option<BlockHashes>,
    prompt: u64,
    output: u64,
    pub(super) timing: JobTiming,
    pub(super) rank: QueueRank,
    pub(super) place: JobState,
    /// Tokens that must be computed before it can go on giving: the prompt; after a preemption what it has given as well.
    pub(super) to_read: u64,
    /// Tokens that are computed, those found in the cache included, and chunks of its prompt in batches that have begun, but for
    /// the last chunk.
    pub(super) computed: u64,
    /// Tokens given so far.
    pub(super) given: u64,
    /// Drafts verified so far.
    pub(super) drafts: u64,
    /// Tokens that the batch it is in computes; 0 if it waits for none.
    pub(super) scheduled: u64,
    /// Whether that batch has begun, and it has to wait for its end.
    pub(super) under_way: bool,
    pub(super) hold: HeldBlocks,
}

/// Who goes first among those that wait: the lower.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct QueueRank {
    /// 0 for all where the engine does not order by it.
    pub(super) priority: i64,
    /// Those that lost their place go before those that never had one.
    pub(super) fresh: bool,
    pub(super) arrival: SubmissionOrder,
}

/// Who came first: the instant, and of equals who was submitted first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct SubmissionOrder {
    pub(super) at: Stamp,
    pub(super) number: u64,
}

/// Where a job is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum JobState {
    /// Before all groups: no step has begun since it arrived.
    Arriving,
    /// In the queue of a group.
    Waiting(usize),
    /// In a slot of a group.
    Running(usize),
}

impl Sequence {
    /// The `number`th job. One that another engine has begun comes with its prompt computed and a token given.
    pub(super) fn new(job: EngineJob, order: AdmissionOrder, number: u64) -> Self {
        let priority = match order {
            AdmissionOrder::Arrival => 0,
            AdmissionOrder::Priority => job.priority.0,
        };
        let fresh = JobTiming {
            submitted: job.at,
            admitted: job.at,
            first_token: job.at,
            cached_tokens: Tokens::ZERO,
            preemptions: 0,
        };
        let prompt = job.prompt_tokens.get();
        Self {
            id: job.id,
            content: job.content,
            prompt,
            output: job.output_tokens.get(),
            timing: job.begun.unwrap_or(fresh),
            rank: QueueRank {
                priority,
                fresh: true,
                arrival: SubmissionOrder { at: job.at, number },
            },
            place: JobState::Arriving,
            to_read: prompt,
            computed: if job.begun.is_some() { prompt } else { 0 },
            given: u64::from(job.begun.is_some()),
            drafts: 0,
            scheduled: 0,
            under_way: false,
            hold: HeldBlocks::default(),
        }
    }

    pub(super) fn content(&self) -> &[u64] {
        self.content.as_deref().unwrap_or_default()
    }

    /// Whether it never had a slot, here or elsewhere.
    pub(super) const fn is_new(&self) -> bool {
        self.given == 0 && self.timing.preemptions == 0
    }

    /// Whether what it is to read is not read yet.
    pub(super) const fn reads(&self) -> bool {
        self.computed < self.to_read
    }

    /// Tokens that it has at its end.
    pub(super) const fn total(&self) -> u64 {
        self.prompt + self.output
    }

    /// Tokens that it has still to give.
    pub(super) const fn left(&self) -> u64 {
        self.output - self.given
    }

    /// Its batch begins; whether it has to wait for the end of that. Of a prompt only the last chunk has: as in vLLM (V1) the one
    /// behind another can enter the first stage of a pipeline when that has left it.
    pub(super) const fn embark(&mut self) -> bool {
        self.under_way = !self.reads() || self.computed + self.scheduled >= self.to_read;
        if !self.under_way {
            self.computed += self.scheduled;
            self.scheduled = 0;
        }
        self.under_way
    }

    /// All that was computed is lost.
    pub(super) const fn preempt(&mut self) {
        self.to_read = self.prompt + self.given;
        self.computed = 0;
        self.scheduled = 0;
        self.rank.fresh = false;
        self.timing.preemptions += 1;
    }

    /// Gives `count` tokens, at most what is left.
    #[inline]
    pub(super) fn give(&mut self, count: u64, at: Stamp) -> Emission {
        let index = self.given;
        self.given += count;
        if index == 0 {
            self.timing.first_token = at;
        }
        let last = self.given == self.output;
        let rank = match self.place {
            JobState::Running(group) => group as u32,
            JobState::Arriving | JobState::Waiting(_) => 0,
        };
        Emission { job: self.id, rank, at, index, count, last, timing: self.timing }
    }
}

// One attention group: a queue, slots and blocks.

/// What waits and runs together.
#[derive(Debug, Clone)]
pub(super) struct SchedulingGroup {
    /// Its number.
    number: usize,
    pub(super) waiting: BTreeMap<QueueRank, JobSlot>,
    /// In order of admission.
    pub(super) running: Vec<JobSlot>,
    pub(super) blocks: BlockPool,
    /// What has happened in it so far; the levels of the moment are not kept here, nor the steps, which are the engine's.
    pub(super) totals: Gauges,
}

impl SchedulingGroup {
    pub(super) fn new(config: &EngineConfig, number: usize) -> Self {
        let draft = config.drafts.as_ref().map_or(0, |drafts| drafts.length as usize);
        let totals = Gauges { accepted_by_position: vec![0; draft], ..Gauges::default() };
        let blocks = BlockPool::new(config);
        Self { number, waiting: BTreeMap::new(), running: Vec::new(), blocks, totals }
    }

    pub(super) fn jobs(&self) -> usize {
        self.waiting.len() + self.running.len()
    }

    /// Puts a job into the queue.
    pub(super) fn enqueue(&mut self, jobs: &mut JobTable, slot: JobSlot) {
        jobs[slot].place = JobState::Waiting(self.number);
        self.waiting.insert(jobs[slot].rank, slot);
    }

    /// Takes a job out of the queue and gives it a slot.
    pub(super) fn start(&mut self, jobs: &mut JobTable, slot: JobSlot) {
        self.waiting.remove(&jobs[slot].rank);
        jobs[slot].place = JobState::Running(self.number);
        self.running.push(slot);
    }

    /// Takes slot and blocks away from a job.
    pub(super) fn stop(&mut self, jobs: &mut JobTable, slot: JobSlot) {
        if let Some(index) = self.running.iter().position(|&other| other == slot) {
            self.running.remove(index);
        }
        self.blocks.release(&mut jobs[slot].hold);
    }

    /// Where in the running ones the one is that must make room: of those that wait for no batch under way the last to have been
    /// admitted, or to go first. One may have chunks of its prompt under way: they were read for nothing.
    pub(super) fn victim(&self, jobs: &JobTable, order: AdmissionOrder) -> Option<usize> {
        let mut candidates =
            self.running.iter().enumerate().rev().filter(|(_, slot)| !jobs[**slot].under_way);
        let victim = match order {
            AdmissionOrder::Arrival => candidates.next(),
            AdmissionOrder::Priority => candidates.max_by_key(|(_, slot)| {
                let rank = jobs[**slot].rank;
                (rank.priority, rank.arrival)
            }),
        };
        victim.map(|(index, _)| index)
    }
}
