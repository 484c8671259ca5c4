//! What is to be simulated of a replica, where enough is known of it.

use fizeau_core::Tokens;
use fizeau_metrics::{Goal, GoodputGoals, Metric};
use thiserror::Error;

use crate::{DevicePlanSource, ReplicaCapacity, SpeedOfLightReference, TestedReplica};

/// What is to be simulated of a replica, to find what burstier arrivals change.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct BurstSubject<'a> {
    /// The model on its devices.
    pub reference: &'a SpeedOfLightReference,
    /// The calibration of its engine, as JSON.
    pub calibration: &'a str,
    /// The tokens of a prompt and of an output: all requests are alike.
    pub tokens: [Tokens; 2],
    /// What the replica was found to carry.
    pub carried: ReplicaCapacity,
}

/// Why bursts are not in a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum NoBurstAccount {
    /// Nobody said how regular arrivals will be.
    #[error("how bursty they will be is not given")]
    NotAsked,
    /// Its model or its device is not known.
    #[error("no model and device are known")]
    NoReference,
    /// Its instances read prompts or decode, and a plan simulates replicas that do both.
    #[error("prefill and decode run on instances of their own, which a plan does not simulate")]
    Disaggregated,
    /// The constants of its engine are not known.
    #[error("there is no calibration of the engine")]
    NoCalibration,
    /// How long requests are is not known.
    #[error("the lengths of requests are not known")]
    NoLengths,
    /// There is nothing that it carries within the goals.
    #[error("the goals are not met")]
    NotCarried,
    /// Goals on goodput need those of single requests.
    #[error("a goal on goodput can be simulated only with the goals of single requests")]
    NoGoodput,
    /// The simulated engine keeps the goals at no load.
    #[error("the simulated engine misses the goals at every load")]
    NeverKept,
    /// With the bursts it keeps them at no rate.
    #[error("with such bursts the simulated engine misses the goals at every rate")]
    NeverKeptWithBursts,
}

impl DevicePlanSource {
    /// What is to be simulated of the replica behind this, which was `tested`: what it carries within `goals`, where a request is a good
    /// one that keeps `goodput`.
    ///
    /// # Errors
    /// If too little is known of it.
    pub fn burst_subject<'a>(
        &self,
        tested: &'a TestedReplica,
        goals: &[Goal],
        goodput: &GoodputGoals,
    ) -> Result<BurstSubject<'a>, NoBurstAccount> {
        let reference = tested.reference.as_ref().ok_or(NoBurstAccount::NoReference)?;
        if reference.deployment().disaggregated {
            return Err(NoBurstAccount::Disaggregated);
        }
        let calibration = reference.files().calibration.as_deref();
        let calibration = calibration.ok_or(NoBurstAccount::NoCalibration)?;
        let tokens = self.lengths.whole().ok_or(NoBurstAccount::NoLengths)?;
        let carried = self.capacity(goals).map_err(|_| NoBurstAccount::NotCarried)?;
        let is_goodput =
            |goal: &Goal| matches!(goal.metric, Metric::GoodShare | Metric::GoodputPerSec);
        match goodput.is_empty() && goals.iter().any(is_goodput) {
            true => Err(NoBurstAccount::NoGoodput),
            false => Ok(BurstSubject { reference, calibration, tokens, carried }),
        }
    }
}
