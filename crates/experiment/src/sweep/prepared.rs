//! A sweep, decided: what is asked, how it goes on, and what its levels are held against.

use std::num::NonZeroU64;

use fizeau_core::{LevelLoad, Nanos};
use fizeau_metrics::Slo;
use fizeau_record::{Asked, LevelPlan, LevelReport, OperatingPoint, Setup, SweepReport};
use fizeau_roofline::HourlyRate;
use fizeau_workload::Plan;

use super::loads::MOST_BY_TIME;
use super::{LevelAsk, LevelSize, SweepSettings, SweepSpec};
use crate::answering::PromptReader;
use crate::client::Client;
use crate::workload::{ContextLimit, PreparedWorkload};
use fizeau_record::SpeedOfLightReference;

/// A sweep, decided. Nothing has been sent.
#[derive(Debug, Clone)]
pub struct PreparedSweep {
    /// What was asked for.
    pub settings: SweepSettings,
    /// The levels that are known ahead, and what is asked at each.
    pub spec: SweepSpec,
    /// What is run, and on what.
    pub setup: Setup,
    /// What an hour of a device costs; none where nobody knows.
    pub price: Option<HourlyRate>,
    /// What the speed of light is computed from, or why there is none.
    pub light: Result<SpeedOfLightReference, String>,
    /// Who reads the prompts.
    pub reader: PromptReader,
    /// What is known of the client; by default nothing.
    pub client: Client,
    /// The most tokens that the model takes, where that is known before the server is asked.
    pub limit: Option<ContextLimit>,
    /// The workload, at the largest level.
    pub sample: PreparedWorkload,
    /// Whether a closed loop goes on until its time is up.
    pub is_by_time: bool,
}

impl PreparedSweep {
    /// What the speed of light is computed from, or why there is none.
    pub(crate) fn light(&self) -> Result<&SpeedOfLightReference, &str> {
        self.light.as_ref().map_err(String::as_str)
    }

    /// What of the workload is not as one might think, each in one line.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        self.sample.repeated().into_iter().chain(self.sample.notes()).collect()
    }

    /// What its levels are to be, those that are known ahead.
    #[must_use]
    pub fn level_plans(&self) -> Vec<LevelPlan> {
        let plan = |&load: &LevelLoad| self.spec.level_plan(self.ask(load, 0));
        self.spec.levels.iter().map(plan).collect()
    }

    /// A level of it, of the usual size.
    #[must_use]
    pub fn ask(&self, load: LevelLoad, visit: u32) -> LevelAsk {
        let mut size = self.spec.size;
        if self.is_by_time && load.concurrency().is_some() {
            size.requests = Some(MOST_BY_TIME);
        }
        LevelAsk { load, visit, size }
    }

    /// What a level asked by its plan, of which so many requests were released; none for all.
    pub(crate) fn asked_of(&self, plan: &Plan, released: Option<u64>) -> Asked {
        self.sample.of_level(plan.clone()).asked_of(NonZeroU64::MIN, released)
    }

    /// The size of a run at `load` that takes `time`.
    pub(crate) fn sustained_size(&self, load: LevelLoad, time: Nanos) -> LevelSize {
        let requests = load.concurrency().map(|_| MOST_BY_TIME);
        LevelSize { requests, time: Some(time), warmup: self.spec.size.warmup }
    }

    /// Whether a level is within `slo`; none if it may not be compared with others.
    pub(crate) fn is_within(&self, slo: Option<&Slo>, level: &LevelReport) -> Option<bool> {
        let alone = SweepReport::new(self.setup.clone(), vec![level.clone()], slo.cloned());
        match alone.operating_point() {
            OperatingPoint::NoGoal | OperatingPoint::NoLevel | OperatingPoint::Unjudged { .. } => {
                None
            }
            OperatingPoint::Met { .. } => Some(true),
            OperatingPoint::Missed { .. } => Some(false),
        }
    }

    /// The same without levels that are known ahead: what is measured decides on the next.
    #[must_use]
    pub fn of_loads_to_come(mut self) -> Self {
        self.spec.levels.clear();
        self
    }
}
