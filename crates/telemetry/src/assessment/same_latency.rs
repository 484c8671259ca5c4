//! What the bound allows at the time per token that users have.

use std::borrow::Cow;

use fizeau_core::{PerSec, Seconds, Usd, document};
use fizeau_roofline::{EstimateKind, System};

use super::Work;
use super::lengths::MeanLengths;
use super::step::MeanStep;

document! {
    /// What the bound allows where users keep the time per token that they have.
    #[non_exhaustive]
    pub struct SameLatency {
        /// The requests that could run at once: as many as a step has time for, and memory room.
        pub batch: u64,
        /// The generated tokens of so many.
        pub output_tokens_per_s: PerSec,
        /// What a million of them would cost.
        pub usd_per_million_output_tokens?: Usd,
    }
}

impl SameLatency {
    /// Of requests such as those of `work`, a token of which may take `target`; none where not even one request keeps to that.
    pub(super) fn of(
        system: &System,
        work: &Work,
        lengths: &MeanLengths,
        target: Seconds,
        cost: impl Fn(PerSec) -> Option<Usd>,
    ) -> Option<Self> {
        // Within windows a step's least time is of contexts that differ.
        if work.tokens_per_step > 1.0 || system.windows().next().is_some() {
            return Self::step_by_step(
                system,
                work,
                lengths,
                target,
                |_| Cow::Borrowed(system),
                cost,
            );
        }
        let load = lengths.load(work.cached)?;
        let found = system.largest_batch(EstimateKind::Bound, &load, target)?;
        Some(Self::costing(found.batch, found.figures.output_tokens_per_s, cost))
    }

    /// The same where a step's bound follows from its batch as `held_against` says, and where drafts are accepted: a step has the time of
    /// all the tokens that it gives.
    pub(super) fn step_by_step<'a>(
        system: &System,
        work: &Work,
        lengths: &MeanLengths,
        target: Seconds,
        held_against: impl Fn(f64) -> Cow<'a, System>,
        cost: impl Fn(PerSec) -> Option<Usd>,
    ) -> Option<Self> {
        let load = lengths.load(work.cached)?;
        let meets = |batch: u64| {
            let (batch, tokens) = (batch as f64, work.tokens_per_step);
            let step = MeanStep::decoding(&held_against(batch), batch, tokens, Some(lengths)).total;
            step.get() / tokens <= target.get()
        };
        let mut most = load.concurrency.get().min(system.max_batch(&load) as u64);
        let mut batch = Some(1).filter(|one| *one <= most && meets(*one))?;
        while batch < most {
            let middle = most - (most - batch) / 2;
            if meets(middle) {
                batch = middle;
            } else {
                most = middle - 1;
            }
        }
        let many = Work { running: batch as f64, ..*work };
        let step = MeanStep::of(&held_against(batch as f64), &many, Some(lengths));
        Some(Self::costing(batch, step.output_tokens_per_s, cost))
    }

    fn costing(batch: u64, rate: PerSec, cost: impl Fn(PerSec) -> Option<Usd>) -> Self {
        let usd_per_million_output_tokens = cost(rate);
        Self { batch, output_tokens_per_s: rate, usd_per_million_output_tokens }
    }
}
