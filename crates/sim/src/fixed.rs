//! An engine on a timetable, for tests of clients.

use std::collections::{BTreeMap, BTreeSet};

use fizeau_core::{Nanos, Stamp, Tokens};

use crate::job::{Emission, Job, JobId, JobTiming, SubmitError};
use crate::serve::Serve;

/// The most tokens of one job, prompt and output together. Longer than any model's context, and few enough to be
/// held at once: with no time between tokens, all of a job's are due at the same instant.
const LONGEST_JOB: Tokens = Tokens::new(1 << 20);

/// Gives token `k` of every job exactly at its arrival `+ ttft + k * itl`, however many jobs there are and
/// however long their prompts. What a client reports against this engine can be held against two known
/// numbers. A job may have up to 1,048,576 tokens, prompt and output together.
#[derive(Debug, Clone)]
pub struct FixedTiming {
    ttft: Nanos,
    itl: Nanos,
    live: BTreeMap<JobId, Live>,
    /// The next token of each live job.
    due: BTreeSet<(Stamp, JobId)>,
}

#[derive(Debug, Clone, Copy)]
struct Live {
    job: Job,
    emitted: u64,
}

impl FixedTiming {
    /// An engine with `ttft` to each first token and `itl` between any two. Both may be zero.
    #[must_use]
    pub const fn new(ttft: Nanos, itl: Nanos) -> Self {
        Self { ttft, itl, live: BTreeMap::new(), due: BTreeSet::new() }
    }

    fn due_at(&self, live: &Live) -> Stamp {
        live.job.at + self.ttft + self.itl * live.emitted
    }
}

impl Serve for FixedTiming {
    fn submit(&mut self, job: Job) -> Result<(), SubmitError> {
        job.check(self.longest_job())?;
        if self.live.contains_key(&job.id) {
            return Err(SubmitError::DuplicateId(job.id));
        }
        let live = Live { job, emitted: 0 };
        self.due.insert((self.due_at(&live), job.id));
        self.live.insert(job.id, live);
        Ok(())
    }

    fn cancel(&mut self, id: JobId) {
        if let Some(live) = self.live.remove(&id) {
            self.due.remove(&(self.due_at(&live), id));
        }
    }

    fn next_event(&self) -> Option<Stamp> {
        self.due.first().map(|&(at, _)| at)
    }

    fn advance(&mut self, to: Stamp, emit: &mut dyn FnMut(Emission)) {
        while let Some((at, id)) = self.due.first().copied().filter(|&(at, _)| at <= to) {
            self.due.pop_first();
            let Some(live) = self.live.get_mut(&id) else {
                continue;
            };
            let index = live.emitted;
            live.emitted += 1;
            let Live { job, emitted } = *live;
            let last = emitted == job.output_tokens.get();
            if last {
                self.live.remove(&id);
            } else {
                let next = job.at + self.ttft + self.itl * emitted;
                self.due.insert((next, id));
            }
            emit(Emission {
                job: id,
                at,
                index,
                last,
                timing: JobTiming {
                    submitted: job.at,
                    admitted: job.at,
                    first_token: job.at + self.ttft,
                },
            });
        }
    }

    fn longest_job(&self) -> Option<Tokens> {
        Some(LONGEST_JOB)
    }
}
