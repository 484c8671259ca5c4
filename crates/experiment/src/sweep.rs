//! A sweep: the same workload at rising load.

mod budget;
mod loads;
mod order;
mod prepared;
mod protocol;
mod refine;
mod settings;
mod size;
mod stop;

use std::sync::Arc;

use fizeau_core::{LevelLoad, Nanos, PerSec, Stamp};
use fizeau_harness::{DriveError, DriveLimits, LevelRun, Measure, Observer, PlannedLevel};
use fizeau_metrics::{GoodputGoals, Precision, WindowChoice};
use fizeau_record::{
    ArrivalMoments, FolderError, LevelDocument, LevelPlan, LevelRole, RunFolder, level_folder,
};
use fizeau_workload::{
    ArrivalLaw, Dataset, Plan, PlanSpec, Rescale, Spacing, SpecError, TextCodec, WalkError,
};

pub(crate) use budget::{Budget, SHORTEST_BUDGET, share_of_budget};
pub use loads::{SweepLoads, SweepRates};
pub(crate) use order::LevelOrder;
pub use prepared::PreparedSweep;
pub use protocol::{LEVEL_TIME, LEVEL_TIME_UNTIL_KNOWN, SweepProtocol, level_size};
pub use refine::{TriedLoad, load_between, rates_up_to};
pub use settings::{SweepSettings, check_goals};
pub(crate) use size::MOST_WARMUPS;
pub use size::{LevelSize, LevelSpec};
pub use stop::{LevelYield, LoadSaturation, StopRule};

/// What to sweep.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct SweepSpec {
    /// The loads, in the order in which they are measured.
    pub levels: Vec<LevelLoad>,
    /// How regular the gaps between requests of an open loop are.
    pub spacing: Spacing,
    /// How many requests a session has, in the mean. A rate is one of requests, and so many times fewer sessions begin.
    pub requests_per_session: f64,
    /// What is asked. The number of requests, the arrivals and the seed are set for each level: every level has
    /// prompts of its own, so that no prefix cache carries over.
    pub workload: PlanSpec,
    /// The tokenizer that makes prompts of exact length; only for workloads that ask for it.
    pub tokenizer: Option<Arc<dyn TextCodec>>,
    /// The records of [`fizeau_workload::PromptContent::Dataset`]; only for workloads that ask for them.
    pub dataset: Option<Arc<Dataset>>,
    /// How large a level is.
    pub size: LevelSize,
    /// Per-request goals, for goodput.
    pub goals: GoodputGoals,
    /// Which part of each level is looked at beside the whole.
    pub window: WindowChoice,
    /// End each level once this is known well enough of it; its size is then the most that it may take. See
    /// [`fizeau_harness::PlannedLevel::until`], and [`LevelRun::is_precise`] for whether a level came to it.
    pub until: Option<Precision>,
}

impl SweepSpec {
    /// `levels` of `workload`, of the usual size, as a Poisson process where a loop is open, looked at in their steady state,
    /// without goals.
    #[must_use]
    pub fn new(levels: impl IntoIterator<Item = LevelLoad>, workload: PlanSpec) -> Self {
        Self {
            levels: levels.into_iter().collect(),
            spacing: Spacing::Random { burstiness: 1.0 },
            requests_per_session: 1.0,
            workload,
            tokenizer: None,
            dataset: None,
            size: LevelSize::default(),
            goals: GoodputGoals::default(),
            window: WindowChoice::AUTO,
            until: None,
        }
    }
}

impl SweepSpec {
    /// The levels, each once and of the usual size.
    pub fn asks(&self) -> impl Iterator<Item = LevelSpec> {
        let size = self.size;
        self.levels.iter().map(move |&load| LevelSpec { load, visit: 0, size })
    }

    /// What the level that is asked for is to be.
    #[must_use]
    pub fn level_plan(&self, ask: LevelSpec) -> LevelPlan {
        let LevelSpec { load, visit, size } = ask;
        let cv_squared = match self.spacing {
            Spacing::Even => 0.0,
            Spacing::Random { burstiness } => 1.0 / burstiness,
        };
        LevelPlan {
            load: Some(load),
            visit: Some(visit),
            role: None,
            requests: size.requests_at(load).get(),
            warmup_requests: Some(size.warmup_at(load)),
            max_in_flight: load.concurrency().map(std::num::NonZeroU32::get),
            arrivals: match load {
                LevelLoad::Concurrency(_) => None,
                LevelLoad::Rate(rate) => {
                    let rate = Some(self.sessions_per_s(rate));
                    Some(ArrivalMoments { rate, cv_squared: Some(cv_squared) })
                }
            },
            slots_of_all: None,
            release_for_ms: size.time.map(Nanos::to_millis),
            seed: Some(self.workload.seed.of_level(load, visit).0),
            window: Some(self.window.into()),
            until: self.until.as_ref().map(Precision::to_string),
        }
    }

    /// How many sessions begin each second, so that requests come at `rate`.
    fn sessions_per_s(&self, rate: PerSec) -> PerSec {
        rate * self.requests_per_session.recip()
    }

    /// When the sessions of a level begin.
    fn arrivals(&self, load: LevelLoad) -> ArrivalLaw {
        let LevelLoad::Rate(rate) = load else { return ArrivalLaw::ClosedLoop };
        let rate = self.sessions_per_s(rate);
        match self.spacing {
            Spacing::Even => ArrivalLaw::Constant { rate },
            Spacing::Random { burstiness } => {
                ArrivalLaw::Gamma { rate, burstiness, rescale: Rescale::None }
            }
        }
    }
}

/// One level of a sweep, measured.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct SweptLevel {
    /// What was to be measured.
    pub ask: LevelSpec,
    /// What it asked.
    pub plan: Plan,
    /// What came of it.
    pub run: LevelRun,
    /// Where its files are; none if the sweep keeps no files.
    pub folder: Option<RunFolder>,
}

/// Why a sweep ended early. Levels measured before are the caller's already.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SweepError<T: std::error::Error> {
    /// The workload is impossible.
    #[error(transparent)]
    Workload(#[from] SpecError),
    /// A folder could not be made.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// A level ended early.
    #[error("{load}: {error}")]
    Level {
        /// Which level.
        load: LevelLoad,
        /// Why.
        error: DriveError<WalkError, T, FolderError>,
    },
}

/// A sweep under way: each call measures a level, so that the caller can keep each as it comes.
///
/// It is measured with a [`WorkerPool`](fizeau_harness::WorkerPool) or a [`TaskDriver`](fizeau_harness::TaskDriver), given by value or as `&mut`. Tapes go to the
/// level's file and to the observer, and are not kept.
#[derive(Debug)]
pub struct SweepRunner<M> {
    with: M,
    spec: Arc<SweepSpec>,
    folder: Option<RunFolder>,
}

impl From<&SweepSpec> for Arc<SweepSpec> {
    fn from(spec: &SweepSpec) -> Self {
        Self::new(spec.clone())
    }
}

impl<M: Measure> SweepRunner<M> {
    /// A sweep of `spec`; with a `folder`, each level gets one of its own inside it. It borrows nothing, so that whatever lives long
    /// can hold one.
    #[must_use]
    pub fn new(with: M, spec: impl Into<Arc<SweepSpec>>, folder: Option<RunFolder>) -> Self {
        Self { with, spec: spec.into(), folder }
    }

    /// Measures a level, which the specification need not name; none when the run has been interrupted. A level that was called
    /// off in its course is returned, and says so.
    ///
    /// # Errors
    /// If the workload is impossible, a file cannot be written, or a request cannot be expressed for the endpoint; and with a
    /// folder, if this visit to this load was made before.
    pub async fn level(
        &mut self,
        ask: LevelSpec,
        observer: &mut impl Observer,
    ) -> Result<Option<SweptLevel>, SweepError<M::Error>> {
        self.measure(ask, None, observer).await
    }

    /// Measures a level that is no part of the curve: whether the load of the operating point can be kept up. Its folder is
    /// named so (`sustained-concurrency-0008`). The visit gives it prompts of its own.
    ///
    /// # Errors
    /// As [`SweepRunner::level`].
    pub async fn sustained(
        &mut self,
        ask: LevelSpec,
        observer: &mut impl Observer,
    ) -> Result<Option<SweptLevel>, SweepError<M::Error>> {
        self.measure(ask, Some(LevelRole::Sustained), observer).await
    }

    /// The present instant, on the clock that stamps what is measured.
    pub(crate) fn now(&self) -> Stamp {
        self.with.now()
    }

    async fn measure(
        &mut self,
        ask: LevelSpec,
        role: Option<LevelRole>,
        observer: &mut impl Observer,
    ) -> Result<Option<SweptLevel>, SweepError<M::Error>> {
        if self.with.cancel().is_cancelled() {
            return Ok(None);
        }
        let plan = self.spec.plan(ask)?;
        let LevelSpec { load, visit, size } = ask;
        // Whether a load can be kept up only its whole time shows.
        let until = self.spec.until.as_ref().filter(|_| role.is_none());
        let folder =
            self.folder.as_ref().map(|folder| folder.level(&level_folder(load, visit, role)));
        let folder = folder.transpose()?;
        if let Some(folder) = &folder {
            let until = until.map(Precision::to_string);
            let plan = LevelPlan { role, until, ..self.spec.level_plan(ask) };
            folder.write_json("level.json", &LevelDocument::new(plan))?;
        }
        let mut kept = folder.as_ref().map(RunFolder::tapes).transpose()?;
        let order = LevelOrder::new(ask, role).to_string();
        let level = PlannedLevel {
            warmup: size.warmup_at(load),
            goals: &self.spec.goals,
            window: self.spec.window,
            until,
            name: &order,
            ..PlannedLevel::new(&plan, limits(ask))
        };
        let run = Box::pin(self.with.measure(level, &mut kept, observer)).await;
        let run = run.map_err(|error| SweepError::Level { load, error })?;
        Ok(Some(SweptLevel { ask, plan, run, folder }))
    }
}

/// How hard a level presses, and for how long.
pub(crate) const fn limits(LevelSpec { load, size, .. }: LevelSpec) -> DriveLimits {
    DriveLimits { max_in_flight: load.concurrency(), stop_after: size.time }
}

impl SweepSpec {
    /// The plan of the level that is asked for.
    pub(crate) fn plan(
        &self,
        LevelSpec { load, visit, size }: LevelSpec,
    ) -> Result<Plan, SpecError> {
        let spec = PlanSpec {
            requests: size.requests_at(load),
            arrivals: self.arrivals(load),
            seed: self.workload.seed.of_level(load, visit),
            ..self.workload.clone()
        };
        plan_of(spec, self.tokenizer.as_ref(), self.dataset.as_ref())
    }
}

/// The plan of `spec`, with what it is made with.
pub(crate) fn plan_of(
    spec: PlanSpec,
    tokenizer: Option<&Arc<dyn TextCodec>>,
    dataset: Option<&Arc<Dataset>>,
) -> Result<Plan, SpecError> {
    let mut plan = Plan::builder(spec);
    if let Some(tokenizer) = tokenizer {
        plan = plan.tokenizer(Arc::clone(tokenizer));
    }
    if let Some(dataset) = dataset {
        plan = plan.dataset(Arc::clone(dataset));
    }
    plan.build()
}
