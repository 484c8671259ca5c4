//! A level that all shards measure, as each of them makes it from its name.

use fizeau_harness::{DriveLimits, PlannedLevel, Probe, TextAfter};
use fizeau_metrics::{ComparisonSide, GoodputGoals, Precision, WindowChoice};
use fizeau_record::{LevelPlan, MissingShards};
use fizeau_workload::Plan;

use crate::ab::{PreparedAb, turn_name};
use crate::endpoint::{CacheBeforeLevel, PreparedEndpoint};
use crate::experiment::kind::PreparedRun;
use crate::input::{EndpointError, ExperimentError, InputError, InputField};
use crate::level::{OF_RUN, PreparedLevel};
use crate::sweep::{LevelOrder, PreparedSweep, limits};
use crate::workload::PreparedWorkload;

/// A level that all shards measure, as each of them makes it from its name and from what is asked of the run.
#[derive(Debug, Clone)]
pub struct OrderedLevel {
    /// The name of its folder within the run's, or `.` for the run's own.
    pub(crate) folder: String,
    /// Which endpoint is measured, of several.
    pub(crate) endpoint: usize,
    /// What is asked.
    pub(crate) work: PreparedWorkload,
    /// How hard all of them press together.
    pub(crate) load: DriveLimits,
    pub(crate) warmup: u64,
    pub(crate) goals: GoodputGoals,
    pub(crate) window: WindowChoice,
    pub(crate) text: TextAfter,
    pub(crate) probe: Option<Plan>,
    /// What it is to be, for the record.
    pub(crate) plan: LevelPlan,
}

impl OrderedLevel {
    pub(super) fn planned(&self) -> PlannedLevel<'_> {
        PlannedLevel {
            warmup: self.warmup,
            goals: &self.goals,
            window: self.window,
            text: self.text,
            probe: self.probe.as_ref().map(|plan| Probe { plan }),
            ..PlannedLevel::new(self.work.plan(), self.load)
        }
    }

    pub(super) fn is_of_run(&self) -> bool {
        self.folder == OF_RUN
    }
}

/// Refuses a level that would end by what one client alone has seen.
pub(crate) fn check_until(until: Option<&Precision>) -> Result<(), InputError> {
    let why = "shards exchange nothing while they measure, so none of them knows how precise the \
        figures of all shards are; set how much a level is to have instead";
    until.map_or(Ok(()), |_| Err(InputError::new(InputField::Until, why)))
}

/// Refuses what several clients cannot measure together, of whom some may be `missing`.
pub(in crate::experiment) fn check_together(
    run: &impl PreparedRun,
    endpoints: &[PreparedEndpoint],
    missing: MissingShards,
) -> Result<(), ExperimentError> {
    run.check_together()?;
    if missing == MissingShards::Allowed && run.most_levels() != Some(1) {
        let why = "only a run of one level can go on without a shard, because fewer shards offer \
            less load than each level of a sweep names";
        return Err(InputError::new(InputField::MissingShards, why).into());
    }
    let needs = |is_needed: fn(&PreparedEndpoint) -> bool, what: &str| {
        let alone = || {
            EndpointError::new(format!(
                "only a single client can {what}, and this client is one of several shards"
            ))
        };
        if endpoints.iter().any(is_needed) { Err(alone()) } else { Ok(()) }
    };
    needs(|endpoint| endpoint.cache == CacheBeforeLevel::Emptied, "empty caches")?;
    needs(|endpoint| endpoint.profiled_level.is_some(), "start the server's profiler")?;
    Ok(())
}

impl PreparedLevel {
    /// It, as all shards measure it.
    pub(crate) fn ordered(&self) -> Result<OrderedLevel, ExperimentError> {
        let settings = &self.settings;
        Ok(OrderedLevel {
            folder: OF_RUN.to_owned(),
            endpoint: 0,
            work: self.basis.work.clone(),
            load: DriveLimits { max_in_flight: settings.max_in_flight, ..self.load },
            warmup: self.warmups(),
            goals: settings.goals.clone(),
            window: settings.window,
            text: settings.text,
            probe: self.probe.clone(),
            plan: self.level_plan(),
        })
    }
}

impl PreparedSweep {
    /// The level of this order, as all shards measure it.
    pub(crate) fn ordered(&self, name: &str) -> Result<OrderedLevel, ExperimentError> {
        let order: LevelOrder = name.parse().map_err(ExperimentError::broken)?;
        let (ask, spec) = (order.ask(), &self.spec);
        let plan = spec.plan(ask).map_err(ExperimentError::broken)?;
        Ok(OrderedLevel {
            folder: order.folder(),
            endpoint: 0,
            work: self.basis.work.of_level(plan),
            load: limits(ask),
            warmup: ask.size.warmup_at(ask.load),
            goals: spec.goals.clone(),
            window: spec.window,
            text: TextAfter::Drop,
            probe: None,
            plan: LevelPlan { role: order.role(), ..spec.level_plan(ask) },
        })
    }
}

impl PreparedAb {
    /// The turn of this name, as all shards measure it.
    pub(crate) fn ordered(&self, name: &str) -> Result<OrderedLevel, ExperimentError> {
        let spec = &self.spec;
        let sides = [ComparisonSide::Baseline, ComparisonSide::Candidate];
        let turns = (1..=spec.rounds.get()).flat_map(|round| sides.map(|side| (round, side)));
        let mut turns = turns.filter(|(round, side)| turn_name(*side, *round) == name);
        let none = || ExperimentError::broken(format!("there is no turn {name}"));
        let (round, side) = turns.next().ok_or_else(none)?;
        let plan = spec.plan(round, side).map_err(ExperimentError::broken)?;
        Ok(OrderedLevel {
            folder: name.to_owned(),
            endpoint: usize::from(side == ComparisonSide::Candidate),
            work: self.basis.work.of_level(plan),
            load: spec.load,
            warmup: spec.warmup,
            goals: spec.goals.clone(),
            window: WindowChoice::AUTO,
            text: spec.text,
            probe: None,
            plan: self.turn_plan(round),
        })
    }
}
