//! What a better resource would buy.

use fizeau_core::{PerSec, Seconds};

use crate::estimate_kind::EstimateKind;
use crate::figures::PhaseCosts;
use crate::pass::Binding;
use crate::system::System;
use crate::{DeploymentError, DeviceError, Figures, Model, PhaseSchedule, UniformLoad};

/// Elasticities: by how many per cent a figure grows where a resource, or what is asked of it, grows by one. The batch
/// stays as it is. Times fall and rates grow with bandwidth: the signs are those of the figure itself.
///
/// They are exact, and not differences: a time that is a sum of maxima grows with a resource by the parts that wait
/// for it. Where two resources are equally slow, the figure has a kink; memory counts there.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub struct Sensitivity {
    /// To the memory's bandwidth.
    pub bandwidth: f64,
    /// To the rates of arithmetic, all of them together.
    pub arithmetic: f64,
    /// To the bytes of the weights.
    pub weight_bytes: f64,
    /// To the bytes of caches and states.
    pub kv_bytes: f64,
    /// To the links' bandwidth.
    pub link: f64,
    /// To the links' latency.
    pub latency: f64,
}

/// The elasticities of the figures that they differ for.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Sensitivities {
    /// Of the time to first token.
    pub ttft: Sensitivity,
    /// Of the time per output token.
    pub tpot: Sensitivity,
    /// Of requests, and so output tokens, per second.
    pub requests_per_s: Sensitivity,
}

impl Sensitivity {
    /// Of a time that waits for resources as `binding` says.
    fn of_time(binding: &Binding) -> Self {
        let all = binding.total();
        let part = |of: Seconds| if all.get() > 0.0 { of / all } else { 0.0 };
        Self {
            bandwidth: -part(binding.weights + binding.cache + binding.activations),
            arithmetic: -part(binding.compute),
            weight_bytes: part(binding.weights),
            kv_bytes: part(binding.cache),
            link: -part(binding.link),
            latency: part(binding.hops),
        }
    }

    /// Of one over that.
    fn inverse(self) -> Self {
        Self {
            bandwidth: -self.bandwidth,
            arithmetic: -self.arithmetic,
            weight_bytes: -self.weight_bytes,
            kv_bytes: -self.kv_bytes,
            link: -self.link,
            latency: -self.latency,
        }
    }
}

impl System {
    /// How the bound's figures for `load` depend on each resource.
    ///
    /// ```
    /// use std::num::NonZeroU64;
    /// use fizeau_core::Tokens;
    /// use fizeau_roofline::{Deployment, Device, KnownModel, UniformLoad, System};
    /// let model = KnownModel::named("llama-3.1-8b")?.model()?;
    /// let system = System::new(model, Device::named("h100-sxm")?.clone(), Deployment::SINGLE)?;
    /// let load = UniformLoad::new(Tokens::new(2048), Tokens::new(256), NonZeroU64::MIN);
    /// // A token waits for memory alone: 98 % of it are weights.
    /// let tpot = system.bound_sensitivities(&load).tpot;
    /// assert_eq!(tpot.bandwidth, -1.0);
    /// assert_eq!(format!("{:.2} {:.2}", tpot.weight_bytes, tpot.kv_bytes), "0.98 0.02");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn bound_sensitivities(&self, load: &UniformLoad) -> Sensitivities {
        let most = self.bound_rate_batch(load, 1.0);
        self.bound_sensitivities_of(load, self.running_batch(load), most)
    }

    fn bound_sensitivities_of(&self, load: &UniformLoad, running: f64, most: f64) -> Sensitivities {
        let phases = self.bound_phases(load, running);
        let (local, active) = self.local(most);
        let busy = self.busy(load, &PhaseCosts { local, active, ..phases });
        let is_reading = busy.weights + busy.cache >= busy.compute;
        let busy = if is_reading {
            Binding { weights: busy.weights, cache: busy.cache, ..Binding::default() }
        } else {
            Binding { compute: busy.compute, ..Binding::default() }
        };
        Sensitivities {
            ttft: Sensitivity::of_time(&self.prompt_binding(&phases)),
            tpot: Sensitivity::of_time(&phases.step.binding),
            requests_per_s: Sensitivity::of_time(&busy).inverse(),
        }
    }

    /// How the expected figures for `load` depend on each resource.
    #[must_use]
    pub fn expected_sensitivities(&self, load: &UniformLoad) -> Sensitivities {
        self.expected_sensitivities_of(load, self.running_batch(load))
    }

    /// How the figures depend on each resource with exactly `batch` sequences running, fitting or not.
    #[must_use]
    pub fn sensitivities_at(
        &self,
        by: EstimateKind,
        load: &UniformLoad,
        batch: f64,
    ) -> Sensitivities {
        match by {
            EstimateKind::Bound => self.bound_sensitivities_of(load, batch, batch),
            EstimateKind::Expected => self.expected_sensitivities_of(load, batch),
        }
    }

    /// How the time of a decode step of `batch` sequences that no prompt comes between depends on each resource.
    #[must_use]
    pub fn step_sensitivity(
        &self,
        by: EstimateKind,
        load: &UniformLoad,
        batch: f64,
    ) -> Sensitivity {
        let step = match by {
            EstimateKind::Bound => self.bound_decode(load, batch),
            EstimateKind::Expected => self.expected_decode(load, batch),
        };
        Sensitivity::of_time(&step.binding)
    }

    fn expected_sensitivities_of(&self, load: &UniformLoad, running: f64) -> Sensitivities {
        let phases = self.expected_phases(load, running);
        let (_, output, _) = load.lengths();
        let mixed = PhaseSchedule::Mixed;
        let times = self.request_times(mixed, &phases, output, self.unevenness());
        Sensitivities {
            ttft: Sensitivity::of_time(&phases.alone.binding),
            tpot: Sensitivity::of_time(&times.token.whole().binding),
            requests_per_s: Sensitivity::of_time(&times.whole.binding).inverse(),
        }
    }

    /// What the bound's prompt waits for: with several stages, less than its pass does.
    fn prompt_binding(&self, phases: &PhaseCosts) -> Binding {
        let pass = &phases.alone;
        let spread = 1.0 / f64::from(self.deployment().pipeline());
        let (cache, compute) = (pass.cache * spread, pass.arithmetic() * spread);
        if pass.weights + cache >= compute {
            Binding { weights: pass.weights, cache, ..Binding::default() }
        } else {
            Binding { compute, ..Binding::default() }
        }
    }

    /// The same system with a memory `factor` times as fast: what +10 % bandwidth (1.1) would buy, say, to be evaluated
    /// again.
    ///
    /// # Errors
    /// If the factor is not a positive finite number.
    pub fn with_bandwidth(&self, factor: f64) -> Result<Self, DeviceError> {
        let bandwidth = self.device().memory_bandwidth() * factor;
        let device = self.device().clone().with_memory_bandwidth(bandwidth)?;
        Ok(self.with_device(device))
    }

    /// The same system with arithmetic `factor` times as fast.
    ///
    /// # Errors
    /// If the factor is not a positive finite number.
    pub fn with_arithmetic(&self, factor: f64) -> Result<Self, DeviceError> {
        Ok(self.with_device(self.device().clone().with_arithmetic(factor)?))
    }

    /// The same system with another model, or the same one stored otherwise: what fp8 weights would buy.
    ///
    /// # Errors
    /// If the model cannot be spread so.
    pub fn with_model(&self, model: Model) -> Result<Self, DeploymentError> {
        let other = Self::new(model, self.device().clone(), *self.deployment())?;
        Ok(other.with_serving(*self.serving()).with_routing(self.routing()))
    }
}

/// What a change buys: the figures after it over those before, less one. Positive where it is faster.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct FigureGain {
    /// Pace of each user, `1 / tpot`; none where requests end with their first token.
    pub tokens_per_s_per_user: Option<f64>,
    /// Requests, and so output tokens, per second.
    pub requests_per_s: f64,
    /// How soon a first token comes, `1 / ttft`.
    pub promptness: f64,
}

impl FigureGain {
    /// From figures before a change and after it.
    #[must_use]
    pub fn between(before: &Figures, after: &Figures) -> Self {
        let rate = |before: PerSec, after: PerSec| after / before - 1.0;
        Self {
            tokens_per_s_per_user: before
                .tpot
                .zip(after.tpot)
                .map(|(before, after)| before / after - 1.0),
            requests_per_s: rate(before.requests_per_s, after.requests_per_s),
            promptness: before.ttft / after.ttft - 1.0,
        }
    }
}
