//! One running sequence.

use fizeau_core::{Stamp, Tokens};

use super::load::StepLoad;
use crate::job::{Emission, Job, JobTiming};

/// A job that holds a slot.
#[derive(Debug, Clone)]
pub(super) struct Sequence {
    job: Job,
    admitted: Stamp,
    /// When its first token left; none while its prompt is being read.
    first_token: Option<Stamp>,
    /// Prompt tokens read so far, those that need not be read included.
    read: u64,
    /// Tokens given so far.
    emitted: u64,
    work: Work,
}

/// What the step under way does for a sequence.
#[derive(Debug, Clone, Copy)]
enum Work {
    Decode,
    /// Reads so many tokens of its prompt; none if the step's budget was used up.
    Prefill(u64),
}

impl Sequence {
    pub(super) fn new(job: Job, admitted: Stamp) -> Self {
        Self { job, admitted, first_token: None, read: 0, emitted: 0, work: Work::Prefill(0) }
    }

    pub(super) const fn job(&self) -> &Job {
        &self.job
    }

    /// Plans the next step with at most `budget` prompt tokens, adds it to `load`, and returns the prompt
    /// tokens taken.
    pub(super) fn plan(&mut self, budget: u64, load: &mut StepLoad) -> u64 {
        let left = self.job.prompt_tokens.get() - self.read;
        if left == 0 {
            self.work = Work::Decode;
            load.add_decode(Tokens::new(self.read + self.emitted));
            return 0;
        }
        let chunk = left.min(budget);
        self.work = Work::Prefill(chunk);
        if chunk > 0 {
            load.add_prefill(self.read, chunk);
        }
        if chunk == left {
            load.sampled_sequences += 1;
        }
        chunk
    }

    /// Ends the step; the token that it gave, if it gave one.
    pub(super) fn finish_step(&mut self, end: Stamp) -> Option<Emission> {
        if let Work::Prefill(chunk) = self.work {
            self.read += chunk;
            if self.read < self.job.prompt_tokens.get() {
                return None;
            }
        }
        let index = self.emitted;
        self.emitted += 1;
        Some(Emission {
            job: self.job.id,
            at: end,
            index,
            count: 1,
            last: self.emitted == self.job.output_tokens.get(),
            timing: JobTiming {
                submitted: self.job.at,
                admitted: self.admitted,
                first_token: *self.first_token.get_or_insert(end),
                cached_tokens: Tokens::ZERO,
                preemptions: 0,
            },
        })
    }
}
