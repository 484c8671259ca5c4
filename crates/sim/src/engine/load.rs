//! What one step has to do, and how long that takes.

use std::num::NonZeroU32;

use fizeau_core::{Nanos, Tokens};
use fizeau_roofline::PassWork;

use super::config::EngineConfig;
use super::jobs::{JobSlot, JobState, JobTable, SchedulingGroup};

/// The work of one step, in the quantities that cost time.
///
/// With [`crate::EngineConfig::groups`] contexts and pairs are those of the group that has most, times the groups that there
/// are, or the sequences of the kind if they are fewer: what they cost is found by sharing them out evenly. Sequences and tokens
/// are those that there are; what of them is the busiest group's is taken to be as even.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StepLoad {
    /// Sequences that decode.
    pub decode_sequences: u64,
    /// Tokens that they verify beyond the one that each decodes: their drafts. None without speculative decoding.
    pub drafted_tokens: u64,
    /// Tokens that are computed besides for nothing, up to the next captured size.
    pub padded_tokens: u64,
    /// The contexts of those that decode added up: the cached tokens that they attend to, the one that is being decoded from
    /// included.
    pub decode_context_tokens: Tokens,
    /// Of these, what is kept once for several sequences and counted for each: all but the first time.
    pub decode_shared_tokens: Tokens,
    /// Sequences that read a chunk of their prompt.
    pub prefill_sequences: u64,
    /// Prompt tokens read, over all of them.
    pub prefill_tokens: Tokens,
    /// Their contexts at the end of the chunk added up: the cached tokens that they attend to.
    pub prefill_context_tokens: Tokens,
    /// Pairs of a prompt token and a token that it attends to: for `n` new tokens behind `g` cached ones,
    /// `n g + n (n + 1) / 2`.
    pub prefill_pairs: u64,
    /// Sequences that give a token at the end of the step: the decoding ones, and those whose prompt is complete.
    pub sampled_sequences: u64,
}

impl StepLoad {
    /// All sequences that take part.
    #[must_use]
    pub const fn sequences(&self) -> u64 {
        self.decode_sequences.saturating_add(self.prefill_sequences)
    }

    /// Of what the sequences of `group` share, the part of those that decode in this step, shared out evenly.
    fn shared_of(&self, group: &SchedulingGroup) -> Tokens {
        let running = (group.running.len() as u64).max(1);
        let shared = group.blocks.shared().saturating_mul(self.decode_sequences) / running;
        Tokens::new(shared.min(self.decode_context_tokens.get()))
    }

    pub(super) fn add_decode(&mut self, context: Tokens) {
        self.decode_sequences += 1;
        self.sampled_sequences += 1;
        self.decode_context_tokens += context;
    }

    /// Adds a chunk of `new` prompt tokens behind `cached` ones.
    pub(super) fn add_prefill(&mut self, cached: u64, new: u64) {
        self.prefill_sequences += 1;
        self.prefill_tokens += Tokens::new(new);
        self.prefill_context_tokens += Tokens::new(cached.saturating_add(new));
        let pairs =
            u128::from(new) * u128::from(cached) + u128::from(new) * (u128::from(new) + 1) / 2;
        let pairs = u64::try_from(pairs).unwrap_or(u64::MAX);
        self.prefill_pairs = self.prefill_pairs.saturating_add(pairs);
    }
}

/// How long a step of an [`crate::Engine`] takes.
///
/// Any closure will do; [`crate::RooflineStep`] computes it from a model and a device.
pub trait StepTime {
    /// The length of a step with this load. An engine takes at least one nanosecond for it. With several [`StepTime::stages`], the
    /// time that a micro-batch takes through all of them.
    fn step_time(&self, load: &StepLoad) -> Nanos;

    /// How long this step and those behind it take, as long as the same sequences do nothing but decode a token each; none where
    /// that has no closed form. Whatever it says, [`StepTime::step_time`] says of each step on its own, to the nanosecond.
    fn pace(&self, load: &StepLoad) -> Option<LinearStepTimes> {
        let _ = load;
        None
    }

    /// What a step asks of each device; nothing where it is of no model.
    fn work(&self, load: &StepLoad) -> PassWork {
        let _ = load;
        PassWork::default()
    }

    /// Pipeline stages: so many micro-batches are under way at once, and one can begin when the one before it has left the first
    /// stage, a `stages`-th of its step time after its beginning. It may carry the next chunk of a prompt of which the one before
    /// is on its way.
    fn stages(&self) -> NonZeroU32 {
        NonZeroU32::MIN
    }
}

impl<F: Fn(&StepLoad) -> Nanos> StepTime for F {
    fn step_time(&self, load: &StepLoad) -> Nanos {
        self(load)
    }
}

/// Step times that grow evenly: step `i`, from 0, takes `first + i * growth`, in units of 2^-32 ns, rounded down to the
/// nanosecond.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinearStepTimes {
    /// For how many steps that is so, this one included; at least 1.
    pub steps: u64,
    /// Of the first, in 2^-32 ns.
    pub first: u128,
    /// Of each further one over the one before, in 2^-32 ns.
    pub growth: u128,
}

impl LinearStepTimes {
    /// The length of step `index`, from 0.
    #[must_use]
    pub fn at(&self, index: u64) -> Nanos {
        let fine = self.first.saturating_add(self.growth.saturating_mul(index.into()));
        Nanos::from_nanos(u64::try_from(fine >> 32).unwrap_or(u64::MAX))
    }
}

// What a planned step has to do.

/// The load of a step of all groups, whose `members` are ordered by group.
///
/// Groups wait for each other: attention takes as long as in the group with most of it, and each is padded to the batch of the
/// largest. A step time that gives each group an equal share of the sequences, one at least, has just that of the busiest
/// group if the whole is as many times that as groups have any: all, or as many as there are sequences.
pub(super) fn tally(
    config: &EngineConfig,
    jobs: &JobTable,
    groups: &[SchedulingGroup],
    members: &[JobSlot],
) -> StepLoad {
    let drafted = config.drafts.as_ref().map_or(0, |drafts| u64::from(drafts.length));
    let mut whole = StepLoad::default();
    let mut most = StepLoad::default();
    for (number, members) in by_group(jobs, members) {
        let load = of_group(jobs, members, drafted);
        let group = groups.get(number);
        let shared = group.map_or(Tokens::ZERO, |group| load.shared_of(group));
        if load.decode_context_tokens > most.decode_context_tokens {
            most.decode_shared_tokens = shared;
        }
        whole.decode_sequences += load.decode_sequences;
        whole.drafted_tokens += load.drafted_tokens;
        whole.prefill_sequences += load.prefill_sequences;
        whole.prefill_tokens += load.prefill_tokens;
        whole.sampled_sequences += load.sampled_sequences;
        most = StepLoad {
            decode_sequences: most.decode_sequences.max(load.decode_sequences),
            decode_context_tokens: most.decode_context_tokens.max(load.decode_context_tokens),
            prefill_context_tokens: most.prefill_context_tokens.max(load.prefill_context_tokens),
            prefill_pairs: most.prefill_pairs.max(load.prefill_pairs),
            ..most
        };
    }
    let decode = config.groups.min(whole.decode_sequences);
    let prefill = config.groups.min(whole.prefill_sequences);
    whole.decode_context_tokens = times(most.decode_context_tokens, decode);
    whole.decode_shared_tokens = times(most.decode_shared_tokens, decode);
    whole.prefill_context_tokens = times(most.prefill_context_tokens, prefill);
    whole.prefill_pairs = most.prefill_pairs.saturating_mul(prefill);
    if whole.prefill_sequences == 0 {
        // Each sequence verifies as many tokens as any other.
        let tokens = most.decode_sequences * (1 + drafted);
        let captured = config.captured.iter().find(|&&size| size >= tokens);
        let computed = whole.decode_sequences + whole.drafted_tokens;
        whole.padded_tokens = captured.map_or(0, |size| size * decode - computed);
    }
    whole
}

/// `members`, which are ordered by group, of each group.
pub(super) fn by_group<'a>(
    jobs: &'a JobTable,
    members: &'a [JobSlot],
) -> impl Iterator<Item = (usize, &'a [JobSlot])> {
    let alike = members.chunk_by(|&a, &b| group(jobs, a) == group(jobs, b));
    alike.filter_map(|members| Some((group(jobs, *members.first()?)?, members)))
}

pub(super) fn of_group(jobs: &JobTable, members: &[JobSlot], drafted: u64) -> StepLoad {
    let mut load = StepLoad::default();
    for &slot in members {
        let sequence = &jobs[slot];
        if sequence.reads() {
            load.add_prefill(sequence.computed, sequence.scheduled);
            let complete = sequence.computed + sequence.scheduled == sequence.to_read;
            load.sampled_sequences += u64::from(complete);
        } else {
            load.add_decode(Tokens::new(sequence.computed + 1));
            load.drafted_tokens += drafted;
        }
    }
    load
}

fn group(jobs: &JobTable, slot: JobSlot) -> Option<usize> {
    match jobs[slot].place {
        JobState::Running(group) => Some(group),
        JobState::Arriving | JobState::Waiting(_) => None,
    }
}

const fn times(tokens: Tokens, groups: u64) -> Tokens {
    Tokens::new(tokens.get().saturating_mul(groups))
}
