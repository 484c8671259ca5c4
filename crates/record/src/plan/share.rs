//! How the devices' time is shared between prompts and outputs.

use std::num::NonZeroU64;

use fizeau_metrics::Goal;
use fizeau_roofline::{Load, Reckoning};
use thiserror::Error;

use super::{NotCarried, PlanLevel, PlanSource};
use crate::SpeedOfLightReference;

/// Why it is not known how the devices' time is shared.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum NoPromptShare {
    /// How long requests are is not known.
    #[error("the lengths of requests are not known")]
    NoLengths,
    /// It is not known what a replica carries.
    #[error(transparent)]
    NotCarried(#[from] NotCarried),
    /// It is not known how many requests are under way then.
    #[error("it is not known how many requests were in flight")]
    NoInFlight,
}

impl PlanSource {
    /// The share of the devices' time that prompts take, from 0 to 1, as physics leads one to expect at the nearest load that was
    /// tested.
    ///
    /// # Errors
    /// If lengths or loads are not known.
    pub fn expected_prompt_share(
        &self,
        goals: &[Goal],
        reference: &SpeedOfLightReference,
    ) -> Result<f64, NoPromptShare> {
        let [input, output] = self.lengths.whole().ok_or(NoPromptShare::NoLengths)?;
        let carried = self.carried(goals)?;
        let nearest = self.levels.iter().find(|level| level.load == carried.nearest);
        let in_flight = nearest.and_then(PlanLevel::in_flight);
        let in_flight = in_flight.ok_or(NoPromptShare::NoInFlight)?.max(1.0);
        let concurrency = NonZeroU64::new(in_flight.round() as u64).unwrap_or(NonZeroU64::MIN);
        let load = Load::new(input, output, concurrency);
        let system = reference.reference().system;
        Ok(system.cost(Reckoning::Expected, &load, in_flight, &self.hour).prompt_share)
    }
}
