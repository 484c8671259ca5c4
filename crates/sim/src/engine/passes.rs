//! What is kept of a step that is under way, to tell of it when it is over.

use fizeau_core::{Nanos, Stamp, Tokens};
use fizeau_roofline::PassWork;

use super::jobs::{JobSlot, JobTable, SchedulingGroup};
use super::load::StepLoad;
use crate::pass::EnginePass;

/// A step that has begun.
#[derive(Debug, Clone, Copy)]
pub(super) struct BegunPass {
    pub(super) load: StepLoad,
    decode_variance: f64,
    prefill_variance: f64,
    waiting: u64,
    waiting_tokens: u64,
}

impl BegunPass {
    /// One with this load of these members, before anything of them is taken to be computed.
    pub(super) fn new(
        load: &StepLoad,
        jobs: &JobTable,
        members: &[JobSlot],
        groups: &[SchedulingGroup],
    ) -> Self {
        let members = || members.iter().map(|&slot| &jobs[slot]);
        let decoding = members().filter(|sequence| !sequence.reads());
        let reading = members().filter(|sequence| sequence.reads());
        let begun = Self {
            load: *load,
            decode_variance: variance(decoding.map(|sequence| sequence.computed + 1)),
            prefill_variance: variance(reading.map(|sequence| sequence.to_read)),
            waiting: 0,
            waiting_tokens: 0,
        };
        begun.with_waiting(jobs, groups)
    }

    /// The next one of sequences that only decode: each has a token more, and others may wait.
    pub(super) fn next(mut self, jobs: &JobTable, groups: &[SchedulingGroup]) -> Self {
        self.load.decode_context_tokens += Tokens::new(self.load.decode_sequences);
        self.with_waiting(jobs, groups)
    }

    fn with_waiting(self, jobs: &JobTable, groups: &[SchedulingGroup]) -> Self {
        let waiting = || groups.iter().flat_map(|group| group.waiting.values());
        let waiting_tokens = waiting().map(|&slot| jobs[slot].to_read).sum();
        Self { waiting: waiting().count() as u64, waiting_tokens, ..self }
    }

    /// It, once it is over.
    pub(super) fn ended(&self, end: Stamp, length: Nanos, work: PassWork) -> EnginePass {
        let load = &self.load;
        EnginePass {
            rank: 0,
            end,
            length,
            decode_sequences: load.decode_sequences,
            decode_context_tokens: load.decode_context_tokens,
            decode_variance: self.decode_variance,
            prefill_sequences: load.prefill_sequences,
            prefill_tokens: load.prefill_tokens,
            prefill_cached_tokens: Tokens::new(
                load.prefill_context_tokens.get().saturating_sub(load.prefill_tokens.get()),
            ),
            prefill_variance: self.prefill_variance,
            waiting: self.waiting,
            waiting_tokens: Tokens::new(self.waiting_tokens),
            work,
        }
    }
}

/// Of whole numbers, over as many as there are: `(n sum(x^2) - sum(x)^2) / n^2`, exact but for the division, so that it stays the same
/// when all grow alike.
fn variance(values: impl Iterator<Item = u64>) -> f64 {
    let (mut count, mut sum, mut squares) = (0u128, 0u128, 0u128);
    for value in values.map(u128::from) {
        (count, sum, squares) = (count + 1, sum + value, squares + value * value);
    }
    let spread = count * squares - sum * sum;
    if count == 0 { 0.0 } else { spread as f64 / (count * count) as f64 }
}
