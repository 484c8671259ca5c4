//! A sweep, decided: what is asked, how it goes on, and what its levels are compared with.

use std::num::NonZeroU64;

use fizeau_core::{LevelLoad, Nanos};
use fizeau_metrics::Slo;
use fizeau_record::{
    GoalSource, LevelPlan, LevelReport, OperatingPoint, RequestedLoad, StoredRun, SweepReport,
};
use fizeau_roofline::HourlyRate;
use fizeau_workload::Plan;

use super::{LevelSize, LevelSpec, SweepSettings, SweepSpec};
use crate::basis::RunBasis;

/// A sweep, decided. Nothing has been sent.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct PreparedSweep {
    /// What every kind of run has.
    pub basis: RunBasis,
    /// What was asked for, and what is usual where nothing was said.
    pub settings: SweepSettings,
    /// Whose its goals are.
    pub goal_source: GoalSource,
    /// The levels that are known ahead, and what is asked at each.
    pub spec: SweepSpec,
    /// What an hour of a device costs; none where it is not known.
    pub price: Option<HourlyRate>,
    /// Whether a closed loop goes on until its time is up.
    pub is_by_time: bool,
    /// The sweep that was interrupted and is resumed.
    pub resumed: Option<StoredRun>,
}

impl PreparedSweep {
    /// What its levels are to be, those that are known ahead.
    pub(crate) fn level_plans(&self) -> Vec<LevelPlan> {
        let plan = |&load: &LevelLoad| self.spec.level_plan(self.ask(load, 0));
        self.spec.levels.iter().map(plan).collect()
    }

    /// A level of it, of the usual size.
    #[must_use]
    pub fn ask(&self, load: LevelLoad, visit: u32) -> LevelSpec {
        let mut size = self.spec.size;
        if let Some(time) = size.time.filter(|_| self.is_by_time && load.concurrency().is_some()) {
            size.requests = Some(self.settings.workload.source.most_in(time));
        }
        LevelSpec { load, visit, size }
    }

    /// What a level asked by its plan, of which so many requests were released; none for all.
    pub(crate) fn requested_share(&self, plan: &Plan, released: Option<u64>) -> RequestedLoad {
        self.basis.work.of_level(plan.clone()).requested_share(NonZeroU64::MIN, released)
    }

    /// The size of a run at `load` that takes `time`.
    pub(crate) fn sustained_size(&self, load: LevelLoad, time: Nanos) -> LevelSize {
        let requests = load.concurrency().map(|_| self.settings.workload.source.most_in(time));
        LevelSize { requests, time: Some(time), warmup: self.spec.size.warmup }
    }

    /// Whether a level is within `slo`; none if it tells nothing of what the server carries.
    pub(crate) fn is_within(&self, slo: Option<&Slo>, level: &LevelReport) -> Option<bool> {
        if level.is_failed() {
            return slo.map(|_| false);
        }
        let alone = SweepReport::new(self.basis.setup.clone(), vec![level.clone()], slo.cloned());
        match alone.operating_point() {
            OperatingPoint::NoGoal | OperatingPoint::NoLevel | OperatingPoint::Unjudged { .. } => {
                None
            }
            OperatingPoint::Met { .. } => Some(true),
            OperatingPoint::Missed { .. } => Some(false),
        }
    }
}
