//! The one outward interface of all simulated engines.

use std::num::NonZeroU64;
use std::sync::Arc;

use fizeau_core::{Nanos, Stamp, Tokens};

use crate::pass::EnginePass;

/// A serving engine as a state machine: it is told the time and asked when to be told again.
///
/// Driving one is a loop: submit what has arrived, ask [`Serve::next_event`], wait until then by whatever
/// clock, call [`Serve::advance`]. `advance` may stop at an instant of which more is to be done, so that what
/// its emissions set off can be submitted at that same instant; `next_event` then names the instant again,
/// and a repeated call goes on. That happens finitely often for any instant.
///
/// ```
/// use fizeau_core::{Nanos, Stamp, Tokens};
/// use fizeau_sim::{FixedTiming, EngineJob, JobId, Serve};
///
/// let mut engine = FixedTiming::new(Nanos::from_millis(20), Nanos::from_millis(5));
/// engine.submit(EngineJob::new(JobId(0), Tokens::new(250), Tokens::new(3), Stamp::EPOCH))?;
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
    fn submit(&mut self, job: EngineJob) -> Result<(), SubmitError>;

    /// Gives a job up and frees what it held. A number that is not live is ignored: the job may have just ended.
    fn cancel(&mut self, id: JobId);

    /// When something will happen next, if nothing is submitted or cancelled; none if there is nothing to do.
    /// May lie in the past, if the engine has not been advanced for a while.
    fn next_event(&self) -> Option<Stamp>;

    /// Lets time pass until `to`, giving every token that leaves to `emit`, in order of time.
    fn advance(&mut self, to: Stamp, emit: &mut dyn FnMut(Emission));

    /// The most tokens, prompt and output together, that one job may have; none if there is no limit.
    fn longest_job(&self) -> Option<Tokens>;

    /// Tokens of a block by which it finds prompts' beginnings again ([`EngineJob::content`]); none if it does not.
    fn prefix_block(&self) -> Option<NonZeroU64> {
        None
    }

    /// From now on each step is noted, for [`Serve::take_passes`]. An engine without steps has none.
    fn record_passes(&mut self) {}

    /// Gives each step that ended since the last call, in the order of each engine, to `take`.
    fn take_passes(&mut self, take: &mut dyn FnMut(EnginePass)) {
        let _ = take;
    }

    /// How full it is, and what has happened so far.
    fn gauges(&self) -> Gauges;

    /// The same of each engine in it that has a queue of its own, in the order of [`EnginePass::rank`]; together they are
    /// [`Serve::gauges`] but for steps that they take together.
    fn gauges_by_rank(&self) -> Vec<Gauges> {
        vec![self.gauges()]
    }
}

/// How full an engine is, and what has happened in it since it began; of several replicas, all of them together.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[cfg_attr(feature = "http", derive(serde::Serialize))]
pub struct Gauges {
    /// Jobs that hold a slot.
    pub running: u64,
    /// Jobs that wait for one.
    pub waiting: u64,
    /// Of these, jobs that could not begin in a slot either: their cache is on its way from another engine.
    pub deferred: u64,
    /// Blocks of the cache in use by running jobs.
    pub blocks_used: u64,
    /// Blocks of the cache; 0 where it has none.
    pub blocks: u64,
    /// Tokens that they hold.
    pub cache_tokens: u64,
    /// Times that a job lost its place to others.
    pub preemptions: u64,
    /// Prompt tokens looked up in the prefix cache.
    pub prefix_queries: u64,
    /// Prompt tokens found there.
    pub prefix_hits: u64,
    /// Steps begun.
    pub steps: u64,
    /// Drafts verified.
    pub drafts: u64,
    /// Tokens drafted.
    pub drafted: u64,
    /// Tokens drafted and accepted.
    pub accepted: u64,
    /// Of these, those of each position in their draft; empty where nothing is drafted.
    pub accepted_by_position: Vec<u64>,
}

impl std::ops::Add for Gauges {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        let (mut by_position, mut more) = (self.accepted_by_position, other.accepted_by_position);
        if by_position.len() < more.len() {
            std::mem::swap(&mut by_position, &mut more);
        }
        by_position.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
        Self {
            running: self.running + other.running,
            waiting: self.waiting + other.waiting,
            deferred: self.deferred + other.deferred,
            blocks_used: self.blocks_used + other.blocks_used,
            blocks: self.blocks + other.blocks,
            cache_tokens: self.cache_tokens + other.cache_tokens,
            preemptions: self.preemptions + other.preemptions,
            prefix_queries: self.prefix_queries + other.prefix_queries,
            prefix_hits: self.prefix_hits + other.prefix_hits,
            steps: self.steps + other.steps,
            drafts: self.drafts + other.drafts,
            drafted: self.drafted + other.drafted,
            accepted: self.accepted + other.accepted,
            accepted_by_position: by_position,
        }
    }
}

impl<T: Serve + ?Sized> Serve for Box<T> {
    fn submit(&mut self, job: EngineJob) -> Result<(), SubmitError> {
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

    fn record_passes(&mut self) {
        (**self).record_passes();
    }

    fn take_passes(&mut self, take: &mut dyn FnMut(EnginePass)) {
        (**self).take_passes(take);
    }

    fn gauges(&self) -> Gauges {
        (**self).gauges()
    }

    fn gauges_by_rank(&self) -> Vec<Gauges> {
        (**self).gauges_by_rank()
    }
}

// What an engine is given, and what it gives back.

/// The number of a job; whoever submits chooses it. No two live jobs of an engine share one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JobId(pub u64);

/// One request, as an engine sees it: lengths, an instant, and what it shares with others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EngineJob {
    /// Its number.
    pub id: JobId,
    /// Length of the prompt, at least 1.
    pub prompt_tokens: Tokens,
    /// How many tokens to generate, at least 1: a simulated model stops there, not before.
    pub output_tokens: Tokens,
    /// When it arrived. May lie ahead of the engine.
    pub at: Stamp,
    /// Who goes first where the engine orders by it ([`crate::AdmissionOrder::Priority`]).
    pub priority: Priority,
    /// What prompt and reply are, block by block, for an engine that keeps prefixes ([`crate::Serve::prefix_block`]); none
    /// if nothing of it is shared.
    pub content: Option<BlockHashes>,
    /// What became of it in an engine before this one, which read its prompt and gave its first token: this engine gets keys
    /// and values with it, needs room for them, and goes on with the second token. None for a new job.
    pub begun: Option<JobTiming>,
}

/// Which jobs go first: the lower, the sooner, as in vLLM.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Priority(pub i64);

/// The identity of a job's tokens, in blocks of the engine's size: of each full block of prompt and reply together, a hash of
/// all tokens up to its end. Two jobs whose first `n` hashes are equal have their first `n` blocks in common.
///
/// The reply counts too, since a simulated model's words are known beforehand: a later turn of a conversation finds it in the
/// cache, as far as it was generated.
pub type BlockHashes = Arc<[u64]>;

impl EngineJob {
    /// A new job without content, of ordinary priority.
    ///
    /// ```
    /// use fizeau_core::{Stamp, Tokens};
    /// use fizeau_sim::{EngineJob, JobId};
    /// let job = EngineJob::new(JobId(7), Tokens::new(100), Tokens::new(5), Stamp::EPOCH);
    /// assert_eq!(job.total_tokens(), Tokens::new(105));
    /// ```
    #[must_use]
    pub const fn new(id: JobId, prompt: Tokens, output: Tokens, at: Stamp) -> Self {
        let (content, begun) = (None, None);
        let priority = Priority(0);
        Self { id, prompt_tokens: prompt, output_tokens: output, at, priority, content, begun }
    }

    /// Prompt and output together: what the job needs of the key-value cache at its end.
    #[must_use]
    pub fn total_tokens(&self) -> Tokens {
        self.prompt_tokens + self.output_tokens
    }

    /// Whether an engine that takes jobs of up to `limit` tokens can take this one.
    pub(crate) fn check(&self, limit: Option<Tokens>) -> Result<(), SubmitError> {
        let (prompt, output) = (self.prompt_tokens, self.output_tokens);
        if prompt == Tokens::ZERO || output == Tokens::ZERO {
            return Err(SubmitError::Empty { prompt, output });
        }
        match limit {
            Some(limit) if self.total_tokens() > limit => {
                Err(SubmitError::TooLong { prompt, output, limit })
            }
            _ => Ok(()),
        }
    }
}

/// Tokens of a job leaving an engine together: one, or with speculative decoding several.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Emission {
    /// Whose they are.
    pub job: JobId,
    /// The engine of several that they leave, by the number that its steps have ([`EnginePass::rank`]).
    pub rank: u32,
    /// When they left.
    pub at: Stamp,
    /// The number of the first of them within the job, from 0.
    pub index: u64,
    /// How many they are, at least 1.
    pub count: u64,
    /// Whether the job's last token is among them; the job is then over and its place is free.
    pub last: bool,
    /// What the job went through before.
    pub timing: JobTiming,
}

/// The stations of a job up to its first token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JobTiming {
    /// When the job arrived.
    pub submitted: Stamp,
    /// When it was given a slot: the start of the step with the first chunk of its prompt.
    pub admitted: Stamp,
    /// When its first token left.
    pub first_token: Stamp,
    /// Prompt tokens that a prefix cache held when the job was admitted first.
    pub cached_tokens: Tokens,
    /// How often it lost its place, and all that had been computed of it, to others.
    pub preemptions: u32,
}

impl JobTiming {
    /// Time spent waiting for a slot.
    #[must_use]
    pub const fn queue(&self) -> Nanos {
        self.admitted.saturating_since(self.submitted)
    }

    /// Time spent on the prompt, first token included.
    #[must_use]
    pub const fn prefill(&self) -> Nanos {
        self.first_token.saturating_since(self.admitted)
    }
}

/// Why an engine refused a job. Nothing was queued.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SubmitError {
    /// A live job has the same number.
    #[error("job {} is already in the engine: give each live job a number of its own", .0.0)]
    DuplicateId(JobId),
    /// As many wait as may.
    #[error("{waiting} requests are waiting already and the queue is full: try again later")]
    QueueFull {
        /// How many wait.
        waiting: u64,
    },
    /// There is nothing to read or nothing to write.
    #[error(
        "a job needs at least one prompt token and one output token, not {prompt} and {output}"
    )]
    Empty {
        /// Prompt length asked for.
        prompt: Tokens,
        /// Output length asked for.
        output: Tokens,
    },
    /// It could never be served.
    #[error(
        "{prompt} prompt tokens and {output} output tokens are {} together, more than the {limit} that one \
         request may have",
        *.prompt + *.output
    )]
    TooLong {
        /// Prompt length asked for.
        prompt: Tokens,
        /// Output length asked for.
        output: Tokens,
        /// The most that prompt and output may have together.
        limit: Tokens,
    },
}
