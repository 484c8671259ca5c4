//! What a planned step has to do.

use fizeau_core::Tokens;

use super::config::EngineConfig;
use super::jobs::{Jobs, Slot};
use super::load::StepLoad;
use super::sequence::Place;

/// The load of a step of all groups, whose `members` are ordered by group.
///
/// Groups wait for each other: attention takes as long as in the group with most of it, and each is padded to the batch of the
/// largest. A step time that gives each group an equal share of the sequences, one at least, has just that of the busiest
/// group if the whole is as many times that as groups have any: all, or as many as there are sequences.
pub(super) fn tally(config: &EngineConfig, jobs: &Jobs, members: &[Slot]) -> StepLoad {
    let drafted = config.drafts.as_ref().map_or(0, |drafts| u64::from(drafts.length));
    let mut whole = StepLoad::default();
    let mut most = StepLoad::default();
    for members in members.chunk_by(|&a, &b| group(jobs, a) == group(jobs, b)) {
        let load = of_group(jobs, members, drafted);
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

fn of_group(jobs: &Jobs, members: &[Slot], drafted: u64) -> StepLoad {
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

fn group(jobs: &Jobs, slot: Slot) -> Option<usize> {
    match jobs[slot].place {
        Place::Running(group) => Some(group),
        Place::Arriving | Place::Waiting(_) => None,
    }
}

const fn times(tokens: Tokens, groups: u64) -> Tokens {
    Tokens::new(tokens.get().saturating_mul(groups))
}
