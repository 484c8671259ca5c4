//! The expectation over measured lengths, which stands beside [`Bound::over`](crate::Bound::over).

use std::num::NonZeroU64;

use fizeau_core::{PerSec, Tokens};

use crate::figures::{PhaseCosts, decoding_beside};
use crate::pass::{Pass, PassTime};
use crate::pass_demand::PassDemand;
use crate::reach::LayerReach;
use crate::span::ContextSpan;
use crate::system::System;
use crate::{
    Figures, LimitingResource, LimitingResources, LoadAnalysisError, PhaseSchedule, RequestLengths,
    UniformLoad,
};

/// The figures that the roofline model expects of requests of known lengths.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Expected {
    /// The figures, means over the requests: [`Figures::batch`] of them run at once.
    pub figures: Figures,
    /// How many sequences of these lengths the memory holds at once, on average, at least 1; infinite where they keep nothing.
    pub max_batch: f64,
    /// What limits each phase.
    pub limited_by: LimitingResources,
}

impl System {
    /// What the roofline model expects over requests of these lengths, at most `concurrency` of them under way at
    /// once: [`System::expected_figures`] for lengths that differ. Never faster than
    /// [`Bound::over`](crate::Bound::over).
    ///
    /// ```
    /// use std::num::NonZeroU64;
    /// use fizeau_core::Tokens;
    /// use fizeau_roofline::{Bound, Deployment, Device, KnownModel, RequestLengths, System};
    /// let model = KnownModel::named("llama-3.1-8b")?.model()?;
    /// let system = System::new(model, Device::named("h100-sxm")?.clone(), Deployment::SINGLE)?;
    /// let mut lengths = RequestLengths::for_model(system.model());
    /// lengths.extend([(Tokens::new(2048), Tokens::new(256)), (Tokens::new(512), Tokens::new(64))]);
    /// let concurrency = NonZeroU64::new(32).ok_or("zero")?;
    /// let expected = system.expected_over(&lengths, concurrency)?.figures;
    /// let bound = Bound::over(&system, &lengths, concurrency)?;
    /// assert!(expected.requests_per_s.get() < bound.requests_per_s.get());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the model, or the longest request beside it, does not fit as engines spread them, or there are no requests,
    /// or one has no prompt or no output, or the lengths were added up for a model with other windows.
    pub fn expected_over(
        &self,
        lengths: &RequestLengths,
        concurrency: NonZeroU64,
    ) -> Result<Expected, LoadAnalysisError> {
        self.check_ideal(lengths)?;
        let longest = Tokens::new(lengths.longest.get().saturating_sub(1).max(1));
        self.check(&UniformLoad::new(longest, Tokens::new(1), NonZeroU64::MIN))?;
        let load = mean_load(lengths, concurrency);
        // A sequence that fits at its longest always runs.
        let max_batch = self.max_batch(&load).min(self.most_of(lengths)).max(1.0);
        let batch = self.running_batch(&load).min(max_batch);
        let (local, active) = self.local(batch);
        let stages = f64::from(self.deployment().pipeline());
        let alone = self.expected_of(&lengths.prompt());
        let output = lengths.passes / lengths.requests() as f64;
        let prompts = self.prompts_together(batch, lengths.mean_computed(), output);
        let prefill = self.expected_of(&lengths.prompts(prompts)).scaled(1.0 / prompts);
        let micro = (local / stages).max(local.min(1.0));
        let step = self.expected_of(&lengths.step(micro));
        let decoding = decoding_beside(micro, prompts, output - 1.0);
        let mixed = self.expected_of(&lengths.mixed(prompts, decoding));
        let phases =
            PhaseCosts { alone, prefill, prompts, mixed, step, yields: 1.0, micro, local, active };
        let times = self.request_times(PhaseSchedule::Mixed, &phases, output, self.unevenness());
        let requests_per_s = PerSec::new(batch / times.whole.total.get());
        let decode = match step.binding.limit() {
            LimitingResource::Weights if self.fills_memory(&load) => LimitingResource::Capacity,
            other => other,
        };
        let token = times.token.whole().total;
        let figures = Figures::of(output, batch, alone.total, token, requests_per_s);
        Ok(Expected {
            figures: figures.with_wait(concurrency),
            max_batch,
            limited_by: LimitingResources { prefill: alone.binding.limit(), decode },
        })
    }

    fn expected_of<C: PassDemand>(&self, demand: &C) -> PassTime {
        self.with_exchanges(self.operators_of(demand), &as_pass(demand))
    }
}

/// A pass with as many sequences and tokens, for exchanges, which depend on nothing else.
fn as_pass<C: PassDemand>(demand: &C) -> Pass {
    let prompts = demand.prompts();
    let each = if prompts > 0.0 { demand.prompt_tokens() / prompts } else { 0.0 };
    Pass {
        prompts,
        positions: ContextSpan::between(1.0, each),
        ..Pass::decode(demand.decoding(), ContextSpan::at(0.0))
    }
}

impl RequestLengths {
    /// A load of requests that are all of the mean lengths, where there are any: for predictions, which are made for loads,
    /// and not for bounds ([`crate::UniformLoad`]).
    #[must_use]
    pub fn mean_load(&self, concurrency: NonZeroU64) -> Option<UniformLoad> {
        (self.requests() > 0).then(|| mean_load(self, concurrency))
    }
}

/// Requests of the mean lengths, for what they take of the memory.
fn mean_load(lengths: &RequestLengths, concurrency: NonZeroU64) -> UniformLoad {
    let prompt = lengths.prompt();
    let input = prompt.filled(&LayerReach::WHOLE);
    let cached = input - prompt.prompt_tokens();
    let output = lengths.passes / lengths.requests() as f64;
    let tokens = |mean: f64| Tokens::new(mean.round() as u64);
    let one = Tokens::new(1);
    let load = UniformLoad::new(tokens(input).max(one), tokens(output).max(one), concurrency);
    load.with_cached(tokens(cached))
}
