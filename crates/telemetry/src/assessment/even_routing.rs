//! What a mixture of experts did, held against its bound under balanced routing.

use std::borrow::Cow;

use fizeau_core::{PerSec, Seconds, Usd, document};
use fizeau_roofline::System;

use super::lengths::MeanLengths;
use super::same_latency::SameLatency;
use super::step::{MeanStep, tokens_of_pass};
use super::{DecodeAssessment, PrefillAssessment, Work};

document! {
    /// A server's figures against the bound under balanced routing, where each token of a pass chooses its experts for itself and all equally
    /// often ([`System::evenly_routed`]): what a mixture of experts can be held against, since the bound lets all tokens agree. At the mean
    /// batch: where batches vary much, fewer experts are read than it says. Nothing is impossible for being above it.
    #[non_exhaustive]
    pub struct EvenRoutingAssessment {
        /// The most generated tokens with this batch.
        pub bound_output_tokens_per_s: PerSec,
        /// What was generated over that: the headline.
        pub share: f64,
        /// Decode by itself.
        pub decode?: DecodeAssessment,
        /// Prefill by itself.
        pub prefill?: PrefillAssessment,
        /// What is allowed at the time per token that users have now.
        pub same_latency?: SameLatency,
    }
}

impl EvenRoutingAssessment {
    /// Of `work` whose bound is so many tokens, with phases that were held against the bound; none where the output is that of the bound.
    pub(super) fn of(
        system: &System,
        work: &Work,
        lengths: Option<&MeanLengths>,
        (decode, prefill): (Option<&DecodeAssessment>, Option<&PrefillAssessment>),
        bound: PerSec,
        cost: impl Fn(PerSec) -> Option<Usd>,
    ) -> Option<Self> {
        let even = |batch: f64| evenly(system, batch, work.tokens_per_step);
        let most = MeanStep::of(&even(work.running), work, lengths).output_tokens_per_s;
        if most >= bound {
            return None;
        }
        let decode = decode.map(|told| told.clone().held_against(&even(told.batch), work, lengths));
        let load = lengths.and_then(|lengths| lengths.load(work.cached));
        let prefill = prefill.zip(load.as_ref()).map(|(told, load)| {
            let computed = load.input_tokens.get() - load.cached_tokens.get();
            let even = system.evenly_routed_prompt(computed as f64);
            PrefillAssessment::of(even.as_ref().unwrap_or(system), load, told.prefill)
        });
        let same_latency = lengths.zip(decode.as_ref()).and_then(|(lengths, decode)| {
            let target = Seconds::new(decode.tpot.get() / 1e3);
            SameLatency::step_by_step(system, work, lengths, target, even, cost)
        });
        let share = work.rate(work.generated) / most;
        Some(Self { bound_output_tokens_per_s: most, share, decode, prefill, same_latency })
    }
}

/// `system` with the fewest experts that a pass over such a batch reads.
fn evenly(system: &System, batch: f64, tokens_per_step: f64) -> Cow<'_, System> {
    let even = system.evenly_routed(tokens_of_pass(system, batch, tokens_per_step));
    even.map_or(Cow::Borrowed(system), Cow::Owned)
}
