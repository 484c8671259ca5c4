//! What is kept of a step that is under way, to tell of it when it is over.

use fizeau_core::{Nanos, Stamp, Tokens};
use fizeau_roofline::PassWork;

use super::jobs::{JobSlot, JobTable, SchedulingGroup};
use super::load::{StepLoad, by_group, of_group};
use crate::pass::EnginePass;

/// A step that has begun.
#[derive(Debug, Clone)]
pub(super) struct BegunPasses {
    /// Of all groups together.
    pub(super) load: StepLoad,
    of_groups: Vec<BegunPass>,
}

impl BegunPasses {
    /// One with this load of these members, before anything of them is taken to be computed.
    pub(super) fn new(
        load: &StepLoad,
        jobs: &JobTable,
        members: &[JobSlot],
        groups: &[SchedulingGroup],
    ) -> Self {
        let of_groups = by_group(jobs, members);
        let of_groups =
            of_groups.map(|(group, members)| BegunPass::new(group, jobs, members, groups));
        Self { load: *load, of_groups: of_groups.collect() }
    }

    /// The next one of sequences that only decode: each has a token more, and others may wait.
    pub(super) fn next(mut self, jobs: &JobTable, groups: &[SchedulingGroup]) -> Self {
        self.load.decode_context_tokens += Tokens::new(self.load.decode_sequences);
        for pass in &mut self.of_groups {
            pass.load.decode_context_tokens += Tokens::new(pass.load.decode_sequences);
            *pass = pass.with_waiting(jobs, groups);
        }
        self
    }

    /// What each group that took part did, once it is over; groups wait for each other.
    pub(super) fn ended(
        &self,
        end: Stamp,
        length: Nanos,
        work: PassWork,
    ) -> impl Iterator<Item = EnginePass> {
        self.of_groups.iter().map(move |pass| pass.ended(end, length, work))
    }
}

/// What one group does in it.
#[derive(Debug, Clone, Copy)]
struct BegunPass {
    group: usize,
    load: StepLoad,
    decode_variance: f64,
    prefill_variance: f64,
    waiting: u64,
    waiting_tokens: u64,
}

impl BegunPass {
    fn new(group: usize, jobs: &JobTable, members: &[JobSlot], groups: &[SchedulingGroup]) -> Self {
        // Records say nothing of drafts.
        let load = of_group(jobs, members, 0);
        let members = || members.iter().map(|&slot| &jobs[slot]);
        let decoding = members().filter(|sequence| !sequence.reads());
        let reading = members().filter(|sequence| sequence.reads());
        let begun = Self {
            group,
            load,
            decode_variance: variance(decoding.map(|sequence| sequence.computed + 1)),
            prefill_variance: variance(reading.map(|sequence| sequence.to_read)),
            waiting: 0,
            waiting_tokens: 0,
        };
        begun.with_waiting(jobs, groups)
    }

    fn with_waiting(self, jobs: &JobTable, groups: &[SchedulingGroup]) -> Self {
        let waiting =
            || groups.get(self.group).into_iter().flat_map(|group| group.waiting.values());
        let waiting_tokens = waiting().map(|&slot| jobs[slot].to_read).sum();
        Self { waiting: waiting().count() as u64, waiting_tokens, ..self }
    }

    fn ended(&self, end: Stamp, length: Nanos, work: PassWork) -> EnginePass {
        let load = &self.load;
        EnginePass {
            rank: self.group as u32,
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
