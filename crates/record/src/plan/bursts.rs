//! What burstier arrivals change of what a replica carries.

mod simulated;
mod subject;

pub use simulated::{BurstsLevel, BurstsQuery};
pub use subject::{BurstSubject, NoBurstAccount};

use fizeau_core::PerSec;
use fizeau_pareto::FigureEstimate;

/// Whether the bursts of the arrivals are in the plan.
#[derive(Debug, Clone, PartialEq)]
pub enum BurstAccount {
    /// They are not: a replica is taken to carry what it was measured to.
    NotAccounted(NoBurstAccount),
    /// The simulated engine was asked what they change, and what was measured is lowered by as much.
    Simulated(SimulatedBursts),
}

/// What a simulated replica carries within the goals, with arrivals as they were measured and as they are to be.
///
/// Only the ratio of the two counts, so that what the simulation has wrong of the engine's pace is wrong on both sides.
#[derive(Debug, Clone, PartialEq)]
pub struct SimulatedBursts {
    /// How regular the arrivals are to be: 1 is Poisson, below 1 burstier.
    pub burstiness: f64,
    /// What was simulated, in one line.
    pub engine: String,
    /// How the arrivals came when it was measured: `Poisson arrivals`.
    pub measured_with: String,
    /// What the simulated replica carries with arrivals as they were measured.
    pub as_measured: PerSec,
    /// What it carries with arrivals as they are to be.
    pub under_bursts: PerSec,
    /// What each of so many replicas carries behind a router that takes the least busy, with arrivals as they are to be; none
    /// where that was not simulated.
    pub pooled: Option<(u32, PerSec)>,
}

impl SimulatedBursts {
    /// What the arrivals make of what was measured: under 1 where they are harder to serve.
    #[must_use]
    pub fn factor(&self) -> f64 {
        self.under_bursts.get() / self.as_measured.get()
    }

    /// What the plan makes of it: no more than 1, since a simulation alone is no reason to count on more than was measured.
    #[must_use]
    pub fn counted(&self) -> f64 {
        self.factor().min(1.0)
    }
}

impl BurstAccount {
    /// What a replica carries with the bursts that the plan is for.
    pub(super) fn lower(&self, measured: &FigureEstimate) -> FigureEstimate {
        let factor = match self {
            Self::NotAccounted(_) => 1.0,
            Self::Simulated(simulated) => simulated.counted(),
        };
        let end = |value: f64| value * factor;
        let lowered =
            FigureEstimate::new(end(measured.value()), end(measured.low()), end(measured.high()));
        lowered.unwrap_or(*measured)
    }
}
