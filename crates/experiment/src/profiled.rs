//! The server's own profiler, around one level.

use std::num::NonZeroU32;

use fizeau_harness::on_own_thread;
use fizeau_transport::{ProfilerOrder, Target, order_profiler};

use crate::endpoint::PreparedEndpoint;
use crate::event::{RunEvent, RunNote, Watcher};
use crate::input::EndpointError;

/// The level while which the server's own profiler runs; none for most runs.
#[derive(Debug, Clone, Default)]
pub(crate) struct ProfiledLevel(Option<(Target, NonZeroU32)>);

impl ProfiledLevel {
    /// As is asked for of `endpoints`.
    pub(crate) fn of(endpoints: &[PreparedEndpoint]) -> Self {
        let mut asked = endpoints
            .iter()
            .filter_map(|endpoint| Some((endpoint.target.clone(), endpoint.profiled_level?)));
        Self(asked.next())
    }

    /// The server, if level `number` (from 1) is the one.
    fn server(&self, number: usize) -> Option<&Target> {
        let (target, level) = self.0.as_ref()?;
        (usize::try_from(level.get()) == Ok(number)).then_some(target)
    }

    /// Starts the profiler if level `number` is the one, which `watcher` hears of.
    pub(crate) async fn start(
        &self,
        number: usize,
        watcher: &mut impl Watcher,
    ) -> Result<(), EndpointError> {
        let Some(server) = self.server(number) else { return Ok(()) };
        told(server, ProfilerOrder::Start).await?;
        let note = format!(
            "level {number} is measured under the server's own profiler, which slows it: its figures are not those of the server alone"
        );
        watcher.event(RunEvent::Note(RunNote::Other(note)));
        Ok(())
    }

    /// Stops it again. What was measured stands if it does not stop, which `watcher` hears of.
    pub(crate) async fn stop(&self, number: usize, watcher: &mut impl Watcher) {
        let Some(server) = self.server(number) else { return };
        if let Err(error) = told(server, ProfilerOrder::Stop).await {
            watcher.event(RunEvent::Note(RunNote::Other(error.to_string())));
        }
    }
}

/// On a thread of its own, so that any task may wait for it.
async fn told(server: &Target, order: ProfilerOrder) -> Result<(), EndpointError> {
    let server = server.clone();
    let done = on_own_thread(async move || order_profiler(&server, order).await);
    done.await.map_err(EndpointError::new)?.map_err(EndpointError::new)
}
