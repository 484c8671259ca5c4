//! The one outward interface of all simulated engines.

use std::num::NonZeroU64;

use fizeau_core::{Stamp, Tokens};

use crate::job::{Emission, Job, JobId, SubmitError};

/// A serving engine as a state machine: it is told the time and asked when to be told again.
///
/// Driving one is a loop: submit what has arrived, ask [`Serve::next_event`], wait until then by whatever
/// clock, call [`Serve::advance`]. `advance` may stop at an instant of which more is to be done, so that what
/// its emissions set off can be submitted at that same instant; `next_event` then names the instant again,
/// and a repeated call goes on. That happens finitely often for any instant.
///
/// ```
/// use fizeau_core::{Nanos, Stamp, Tokens};
/// use fizeau_sim::{FixedTiming, Job, JobId, Serve};
///
/// let mut engine = FixedTiming::new(Nanos::from_millis(20), Nanos::from_millis(5));
/// engine.submit(Job::new(JobId(0), Tokens::new(250), Tokens::new(3), Stamp::EPOCH))?;
/// let mut left = Vec::new();
/// while let Some(at) = engine.next_event() {
///     engine.advance(at, &mut |emission| left.push(emission.at.as_nanos() / 1_000_000));
/// }
/// assert_eq!(left, [20, 25, 30]);
/// # Ok::<(), fizeau_sim::SubmitError>(())
/// ```
pub trait Serve {
    /// Takes a job.
    ///
    /// # Errors
    /// If the job could never be served, or its number is in use.
    fn submit(&mut self, job: Job) -> Result<(), SubmitError>;

    /// Gives a job up and frees what it held. A number that is not live is ignored: the job may have just ended.
    fn cancel(&mut self, id: JobId);

    /// When something will happen next, if nothing is submitted or cancelled; none if there is nothing to do.
    /// May lie in the past, if the engine has not been advanced for a while.
    fn next_event(&self) -> Option<Stamp>;

    /// Lets time pass until `to`, giving every token that leaves to `emit`, in order of time.
    fn advance(&mut self, to: Stamp, emit: &mut dyn FnMut(Emission));

    /// The most tokens, prompt and output together, that one job may have; none if there is no limit.
    fn longest_job(&self) -> Option<Tokens>;

    /// Tokens of a block by which it finds prompts' beginnings again ([`Job::content`]); none if it does not.
    fn prefix_block(&self) -> Option<NonZeroU64> {
        None
    }

    /// How full it is, and what has happened so far.
    fn gauges(&self) -> Gauges;
}

/// How full an engine is, and what has happened in it since it began; of several replicas, all of them together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Gauges {
    /// Jobs that hold a slot.
    pub running: u64,
    /// Jobs that wait for one.
    pub waiting: u64,
    /// Blocks of the cache in use by running jobs.
    pub blocks_used: u64,
    /// Blocks of the cache; 0 where it has none.
    pub blocks: u64,
    /// Times that a job lost its place to others.
    pub preemptions: u64,
    /// Prompt tokens looked up in the prefix cache.
    pub prefix_queries: u64,
    /// Prompt tokens found there.
    pub prefix_hits: u64,
    /// Steps begun.
    pub steps: u64,
    /// Tokens drafted.
    pub drafted: u64,
    /// Tokens drafted and accepted.
    pub accepted: u64,
}

impl std::ops::Add for Gauges {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            running: self.running + other.running,
            waiting: self.waiting + other.waiting,
            blocks_used: self.blocks_used + other.blocks_used,
            blocks: self.blocks + other.blocks,
            preemptions: self.preemptions + other.preemptions,
            prefix_queries: self.prefix_queries + other.prefix_queries,
            prefix_hits: self.prefix_hits + other.prefix_hits,
            steps: self.steps + other.steps,
            drafted: self.drafted + other.drafted,
            accepted: self.accepted + other.accepted,
        }
    }
}

impl<T: Serve + ?Sized> Serve for Box<T> {
    fn submit(&mut self, job: Job) -> Result<(), SubmitError> {
        (**self).submit(job)
    }

    fn cancel(&mut self, id: JobId) {
        (**self).cancel(id);
    }

    fn next_event(&self) -> Option<Stamp> {
        (**self).next_event()
    }

    fn advance(&mut self, to: Stamp, emit: &mut dyn FnMut(Emission)) {
        (**self).advance(to, emit);
    }

    fn longest_job(&self) -> Option<Tokens> {
        (**self).longest_job()
    }

    fn prefix_block(&self) -> Option<NonZeroU64> {
        (**self).prefix_block()
    }

    fn gauges(&self) -> Gauges {
        (**self).gauges()
    }
}
