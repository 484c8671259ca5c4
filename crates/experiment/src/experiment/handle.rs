//! An experiment in the background.

use std::task::{Context, Poll};
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
    /// What comes of it.
    pub outcome: PendingOutcome<O>,
}

/// What happens in an experiment, as it happens. Nothing is lost for who reads late; who does not want to read drops it.
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

    /// The same for whoever polls: with it a stream of any other kind is made of this one in a line.
    pub fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<RunEvent>> {
        self.0.poll_recv(context)
    }
}

/// What is to come of an experiment in the background. Dropping it calls the experiment off.
#[derive(Debug)]
pub struct PendingOutcome<O> {
    cancel: Cancel,
    /// None once it was given.
    receiver: Option<oneshot::Receiver<Result<O, ExperimentError>>>,
}

impl<O> PendingOutcome<O> {
    /// What calls the experiment off, from any thread; what was measured is kept.
    #[must_use]
    pub fn canceller(&self) -> Cancel {
        self.cancel.clone()
    }

    /// Waits for what comes of the experiment, which is given once.
    ///
    /// # Cancel safety
    /// Nothing is lost if the future is dropped, as a time limit does: it may be waited for again.
    ///
    /// # Errors
    /// As [`Experiment::run`]; and if it was given before.
    pub async fn join(&mut self) -> Result<O, ExperimentError> {
        let given = || ExperimentError::broken("what came of the experiment was given before");
        let gone = || ExperimentError::broken("the experiment's thread ended without a result");
        let outcome = self.receiver.as_mut().ok_or_else(given)?.await;
        self.receiver = None;
        outcome.unwrap_or_else(|_| Err(gone()))
    }
}

impl<O> Drop for PendingOutcome<O> {
    fn drop(&mut self) {
        self.cancel.cancel();
    }
}

impl<O> ExperimentHandle<O> {
    /// Calls the experiment off; what was measured is kept.
    pub fn cancel(&self) {
        self.outcome.cancel.cancel();
    }

    /// Waits for what comes of it, as [`PendingOutcome::join`] does. From then on no event is kept; those that came before can still
    /// be read. To read on meanwhile, take `progress` and `outcome` apart.
    ///
    /// # Errors
    /// As [`PendingOutcome::join`].
    pub async fn join(&mut self) -> Result<O, ExperimentError> {
        self.progress.0.close();
        self.outcome.join().await
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
        let outcome = PendingOutcome { cancel, receiver: Some(outcome) };
        Ok(ExperimentHandle { progress: EventStream(progress), outcome })
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
