//! The collecting side of a level.

use std::error::Error;

use fizeau_core::{Clock, Nanos, Stamp, Tape, TapeSink, WarmUp};
use fizeau_metrics::ClientWatch;
use fizeau_workload::WalkError;
use tokio::sync::mpsc::{UnboundedReceiver, error::TryRecvError};
use tokio::sync::oneshot;

use super::worker::{Unsendable, WorkerMessage};
use crate::drive::{DriveEnding, DriveOutcome, Outlet, SinkOutlet};
use crate::level::{LevelRun, PlannedLevel, Tee};
use crate::observe::{Notice, Observer};
use crate::proof::{SelfWatch, StealWatch};
use crate::{Cancel, DriveError, InFlight};

/// How far ahead the common start lies: longer than it takes to wake a worker, short enough to be no wait.
const LEAD: Nanos = Nanos::from_millis(2);

/// One tape is kept at a time, and one more for each so many that wait: some tenths of a millisecond where a thousand requests have
/// ended at one instant. Where tapes pile up by the ten thousand, this side needs its share of the core.
const WAITING_FOR_ONE_MORE: usize = 256;

/// Takes in what the workers send, until each is done.
pub(super) struct Collector<E> {
    inbox: UnboundedReceiver<WorkerMessage<E>>,
    /// Calls this level off.
    cancel: Cancel,
    /// Kept by the workers.
    in_flight: InFlight,
    workers: usize,
    ready: usize,
    over: usize,
    warmup: WarmUp,
    driven: Option<DriveOutcome>,
    watch: ClientWatch,
    unsendable: Option<Unsendable<E>>,
    lost: Option<usize>,
    /// How many more tapes to keep before a worker may run.
    at_a_time: usize,
}

impl<E: Error> Collector<E> {
    pub(super) fn new(
        inbox: UnboundedReceiver<WorkerMessage<E>>,
        cancel: Cancel,
        in_flight: InFlight,
        workers: usize,
    ) -> Self {
        let threads = u32::try_from(workers).unwrap_or(u32::MAX);
        Self {
            inbox,
            cancel,
            in_flight,
            workers,
            ready: 0,
            over: 0,
            warmup: WarmUp::default(),
            driven: None,
            watch: ClientWatch { threads, ..ClientWatch::default() },
            unsendable: None,
            lost: None,
            at_a_time: 0,
        }
    }

    /// The number of a worker that is gone.
    pub(super) const fn lost(&self) -> Option<usize> {
        self.lost
    }

    pub(super) async fn collect<K: TapeSink, O: Observer>(
        &mut self,
        clock: &impl Clock,
        level: &PlannedLevel<'_>,
        switches: Vec<oneshot::Sender<Stamp>>,
        mut tee: Tee<'_, K, O>,
    ) -> Result<LevelRun, DriveError<WalkError, E, K::Error>> {
        while self.ready + self.over < self.workers
            && let Some(message) = self.inbox.recv().await
        {
            self.note(message);
        }
        let (requests, in_flight) = (self.warmup.sent, &self.in_flight);
        // Others may warm up until the gate opens.
        let start = level.begin(clock.now(), &self.cancel);
        let agreed = level.start.map(|_| start);
        tee.observer.notice(Notice::WarmedUp { agreed, requests, in_flight });
        // Before the lead is counted: reading takes some of a millisecond.
        let steal = StealWatch::start(SelfWatch::Thread, clock);
        let start = start.max(clock.now() + LEAD);
        for switch in switches {
            // Who is over already does not wait.
            let _ = switch.send(start);
        }
        self.keep(&mut SinkOutlet::new(&mut tee)).await.map_err(DriveError::Sink)?;
        self.watch.steal_share = steal.share(clock);
        if let Some(error) = self.unsendable.take() {
            return Err(error.widen());
        }
        let driven = self.driven.unwrap_or_else(|| DriveOutcome::none(start));
        Ok(LevelRun::of(tee, self.watch, driven, self.warmup))
    }

    /// Takes in tapes until all workers are done. After an error of the outlet the level is called off, and what still
    /// comes is let go.
    async fn keep<K: Outlet>(&mut self, outlet: &mut K) -> Result<(), K::Error> {
        let mut kept = Ok(());
        while self.over < self.workers {
            let message = match self.inbox.try_recv() {
                Ok(message) => Some(message),
                Err(TryRecvError::Disconnected) => None,
                Err(TryRecvError::Empty) => {
                    self.check(&mut kept, |()| outlet.rest());
                    self.inbox.recv().await
                }
            };
            let Some(message) = message else { break };
            if let Some(tape) = self.note(message) {
                self.check(&mut kept, |()| outlet.put(tape));
                self.step_aside();
            }
        }
        self.check(&mut kept, |()| outlet.rest());
        kept
    }

    /// Lets a worker run that shares this core: it must not wait for all tapes that are at hand to be kept, which takes
    /// the scheduler's whole slice.
    fn step_aside(&mut self) {
        match self.at_a_time.checked_sub(1) {
            Some(left) => self.at_a_time = left,
            None => {
                self.at_a_time = self.inbox.len() / WAITING_FOR_ONE_MORE;
                std::thread::yield_now();
            }
        }
    }

    /// Does `what` unless it has failed before, and calls the level off if it fails.
    fn check<X>(&self, kept: &mut Result<(), X>, what: impl FnOnce(()) -> Result<(), X>) {
        if kept.is_ok() {
            *kept = what(());
            if kept.is_err() {
                self.cancel.cancel();
            }
        }
    }

    /// Takes note of `message`. Gives the tape that it carries.
    fn note(&mut self, message: WorkerMessage<E>) -> Option<Tape> {
        match message {
            WorkerMessage::Ended(tape) => return Some(tape),
            WorkerMessage::Ready(warmup) => {
                self.ready += 1;
                self.warmup.sent += warmup.sent;
                self.warmup.failed += warmup.failed;
            }
            WorkerMessage::Done(Ok((driven, watch))) => self.over(driven, watch),
            WorkerMessage::Done(Err(error)) => {
                self.over += 1;
                self.unsendable.get_or_insert(error);
                self.cancel.cancel();
            }
            WorkerMessage::Gone(worker) => {
                self.over += 1;
                self.lost = Some(worker);
                self.cancel.cancel();
            }
        }
        None
    }

    /// A worker is done: what it did is added to what the others did.
    fn over(&mut self, driven: DriveOutcome, watch: ClientWatch) {
        self.over += 1;
        self.driven = Some(match self.driven {
            None => driven,
            Some(sum) => DriveOutcome {
                start: sum.start.min(driven.start),
                ended: worse(sum.ended, driven.ended),
                held_back: sum.held_back + driven.held_back,
                abandoned: sum.abandoned + driven.abandoned,
            },
        });
        // The share of the worker that has most.
        let most = |one: Option<f64>, other| one.into_iter().chain(other).reduce(f64::max);
        let own = &mut self.watch;
        own.cpu_share = most(own.cpu_share, watch.cpu_share);
        own.run_delay_share = most(own.run_delay_share, watch.run_delay_share);
    }
}

impl<E> Drop for Collector<E> {
    /// Whoever collects no more has called the level off.
    fn drop(&mut self) {
        self.cancel.cancel();
    }
}

/// Why a level of two parts ended.
fn worse(one: DriveEnding, other: DriveEnding) -> DriveEnding {
    let worst_first = [DriveEnding::Cancelled, DriveEnding::TimeUp, DriveEnding::Enough];
    let mut found = worst_first.into_iter().filter(|ended| [one, other].contains(ended));
    found.next().unwrap_or(DriveEnding::Exhausted)
}
