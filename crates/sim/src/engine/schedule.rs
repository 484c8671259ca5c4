//! Who takes part in the next step.

use fizeau_core::{Stamp, Tokens};
use fizeau_roofline::Admission;

use super::blocks::{BlockPool, KnownPrefix};
use super::config::{Chunking, EngineConfig, Policy, PrefixCaching};
use super::jobs::{JobSlot, JobTable, SchedulingGroup};

/// Plans a step.
pub(super) struct Scheduler<'a> {
    pub(super) config: &'a EngineConfig,
    pub(super) jobs: &'a mut JobTable,
    /// When the step begins.
    pub(super) start: Stamp,
    /// Micro-batches that the decoding sequences are spread over.
    pub(super) micro_batches: u64,
    /// Those that take part, in the order in which their tokens leave.
    pub(super) members: Vec<JobSlot>,
    /// Tokens that the group at hand may still bring to the step.
    pub(super) budget: u64,
    /// Whether a sequence of the group at hand has lost its place to another.
    pub(super) preempted: bool,
}

/// The first of a queue, if it may run.
#[derive(Debug, Clone, Copy)]
struct QueueHead {
    slot: JobSlot,
    found: KnownPrefix,
    /// Tokens that it has to read.
    unread: u64,
}

impl Scheduler<'_> {
    /// Plans the step of all groups.
    pub(super) fn plan(&mut self, groups: &mut [SchedulingGroup]) {
        match self.config.policy {
            Policy::Mixed => groups.iter_mut().for_each(|group| self.mix(group)),
            Policy::PrefillFirst => {
                groups.iter_mut().for_each(|group| self.read(group));
                if self.members.is_empty() {
                    for group in groups {
                        self.budget = self.config.max_batched_tokens.get();
                        self.decode(group);
                    }
                }
            }
        }
    }

    fn mix(&mut self, group: &mut SchedulingGroup) {
        self.begin(group);
        if self.admit_first(group) {
            return;
        }
        self.decode(group);
        self.read_on(group);
        self.admit(group);
    }

    /// Whether the first of the queue is to be read whole and does not fit beside those that decode: then they wait, and this is
    /// a step for it and those behind it. Otherwise it could wait for as long as anybody decodes.
    fn admit_first(&mut self, group: &mut SchedulingGroup) -> bool {
        if self.config.chunking == Chunking::Chunked {
            return false;
        }
        let Some(next) = self.candidate(group) else {
            return false;
        };
        let ready = |&&slot: &&JobSlot| !self.jobs[slot].under_way && !self.jobs[slot].reads();
        let decoding = group.running.iter().filter(ready).count() as u64;
        let beside = decoding.min(self.places(group)) * self.each();
        if next.unread <= self.budget.saturating_sub(beside) {
            return false;
        }
        self.start(group, next, next.unread);
        self.admit(group);
        true
    }

    fn read(&mut self, group: &mut SchedulingGroup) {
        self.begin(group);
        if !self.admit_first(group) {
            self.read_on(group);
            self.admit(group);
        }
    }

    fn begin(&mut self, group: &mut SchedulingGroup) {
        self.budget = self.config.max_batched_tokens.get();
        self.preempted = false;
        // Whose prompt was read elsewhere takes part in this step's decoding.
        while let Some((_, &slot)) = group.waiting.first_key_value()
            && !self.jobs[slot].reads()
            && let Some(next) = self.candidate(group)
        {
            self.start(group, next, 0);
        }
    }

    /// Tokens that a sequence brings to a step in which it decodes.
    fn each(&self) -> u64 {
        1 + self.config.drafts.as_ref().map_or(0, |drafts| u64::from(drafts.length))
    }

    /// How many of the decoding sequences a micro-batch takes.
    const fn places(&self, group: &SchedulingGroup) -> u64 {
        (group.running.len() as u64).div_ceil(self.micro_batches)
    }

    /// A token and a draft for each sequence whose prompt is read.
    fn decode(&mut self, group: &mut SchedulingGroup) {
        let each = self.each();
        let mut places = self.places(group);
        let mut index = 0;
        while let Some(&slot) = group.running.get(index) {
            if places == 0 || self.budget < each {
                return;
            }
            let sequence = &self.jobs[slot];
            if sequence.under_way || sequence.reads() {
                index += 1;
                continue;
            }
            let tokens = (sequence.computed + each).min(sequence.total());
            if tokens <= sequence.hold.room || self.make_room(group, &mut index, tokens) {
                self.schedule(slot, each);
                places -= 1;
                index += 1;
            }
        }
    }

    /// The next chunks of prompts that are being read.
    fn read_on(&mut self, group: &mut SchedulingGroup) {
        let mut index = 0;
        while let Some(&slot) = group.running.get(index) {
            let sequence = &self.jobs[slot];
            if sequence.under_way || !sequence.reads() {
                index += 1;
                continue;
            }
            let chunk = (sequence.to_read - sequence.computed).min(self.budget);
            if chunk == 0 {
                break;
            }
            let tokens = sequence.computed + chunk;
            if self.make_room(group, &mut index, tokens) {
                self.schedule(slot, chunk);
                index += 1;
            }
        }
        // Nobody is preempted from here on, so that what is scheduled will be computed.
        if self.config.prefix_caching == PrefixCaching::On {
            for &slot in &group.running {
                self.publish(&mut group.blocks, slot);
            }
        }
    }

    /// Makes known what the step is to read of a prompt: whoever is admitted behind it can share that. No stage comes to
    /// the later sequence, in this step or one behind it, before it has come to the earlier one.
    fn publish(&mut self, blocks: &mut BlockPool, slot: JobSlot) {
        let sequence = &mut self.jobs[slot];
        let read = sequence.computed + sequence.scheduled;
        if sequence.reads() && read >= sequence.hold.known_next {
            let content = sequence.content.as_deref().unwrap_or_default();
            blocks.learn(&mut sequence.hold, content, read);
        }
    }

    /// The first chunks of prompts that wait, as long as nobody had to make room.
    fn admit(&mut self, group: &mut SchedulingGroup) {
        while self.budget > 0
            && !self.preempted
            && let Some(next) = self.candidate(group)
        {
            let chunk = match self.config.chunking {
                Chunking::Chunked => next.unread.min(self.budget),
                Chunking::Whole if next.unread <= self.budget => next.unread,
                Chunking::Whole => return,
            };
            self.start(group, next, chunk);
        }
    }

    fn candidate(&self, group: &SchedulingGroup) -> Option<QueueHead> {
        let &slot = group.waiting.first_key_value()?.1;
        if group.running.len() as u64 >= self.config.max_num_seqs {
            return None;
        }
        let sequence = &self.jobs[slot];
        // The last token is always read: it is what the next one follows from.
        let most = (sequence.to_read - 1) / group.blocks.size();
        let found = group.blocks.find(sequence.content(), most);
        let there = sequence.computed.max(found.blocks * group.blocks.size());
        let room = match self.config.admission {
            Admission::Whole => sequence.total(),
            _ => sequence.to_read,
        };
        let unread = sequence.to_read - there;
        group.blocks.fits(found, room).then_some(QueueHead { slot, found, unread })
    }

    /// Gives `next` a slot and schedules the first `chunk` tokens that it has to read.
    fn start(&mut self, group: &mut SchedulingGroup, next: QueueHead, chunk: u64) {
        let QueueHead { slot, found, unread } = next;
        group.start(self.jobs, slot);
        let sequence = &mut self.jobs[slot];
        if sequence.is_new() {
            let cached = found.blocks * group.blocks.size();
            sequence.timing.admitted = self.start;
            sequence.timing.cached_tokens = Tokens::new(cached);
            if self.config.prefix_caching == PrefixCaching::On {
                group.totals.prefix_queries += sequence.to_read;
                group.totals.prefix_hits += cached;
            }
        }
        let content = sequence.content.as_deref().unwrap_or_default();
        sequence.hold = group.blocks.share(content, found);
        sequence.computed = sequence.to_read - unread;
        let room = match self.config.admission {
            Admission::Whole => sequence.total(),
            _ => sequence.computed + chunk,
        };
        let roomy = group.blocks.grow(&mut sequence.hold, room);
        debug_assert!(roomy, "a candidate fits");
        if sequence.computed >= sequence.hold.known_next {
            let content = sequence.content.as_deref().unwrap_or_default();
            group.blocks.learn(&mut sequence.hold, content, sequence.computed);
        }
        if chunk > 0 {
            self.schedule(slot, chunk);
            self.publish(&mut group.blocks, slot);
        }
    }

    /// Gives the sequence at `index` room for `tokens`, if need be by taking others' places, the last one's first; whether it has
    /// kept its own. `index` follows it, or is that of the one behind it.
    fn make_room(&mut self, group: &mut SchedulingGroup, index: &mut usize, tokens: u64) -> bool {
        let Some(&slot) = group.running.get(*index) else {
            return false;
        };
        while !group.blocks.grow(&mut self.jobs[slot].hold, tokens) {
            let Some(place) = group.victim(self.jobs, self.config.order) else {
                return false;
            };
            let victim = group.running[place];
            self.preempt(group, victim);
            if victim == slot {
                return false;
            }
            *index -= usize::from(place < *index);
        }
        true
    }

    /// Puts a running sequence back to the front of the queue. It begins anew.
    fn preempt(&mut self, group: &mut SchedulingGroup, slot: JobSlot) {
        let scheduled = self.jobs[slot].scheduled;
        if scheduled > 0 {
            self.members.retain(|&member| member != slot);
            self.budget += scheduled;
        }
        group.stop(self.jobs, slot);
        self.jobs[slot].preempt();
        group.enqueue(self.jobs, slot);
        group.totals.preemptions += 1;
        self.preempted = true;
    }

    fn schedule(&mut self, slot: JobSlot, tokens: u64) {
        self.jobs[slot].scheduled = tokens;
        self.members.push(slot);
        self.budget = self.budget.saturating_sub(tokens);
    }
}
