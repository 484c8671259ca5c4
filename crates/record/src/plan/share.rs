//! How the devices' time is shared between prompts and outputs.

use std::num::NonZeroU64;

use fizeau_core::Tokens;
use fizeau_metrics::Goal;
use fizeau_roofline::{EstimateKind, UniformLoad};
use thiserror::Error;

use super::{DevicePlanSource, NoCapacityReason, PlanLevel};
use crate::SpeedOfLightReference;

/// Why it is not known how the devices' time is shared.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum NoPromptShare {
    /// Its model or its device is not known.
    #[error("no model and device are known")]
    NoReference,
    /// How long requests are is not known.
    #[error("the lengths of requests are not known")]
    NoLengths,
    /// What a device costs is not known, and so there is nothing to share out.
    #[error("no price is known")]
    NoPrice,
    /// It is not known what a replica carries.
    #[error(transparent)]
    NotCarried(#[from] NoCapacityReason),
    /// How many drafted tokens are accepted is not known, and so not how long replies take.
    #[error("the acceptance rate of drafted tokens is not known")]
    Drafts,
    /// Prompts have devices of their own, busy or not.
    #[error("prompts are read on devices of their own, and how many these are is not known")]
    Apart,
    /// It is not known how many requests are under way then.
    #[error("the number of requests in flight is not known")]
    NoInFlight,
}

impl DevicePlanSource {
    /// The share of the devices' time that prompts take, from 0 to 1, as the roofline model expects at the nearest load that was
    /// tested. Prompt tokens that a cache supplied take none.
    ///
    /// # Errors
    /// If lengths or loads are not known.
    pub(crate) fn expected_prompt_share(
        &self,
        goals: &[Goal],
        reference: &SpeedOfLightReference,
    ) -> Result<f64, NoPromptShare> {
        let hour = self.hour.as_ref().ok_or(NoPromptShare::NoPrice)?;
        let served = reference.deployment();
        if served.disaggregated {
            return Err(NoPromptShare::Apart);
        }
        if served.draft > 0 {
            return Err(NoPromptShare::Drafts);
        }
        let [input, output] = self.lengths.whole().ok_or(NoPromptShare::NoLengths)?;
        let carried = self.capacity(goals)?;
        let nearest = self.levels.iter().find(|level| level.load == carried.nearest);
        let in_flight = nearest.and_then(PlanLevel::in_flight);
        let in_flight = in_flight.ok_or(NoPromptShare::NoInFlight)?.max(1.0);
        let concurrency = NonZeroU64::new(in_flight.round() as u64).unwrap_or(NonZeroU64::MIN);
        let cached = self.cached_share.unwrap_or_default() * input.get() as f64;
        let load = UniformLoad::new(input, output, concurrency);
        let load = load.with_cached(Tokens::new(cached.round() as u64));
        let system = reference.reference().system;
        Ok(system.cost(EstimateKind::Expected, &load, in_flight, hour).prompt_share)
    }
}
