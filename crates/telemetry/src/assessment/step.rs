//! The pass that a server makes on average, at the bound.

use fizeau_core::PerSec;
use fizeau_roofline::{ContextSpread, PassSums, PassTime, System};

use super::Work;
use super::lengths::MeanLengths;

/// A pass over the mean batch, with the prompts that come in meanwhile.
pub(super) struct MeanStep {
    pub(super) pass: PassTime,
    pub(super) output_tokens_per_s: PerSec,
}

impl MeanStep {
    /// Of `work`, in which something runs and something is generated.
    ///
    /// The mean over time of the batch is no less than that over steps, since fuller steps are no shorter, so that the weights are
    /// not read too often; and the mean prompt attends to no more than prompts of any lengths with that mean. Within windows
    /// contexts differ as far as the model lets them.
    pub(super) fn of(system: &System, work: &Work, lengths: Option<&MeanLengths>) -> Self {
        let sequences = micro_batch(system, work.running);
        let tokens = sequences * work.tokens_per_step;
        let computed = tokens * work.prompts * (1.0 - work.cached) / work.generated;
        // The first token of a request comes with its prompt.
        let first = lengths.map_or(0.0, |lengths| 1.0 / lengths.output).min(1.0);
        let mut sums = decoding(system, sequences * (1.0 - first), work.tokens_per_step, lengths);
        sums.prompt_tokens = computed;
        if let Some(lengths) = lengths {
            let (input, before) = (lengths.input, lengths.input * work.cached);
            sums.prompts = computed / (input - before).max(1.0);
            sums.prompt_context = sums.prompts * input;
            sums.prompt_pairs = computed * (input + before + 1.0) / 2.0;
        }
        let pass = system.bound_sums(&sums);
        let rate = work.running * work.tokens_per_step / pass.total.get();
        Self { pass, output_tokens_per_s: PerSec::new(rate) }
    }

    /// The same with `batch` requests that decode, and no prompt.
    pub(super) fn decoding(
        system: &System,
        batch: f64,
        tokens_per_step: f64,
        lengths: Option<&MeanLengths>,
    ) -> PassTime {
        let sequences = micro_batch(system, batch);
        system.bound_sums(&decoding(system, sequences, tokens_per_step, lengths))
    }
}

/// The tokens that each pass over such a batch has.
pub(super) fn tokens_of_pass(system: &System, batch: f64, tokens_per_step: f64) -> f64 {
    micro_batch(system, batch) * tokens_per_step
}

/// Of what drafts bring only what was accepted must be computed.
fn decoding(
    system: &System,
    sequences: f64,
    tokens_per_step: f64,
    lengths: Option<&MeanLengths>,
) -> PassSums {
    let context = lengths.map_or(1.0, |lengths| lengths.context().tokens);
    PassSums {
        decoding: sequences,
        drafted: sequences * (tokens_per_step - 1.0),
        context: sequences * context,
        spread: Some(ContextSpread::up_to(system.model().max_context)),
        ..PassSums::default()
    }
}

/// The part of a batch that one stage of one replica works on at a time.
fn micro_batch(system: &System, batch: f64) -> f64 {
    let ways =
        f64::from(system.deployment().replicas()) * f64::from(system.deployment().pipeline());
    (batch / ways).max(batch.min(1.0))
}
