//! The continuous-batching state machine.

#[cfg(test)]
mod audit;
mod blocks;
mod config;
mod jobs;
mod load;
mod passes;
mod schedule;
mod speculation;
mod step;

use std::collections::{BTreeMap, VecDeque};
use std::num::NonZeroU64;

use fizeau_core::{Stamp, Tokens};

pub(crate) use blocks::KnownBlocks;
pub use config::{AdmissionOrder, Chunking, ConfigError, EngineConfig, Policy, PrefixCaching};
pub use load::{LinearStepTimes, StepLoad, StepTime};
pub use speculation::EngineDrafts;

use crate::pass::EnginePass;
use crate::serve::{Emission, EngineJob, Gauges, JobId, Serve, SubmitError};
use jobs::{JobSlot, JobState, JobTable, SchedulingGroup, Sequence, SubmissionOrder};
use step::{Batch, DecodeRun};

/// A continuous-batching engine: work happens in steps, and who takes part is decided anew before each.
///
/// It schedules as vLLM (V1) does, by the rules below. With [`Policy::PrefillFirst`] steps are those of vLLM V0 and, as far as
/// order goes, of SGLang. Each rule was held against the source: of vLLM `vllm/v1/core/sched/scheduler.py` at commit 00024d31
/// (`schedule`, `_preempt_request`) and `vllm/v1/core/kv_cache_manager.py` at 003df296 (`get_computed_blocks`, `allocate_slots`); of SGLang
/// `python/sglang/srt/managers/schedule_policy.py` at 00550cd1 (`PrefillAdder`) and `schedule_batch.py` beside it at 000eaffa
/// (`retract_decode`).
///
/// - A step has a budget of tokens. Sequences whose prompt is read bring one each (and a draft); then prompts that are being
///   read bring their next chunk; then waiting jobs are admitted in order as long as there are budget, slots and blocks. One that
///   does not fit holds back those behind it. [`Policy`] and [`Chunking`] change this as they say. (vLLM `schedule`: those that run, in
///   the order in which they were admitted, then the queue. A prompt that is read in part was admitted last, so that decoding first
///   is the same.)
/// - The key-value cache is paged: a sequence holds as many blocks as its tokens need. It is admitted if there are blocks for
///   all that it has to read (vLLM `allocate_slots` with `full_sequence_must_fit`, which `scheduler_reserve_full_isl` asks for;
///   versions before it admit with room for the first chunk). One that needs a block when there is none takes that of the sequence
///   admitted last (or of the one to go last by [`AdmissionOrder::Priority`]), maybe itself: that one is preempted. It returns to
///   the front of the queue and reads all again, what it has given included, without giving it again. A step that preempts admits
///   nobody (vLLM `_preempt_request`, and `schedule` where `preempted_reqs` is not empty).
/// - With [`PrefixCaching::On`] full blocks stay until others need the room, and a prompt that begins alike is not read so far,
///   be it that another reads it in the same step. The last token is read in any case (vLLM `get_computed_blocks`).
/// - At the end of the step each sequence that decodes gives one token or, with [`EngineDrafts`], several, and each
///   whose prompt is complete gives its first.
/// - With pipeline stages ([`StepTime::stages`]) several batches are under way at once, each with its share of the decoding
///   sequences. A batch behind a longer one leaves no sooner than a stage's time after it. The chunks of a prompt follow each
///   other through the stages; only the last is waited for.
/// - Groups of attention data parallelism each have a queue, slots and blocks. A job goes to the group with the fewest.
///
/// What the published schedulers do otherwise, and this one does not:
///
/// - SGLang admits a request if there is room for its prompt and its longest output (4,096 tokens of that at most,
///   `CLIP_MAX_NEW_TOKENS` in `add_one_req`), and for a share of what those that run may still give. The share (`new_token_ratio`)
///   falls step by step, and rises when somebody has to go. Here no output is counted or, with
///   [`Admission::Whole`](fizeau_roofline::Admission::Whole), all of each.
/// - SGLang retracts the sequence with the fewest tokens given, of equals the one with the longest prompt (`retract_decode`). Here
///   the last to have been admitted goes, as in vLLM.
/// - SGLang can order its queue by the prefixes found (`lpm`, up to 128 that wait), and shares prefixes by the token. Here it is by
///   arrival or priority, and by the block.
/// - vLLM plans a step while the one before it runs (asynchronous scheduling, by default where nothing speaks against it:
///   `vllm/config/vllm.py` at 000fc94b), can limit long prompts (`long_prefill_token_threshold`) and can keep blocks free
///   (`watermark`, by default none). These have no counterpart.
/// - Where by priority a sequence has to make room by leaving itself, vLLM plans none of those behind it in that step. Here they take part.
/// - vLLM cuts a draft that is longer than what is left of the budget. Here the sequence waits for the next step.
/// - vLLM sends a request to the group with the least of four times those that wait and those that run, by counts up to 100 ms old
///   (`vllm/v1/engine/core_client.py`, `get_core_engine_for_request`). Here all count alike, as they are.
/// - With pipeline stages vLLM plans a batch of every sequence that is not under way, so that those that were admitted in one step
///   stay one batch. Here each batch takes its share of all.
/// - Of a block that several compute at once vLLM keeps every copy, and it hands freed blocks out in the order in which they were
///   freed, whatever they hold. Here one copy is kept, and blocks whose tokens nobody could find again go first.
///
/// The engine has no clock: see [`Serve`] for how to drive one.
///
/// ```
/// use fizeau_core::{Nanos, Stamp, Tokens};
/// use fizeau_sim::{Engine, EngineConfig, EngineJob, JobId, Serve, StepLoad};
///
/// let config = EngineConfig::new(8, Tokens::new(10_000));
/// let config = EngineConfig { max_batched_tokens: Tokens::new(512), ..config };
/// let mut engine = Engine::new(config, |_: &StepLoad| Nanos::from_millis(10))?;
/// engine.submit(EngineJob::new(JobId(0), Tokens::new(600), Tokens::new(2), Stamp::EPOCH))?;
/// let mut left = Vec::new();
/// while let Some(at) = engine.next_event() {
///     engine.advance(at, &mut |emission| left.push(emission.at.as_nanos() / 1_000_000));
/// }
/// assert_eq!(left, [20, 30], "two steps for the prompt, one for the second token");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Engine<S> {
    config: EngineConfig,
    step_time: S,
    jobs: JobTable,
    /// How many jobs were ever submitted.
    submitted: u64,
    /// When the front end can begin with the next one.
    front_end_free: Stamp,
    /// Jobs that no step has seen yet.
    arriving: BTreeMap<SubmissionOrder, JobSlot>,
    groups: Vec<SchedulingGroup>,
    /// What is under way, the first to end in front; without a pipeline at most one.
    batches: VecDeque<Batch>,
    /// Lists of members to be used again. Within a run the last is that of the step before.
    spare: Vec<Vec<JobSlot>>,
    /// When the next batch can begin, as far as the one before it goes.
    stage_free: Stamp,
    /// When a batch last began or ended.
    now: Stamp,
    /// Whether there was nothing to do though jobs are there: then all takes part in batches under way.
    stalled: bool,
    /// Set as long as nothing changes.
    run: Option<DecodeRun>,
    /// Sequences of the last step whose blocks are full.
    full: Vec<JobSlot>,
    /// Sequences that ended with the last step.
    ended: Vec<JobSlot>,
    /// Steps begun.
    steps: u64,
    /// Passes that ended; none where nobody asked for them.
    passes: Option<Vec<EnginePass>>,
}

impl<S: StepTime> Engine<S> {
    /// An engine with nothing to do, whose steps take as long as `step_time` says.
    ///
    /// # Errors
    /// If it cannot run so: see [`EngineConfig::check`].
    pub fn new(config: EngineConfig, step_time: S) -> Result<Self, ConfigError> {
        config.check()?;
        Ok(Self::of_checked(config, step_time))
    }

    /// An engine of a configuration that has been checked.
    pub(crate) fn of_checked(config: EngineConfig, step_time: S) -> Self {
        let groups =
            (0..config.groups as usize).map(|number| SchedulingGroup::new(&config, number));
        Self {
            groups: groups.collect(),
            config,
            step_time,
            jobs: JobTable::default(),
            submitted: 0,
            front_end_free: Stamp::EPOCH,
            arriving: BTreeMap::new(),
            batches: VecDeque::new(),
            spare: Vec::new(),
            stage_free: Stamp::EPOCH,
            now: Stamp::EPOCH,
            stalled: false,
            run: None,
            full: Vec::new(),
            ended: Vec::new(),
            steps: 0,
            passes: None,
        }
    }

    /// The limits that it keeps.
    #[must_use]
    pub const fn config(&self) -> &EngineConfig {
        &self.config
    }

    /// How many sequences hold a slot.
    #[must_use]
    pub fn running(&self) -> usize {
        self.groups.iter().map(|group| group.running.len()).sum()
    }

    /// How many jobs wait for one.
    #[must_use]
    pub fn waiting(&self) -> usize {
        let queued: usize = self.groups.iter().map(|group| group.waiting.len()).sum();
        self.arriving.len() + queued
    }

    /// When the next batch can begin: as soon as the first stage is free if there is somebody to take part, else as the next job
    /// arrives.
    fn next_start(&self) -> Option<Stamp> {
        if self.batches.len() as u64 >= u64::from(self.step_time.stages().get()) {
            return None;
        }
        let ready = self.stage_free.max(self.now);
        if !self.stalled && self.has_work() {
            return Some(ready);
        }
        self.arriving.first_key_value().map(|(arrival, _)| arrival.at.max(ready))
    }

    /// Whether somebody waits, or runs and is in no batch under way.
    fn has_work(&self) -> bool {
        let under_way: usize = self.batches.iter().map(|batch| batch.members.len()).sum();
        let jobs: usize = self.groups.iter().map(SchedulingGroup::jobs).sum();
        jobs > under_way
    }

    /// As many wait as may.
    fn check_queue(&self) -> Result<(), SubmitError> {
        let waiting = self.waiting() as u64;
        match self.config.max_waiting {
            Some(most) if waiting >= most => Err(SubmitError::QueueFull { waiting }),
            _ => Ok(()),
        }
    }
}

impl<S: StepTime> Serve for Engine<S> {
    /// A job that another engine has begun must have a token left to give.
    fn submit(&mut self, job: EngineJob) -> Result<(), SubmitError> {
        job.check(Some(self.config.longest_job()))?;
        if job.begun.is_some() && job.output_tokens == Tokens::new(1) {
            let (prompt, output) = (job.prompt_tokens, Tokens::ZERO);
            return Err(SubmitError::Empty { prompt, output });
        }
        if self.jobs.slot(job.id).is_some() {
            return Err(SubmitError::DuplicateId(job.id));
        }
        self.check_queue()?;
        let is_new = job.begun.is_none();
        let mut sequence = Sequence::new(job, self.config.order, self.submitted);
        if is_new {
            let arrival = &mut sequence.rank.arrival.at;
            let begun = (*arrival).max(self.front_end_free);
            self.front_end_free = begun + self.config.front_end_per_request;
            *arrival = begun + self.config.front_end;
        }
        self.submitted += 1;
        let arrival = sequence.rank.arrival;
        let slot = self.jobs.insert(sequence);
        self.arriving.insert(arrival, slot);
        Ok(())
    }

    /// Frees slot and cache at once; a step under way takes as long as it was going to.
    fn cancel(&mut self, id: JobId) {
        let Some(slot) = self.jobs.slot(id) else {
            return;
        };
        let rank = self.jobs[slot].rank;
        match self.jobs[slot].place {
            JobState::Arriving => {
                self.arriving.remove(&rank.arrival);
            }
            JobState::Waiting(group) => {
                self.groups[group].waiting.remove(&rank);
            }
            JobState::Running(group) => {
                self.groups[group].stop(&mut self.jobs, slot);
                let lists = self.batches.iter_mut().map(|batch| &mut batch.members);
                lists.for_each(|members| members.retain(|&member| member != slot));
            }
        }
        self.jobs.remove(slot);
        self.run = None;
        self.stalled = false;
    }

    fn next_event(&self) -> Option<Stamp> {
        let end = self.batches.front().map(|batch| batch.end);
        [end, self.next_start()].into_iter().flatten().min()
    }

    /// Stops at the end of a step that falls on `to`: the next step begins when called again, with what was
    /// submitted in between.
    fn advance(&mut self, to: Stamp, emit: &mut dyn FnMut(Emission)) {
        loop {
            let end = self.batches.front().map(|batch| batch.end);
            match (end, self.next_start()) {
                (Some(end), start) if start.is_none_or(|start| end <= start) => {
                    if end > to {
                        return;
                    }
                    self.end_batch(emit);
                    if end == to {
                        return;
                    }
                }
                (_, Some(start)) if start <= to => self.begin_batch(start),
                _ => return,
            }
        }
    }

    fn longest_job(&self) -> Option<Tokens> {
        Some(self.config.longest_job())
    }

    fn prefix_block(&self) -> Option<NonZeroU64> {
        match self.config.prefix_caching {
            PrefixCaching::Off => None,
            PrefixCaching::On => NonZeroU64::new(self.config.block.get()),
        }
    }

    fn record_passes(&mut self) {
        self.passes.get_or_insert_default();
        // The steps of a run that has begun were not looked at one by one.
        self.run = None;
    }

    fn take_passes(&mut self, take: &mut dyn FnMut(EnginePass)) {
        self.passes.iter_mut().for_each(|passes| passes.drain(..).for_each(&mut *take));
    }

    fn gauges(&self) -> Gauges {
        let all = self.gauges_by_rank().into_iter().fold(Gauges::default(), |sum, each| sum + each);
        Gauges { steps: self.steps, ..all }
    }

    /// Its groups. Jobs that no step has seen yet wait in the first.
    fn gauges_by_rank(&self) -> Vec<Gauges> {
        let EngineConfig { blocks, block, .. } = self.config;
        let arriving = [self.arriving.len()].into_iter().chain(std::iter::repeat(0));
        let gauges = |(group, arriving): (&SchedulingGroup, usize)| Gauges {
            running: group.running.len() as u64,
            waiting: (group.waiting.len() + arriving) as u64,
            blocks_used: group.blocks.used(),
            blocks,
            cache_tokens: blocks.saturating_mul(block.get()),
            steps: self.steps,
            ..group.totals.clone()
        };
        self.groups.iter().zip(arriving).map(gauges).collect()
    }
}
