//! Searches over deployments and devices.

use fizeau_core::Seconds;

use super::{Goal, Shortfall};
use crate::reckoning::Reckoning;
use crate::system::System;
use crate::{Deployment, Device, Figures, Load, Model, Serving};

/// What a deployment is wanted for.
#[derive(Debug, Clone, Copy)]
pub struct Query<'a> {
    /// What is served.
    pub model: &'a Model,
    /// How each engine is set up.
    pub serving: Serving,
    /// What is asked of it; its concurrency is the most that is offered at once.
    pub load: Load,
    /// What must be met.
    pub goal: Goal,
    /// What counts among those that meet it.
    pub aim: Aim,
    /// By which account.
    pub by: Reckoning,
}

/// What counts among deployments that meet a goal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Aim {
    /// Most requests per second.
    #[default]
    Throughput,
    /// Least time from a request to its last token.
    Latency,
}

/// One way to do it.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Choice {
    /// How the model is spread.
    pub deployment: Deployment,
    /// The figures at the largest batch that meets the goal.
    pub figures: Figures,
}

/// The best way, and the next best.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Found {
    /// The best.
    pub best: Choice,
    /// The second best on as many devices; none where no other meets the goal.
    pub runner_up: Option<Choice>,
    /// What one device less lacks, by its best deployment: what the number of devices is for. None for one device, or
    /// where the number was given.
    pub limited_by: Option<Shortfall>,
}

/// Why nothing was found.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SearchError {
    /// Nothing meets the goal.
    #[error(
        "no way over up to {devices} {device} meets the goal; {closest} comes closest: {lacks}"
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
    #[error("the model cannot be spread over {devices} {device}: nothing divides")]
    NothingDivides {
        /// The device.
        device: String,
        /// How many.
        devices: u64,
    },
}

impl<'a> Query<'a> {
    /// The expected, with most requests per second, of `load` for `goal`; an engine's usual settings.
    #[must_use]
    pub fn new(model: &'a Model, load: Load, goal: Goal) -> Self {
        let (serving, aim) = (Serving::default(), Aim::Throughput);
        Self { model, serving, load, goal, aim, by: Reckoning::Expected }
    }

    /// The fewest of `device`, up to `most`, that meet the goal, and how the model is best spread over them.
    ///
    /// ```
    /// use std::num::NonZeroU64;
    /// use fizeau_core::{Seconds, Tokens};
    /// use fizeau_roofline::{Device, Goal, KnownModel, Load, Need, Query};
    /// let model = KnownModel::named("llama-3.1-70b")?.model()?; // Llama-3.1-70B: 141 GB
    /// let load = Load::new(Tokens::new(2048), Tokens::new(256), NonZeroU64::new(64).ok_or("zero")?);
    /// let goal = Goal { concurrency: NonZeroU64::new(64), ..Goal::default() };
    /// let found = Query::new(&model, load, goal).fewest_devices(Device::named("h100-sxm")?, 16)?;
    /// assert_eq!(found.best.deployment.devices(), 3);
    /// assert_eq!(found.limited_by.map(|lacks| lacks.need), Some(Need::Concurrency));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If none does; the error names what comes closest.
    pub fn fewest_devices(&self, device: &Device, most: u64) -> Result<Found, SearchError> {
        let mut closest: Option<(Deployment, Shortfall)> = None;
        let mut last = None;
        for devices in 1..=most {
            match self.best_on(device, devices) {
                Ok(found) => return Ok(Found { limited_by: last, ..found }),
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
    pub fn best_deployment(&self, device: &Device, devices: u64) -> Result<Found, SearchError> {
        self.best_on(device, devices).map_err(|closest| self.nothing(device, devices, closest))
    }

    /// What comes closest where nothing meets the goal; nothing where nothing divides.
    fn best_on(
        &self,
        device: &Device,
        devices: u64,
    ) -> Result<Found, Option<(Deployment, Shortfall)>> {
        let (mut best, mut runner_up): (Option<Choice>, Option<Choice>) = (None, None);
        let mut closest = None;
        for deployment in Deployment::candidates(self.model, devices) {
            let Ok(system) = System::new(self.model.clone(), device.clone(), deployment) else {
                continue;
            };
            let system = system.with_serving(self.serving);
            let choice = match system.meet(self.by, &self.load, &self.goal) {
                Ok(figures) => Choice { deployment, figures },
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
        let found = best.map(|best| Found { best, runner_up, limited_by: None });
        found.ok_or(closest)
    }

    fn prefers(&self, one: &Choice, other: &Choice) -> bool {
        let times = |choice: &Choice| -> Seconds { choice.figures.e2el };
        match self.aim {
            Aim::Throughput => one.figures.requests_per_s > other.figures.requests_per_s,
            Aim::Latency => times(one) < times(other),
        }
    }

    fn nothing(
        &self,
        device: &Device,
        devices: u64,
        closest: Option<(Deployment, Shortfall)>,
    ) -> SearchError {
        let device = device.name.to_owned();
        match closest {
            Some((closest, lacks)) => SearchError::NothingMeets { device, devices, closest, lacks },
            None => SearchError::NothingDivides { device, devices },
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
