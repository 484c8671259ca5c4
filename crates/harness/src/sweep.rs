//! A sweep: the same workload at rising concurrency.

use std::num::{NonZeroU32, NonZeroU64};
use std::sync::Arc;

use fizeau_core::Nanos;
use fizeau_metrics::{GoodputGoals, Precision, WindowChoice};
use fizeau_workload::{Arrivals, Dataset, Plan, Seed, Spec, SpecError, TextCodec, WalkError};

use crate::drive::{DriveError, Load};
use crate::level::{LevelRun, Measure, PlannedLevel};
use crate::observe::{Notice, Observer};
use crate::{FolderError, RunFolder};

/// What to sweep.
#[derive(Debug, Clone)]
pub struct SweepSpec {
    /// The concurrencies, in the order in which they are measured.
    pub levels: Vec<NonZeroU32>,
    /// What is asked. The number of requests, the arrivals and the seed are set for each level: every level has
    /// prompts of its own, so that no prefix cache carries over.
    pub workload: Spec,
    /// The tokenizer that makes prompts of exact length; only for workloads that ask for it.
    pub tokenizer: Option<Arc<dyn TextCodec>>,
    /// The records of [`fizeau_workload::Content::Dataset`]; only for workloads that ask for them.
    pub dataset: Option<Arc<Dataset>>,
    /// How large a level is.
    pub size: LevelSize,
    /// Per-request goals, for goodput.
    pub goals: GoodputGoals,
    /// Which part of each level is looked at beside the whole.
    pub window: WindowChoice,
    /// End each level once this is known well enough of it; its size is then the most that it may take. See
    /// [`PlannedLevel::until`], and [`LevelRun::is_precise`] for whether a level came to it.
    pub until: Option<Precision>,
}

impl SweepSpec {
    /// The seed of the level of `concurrency`.
    #[must_use]
    pub fn seed_at(&self, concurrency: NonZeroU32) -> Seed {
        self.workload.seed.child(concurrency.get().into())
    }
}

/// How large a level is at most. It ends when its requests are done, or its time is up and those in flight have finished.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LevelSize {
    /// How many requests; by default ten for each slot and at least 100, which a p99 needs.
    pub requests: Option<NonZeroU64>,
    /// Release nothing more after this time.
    pub time: Option<Nanos>,
    /// How many requests to send first that do not count; by default one for each slot, at most 50.
    pub warmup: Option<u64>,
}

impl LevelSize {
    /// The most requests that a level of `concurrency` has.
    #[must_use]
    pub fn requests_at(&self, concurrency: NonZeroU32) -> NonZeroU64 {
        let by_default = NonZeroU64::from(concurrency).saturating_mul(PER_SLOT).max(FOR_A_P99);
        self.requests.unwrap_or(by_default)
    }

    /// How many warm-up requests a level of `concurrency` has.
    #[must_use]
    pub fn warmup_at(&self, concurrency: NonZeroU32) -> u64 {
        self.warmup.unwrap_or_else(|| u64::from(concurrency.get()).min(MOST_WARMUPS))
    }
}

/// One level of a sweep, measured.
#[derive(Debug, Clone)]
pub struct SweptLevel {
    /// Requests in flight.
    pub concurrency: NonZeroU32,
    /// What it asked.
    pub plan: Plan,
    /// What came of it.
    pub run: LevelRun,
    /// Where its files are; none if the sweep keeps no files.
    pub folder: Option<RunFolder>,
}

/// Why a sweep broke off. Levels measured before are the caller's already.
#[derive(Debug, thiserror::Error)]
pub enum SweepError<T: std::error::Error> {
    /// The workload is impossible.
    #[error(transparent)]
    Workload(#[from] SpecError),
    /// A folder could not be made.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// A level broke off.
    #[error("concurrency {concurrency}: {error}")]
    Level {
        /// Which level.
        concurrency: NonZeroU32,
        /// Why.
        error: DriveError<WalkError, T, FolderError>,
    },
}

/// A sweep under way: each call measures the next level, so that the caller can keep each as it comes.
///
/// It is measured with a [`Crew`](crate::Crew) or a [`Rig`](crate::Rig), given by value or as `&mut`. Tapes go to the
/// level's file and to the observer, and are not kept.
#[derive(Debug)]
pub struct Sweep<'a, M> {
    with: M,
    spec: &'a SweepSpec,
    folder: Option<&'a RunFolder>,
    done: usize,
}

impl<'a, M: Measure> Sweep<'a, M> {
    /// A sweep of `spec`; with a `folder`, each level gets one of its own inside it.
    #[must_use]
    pub const fn new(with: M, spec: &'a SweepSpec, folder: Option<&'a RunFolder>) -> Self {
        Self { with, spec, folder, done: 0 }
    }

    /// Measures the next level; none when all are done or the run has been called off. A level that was called off in
    /// its course is returned, and says so.
    ///
    /// # Errors
    /// If the workload is impossible, a file cannot be written, or a request cannot be expressed for the endpoint.
    pub async fn next_level(
        &mut self,
        observer: &mut impl Observer,
    ) -> Result<Option<SweptLevel>, SweepError<M::Error>> {
        let Some(&concurrency) = self.spec.levels.get(self.done) else {
            return Ok(None);
        };
        if self.with.cancel().is_cancelled() {
            return Ok(None);
        }
        let plan = self.plan(concurrency)?;
        let size = self.spec.size;
        observer.notice(Notice::LevelStarted {
            concurrency,
            index: self.done,
            of: self.spec.levels.len(),
            requests: size.requests_at(concurrency).get(),
        });
        let name = level_name(concurrency);
        let folder = self.folder.map(|folder| folder.level(&name)).transpose()?;
        let mut kept = folder.as_ref().map(RunFolder::tapes).transpose()?;
        let level = PlannedLevel {
            warmup: size.warmup_at(concurrency),
            goals: &self.spec.goals,
            window: self.spec.window,
            until: self.spec.until.as_ref(),
            ..PlannedLevel::new(
                &plan,
                Load { max_in_flight: Some(concurrency), stop_after: size.time },
            )
        };
        let run = self.with.measure(level, &mut kept, observer).await;
        let run = run.map_err(|error| SweepError::Level { concurrency, error })?;
        observer.notice(Notice::LevelEnded(&run));
        self.done += 1;
        Ok(Some(SweptLevel { concurrency, plan, run, folder }))
    }

    fn plan(&self, concurrency: NonZeroU32) -> Result<Plan, SpecError> {
        let spec = Spec {
            requests: self.spec.size.requests_at(concurrency),
            arrivals: Arrivals::ClosedLoop,
            seed: self.spec.seed_at(concurrency),
            ..self.spec.workload.clone()
        };
        plan_of(spec, self.spec.tokenizer.as_ref(), self.spec.dataset.as_ref())
    }
}

/// The plan of `spec`, with what it is made with.
pub(crate) fn plan_of(
    spec: Spec,
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

/// The name of a level's folder: `concurrency-0008`.
#[must_use]
pub fn level_name(concurrency: NonZeroU32) -> String {
    format!("concurrency-{concurrency:04}")
}

/// Ten requests a slot: each slot's first and last are then a fifth of the whole.
const PER_SLOT: NonZeroU64 = NonZeroU64::new(10).unwrap();
const FOR_A_P99: NonZeroU64 = NonZeroU64::new(100).unwrap();
const MOST_WARMUPS: u64 = 50;
