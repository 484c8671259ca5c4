//! The collecting side of a level.

use std::error::Error;

use fizeau_core::{Clock, Stamp, Tape, TapeSink, WarmUp};
use fizeau_metrics::ClientWatch;
use fizeau_workload::WalkError;
use tokio::sync::mpsc::{UnboundedReceiver, error::TryRecvError};
use tokio::sync::oneshot;

use super::worker::{Unsendable, WorkerMessage};
use crate::drive::{DriveEnding, DriveOutcome, Outlet, SinkOutlet};
use crate::level::{LEAD, LevelRun, PlannedLevel, Tee};
use crate::observe::{DriveNotice, Observer};
use crate::proof::{SelfWatch, StealWatch};
use crate::{Cancel, DriveError, InFlight};

/// One tape is kept at a time, and one more for each so many that wait: some tenths of a millisecond where a thousand requests have
/// ended at one instant.
const WAITING_FOR_ONE_MORE: usize = 256;
/// One more, too, for each so many that wait beyond those that can have ended at one instant: these pile up where this side does not
/// have its share of the core.
const PILED_UP_FOR_ONE_MORE: usize = 16;

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
    /// Once the first worker is about to start.
    steal: Option<StealWatch>,
    unsendable: Option<Unsendable<E>>,
    lost: Option<usize>,
    /// How many more tapes to keep before a worker may run.
    at_a_time: usize,
    /// The most requests that were seen to be in flight.
    most_in_flight: usize,
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
            steal: None,
            unsendable: None,
            lost: None,
            at_a_time: 0,
            most_in_flight: WAITING_FOR_ONE_MORE,
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
            self.note(message, clock);
        }
        let (requests, in_flight) = (self.warmup.sent, &self.in_flight);
        // Others may warm up until the gate opens.
        let start = level.begin(clock.now(), &self.cancel);
        let agreed = level.start.map(|_| start);
        tee.observer.notice(DriveNotice::WarmedUp { agreed, requests, in_flight });
        let start = start.max(clock.now() + LEAD);
        for switch in switches {
            // Who is over already does not wait.
            let _ = switch.send(start);
        }
        self.keep(&mut SinkOutlet::new(&mut tee), clock).await.map_err(DriveError::Sink)?;
        self.watch.steal_share = self.steal.as_ref().and_then(|steal| steal.share(clock));
        if let Some(error) = self.unsendable.take() {
            return Err(error.widen());
        }
        let driven = self.driven.unwrap_or_else(|| DriveOutcome::none(start));
        Ok(LevelRun::of(tee, self.watch, driven, self.warmup))
    }

    /// Takes in tapes until all workers are done. After an error of the outlet the level is called off, and what still
    /// comes is let go.
    async fn keep<K: Outlet>(
        &mut self,
        outlet: &mut K,
        clock: &impl Clock,
    ) -> Result<(), K::Error> {
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
            if let Some(tape) = self.note(message, clock) {
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
                let in_flight = usize::try_from(self.in_flight.get()).unwrap_or(usize::MAX);
                self.most_in_flight = self.most_in_flight.max(in_flight);
                let waiting = self.inbox.len();
                let piled_up = waiting.saturating_sub(self.most_in_flight);
                self.at_a_time = waiting / WAITING_FOR_ONE_MORE + piled_up / PILED_UP_FOR_ONE_MORE;
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
    fn note(&mut self, message: WorkerMessage<E>, clock: &impl Clock) -> Option<Tape> {
        match message {
            WorkerMessage::Ended(tape) => return Some(tape),
            WorkerMessage::Ready(warmup) => {
                self.ready += 1;
                self.warmup.sent += warmup.sent;
                self.warmup.failed += warmup.failed;
            }
            WorkerMessage::Starting => {
                // The wait for others is no part of the level.
                self.steal.get_or_insert_with(|| StealWatch::start(SelfWatch::Thread, clock));
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
                unsent: sum.unsent + driven.unsent,
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

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::sync::atomic::{AtomicU64, Ordering};

    use fizeau_core::{Clock, Nanos, Stamp, Tape};
    use fizeau_workload::{ArrivalLaw, Lengths, Plan, PlanSpec};
    use tokio::sync::{mpsc, oneshot};

    use super::{Collector, LEAD, Tee, WorkerMessage};
    use crate::drive::{DriveLimits, DriveOutcome};
    use crate::{Cancel, InFlight, PlannedLevel, StartGate};

    /// A clock that is set by hand.
    #[derive(Default)]
    struct Hands(AtomicU64);

    impl Clock for Hands {
        fn now(&self) -> Stamp {
            Stamp::from_nanos(self.0.load(Ordering::Relaxed))
        }
    }

    /// All begin an hour after they are ready.
    #[derive(Debug)]
    struct LongGate;

    impl StartGate for LongGate {
        fn begin(&self, ready: Stamp) -> Option<Stamp> {
            Some(ready + Nanos::from_secs(3_600))
        }
    }

    #[tokio::test]
    async fn what_a_hypervisor_takes_is_counted_from_the_agreed_start() {
        let (clock, cancel) = (Hands::default(), Cancel::new());
        let lengths = Lengths::fixed(8, 1);
        let spec =
            PlanSpec { lengths, arrivals: ArrivalLaw::ClosedLoop, ..PlanSpec::new(1).unwrap() };
        let plan = Plan::new(spec).unwrap();
        let load = DriveLimits { max_in_flight: None, stop_after: None };
        let start = Some(&LongGate as &dyn StartGate);
        let level = PlannedLevel { start, ..PlannedLevel::new(&plan, load) };
        let (post, inbox) = mpsc::unbounded_channel();
        let (switch, started) = oneshot::channel();
        let mut collector = Collector::<Infallible>::new(inbox, cancel, InFlight::default(), 1);
        let worker = async {
            let _ = post.send(WorkerMessage::Ready(fizeau_core::WarmUp::default()));
            let start: Stamp = started.await.unwrap();
            clock.0.store((start - LEAD).as_nanos(), Ordering::Relaxed);
            let _ = post.send(WorkerMessage::Starting);
            let watch = fizeau_metrics::ClientWatch::default();
            let _ = post.send(WorkerMessage::Done(Ok((DriveOutcome::none(start), watch))));
            start
        };
        let (mut tapes, mut observer) = (Vec::<Tape>::new(), ());
        let tee = Tee::of(&level, Cancel::new(), &mut tapes, &mut observer);
        let collected = collector.collect(&clock, &level, vec![switch], tee);
        let (start, collected) = tokio::join!(worker, collected);
        assert!(collected.is_ok());
        let watch = collector.steal.take().unwrap();
        assert_eq!(watch.began(), start - LEAD);
    }
}
