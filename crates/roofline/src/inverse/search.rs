//! Searches over deployments and devices.

use fizeau_core::Seconds;

use super::{ServingGoal, Shortfall};
use crate::estimate_kind::EstimateKind;
use crate::system::System;
use crate::{Deployment, Device, ExpertRouting, Figures, Model, Serving, UniformLoad};

/// The model, load and goal for which a deployment is wanted.
#[derive(Debug, Clone, Copy)]
pub struct DeploymentQuery<'a> {
    /// What is served.
    pub model: &'a Model,
    /// How each engine is set up.
    pub serving: Serving,
    /// How its tokens choose experts.
    pub routing: ExpertRouting,
    /// A deployment in whose way tokens reach their experts and communication overlaps; its degrees do not matter.
    pub like: Deployment,
    /// What is asked of it, as [`System::meet`] takes it.
    pub load: UniformLoad,
    /// What must be met.
    pub goal: ServingGoal,
    /// What counts among those that meet it.
    pub aim: DeploymentObjective,
    /// By which account.
    pub by: EstimateKind,
}

impl System {
    /// The fewest devices like this system's, up to `most`, on which its model, served as it is, meets `goal` under `load`.
    ///
    /// # Errors
    /// If none does; the error names what comes closest.
    pub fn fewest_devices_for(
        &self,
        by: EstimateKind,
        load: &UniformLoad,
        goal: &ServingGoal,
        most: u64,
    ) -> Result<DeploymentRanking, DeploymentSearchError> {
        let query = DeploymentQuery {
            serving: *self.serving(),
            routing: self.routing(),
            like: *self.deployment(),
            by,
            ..DeploymentQuery::new(self.model(), *load, *goal)
        };
        query.fewest_devices(self.device(), most)
    }
}

/// The objective by which deployments that meet a goal are ranked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum DeploymentObjective {
    /// Most requests per second.
    #[default]
    Throughput,
    /// Least time from a request to its last token.
    Latency,
}

/// One deployment that meets the goal.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct DeploymentChoice {
    /// How the model is spread.
    pub deployment: Deployment,
    /// The figures at the largest batch that meets the goal.
    pub figures: Figures,
}

/// The best way, and the next best.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct DeploymentRanking {
    /// The best.
    pub best: DeploymentChoice,
    /// The second best on as many devices; none where no other meets the goal.
    pub runner_up: Option<DeploymentChoice>,
    /// What one device less lacks, by its best deployment: what the number of devices is for. None for one device, or
    /// where the number was given.
    pub limited_by: Option<Shortfall>,
}

/// Why nothing was found.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DeploymentSearchError {
    /// Nothing meets the goal.
    #[error(
        "no deployment on up to {devices} {device} meets the goal; {closest} comes closest: {lacks}"
    )]
    NothingMeets {
        /// The device.
        device: String,
        /// As many as were tried.
        devices: u64,
        /// What misses by least.
        closest: Deployment,
        /// What that lacks.
        lacks: Shortfall,
    },
    /// The model cannot be spread over so many.
    #[error(
        "the model cannot be spread over {devices} {device}: no degree of parallelism divides its layers and heads"
    )]
    NothingDivides {
        /// The device.
        device: String,
        /// How many.
        devices: u64,
    },
}

impl<'a> DeploymentQuery<'a> {
    /// The expected, with most requests per second, of `load` for `goal`; an engine's usual settings.
    #[must_use]
    pub fn new(model: &'a Model, load: UniformLoad, goal: ServingGoal) -> Self {
        Self {
            model,
            serving: Serving::default(),
            routing: ExpertRouting::default(),
            like: Deployment::SINGLE,
            load,
            goal,
            aim: DeploymentObjective::Throughput,
            by: EstimateKind::Expected,
        }
    }

    /// The fewest of `device`, up to `most`, that meet the goal, and how the model is best spread over them.
    ///
    /// ```
    /// use std::num::NonZeroU64;
    /// use fizeau_core::{Seconds, Tokens};
    /// use fizeau_roofline::{Device, ServingGoal, KnownModel, UniformLoad, UnmetNeed, DeploymentQuery};
    /// let model = KnownModel::named("llama-3.1-70b")?.model()?; // Llama-3.1-70B: 141 GB
    /// let load = UniformLoad::new(Tokens::new(2048), Tokens::new(256), NonZeroU64::new(64).ok_or("zero")?);
    /// let goal = "concurrency:64".parse()?;
    /// let found = DeploymentQuery::new(&model, load, goal).fewest_devices(Device::named("h100-sxm")?, 16)?;
    /// assert_eq!(found.best.deployment.devices(), 3);
    /// assert_eq!(found.limited_by.map(|lacks| lacks.need), Some(UnmetNeed::Concurrency));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If none does; the error names what comes closest.
    pub fn fewest_devices(
        &self,
        device: &Device,
        most: u64,
    ) -> Result<DeploymentRanking, DeploymentSearchError> {
        let mut closest: Option<(Deployment, Shortfall)> = None;
        let mut last = None;
        for devices in 1..=most {
            match self.best_on(device, devices) {
                Ok(found) => return Ok(DeploymentRanking { limited_by: last, ..found }),
                Err(Some(missed)) => {
                    last = Some(missed.1);
                    closest = nearer(closest, missed);
                }
                Err(None) => {}
            }
        }
        Err(self.nothing(device, most, closest))
    }

    /// The best way to spread the model over exactly so many of `device`.
    ///
    /// # Errors
    /// If none meets the goal; the error names what comes closest.
    pub fn best_deployment(
        &self,
        device: &Device,
        devices: u64,
    ) -> Result<DeploymentRanking, DeploymentSearchError> {
        self.best_on(device, devices).map_err(|closest| self.nothing(device, devices, closest))
    }

    /// What comes closest where nothing meets the goal; nothing where nothing divides.
    fn best_on(
        &self,
        device: &Device,
        devices: u64,
    ) -> Result<DeploymentRanking, Option<(Deployment, Shortfall)>> {
        let (mut best, mut runner_up): (Option<DeploymentChoice>, Option<DeploymentChoice>) =
            (None, None);
        let mut closest = None;
        for deployment in Deployment::candidates(self.model, devices) {
            let deployment = deployment.with_ways_of(&self.like);
            let Ok(system) = System::new(self.model.clone(), device.clone(), deployment) else {
                continue;
            };
            let system = system.with_serving(self.serving).with_routing(self.routing);
            let choice = match system.meet(self.by, &self.load, &self.goal) {
                Ok(figures) => DeploymentChoice { deployment, figures },
                Err(lacks) => {
                    closest = nearer(closest, (deployment, lacks));
                    continue;
                }
            };
            if best.as_ref().is_none_or(|known| self.prefers(&choice, known)) {
                runner_up = best.replace(choice);
            } else if runner_up.as_ref().is_none_or(|known| self.prefers(&choice, known)) {
                runner_up = Some(choice);
            }
        }
        let found = best.map(|best| DeploymentRanking { best, runner_up, limited_by: None });
        found.ok_or(closest)
    }

    fn prefers(&self, one: &DeploymentChoice, other: &DeploymentChoice) -> bool {
        let times = |choice: &DeploymentChoice| -> Seconds { choice.figures.e2el };
        match self.aim {
            DeploymentObjective::Throughput => {
                one.figures.requests_per_s > other.figures.requests_per_s
            }
            DeploymentObjective::Latency => times(one) < times(other),
        }
    }

    fn nothing(
        &self,
        device: &Device,
        devices: u64,
        closest: Option<(Deployment, Shortfall)>,
    ) -> DeploymentSearchError {
        let device = device.name.to_owned();
        match closest {
            Some((closest, lacks)) => {
                DeploymentSearchError::NothingMeets { device, devices, closest, lacks }
            }
            None => DeploymentSearchError::NothingDivides { device, devices },
        }
    }
}

/// The one of both that misses by less, the first of equals.
fn nearer(
    known: Option<(Deployment, Shortfall)>,
    other: (Deployment, Shortfall),
) -> Option<(Deployment, Shortfall)> {
    match known {
        Some(known) if known.1.factor() <= other.1.factor() => Some(known),
        _ => Some(other),
    }
}
