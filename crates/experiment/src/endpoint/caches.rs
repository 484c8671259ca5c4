//! Prefix caches that are emptied before each level.

use std::cell::RefCell;
use std::rc::Rc;

use fizeau_core::{RequestId, Stamp, TapeSink};
use fizeau_harness::{Cancel, DriveError, LevelRun, Measure, Observer, PlannedLevel};
use fizeau_transport::{ResetCacheError, Target, reset_cache};
use fizeau_workload::WalkError;

use super::PreparedEndpoint;
use crate::input::{EndpointError, ExperimentError};

/// What becomes of a server's prefix cache before each level, and before each turn of an A/B run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CacheBeforeLevel {
    /// It is left as it is.
    #[default]
    Kept,
    /// It is emptied, or the run ends.
    Emptied,
}

/// Why a level could not be measured.
#[derive(Debug, thiserror::Error)]
pub(crate) enum EmptiedCachesError<E: std::error::Error> {
    /// The cache was not emptied.
    #[error(transparent)]
    Cache(ResetCacheError),
    /// A request could not be tried.
    #[error(transparent)]
    Request(E),
}

/// What measures a server whose cache is emptied before each level, where that is asked for.
pub(crate) struct EmptiedCaches<M> {
    with: M,
    target: Option<Target>,
    failed: Rc<RefCell<Option<ResetCacheError>>>,
}

/// Whether a cache could not be emptied, and why.
pub(crate) struct CacheFailure(Rc<RefCell<Option<ResetCacheError>>>);

impl CacheFailure {
    /// What becomes of an outcome: that error, if there was one.
    pub(crate) fn judge<T>(
        self,
        outcome: Result<T, ExperimentError>,
    ) -> Result<T, ExperimentError> {
        match self.0.take() {
            Some(error) => Err(EndpointError::new(error).into()),
            None => outcome,
        }
    }
}

/// Each of `with`, which measure `endpoints` in their order, and what is known afterwards of their caches.
pub(crate) fn emptied<M: Measure>(
    with: Vec<M>,
    endpoints: &[PreparedEndpoint],
) -> (Vec<EmptiedCaches<M>>, CacheFailure) {
    let failed = Rc::new(RefCell::new(None));
    let each = |(with, endpoint): (M, &PreparedEndpoint)| {
        let is_asked = endpoint.cache == CacheBeforeLevel::Emptied;
        let target = is_asked.then(|| endpoint.target.clone());
        EmptiedCaches { with, target, failed: Rc::clone(&failed) }
    };
    (with.into_iter().zip(endpoints).map(each).collect(), CacheFailure(failed))
}

impl<M: Measure> Measure for EmptiedCaches<M> {
    type Error = EmptiedCachesError<M::Error>;

    async fn measure<K: TapeSink, O: Observer>(
        &mut self,
        level: PlannedLevel<'_>,
        sink: &mut K,
        observer: &mut O,
    ) -> Result<LevelRun, DriveError<WalkError, Self::Error, K::Error>> {
        if let Some(target) = &self.target
            && let Err(error) = reset_cache(target).await
        {
            *self.failed.borrow_mut() = Some(error.clone());
            let error = EmptiedCachesError::Cache(error);
            return Err(DriveError::Unsendable { request: RequestId(0), error });
        }
        let measured = self.with.measure(level, sink, observer).await;
        measured.map_err(|error| error.map_unsendable(EmptiedCachesError::Request))
    }

    fn cancel(&self) -> &Cancel {
        self.with.cancel()
    }

    fn now(&self) -> Stamp {
        self.with.now()
    }
}
