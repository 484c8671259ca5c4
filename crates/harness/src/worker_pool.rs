//! Worker threads that measure, and the collecting side that keeps what they measured.

mod coalesce;
mod collect;
mod partition;
mod worker;

use std::error::Error;
use std::future::{Future, ready};
use std::io;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::thread::JoinHandle;

use fizeau_core::{Clock, Failure, Stamp, TapeSink, TokenCounter, Transport};
use fizeau_transport::{HttpTransport, MonotonicClock};
use fizeau_workload::WalkError;
use tokio::sync::{mpsc, oneshot};

use crate::level::{LevelRun, Measure, PlannedLevel, Tee};
use crate::{Cancel, DriveError, InFlight, Observer, Recounted};
use coalesce::PollCoalescer;
use collect::Collector;
use partition::{assignments, share};
use worker::{Worker, WorkerCommand, WorkerOutlet, WorkerPart};

/// Worker threads that measure one level after another, each with an event loop, a transport, connections and a pacer of
/// its own; nothing that happens per token or per request waits for another worker.
///
/// The caller's side collects: tapes are moved to it as their requests end, and it alone writes, counts and tells the
/// observer, so that no disk stands between a byte and its stamp. Nothing limits how many tapes may be on their way: a
/// slow disk must not hold back the measuring.
///
/// How requests are shared out:
///
/// - In a closed loop the slots of the cap are split over the workers, and whoever has a free one draws the plan's next
///   session: the requests that are sent are the same with any number of workers.
/// - In an open loop session `k` belongs to worker `k` modulo their number, which releases it at its instant. A cap is one
///   gate for all; whom it holds back passes in the order of the schedule.
///
/// The turns of a session are all sent by the worker that has its first. A probe stream is the first worker's.
///
/// All begin at one instant, once each has warmed up and connected its share.
///
/// A pool is [`Send`], and so is the future that measures a level, wherever sink and observer are: it may be awaited in a task
/// of any runtime, of one thread or of many.
///
/// `E` is the transport's error: why a request could not be tried.
///
/// ```
/// use std::num::NonZeroUsize;
///
/// use fizeau_harness::{Cancel, WorkerPool};
/// use fizeau_transport::{Backend, HttpTransport, MonotonicClock, Target};
///
/// let target = Target::new("http://127.0.0.1:8000", Backend::Vllm, "m")?;
/// let clock = MonotonicClock::new();
/// let make = move |_| HttpTransport::new(target.clone(), clock);
/// let pool = WorkerPool::start(NonZeroUsize::MIN, clock, Cancel::new(), make)?;
/// assert_eq!(pool.threads(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct WorkerPool<E, C = MonotonicClock> {
    clock: C,
    cancel: Cancel,
    workers: Vec<StartedWorker<E>>,
}

#[derive(Debug)]
struct StartedWorker<E> {
    /// None once the worker has been let go.
    commands: Option<mpsc::UnboundedSender<WorkerCommand<E>>>,
    thread: Option<JoinHandle<()>>,
}

impl<E, C> WorkerPool<E, C>
where
    E: Error + Send + 'static,
    C: Clock + Clone + Send + Sync + 'static,
{
    /// Starts `threads` threads named `fizeau-worker-0` and so on. Each calls `make` with its number for a transport, on
    /// the thread itself, so that the transport need not be able to move between threads. `clock` is the clock of the
    /// run: it must go as fast as the machine's, and transports must stamp with a clone of it.
    ///
    /// # Errors
    /// If the system refuses a thread or an event loop.
    pub fn start<T: Preconnect<Error = E> + 'static>(
        threads: NonZeroUsize,
        clock: C,
        cancel: Cancel,
        make: impl Fn(usize) -> T + Send + Sync + 'static,
    ) -> io::Result<Self> {
        let make = Arc::new(make);
        let mut pool = Self { clock, cancel, workers: Vec::new() };
        for index in 0..threads.get() {
            let coalescer = PollCoalescer::new();
            let mut runtime = tokio::runtime::Builder::new_current_thread();
            let (parked, parking) = (coalescer.clone(), pool.clock.clone());
            let runtime =
                runtime.enable_all().on_thread_park(move || parked.take(&parking)).build()?;
            let (commands, orders) = mpsc::unbounded_channel();
            let (make, clock) = (Arc::clone(&make), pool.clock.clone());
            let work = move || {
                let work = async { Worker::new(make(index), clock, coalescer).obey(orders).await };
                // The measuring is fair by itself; tokio's budget would cut it off in the midst of a read.
                runtime.block_on(tokio::task::coop::unconstrained(work));
            };
            let named = std::thread::Builder::new().name(format!("fizeau-worker-{index}"));
            let thread = Some(named.spawn(work)?);
            pool.workers.push(StartedWorker { commands: Some(commands), thread });
        }
        Ok(pool)
    }

    /// How many threads there are.
    #[must_use]
    pub const fn threads(&self) -> usize {
        self.workers.len()
    }

    /// Opens connections until `count` are idle over all workers, so that a server that cannot be reached is known before
    /// a level begins. Each level connects ahead by itself too.
    ///
    /// # Errors
    /// The first failure of any worker; connections that could be made stay.
    pub async fn preconnect(&self, count: u64) -> Result<(), Failure> {
        let mut answers = Vec::new();
        for (index, worker) in self.workers.iter().enumerate() {
            let (answer, answered) = oneshot::channel();
            let count = share(count, self.workers.len(), index);
            worker.send(WorkerCommand::Preconnect { count, answer });
            answers.push(answered);
        }
        for answer in answers {
            // A worker that is gone shows when a level begins.
            answer.await.unwrap_or(Ok(()))?;
        }
        Ok(())
    }

    /// Hands out the parts of `level`. Gives the collecting side and the switches that start each part.
    /// `enough` is to end it.
    fn begin(
        &self,
        level: &PlannedLevel<'_>,
        enough: &Cancel,
    ) -> (Collector<E>, Vec<oneshot::Sender<StartAt>>) {
        let (post, inbox) = mpsc::unbounded_channel();
        let cancel = self.cancel.part();
        let assignments = assignments(level, self.workers.len());
        let (active, ahead) = (assignments.len(), level.connections_ahead());
        let in_flight = InFlight::default();
        let mut switches = Vec::new();
        for ((index, assignment), worker) in assignments.into_iter().enumerate().zip(&self.workers)
        {
            let (switch, start) = oneshot::channel();
            switches.push(switch);
            let post = WorkerOutlet::new(index, post.clone());
            let ahead = share(ahead, active, index);
            let (stop_after, text) = (level.load.stop_after, level.text);
            let (cancel, enough) = (cancel.clone(), enough.clone());
            let in_flight = in_flight.clone();
            let part = WorkerPart {
                assignment,
                ahead,
                stop_after,
                text,
                cancel,
                enough,
                in_flight,
                start,
                post,
            };
            worker.send(WorkerCommand::Level(Box::new(part)));
        }
        (Collector::new(inbox, cancel, in_flight, active), switches)
    }

    /// Passes on the panic that ended worker `index`.
    fn mourn(&mut self, index: usize) -> ! {
        let thread = self.workers.get_mut(index).and_then(|worker| worker.thread.take());
        match thread.map(JoinHandle::join) {
            Some(Err(panic)) => std::panic::resume_unwind(panic),
            _ => std::panic::resume_unwind(Box::new(format!("fizeau-worker-{index} is gone"))),
        }
    }
}

/// The instant at which all workers start.
type StartAt = Stamp;

impl<E, C> Measure for WorkerPool<E, C>
where
    E: Error + Send + 'static,
    C: Clock + Clone + Send + Sync + 'static,
{
    type Error = E;

    /// # Cancel safety
    /// Dropping the future calls the level off; tapes on their way are lost.
    ///
    /// # Panics
    /// If a worker panicked: with its panic.
    async fn measure<K: TapeSink, O: Observer>(
        &mut self,
        level: PlannedLevel<'_>,
        sink: &mut K,
        observer: &mut O,
    ) -> Result<LevelRun, DriveError<WalkError, E, K::Error>> {
        let enough = Cancel::new();
        let (mut collector, switches) = self.begin(&level, &enough);
        let tee = Tee::of(&level, enough, sink, observer);
        let collected = collector.collect(&self.clock, &level, switches, tee).await;
        match collector.lost() {
            Some(index) => self.mourn(index),
            None => collected,
        }
    }

    fn cancel(&self) -> &Cancel {
        &self.cancel
    }

    fn now(&self) -> Stamp {
        self.clock.now()
    }
}

impl<E> StartedWorker<E> {
    /// What a worker that is gone does not take shows in the answer that never comes.
    fn send(&self, command: WorkerCommand<E>) {
        if let Some(commands) = &self.commands {
            let _ = commands.send(command);
        }
    }
}

impl<E, C> Drop for WorkerPool<E, C> {
    /// Lets the workers go and waits for them, so that no connection outlives the pool.
    fn drop(&mut self) {
        for worker in &mut self.workers {
            worker.commands = None;
        }
        for thread in self.workers.iter_mut().filter_map(|worker| worker.thread.take()) {
            // A panic was passed on where it could be.
            let _ = thread.join();
        }
    }
}

// Connections before the clock starts.

/// A transport that can open connections ahead of the requests that will use them.
///
/// One without connections has nothing to do and implements it with an empty body:
///
/// ```
/// # use fizeau_core::{Release, Request, Tape, Transport};
/// struct InProcess;
/// # impl Transport for InProcess {
/// #     type Error = std::convert::Infallible;
/// #     async fn send(&self, _: &Request, release: Release) -> Result<Tape, Self::Error> {
/// #         Ok(Tape::sent_at(release.released))
/// #     }
/// # }
/// impl fizeau_harness::Preconnect for InProcess {}
/// ```
pub trait Preconnect: Transport {
    /// Opens connections until `count` are idle.
    ///
    /// # Errors
    /// If one of them cannot be made; those that could stay.
    fn preconnect(&self, count: usize) -> impl Future<Output = Result<(), Failure>> {
        let _ = count;
        ready(Ok(()))
    }
}

impl<C: Clock + Clone + Send + 'static> Preconnect for HttpTransport<C> {
    async fn preconnect(&self, count: usize) -> Result<(), Failure> {
        Self::preconnect(self, count).await.map_err(|error| error.failure().clone())
    }
}

impl<T: Preconnect, K: TokenCounter> Preconnect for Recounted<T, K> {
    async fn preconnect(&self, count: usize) -> Result<(), Failure> {
        self.transport.preconnect(count).await
    }
}
