//! An engine on a timetable, for tests of clients.

use std::collections::{BTreeSet, VecDeque};

use fizeau_core::{Nanos, Stamp, Tokens};

use crate::job::{Emission, Job, JobId, JobTiming, SubmitError};
use crate::serve::{Gauges, Serve};

/// The most tokens of one job, prompt and output together: longer than any model's context.
const LONGEST_JOB: Tokens = Tokens::new(1 << 20);

/// With no time between tokens, how many of one job leave before the next job has its turn. [`Serve::advance`]
/// then returns, so that whoever listens can take them in.
const RUN: u64 = 1 << 12;

/// Gives token `k` of every job exactly at its arrival `+ ttft + k * itl`, however many jobs there are and
/// however long their prompts. What a client reports against this engine can be held against two known
/// numbers. A job may have up to 1,048,576 tokens, prompt and output together.
///
/// A token costs the same few nanoseconds however many jobs are live.
#[derive(Debug, Clone)]
pub struct FixedTiming {
    ttft: Nanos,
    itl: Nanos,
    live: BTreeSet<JobId>,
    /// Jobs before their first token, the soonest in front.
    first: VecDeque<Due>,
    /// Jobs before a later one, the soonest in front. Apart, since both queues then grow at their ends: the first
    /// as jobs arrive, the second as tokens leave, each with the same time to wait.
    next: VecDeque<Due>,
}

/// The next token of a job.
#[derive(Debug, Clone, Copy)]
struct Due {
    at: Stamp,
    job: JobId,
    submitted: Stamp,
    output_tokens: u64,
    index: u64,
}

impl FixedTiming {
    /// An engine with `ttft` to each first token and `itl` between any two. Both may be zero.
    #[must_use]
    pub const fn new(ttft: Nanos, itl: Nanos) -> Self {
        Self { ttft, itl, live: BTreeSet::new(), first: VecDeque::new(), next: VecDeque::new() }
    }

    /// Takes out the token that is due first, if that is by `to`.
    fn pop(&mut self, to: Stamp) -> Option<Due> {
        let first = self.first.front().map(|due| due.at);
        let next = self.next.front().map(|due| due.at);
        let queue = match (first, next) {
            (Some(first), Some(next)) if first <= next => &mut self.first,
            (Some(_), None) => &mut self.first,
            _ => &mut self.next,
        };
        queue.pop_front_if(|due| due.at <= to)
    }

    fn emission(&self, due: &Due) -> Emission {
        let Due { at, job, submitted, output_tokens, index } = *due;
        let last = index + 1 == output_tokens;
        let timing = JobTiming {
            submitted,
            admitted: submitted,
            first_token: submitted + self.ttft,
            cached_tokens: Tokens::ZERO,
            preemptions: 0,
        };
        Emission { job, at, index, count: 1, last, timing }
    }
}

/// Puts `due` behind all that is not later, which is nearly always at the end.
fn insert(queue: &mut VecDeque<Due>, due: Due) {
    match queue.back() {
        Some(back) if back.at > due.at => {
            let place = queue.partition_point(|other| other.at <= due.at);
            queue.insert(place, due);
        }
        _ => queue.push_back(due),
    }
}

impl Serve for FixedTiming {
    fn submit(&mut self, job: Job) -> Result<(), SubmitError> {
        job.check(self.longest_job())?;
        if !self.live.insert(job.id) {
            return Err(SubmitError::DuplicateId(job.id));
        }
        let Job { id, at: submitted, output_tokens, .. } = job;
        let at = submitted + self.ttft;
        let due = Due { at, job: id, submitted, output_tokens: output_tokens.get(), index: 0 };
        insert(&mut self.first, due);
        Ok(())
    }

    fn cancel(&mut self, id: JobId) {
        if self.live.remove(&id) {
            self.first.retain(|due| due.job != id);
            self.next.retain(|due| due.job != id);
        }
    }

    fn next_event(&self) -> Option<Stamp> {
        [self.first.front(), self.next.front()].into_iter().flatten().map(|due| due.at).min()
    }

    fn advance(&mut self, to: Stamp, emit: &mut dyn FnMut(Emission)) {
        while let Some(mut due) = self.pop(to) {
            let started = due;
            loop {
                let emission = self.emission(&due);
                emit(emission);
                if emission.last {
                    self.live.remove(&due.job);
                    break;
                }
                due.index += 1;
                due.at += self.itl;
                if due.at > started.at {
                    insert(&mut self.next, due);
                    break;
                }
                if due.index - started.index == RUN {
                    insert(&mut self.next, due);
                    return;
                }
            }
        }
    }

    fn longest_job(&self) -> Option<Tokens> {
        Some(LONGEST_JOB)
    }

    fn gauges(&self) -> Gauges {
        Gauges { running: self.live.len() as u64, ..Gauges::default() }
    }
}
