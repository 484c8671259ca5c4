//! Prefix caches that are emptied before each level.

use fizeau_harness::on_own_thread;
use fizeau_transport::{Target, reset_cache};

use super::PreparedEndpoint;
use crate::input::EndpointError;

/// What becomes of a server's prefix cache before each level, and before each turn of an A/B run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CacheBeforeLevel {
    /// It is left as it is.
    #[default]
    Kept,
    /// It is emptied, or the run ends.
    Emptied,
}

/// The servers whose caches are emptied: of each endpoint, in their order; none for one that is left as it is.
#[derive(Debug, Clone, Default)]
pub(crate) struct EmptiedCaches(Vec<Option<Target>>);

impl EmptiedCaches {
    /// As is asked for of `endpoints`.
    pub(crate) fn of(endpoints: &[PreparedEndpoint]) -> Self {
        let target = |endpoint: &PreparedEndpoint| match endpoint.cache {
            CacheBeforeLevel::Emptied => Some(endpoint.target.clone()),
            CacheBeforeLevel::Kept => None,
        };
        Self(endpoints.iter().map(target).collect())
    }

    /// Empties that of the endpoint of this number, before it is measured; on a thread of its own, so that any task may wait for it.
    pub(crate) async fn empty(&self, endpoint: usize) -> Result<(), EndpointError> {
        let Some(Some(target)) = self.0.get(endpoint).cloned() else { return Ok(()) };
        let emptied = on_own_thread(async move || reset_cache(&target).await);
        emptied.await.map_err(EndpointError::new)?.map_err(EndpointError::new)
    }
}
