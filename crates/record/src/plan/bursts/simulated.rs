//! What burstier arrivals cost a replica, by a simulated engine that somebody runs.

use std::num::{NonZeroU32, NonZeroU64};

use fizeau_core::{LevelLoad, PerSec};
use fizeau_metrics::Goal;
use fizeau_pareto::Demand;
use fizeau_workload::Spacing;

use super::{BurstAccount, NoBurstAccount, SimulatedBursts};
use crate::{PlanLevel, ReplicaCapacity};

/// Requests of a simulated level for each replica: as many as tell a p99 to a few percent.
const REQUESTS: NonZeroU64 = NonZeroU64::new(2000).unwrap();
/// From one rate to the next, until one keeps the goals and one does not.
const STEP: f64 = 1.3;
const MOST_STEPS: usize = 12;
/// Halvings of what then lies between: `1.3^(1/16)` is 1.7 %.
const HALVINGS: usize = 4;
/// More replicas behind one router change little more, and take long.
const MOST_POOLED: u32 = 4;

/// What burstier arrivals are compared with.
#[derive(Debug, Clone, Copy)]
pub struct BurstsQuery<'a> {
    /// The goals that a replica keeps.
    pub goals: &'a [Goal],
    /// What the plan is for.
    pub demand: &'a Demand,
    /// What a replica was found to carry.
    pub carried: &'a ReplicaCapacity,
    /// How regular arrivals were then: 1 is Poisson, below 1 burstier, infinite even; none where that is not known.
    pub measured: Option<f64>,
    /// How regular they will be.
    pub burstiness: f64,
    /// What is simulated, in one line.
    pub engine: &'a str,
}

/// A level that is to be simulated.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct BurstsLevel {
    /// Its load.
    pub load: LevelLoad,
    /// How irregular the gaps of an open loop are.
    pub spacing: Spacing,
    /// How many replicas share it, the least busy being next.
    pub replicas: NonZeroU32,
    /// How many requests it has.
    pub requests: NonZeroU64,
}

impl BurstAccount {
    /// What arrivals of that burstiness leave of what was measured: `level` measures levels of a simulated replica, none where nothing
    /// completed.
    ///
    /// # Errors
    /// What `level` fails with.
    pub fn simulated<E>(
        ask: &BurstsQuery<'_>,
        level: impl FnMut(BurstsLevel) -> Result<Option<PlanLevel>, E>,
    ) -> Result<Self, E> {
        let mut simulation = Simulation { goals: ask.goals, level };
        let (most, measured_with) = simulation.as_measured(ask)?;
        let Some(as_measured) = most else {
            return Ok(Self::NotAccounted(NoBurstAccount::NeverKept));
        };
        let bursty = SimulatedLoad {
            kind: LoadMode::Open(random(ask.burstiness)),
            replicas: NonZeroU32::MIN,
        };
        let Some(under_bursts) = simulation.most(bursty, as_measured)? else {
            return Ok(Self::NotAccounted(NoBurstAccount::NeverKeptWithBursts));
        };
        Ok(Self::Simulated(SimulatedBursts {
            burstiness: ask.burstiness,
            engine: ask.engine.to_owned(),
            measured_with,
            as_measured: PerSec::new(as_measured),
            under_bursts: PerSec::new(under_bursts),
            pooled: simulation.pooled(ask.demand, bursty, under_bursts)?,
        }))
    }
}

fn random(burstiness: f64) -> Spacing {
    Spacing::of_burstiness(burstiness).unwrap_or(Spacing::Even)
}

/// How a load comes, and to how many.
#[derive(Clone, Copy)]
struct SimulatedLoad {
    kind: LoadMode,
    replicas: NonZeroU32,
}

/// Whether a load waits for its replies.
#[derive(Clone, Copy)]
enum LoadMode {
    Open(Spacing),
    Closed,
}

struct Simulation<'a, L> {
    goals: &'a [Goal],
    level: L,
}

impl<E, L: FnMut(BurstsLevel) -> Result<Option<PlanLevel>, E>> Simulation<'_, L> {
    /// What the replica carries with arrivals as they were measured, and how they came.
    fn as_measured(&mut self, ask: &BurstsQuery<'_>) -> Result<(Option<f64>, String), E> {
        let (kind, start, words) = match ask.carried.nearest {
            LevelLoad::Concurrency(slots) => {
                (LoadMode::Closed, f64::from(slots.get()), "a closed loop".to_owned())
            }
            LevelLoad::Rate(_) => {
                let spacing = random(ask.measured.unwrap_or(1.0));
                let words = match spacing {
                    Spacing::Random { burstiness: 1.0 } => "Poisson".to_owned(),
                    Spacing::Random { burstiness } => format!("burstiness {burstiness}"),
                    Spacing::Even => "evenly spaced".to_owned(),
                };
                (LoadMode::Open(spacing), ask.carried.requests_per_s.value(), words)
            }
        };
        Ok((self.most(SimulatedLoad { kind, replicas: NonZeroU32::MIN }, start)?, words))
    }

    /// What each of the plan's replicas carries where they share the arrivals.
    fn pooled(
        &mut self,
        demand: &Demand,
        bursty: SimulatedLoad,
        each: f64,
    ) -> Result<Option<(u32, PerSec)>, E> {
        let Ok(fleet) = demand.fleet(each) else { return Ok(None) };
        let count = u32::try_from(fleet.needed).unwrap_or(MOST_POOLED).min(MOST_POOLED);
        let Some(replicas) = NonZeroU32::new(count).filter(|count| count.get() > 1) else {
            return Ok(None);
        };
        let all = f64::from(replicas.get());
        let most = self.most(SimulatedLoad { replicas, ..bursty }, each * all)?;
        Ok(most.map(|most| (replicas.get(), PerSec::new(most / all))))
    }

    /// The most requests per second within the goals, from `start` on; none where no load keeps them.
    fn most(&mut self, trial: SimulatedLoad, start: f64) -> Result<Option<f64>, E> {
        let (mut kept, mut broken, mut levels) = (None, None, Vec::new());
        let mut next = start;
        for _ in 0..MOST_STEPS + HALVINGS {
            let Some(level) = (self.level)(trial.at(next))? else { break };
            let is_kept = ReplicaCapacity::of(std::slice::from_ref(&level), self.goals).is_ok();
            let at = level.load.value();
            levels.push(level);
            if is_kept {
                kept = Some(at)
            } else {
                broken = Some(at)
            }
            next = match (kept, broken) {
                (Some(kept), None) => kept * STEP,
                (None, Some(broken)) => broken / STEP,
                (Some(kept), Some(broken)) if broken / kept > STEP.powf(1.0 / 16.0) => {
                    (kept * broken).sqrt()
                }
                _ => break,
            };
            if matches!(trial.kind, LoadMode::Closed)
                && levels.iter().any(|level| level.load.value() == next.round())
            {
                break;
            }
        }
        let carried = ReplicaCapacity::of(&levels, self.goals);
        Ok(carried.ok().map(|carried| carried.requests_per_s.value()).filter(|most| *most > 0.0))
    }
}

impl SimulatedLoad {
    fn at(self, load: f64) -> BurstsLevel {
        let (load, spacing) = match self.kind {
            LoadMode::Open(spacing) => (LevelLoad::Rate(PerSec::new(load)), spacing),
            LoadMode::Closed => {
                let slots = NonZeroU32::new(load.round() as u32).unwrap_or(NonZeroU32::MIN);
                (LevelLoad::Concurrency(slots), random(1.0))
            }
        };
        let requests = REQUESTS.saturating_mul(NonZeroU64::from(self.replicas));
        BurstsLevel { load, spacing, replicas: self.replicas, requests }
    }
}
