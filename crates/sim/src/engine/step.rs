//! How a step begins and ends.

use fizeau_core::{Nanos, Stamp};
use schedule::Scheduler;

use super::jobs::JobSlot;
use super::load::{LinearStepTimes, tally};
use super::passes::BegunPasses;
use super::*;

impl<S: StepTime> Engine<S> {
    pub(super) fn begin_batch(&mut self, start: Stamp) {
        let length = self.run_on(start).or_else(|| self.plan(start));
        self.now = start;
        let Some((members, length, passes)) = length else {
            self.stalled = true;
            return;
        };
        // A step of no length would let an engine stand still in time and yet go on.
        let length = length.max(Nanos::from_nanos(1));
        let stage = length / u64::from(self.step_time.stages().get());
        let before = self.batches.back().map_or(start, |batch| batch.end);
        let end = (start + length).max(before + stage);
        self.stage_free = start + stage;
        let passes = passes.map(|passes| Box::new((passes, length)));
        self.batches.push_back(Batch { members, end, passes });
        self.steps += 1;
    }

    /// The next step of a run, if it goes on: nobody came, and there are blocks for those who need one.
    fn run_on(&mut self, start: Stamp) -> Option<PlannedStep> {
        let mut run = self.run.take()?;
        let next = self.arriving.first_key_value();
        if next.is_some_and(|(arrival, _)| arrival.at <= start) {
            return None;
        }
        let length = run.next()?;
        let group = self.groups.first_mut()?;
        if group.blocks.available() < self.full.len() as u64 {
            return None;
        }
        for &slot in &self.full {
            let sequence = &mut self.jobs[slot];
            group.blocks.grow(&mut sequence.hold, sequence.computed + 1);
        }
        run.passes = run.passes.map(|passes| passes.next(&self.jobs, &self.groups));
        let passes = run.passes.clone();
        self.run = Some(run);
        Some((self.spare.pop()?, length, passes))
    }

    /// A step of whoever may take part; none if that is nobody.
    fn plan(&mut self, start: Stamp) -> Option<PlannedStep> {
        self.arrive(start);
        let mut members = self.spare.pop().unwrap_or_default();
        members.clear();
        let mut scheduler = Scheduler {
            config: &self.config,
            jobs: &mut self.jobs,
            start,
            micro_batches: self.step_time.stages().get().into(),
            members,
            budget: 0,
            preempted: false,
        };
        scheduler.plan(&mut self.groups);
        let Scheduler { mut members, preempted, .. } = scheduler;
        if members.is_empty() {
            self.spare.push(members);
            return None;
        }
        let load = tally(&self.config, &self.jobs, &self.groups, &members);
        let is_told = self.passes.is_some();
        let passes = is_told.then(|| BegunPasses::new(&load, &self.jobs, &members, &self.groups));
        if !preempted && self.is_steady(&load) {
            let pace = self.step_time.pace(&load);
            self.run = pace.map(|pace| DecodeRun { pace, next: 1, passes: passes.clone() });
        }
        members.retain(|&slot| self.jobs[slot].embark());
        Some((members, self.step_time.step_time(&load), passes))
    }

    /// Distributes the jobs that have arrived by `start`: each goes to the group with the fewest.
    fn arrive(&mut self, start: Stamp) {
        while let Some(first) = self.arriving.first_entry()
            && first.key().at <= start
        {
            let slot = first.remove();
            if let Some(group) = self.groups.iter_mut().min_by_key(|group| group.jobs()) {
                group.enqueue(&mut self.jobs, slot);
            }
            self.stalled = false;
        }
    }

    /// Whether the step with this load will be followed by others like it until a sequence ends, one needs a block that there is
    /// not, or a job comes.
    ///
    /// Who waits cannot be admitted in any of them, since there is a slot, or block, too few. Only what is found in the cache can
    /// become more.
    fn is_steady(&self, load: &StepLoad) -> bool {
        let [group] = self.groups.as_slice() else {
            return false;
        };
        let all_decode = load.decode_sequences == group.running.len() as u64;
        let plain = self.config.drafts.is_none() && self.step_time.stages().get() == 1;
        let none_admitted = group.waiting.is_empty()
            || self.config.prefix_caching == PrefixCaching::Off
            || load.decode_sequences == self.config.max_num_seqs;
        all_decode && load.prefill_sequences == 0 && plain && none_admitted
    }

    pub(super) fn end_batch(&mut self, emit: &mut dyn FnMut(Emission)) {
        let Some(Batch { members, end, passes }) = self.batches.pop_front() else {
            return;
        };
        if let Some((told, passes)) = self.passes.as_mut().zip(passes) {
            let (passes, length) = *passes;
            told.extend(passes.ended(end, length, self.step_time.work(&passes.load)));
        }
        self.now = end;
        self.stalled = false;
        self.full.clear();
        for &slot in &members {
            let Some(count) = self.end_step(slot) else {
                continue;
            };
            let sequence = &mut self.jobs[slot];
            let emission = sequence.give(count, end);
            emit(emission);
            if emission.last {
                self.ended.push(slot);
            } else if sequence.computed == sequence.hold.room {
                self.full.push(slot);
            }
        }
        self.spare.push(members);
        let mut ended = std::mem::take(&mut self.ended);
        for slot in ended.drain(..) {
            self.run = None;
            if let JobState::Running(group) = self.jobs[slot].place {
                self.groups[group].stop(&mut self.jobs, slot);
            }
            self.jobs.remove(slot);
        }
        self.ended = ended;
    }

    /// Takes note of what was computed of a sequence; how many tokens it gives for it, none while it reads.
    fn end_step(&mut self, slot: JobSlot) -> Option<u64> {
        let sequence = &mut self.jobs[slot];
        let mut given = 1;
        if sequence.reads() {
            sequence.computed += sequence.scheduled;
        } else {
            if let Some(drafts) = &self.config.drafts {
                let accepted = drafts.accepted(self.config.seed, sequence.id, sequence.drafts);
                given += u64::from(accepted).min(sequence.left() - 1);
                sequence.drafts += 1;
                if let JobState::Running(group) = sequence.place {
                    let totals = &mut self.groups[group].totals;
                    totals.drafts += 1;
                    totals.drafted += u64::from(drafts.length);
                    totals.accepted += given - 1;
                    let by_position = totals.accepted_by_position.iter_mut();
                    (1..given).zip(by_position).for_each(|(_, accepted)| *accepted += 1);
                }
            }
            sequence.computed += given;
        }
        sequence.scheduled = 0;
        sequence.under_way = false;
        if sequence.computed >= sequence.hold.known_next
            && let JobState::Running(group) = sequence.place
        {
            let content = sequence.content.as_deref().unwrap_or_default();
            let blocks = &mut self.groups[group].blocks;
            let shared = blocks.shared();
            blocks.learn(&mut sequence.hold, content, sequence.computed);
            if blocks.shared() != shared {
                self.run = None;
            }
        }
        (!sequence.reads()).then_some(given)
    }
}

// Batches under way, and runs of steps in which nothing changes.

/// What is computed together, from its beginning to its end.
#[derive(Debug, Clone)]
pub(super) struct Batch {
    /// Those that wait for its end, in the order in which their tokens leave.
    pub(super) members: Vec<JobSlot>,
    pub(super) end: Stamp,
    /// What is told of it; none where nobody asked.
    pub(super) passes: Option<Box<(BegunPasses, Nanos)>>,
}

/// Who takes part in a step, how long it takes, and what is told of it.
type PlannedStep = (Vec<JobSlot>, Nanos, Option<BegunPasses>);

/// Steps of the same sequences, all decoding a token each, of which the lengths are known in advance.
#[derive(Debug, Clone)]
pub(super) struct DecodeRun {
    pub(super) pace: LinearStepTimes,
    /// Which of its steps is the next.
    pub(super) next: u64,
    /// What is told of the last of them.
    pub(super) passes: Option<BegunPasses>,
}

impl DecodeRun {
    /// The length of the next step, if it is one of the run.
    pub(super) fn next(&mut self) -> Option<Nanos> {
        let length = (self.next < self.pace.steps).then(|| self.pace.at(self.next));
        self.next += 1;
        length
    }
}
