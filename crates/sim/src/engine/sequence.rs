//! One live job.

use fizeau_core::{Stamp, Tokens};

use super::blocks::Hold;
use super::config::Order;
use crate::job::{Content, Emission, Job, JobId, JobTiming};

/// A job and how far it is.
///
/// What it is to have computed is its prompt and what it has given so far, but for the token given last: decoding computes that
/// one and gives the next.
#[derive(Debug, Clone)]
pub(super) struct Sequence {
    pub(super) id: JobId,
    pub(super) content: Option<Content>,
    prompt: u64,
    output: u64,
    pub(super) timing: JobTiming,
    pub(super) rank: Rank,
    pub(super) place: Place,
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
    pub(super) hold: Hold,
}

/// Who goes first among those that wait: the lower.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rank {
    /// 0 for all where the engine does not order by it.
    pub(super) priority: i64,
    /// Those that lost their place go before those that never had one.
    pub(super) fresh: bool,
    pub(super) arrival: Arrival,
}

/// Who came first: the instant, and of equals who was submitted first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Arrival {
    pub(super) at: Stamp,
    pub(super) number: u64,
}

/// Where a job is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// Before all groups: no step has begun since it arrived.
    Arriving,
    /// In the queue of a group.
    Waiting(usize),
    /// In a slot of a group.
    Running(usize),
}

impl Sequence {
    /// The `number`th job. One that another engine has begun comes with its prompt computed and a token given.
    pub(super) fn new(job: Job, order: Order, number: u64) -> Self {
        let priority = match order {
            Order::Arrival => 0,
            Order::Priority => job.priority.0,
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
            rank: Rank { priority, fresh: true, arrival: Arrival { at: job.at, number } },
            place: Place::Arriving,
            to_read: prompt,
            computed: if job.begun.is_some() { prompt } else { 0 },
            given: u64::from(job.begun.is_some()),
            drafts: 0,
            scheduled: 0,
            under_way: false,
            hold: Hold::default(),
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
        Emission { job: self.id, at, index, count, last, timing: self.timing }
    }
}
