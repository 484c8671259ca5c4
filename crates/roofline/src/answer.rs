//! All that a load on a system comes to, or why it cannot be.

mod fit;

pub use fit::LoadAnalysisError;

use fizeau_core::{Bytes, Tokens};

use crate::system::System;
use crate::{ExpertRouting, Figures, LimitingResources, MemoryUse, Parameters, UniformLoad};

/// What a system makes of a load: what it holds, what nothing can beat, what the roofline model expects, and what
/// limits it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct LoadAnalysis {
    /// The model's counts of parameters.
    pub parameters: Parameters,
    /// What all weights of one replica take, none repeated.
    pub weight_bytes: Bytes,
    /// What they take on the fullest device.
    pub weight_bytes_per_device: Bytes,
    /// What one more token takes in the caches of the layers that see the whole context, none repeated.
    pub kv_bytes_per_token: Bytes,
    /// The most sequences that fit at once, of all replicas; none where they keep nothing and no setting limits them.
    pub max_batch: Option<u64>,
    /// The sequences that run at once on average: the concurrency, or what fits.
    pub running_batch: f64,
    /// How the fullest device's memory is used while they run.
    pub memory: MemoryUse,
    /// The bound, which nothing can beat.
    pub bound: Figures,
    /// The bound of a mixture of experts under balanced routing ([`System::evenly_routed_figures`]); none where that is the bound, or
    /// the system's [`System::routing`] is another.
    pub evenly_routed: Option<Figures>,
    /// The expectation of the roofline model.
    pub expected: Figures,
    /// What limits each phase.
    pub limited_by: LimitingResources,
    /// What in the model, the device or the load the reader should know of, a sentence each.
    pub warnings: Vec<String>,
}

impl LoadAnalysis {
    /// The same with those figures under balanced routing, where any of them is worse than the bound's, and `routing` is balanced. The
    /// output may be limited by something else while a step still reads more experts.
    pub(crate) fn evenly_routed(self, figures: Option<Figures>, routing: ExpertRouting) -> Self {
        let bound = self.bound;
        let is_worse = |even: &Figures| {
            even.output_tokens_per_s < bound.output_tokens_per_s
                || even.step > bound.step
                || even.ttft > bound.ttft
        };
        let is_even = routing == ExpertRouting::Expected;
        Self { evenly_routed: figures.filter(|even| is_even && is_worse(even)), ..self }
    }
}

impl System {
    /// What this system makes of `load`.
    ///
    /// ```
    /// use std::num::NonZeroU64;
    /// use fizeau_core::Tokens;
    /// use fizeau_roofline::{Deployment, Device, KnownModel, LimitingResource, UniformLoad, System};
    /// let model = KnownModel::named("llama-3.1-8b")?.model()?;
    /// let system = System::new(model, Device::named("h100-sxm")?.clone(), Deployment::SINGLE)?;
    /// let concurrency = NonZeroU64::new(32).ok_or("zero")?;
    /// let answer = system.answer(&UniformLoad::new(Tokens::new(2048), Tokens::new(256), concurrency))?;
    /// assert_eq!(answer.running_batch, 32.0);
    /// assert_eq!(answer.limited_by.prefill, LimitingResource::Compute);
    /// assert_eq!(answer.limited_by.decode, LimitingResource::Weights);
    /// assert!(answer.bound.tpot <= answer.expected.tpot);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the load has no tokens, or the model, or one request beside it, does not fit; the error says by how much, and
    /// the fewest devices that would do.
    pub fn answer(&self, load: &UniformLoad) -> Result<LoadAnalysis, LoadAnalysisError> {
        self.check(load)?;
        let most = self.max_batch(load);
        let running = self.running_batch(load);
        let mut warnings = self.notes().to_vec();
        self.add_notes_on(load, running, &mut warnings);
        let answer = LoadAnalysis {
            parameters: self.parameters(),
            weight_bytes: Bytes::new(self.memory_account().ideal_weights()),
            weight_bytes_per_device: self.weight_bytes_per_device(),
            kv_bytes_per_token: self.kv_bytes_per_token(),
            max_batch: most.is_finite().then_some(most as u64),
            running_batch: running,
            memory: self.memory_use(load, running),
            bound: self.bound_figures(load),
            evenly_routed: None,
            expected: self.expected_figures(load),
            limited_by: self.limits(load),
            warnings,
        };
        Ok(answer.evenly_routed(self.evenly_routed_figures(load, None), self.routing()))
    }

    fn add_notes_on(&self, load: &UniformLoad, running: f64, warnings: &mut Vec<String>) {
        if running < load.concurrency.get() as f64 {
            warnings.push(format!(
                "{running:.0} of {} requests run at once, the others wait: {} allows no more",
                load.concurrency,
                if self.fills_memory(load) { "memory" } else { "the limit of sequences" },
            ));
        }
        let longest: Tokens = load.input_tokens + load.output_tokens;
        if let Some(most) = self.model().max_context
            && longest > most
        {
            warnings.push(format!(
                "requests of {} tokens are longer than the model's context of {}",
                longest.get(),
                most.get(),
            ));
        }
    }
}
