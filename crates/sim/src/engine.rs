//! The continuous-batching state machine.

mod config;
mod load;
mod sequence;
mod speculation;

pub use config::{Chunking, ConfigError, EngineConfig, Order, Policy, PrefixCaching};
pub use load::{Pace, StepLoad, StepTime};
pub use speculation::Drafts;

use std::collections::{BTreeSet, VecDeque};

use fizeau_core::{Nanos, Stamp, Tokens};

use crate::job::{Emission, Job, JobId, SubmitError};
use crate::serve::{Gauges, Serve};
use sequence::Sequence;

/// A continuous-batching engine: work happens in steps, and each step advances every running sequence.
///
/// At the start of a step, jobs that have arrived are admitted in order of arrival, as long as there is a
/// free slot, room in the key-value cache for prompt and output together (so nothing is ever preempted), and
/// prefill budget left. A job that does not fit holds back those behind it. A prompt longer than the budget
/// is read in chunks over several steps, with the other sequences decoding beside it. What of a prompt is cached
/// ([`Job::cached_tokens`]) is not read, but attended to. At the end of the step each decoding sequence gives one token, and each whose prompt is complete gives its first.
///
/// The engine has no clock: see [`Serve`] for how to drive one.
///
/// ```
/// use fizeau_core::{Nanos, Stamp, Tokens};
/// use fizeau_sim::{Engine, EngineConfig, Job, JobId, Serve, StepLoad};
///
/// let config = EngineConfig::new(8, Tokens::new(10_000));
/// let config = EngineConfig { max_batched_tokens: Tokens::new(512), ..config };
/// let mut engine = Engine::new(config, |_: &StepLoad| Nanos::from_millis(10))?;
/// engine.submit(Job::new(JobId(0), Tokens::new(600), Tokens::new(2), Stamp::EPOCH))?;
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
    /// In order of arrival; of submission, where arrivals are equal.
    waiting: VecDeque<Job>,
    /// In order of admission.
    running: Vec<Sequence>,
    live: BTreeSet<JobId>,
    /// Prompt and output tokens of everything that runs.
    reserved: Tokens,
    /// When the step under way ends.
    step_end: Option<Stamp>,
    /// When the last step ended.
    idle_since: Stamp,
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
    pub(crate) const fn of_checked(config: EngineConfig, step_time: S) -> Self {
        Self {
            config,
            step_time,
            waiting: VecDeque::new(),
            running: Vec::new(),
            live: BTreeSet::new(),
            reserved: Tokens::ZERO,
            step_end: None,
            idle_since: Stamp::EPOCH,
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
        self.running.len()
    }

    /// How many jobs wait for one.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Key-value cache reserved by the running sequences.
    #[must_use]
    pub const fn kv_reserved(&self) -> Tokens {
        self.reserved
    }

    /// When the next step can begin: at once if anything runs, else as the next job arrives. A job alone
    /// always fits, or it would have been refused.
    fn next_start(&self) -> Option<Stamp> {
        if self.running.is_empty() {
            let next = self.waiting.front()?;
            return Some(next.at.max(self.idle_since));
        }
        Some(self.idle_since)
    }

    fn begin_step(&mut self, start: Stamp) {
        let mut budget = self.config.max_batched_tokens.get();
        let mut load = StepLoad::default();
        for sequence in &mut self.running {
            budget -= sequence.plan(budget, &mut load);
        }
        while budget > 0
            && let Some(job) = self.admit(start)
        {
            let mut sequence = Sequence::new(job, start);
            budget -= sequence.plan(budget, &mut load);
            self.running.push(sequence);
        }
        // A step of no length would let an engine stand still in time and yet go on.
        let length = self.step_time.step_time(&load).max(Nanos::from_nanos(1));
        self.step_end = Some(start + length);
    }

    /// Takes the next job off the queue if it may run from `start` on.
    fn admit(&mut self, start: Stamp) -> Option<Job> {
        let next = self.waiting.front()?;
        let reserved = self.reserved + next.total_tokens();
        let fits = (self.running.len() as u64) < self.config.max_num_seqs
            && reserved <= self.config.kv_capacity()
            && next.at <= start;
        if !fits {
            return None;
        }
        self.reserved = reserved;
        self.waiting.pop_front()
    }

    fn finish_step(&mut self, end: Stamp, emit: &mut dyn FnMut(Emission)) {
        self.step_end = None;
        self.idle_since = end;
        let mut freed = 0;
        let live = &mut self.live;
        self.running.retain_mut(|sequence| {
            let Some(emission) = sequence.finish_step(end) else {
                return true;
            };
            emit(emission);
            if emission.last {
                live.remove(&emission.job);
                freed += sequence.job().total_tokens().get();
            }
            !emission.last
        });
        self.release(Tokens::new(freed));
    }

    fn release(&mut self, freed: Tokens) {
        self.reserved = Tokens::new(self.reserved.get().saturating_sub(freed.get()));
    }
}

impl<S: StepTime> Serve for Engine<S> {
    fn submit(&mut self, job: Job) -> Result<(), SubmitError> {
        job.check(Some(self.config.longest_job()))?;
        if !self.live.insert(job.id) {
            return Err(SubmitError::DuplicateId(job.id));
        }
        let place = self.waiting.partition_point(|other| other.at <= job.at);
        self.waiting.insert(place, job);
        Ok(())
    }

    /// Frees slot and cache at once; a step under way takes as long as it was going to.
    fn cancel(&mut self, id: JobId) {
        if !self.live.remove(&id) {
            return;
        }
        if let Some(place) = self.running.iter().position(|s| s.job().id == id) {
            let freed = self.running.remove(place).job().total_tokens();
            self.release(freed);
        } else {
            self.waiting.retain(|job| job.id != id);
        }
    }

    fn next_event(&self) -> Option<Stamp> {
        self.step_end.or_else(|| self.next_start())
    }

    /// Stops at the end of a step that falls on `to`: the next step begins when called again, with what was
    /// submitted in between.
    fn advance(&mut self, to: Stamp, emit: &mut dyn FnMut(Emission)) {
        loop {
            if let Some(end) = self.step_end {
                if end > to {
                    return;
                }
                self.finish_step(end, emit);
                if end == to {
                    return;
                }
            }
            match self.next_start() {
                Some(start) if start <= to => self.begin_step(start),
                _ => return,
            }
        }
    }

    fn longest_job(&self) -> Option<Tokens> {
        Some(self.config.longest_job())
    }

    fn gauges(&self) -> Gauges {
        Gauges {
            running: self.running.len() as u64,
            waiting: self.waiting.len() as u64,
            blocks: self.config.blocks,
            ..Gauges::default()
        }
    }
}
