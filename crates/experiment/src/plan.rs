//! From what replicas were found to do to replicas, devices and money, bursts included.

mod bursts;
mod source;

use std::collections::HashSet;
use std::error::Error;
use std::num::NonZeroU64;

use fizeau_metrics::{Goal, GoodputGoals, Slo};
use fizeau_pareto::Demand;
use fizeau_record::{DevicePlanSource, NoCommonGoals, PlanQuery, PlanReport, TestedReplica};
use fizeau_roofline::{CalibrationFileError, HourlyRate};
use fizeau_sim::ScenarioError;
use thiserror::Error;

pub use source::{ReplicaSource, ReplicaSourceError};

/// What is planned: how many of which replicas serve a demand.
///
/// ```no_run
/// use fizeau_experiment::{PlanSettings, PlannedReplica};
/// use fizeau_pareto::Demand;
/// use fizeau_record::TestedReplica;
///
/// let replica = PlannedReplica::new("h100", TestedReplica::read("results/h100")?);
/// let mut plan = PlanSettings::new(Demand::new(100.0, 0.2, 1)?, vec![replica]);
/// plan.slo = Some("p99 e2el<10s".parse()?);
/// let report = plan.plan()?;
/// assert!(report.is_met());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct PlanSettings {
    /// The requests per second, the share of each replica that is kept free, and the replicas that may fail.
    pub demand: Demand,
    /// The goals that each replica keeps; none for those of the runs themselves.
    pub slo: Option<Slo>,
    /// Other goals whose price is to stand beside, each with what it is called; where there are none, the same goals with other
    /// limits of latency.
    pub others: Vec<(String, Vec<Goal>)>,
    /// How regular arrivals will be, above 0: 1 is Poisson, below 1 burstier. The simulated engine then says how much less a replica
    /// carries, where enough is known of it; none for as they were measured.
    pub burstiness: Option<f64>,
    /// What makes a single request a good one there.
    pub goodput: GoodputGoals,
    /// The kinds of replica, side by side.
    pub replicas: Vec<PlannedReplica>,
}

/// A kind of replica.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct PlannedReplica {
    /// What it is called.
    pub name: String,
    /// Where its figures are from.
    pub from: String,
    /// What it was found to do.
    pub tested: TestedReplica,
    /// How many devices it takes.
    pub devices: Option<NonZeroU64>,
    /// What an hour of a device costs; none for a plan of devices alone.
    pub hour: Option<HourlyRate>,
}

/// Why there is no plan.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PlanError {
    /// It is not known which goals a replica is to keep.
    #[error(transparent)]
    Goals(#[from] NoCommonGoals),
    /// It is not known how many devices a replica takes.
    #[error("it is not known how many devices a replica of {name} takes")]
    NoDevices {
        /// What it is called.
        name: String,
    },
    /// Two replicas have one name, so that nobody could tell them apart.
    #[error("two sources are called {name}; give each a name of its own")]
    SameName {
        /// The name of both.
        name: String,
        /// Where the second is from.
        from: String,
    },
    /// The burstiness is none.
    #[error("the burstiness is {0}; it must be a number above 0; 1 is Poisson")]
    Burstiness(f64),
    /// The calibration of a replica is not understood.
    #[error("the calibration of the engine: {0}")]
    Calibration(#[from] CalibrationFileError),
    /// The engine of a replica cannot be simulated.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// A simulated level broke.
    #[error("a simulated level of the replica: {0}")]
    Level(#[source] Box<dyn Error + Send + Sync>),
}

impl PlannedReplica {
    /// On the devices that it was tested on, at their lowest published price.
    pub fn new(name: impl Into<String>, tested: TestedReplica) -> Self {
        let name = name.into();
        let device = tested.device();
        let hour = device.and_then(|device| HourlyRate::lowest_published(&device).ok());
        Self { from: name.clone(), name, devices: tested.devices, hour, tested }
    }
}

impl PlanSettings {
    /// The plan for `demand` within the goals of the runs, without bursts.
    pub fn new(demand: Demand, replicas: Vec<PlannedReplica>) -> Self {
        let (slo, others, burstiness) = (None, Vec::new(), None);
        Self { demand, slo, others, burstiness, goodput: GoodputGoals::default(), replicas }
    }

    /// Plans.
    ///
    /// # Errors
    /// If it is not known which goals are to be kept or how many devices a replica takes, or its engine cannot be simulated.
    pub fn plan(&self) -> Result<PlanReport, PlanError> {
        if let Some(none) =
            self.burstiness.filter(|burstiness| burstiness.is_nan() || *burstiness <= 0.0)
        {
            return Err(PlanError::Burstiness(none));
        }
        let mut names = HashSet::new();
        if let Some(PlannedReplica { name, from, .. }) =
            self.replicas.iter().find(|replica| !names.insert(&replica.name))
        {
            return Err(PlanError::SameName { name: name.clone(), from: from.clone() });
        }
        let slo = match &self.slo {
            Some(slo) => slo.clone(),
            None => {
                let runs = self.replicas.iter().map(|replica| (&*replica.name, &replica.tested));
                TestedReplica::common_goals(runs)?
            }
        };
        let mut ask = PlanQuery::new(self.demand, slo.goals);
        ask.others.clone_from(&self.others);
        let sources = self.replicas.iter().map(|replica| self.source(&ask, replica));
        let sources = sources.collect::<Result<_, _>>()?;
        Ok(PlanReport::new(ask, sources))
    }

    fn source(
        &self,
        ask: &PlanQuery,
        replica: &PlannedReplica,
    ) -> Result<DevicePlanSource, PlanError> {
        let PlannedReplica { name, from, tested, devices, hour } = replica;
        let unknown = || PlanError::NoDevices { name: name.clone() };
        let devices = devices.ok_or_else(unknown)?;
        let mut source = DevicePlanSource::tested(name, tested, devices, hour.clone(), &ask.goals);
        source.from.clone_from(from);
        if let Some(burstiness) = self.burstiness {
            source.bursts = bursts::of(&source, tested, ask, &self.goodput, burstiness)?;
        }
        Ok(source)
    }
}
