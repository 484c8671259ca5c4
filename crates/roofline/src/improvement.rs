//! What a better resource would buy: the same load on systems that differ in one thing each.

use crate::system::System;
use crate::{
    Deployment, FigureGain, Format, Link, LoadAnalysis, SolScope, UniformLoad, WeightChoice,
};

/// One thing that could be better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Improvement {
    /// Memory a tenth faster.
    Bandwidth,
    /// Arithmetic a tenth faster.
    Arithmetic,
    /// Links between devices a tenth faster.
    Link,
    /// Weights in fp8.
    Fp8Weights,
    /// Weights in nvfp4.
    Nvfp4Weights,
    /// The cache in fp8.
    Fp8Cache,
    /// Twice the tensor-parallel ranks.
    TwiceTheRanks,
}

fizeau_core::words! {
    /// The name used in files: `bandwidth_10_percent`.
    pub Improvement::as_str, all {
        Bandwidth = "bandwidth_10_percent", Arithmetic = "arithmetic_10_percent", Link = "link_10_percent",
        Fp8Weights = "fp8_weights", Nvfp4Weights = "nvfp4_weights", Fp8Cache = "fp8_cache",
        TwiceTheRanks = "twice_the_ranks",
    }
}

/// What one improvement buys, by either account.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct ImprovementGain {
    /// The improvement.
    pub improvement: Improvement,
    /// By the bound.
    pub bound: FigureGain,
    /// By the expectation.
    pub expected: FigureGain,
}

impl Improvement {
    /// `system` with it; none where it changes nothing or cannot be.
    #[must_use]
    pub fn apply(self, system: &System) -> Option<System> {
        match self {
            Self::Bandwidth => system.with_bandwidth(1.1).ok(),
            Self::Arithmetic => system.with_arithmetic(1.1).ok(),
            Self::Link => faster_link(system),
            Self::Fp8Weights => with_weights(system, Format::Fp8),
            Self::Nvfp4Weights => with_weights(system, Format::Nvfp4),
            Self::Fp8Cache => {
                let model = system.model().clone().with_kv_cache(Format::Fp8);
                let is_less = model.cache_bytes(1e4) < system.model().cache_bytes(1e4);
                if is_less { system.with_model(model).ok() } else { None }
            }
            Self::TwiceTheRanks => twice_the_ranks(system),
        }
    }
}

impl SolScope {
    /// What each improvement that can be made buys over `before`, the answer of `system` to the same question.
    ///
    /// ```
    /// use std::num::NonZeroU64;
    /// use fizeau_core::Tokens;
    /// use fizeau_roofline::{Deployment, Device, Improvement, KnownModel, SolScope, System, UniformLoad};
    /// let model = KnownModel::named("llama-3.1-8b")?.model()?;
    /// let system = System::new(model, Device::named("h100-sxm")?.clone(), Deployment::SINGLE)?;
    /// let load = UniformLoad::new(Tokens::new(2048), Tokens::new(256), NonZeroU64::MIN);
    /// let before = SolScope::Requests.answer(&system, &load, None)?;
    /// let gains = SolScope::Requests.gains(&system, &load, None, &before);
    /// // A single user waits for memory alone.
    /// assert_eq!(gains[0].improvement, Improvement::Bandwidth);
    /// assert!((gains[0].bound.tokens_per_s_per_user.ok_or("no TPOT")? - 0.1).abs() < 1e-9);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn gains(
        self,
        system: &System,
        load: &UniformLoad,
        batch: Option<u64>,
        before: &LoadAnalysis,
    ) -> Vec<ImprovementGain> {
        let gain = |improvement: Improvement| {
            let after = self.answer(&improvement.apply(system)?, load, batch).ok()?;
            Some(ImprovementGain {
                improvement,
                bound: FigureGain::between(&before.bound, &after.bound),
                expected: FigureGain::between(&before.expected, &after.expected),
            })
        };
        Improvement::ALL.into_iter().filter_map(gain).collect()
    }
}

fn with_weights(system: &System, format: Format) -> Option<System> {
    let model = system.model().clone().with_weights(&WeightChoice::all(format));
    let is_less = model.weight_bytes() < system.model().weight_bytes();
    if is_less { system.with_model(model).ok() } else { None }
}

fn faster_link(system: &System) -> Option<System> {
    let link = system.device().link().filter(|_| system.deployment().devices_per_replica() > 1)?;
    let link = Link { bandwidth: link.bandwidth * 1.1, ..*link };
    Some(system.with_device(system.device().clone().with_link(link).ok()?))
}

fn twice_the_ranks(system: &System) -> Option<System> {
    let deployment: Deployment = *system.deployment();
    let deployment = deployment.with_tensor(deployment.tensor().checked_mul(2)?).ok()?;
    system.spread(deployment).ok()
}
