//! A step time that is made up.

use fizeau_core::Nanos;

use crate::engine::{Pace, StepLoad, StepTime};

/// A step takes so long, and so much more for each sequence and each token of a prompt, whatever the contexts: for tests, and
/// for queues of which theory knows the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FixedStep {
    /// For the step.
    pub per_step: Nanos,
    /// For each sequence that decodes.
    pub per_sequence: Nanos,
    /// For each token of a prompt.
    pub per_prompt_token: Nanos,
}

impl StepTime for FixedStep {
    fn step_time(&self, load: &StepLoad) -> Nanos {
        self.per_step
            + self.per_sequence * load.decode_sequences
            + self.per_prompt_token * load.prefill_tokens.get()
    }

    fn pace(&self, load: &StepLoad) -> Option<Pace> {
        let only_decodes = load.prefill_sequences == 0 && load.drafted_tokens == 0;
        let first = u128::from(self.step_time(load).as_nanos()) << 32;
        only_decodes.then_some(Pace { steps: u64::MAX, first, growth: 0 })
    }
}
