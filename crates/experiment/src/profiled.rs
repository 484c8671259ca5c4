//! The server's own profiler, around one level.

use std::num::NonZeroU32;

use fizeau_harness::on_own_thread;
use fizeau_transport::{ProfilerOrder, Target, order_profiler};

use crate::endpoint::PreparedEndpoint;
use crate::event::{RunEvent, RunNote, Watcher};
use crate::input::{EndpointError, InputError, InputField};

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

    /// Refuses a level that is none of a run which has so many at the `most`; of one that nobody knows the number of, none.
    pub(crate) fn check(&self, most: Option<u32>) -> Result<(), InputError> {
        let (Some((_, level)), Some(most)) = (&self.0, most) else { return Ok(()) };
        let why = match most {
            _ if level.get() <= most => return Ok(()),
            1 => "there is only one level, which is level 1".to_owned(),
            _ => format!("there are at most {most} levels"),
        };
        Err(InputError::new(InputField::ProfiledLevel, why).given(level))
    }

    /// Says that the level was not reached, if so few were measured.
    pub(crate) fn unreached(&self, measured: usize) -> Option<RunNote> {
        let level = self.0.as_ref()?.1;
        let is_reached = usize::try_from(level.get()).is_ok_and(|level| level <= measured);
        (!is_reached).then_some(RunNote::ProfiledLevelNotReached { level, measured })
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
            "level {number} is measured under the server's own profiler, which slows the server; \
            do not compare its figures with those of other levels"
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
