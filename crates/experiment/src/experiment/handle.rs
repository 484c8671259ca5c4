//! An experiment in the background.

use std::thread;

use fizeau_harness::Cancel;
use tokio::sync::{mpsc, oneshot};

use super::{Experiment, ExperimentKind};
use crate::event::{RunEvent, Watcher};
use crate::input::ExperimentError;

/// An experiment in the background. It is `Send` and lives in any runtime, while the experiment has threads of its own. Dropping it
/// calls the experiment off.
#[derive(Debug)]
pub struct ExperimentHandle<O> {
    /// What happens, as it happens.
    pub progress: EventStream,
    cancel: Cancel,
    outcome: oneshot::Receiver<Result<O, ExperimentError>>,
}

/// What happens in an experiment, as it happens. Nothing is lost for who reads late.
#[derive(Debug)]
pub struct EventStream(mpsc::UnboundedReceiver<RunEvent>);

impl EventStream {
    /// The next event; none when the experiment is over.
    ///
    /// # Cancel safety
    /// No event is lost if the future is dropped.
    pub async fn next(&mut self) -> Option<RunEvent> {
        self.0.recv().await
    }
}

impl<O> ExperimentHandle<O> {
    /// Calls the experiment off; what was measured is kept.
    pub fn cancel(&self) {
        self.cancel.cancel();
    }

    /// Waits for what comes of it.
    ///
    /// # Errors
    /// As [`Experiment::run`].
    pub async fn join(mut self) -> Result<O, ExperimentError> {
        let gone = || ExperimentError::broken("the experiment's thread ended without a result");
        (&mut self.outcome).await.unwrap_or_else(|_| Err(gone()))
    }
}

impl<O> Drop for ExperimentHandle<O> {
    fn drop(&mut self) {
        self.cancel.cancel();
    }
}

impl<K: ExperimentKind> Experiment<K> {
    /// Runs it over HTTP in the background, on a thread of its own that has its own event loop.
    ///
    /// # Errors
    /// If the system refuses a thread or an event loop.
    pub fn spawn(self) -> Result<ExperimentHandle<K::Outcome>, ExperimentError> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(ExperimentError::broken)?;
        self.spawn_with(move |own, mut events| runtime.block_on(own.run(&mut events)))
    }
}

impl<K: Send + 'static> Experiment<K> {
    /// The same with whatever can measure, in either clock: `run` runs it, on a thread of its own, telling what happens to the watcher that
    /// it is given. What it measures with is called off by [`Experiment::cancel`]'s switch, if it has that one.
    ///
    /// # Errors
    /// If the system refuses a thread.
    pub fn spawn_with<O: Send + 'static>(
        self,
        run: impl FnOnce(&Self, &mut dyn Watcher) -> Result<O, ExperimentError> + Send + 'static,
    ) -> Result<ExperimentHandle<O>, ExperimentError> {
        let (events, progress) = mpsc::unbounded_channel();
        let (tell, outcome) = oneshot::channel();
        let cancel = self.conduct.cancel.clone();
        let work = move || {
            let came = run(&self, &mut EventSender(events));
            // Who no longer waits does not want it.
            let _ = tell.send(came);
        };
        let named = thread::Builder::new().name("fizeau-experiment".to_owned()).stack_size(STACK);
        named.spawn(work).map_err(ExperimentError::broken)?;
        Ok(ExperimentHandle { progress: EventStream(progress), cancel, outcome })
    }
}

/// As much as a program's first thread has as a rule: without optimisation the futures of a run, one in the other, take more than
/// the two megabytes of other threads.
const STACK: usize = 8 << 20;

/// Sends events to whoever reads them.
struct EventSender(mpsc::UnboundedSender<RunEvent>);

impl Watcher for EventSender {
    fn event(&mut self, event: RunEvent) {
        // Who reads no more does not want them.
        let _ = self.0.send(event);
    }
}

/// It can go to any thread, and be read from any runtime: a promise that the compiler keeps.
const _: () = {
    const fn is_send<T: Send>() {}
    is_send::<ExperimentHandle<fizeau_record::SweepReport>>();
    is_send::<Experiment>();
    is_send::<RunEvent>();
};
