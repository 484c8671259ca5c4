//! One worker: an event loop that carries out its part of each level.

use std::convert::Infallible;

use fizeau_core::{Clock, Failure, Nanos, Stamp, Tape, Timer, WarmUp};
use fizeau_metrics::ClientWatch;
use fizeau_workload::{RequestWalk, WalkError};
use tokio::sync::{mpsc, oneshot};

use super::Preconnect;
use super::coalesce::{CoalescedTimer, CountedTransport, PollCoalescer};
use super::partition::{Assignment, CapShare};
use crate::drive::{
    DriveError, DriveLoop, DriveOutcome, Outlet, SinkOutlet, TextAfter, drive_with_probe,
};
use crate::level::LEAD;
use crate::pacer::Pacer;
use crate::proof::{CpuWatch, SelfWatch};
use crate::{Cancel, InFlight};

/// What a worker is told to do.
#[derive(Debug)]
pub(super) enum WorkerCommand<E> {
    Level(Box<WorkerPart<E>>),
    Preconnect { count: u64, answer: oneshot::Sender<Result<(), Failure>> },
}

/// A worker's part of a level.
pub(super) struct WorkerPart<E> {
    pub(super) assignment: Assignment,
    /// How many connections to open ahead.
    pub(super) ahead: u64,
    pub(super) stop_after: Option<Nanos>,
    pub(super) text: TextAfter,
    pub(super) cancel: Cancel,
    /// Thrown when nothing more is to be released.
    pub(super) enough: Cancel,
    pub(super) in_flight: InFlight,
    /// When to start; never told if the level breaks off before.
    pub(super) start: oneshot::Receiver<Stamp>,
    pub(super) post: WorkerOutlet<E>,
}

impl<E> std::fmt::Debug for WorkerPart<E> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Part").finish_non_exhaustive()
    }
}

/// What a worker tells the collecting side.
#[expect(
    clippy::large_enum_variant,
    reason = "almost every message is a tape, and none is boxed for it"
)]
pub(super) enum WorkerMessage<E> {
    /// It has warmed up and connected, and waits for the start.
    Ready(WarmUp),
    /// It is about to start.
    Starting,
    /// A measured request ended.
    Ended(Tape),
    /// Its part is over.
    Done(Result<(DriveOutcome, ClientWatch), Unsendable<E>>),
    /// The worker of this number is gone.
    Gone(usize),
}

/// An error of a drive whose sink cannot fail.
pub(super) type Unsendable<E> = DriveError<WalkError, E, Infallible>;

/// A worker's way to the collecting side. Dropped before the worker is done, it tells that too.
pub(super) struct WorkerOutlet<E> {
    worker: usize,
    outbox: mpsc::UnboundedSender<WorkerMessage<E>>,
    is_done: bool,
}

impl<E> WorkerOutlet<E> {
    pub(super) const fn new(
        worker: usize,
        outbox: mpsc::UnboundedSender<WorkerMessage<E>>,
    ) -> Self {
        Self { worker, outbox, is_done: false }
    }

    /// Where nobody listens any more, the level has been called off, and the drive sees that by itself.
    fn send(&self, message: WorkerMessage<E>) {
        let _ = self.outbox.send(message);
    }

    fn done(mut self, result: Result<(DriveOutcome, ClientWatch), Unsendable<E>>) {
        self.is_done = true;
        self.send(WorkerMessage::Done(result));
    }
}

impl<E> Outlet for WorkerOutlet<E> {
    type Error = Infallible;

    fn put(&mut self, tape: Tape) -> Result<(), Infallible> {
        self.send(WorkerMessage::Ended(tape));
        Ok(())
    }

    fn rest(&mut self) -> Result<(), Infallible> {
        Ok(())
    }
}

impl<E> Drop for WorkerOutlet<E> {
    fn drop(&mut self) {
        if !self.is_done {
            self.send(WorkerMessage::Gone(self.worker));
        }
    }
}

/// The state of a worker thread.
pub(super) struct Worker<T, C> {
    transport: CountedTransport<T>,
    timer: CoalescedTimer<Pacer<C>>,
}

impl<T: Preconnect, C: Clock> Worker<T, C> {
    pub(super) fn new(transport: T, clock: C, coalescer: PollCoalescer) -> Self {
        Self {
            transport: CountedTransport { transport, coalescer: coalescer.clone() },
            timer: CoalescedTimer { timer: Pacer::new(clock), coalescer },
        }
    }

    /// Carries out orders until nobody can give any more.
    pub(super) async fn obey(self, mut orders: mpsc::UnboundedReceiver<WorkerCommand<T::Error>>) {
        while let Some(command) = orders.recv().await {
            match command {
                WorkerCommand::Level(part) => self.level(*part).await,
                WorkerCommand::Preconnect { count, answer } => {
                    let opened = self.transport.preconnect(saturated(count)).await;
                    // Whoever does not wait for the answer does not want it.
                    let _ = answer.send(opened);
                }
            }
        }
    }

    async fn level(&self, part: WorkerPart<T::Error>) {
        let WorkerPart {
            assignment,
            ahead,
            stop_after,
            text,
            cancel,
            enough,
            in_flight,
            start,
            mut post,
        } = part;
        let Assignment { mut warmup, mut requests, cap, load_hold, probe } = assignment;
        self.timer.coalescer.forget();
        match self.warm_up(&mut warmup, &cap, &cancel).await {
            Ok(warmup) => {
                self.connect_ahead(ahead, &cancel).await;
                post.send(WorkerMessage::Ready(warmup));
            }
            Err(error) => return post.done(Err(error)),
        }
        let Ok(start) = start.await else {
            let driven = DriveOutcome::none(self.timer.now());
            return post.done(Ok((driven, ClientWatch::default())));
        };
        let slots = cap.slots(&self.timer, start);
        // An instant that was agreed on may be far ahead.
        cancel.unless_thrown(self.timer.sleep_until(start - LEAD)).await;
        post.send(WorkerMessage::Starting);
        cancel.unless_thrown(self.timer.sleep_until(start)).await;
        let watch = CpuWatch::start(SelfWatch::Thread, &self.timer);
        let drive_loop =
            self.drive_loop(&cancel, start).with(stop_after, text).until(Some(&enough));
        let drive_loop = drive_loop.counted(in_flight);
        let driven =
            drive_with_probe(&drive_loop, &mut requests, load_hold, slots, probe, &mut post).await;
        post.done(driven.map(|driven| (driven, watch.stop(&self.timer))));
    }

    async fn warm_up(
        &self,
        requests: &mut RequestWalk,
        cap: &CapShare,
        cancel: &Cancel,
    ) -> Result<WarmUp, Unsendable<T::Error>> {
        let mut count = WarmUp::default();
        let drive_loop = self.drive_loop(cancel, self.timer.now());
        let mut slots = cap.warmup_slots(&self.timer);
        drive_loop.run(requests, &mut slots, &mut SinkOutlet::new(&mut count)).await?;
        Ok(count)
    }

    fn drive_loop<'a>(
        &'a self,
        cancel: &'a Cancel,
        start: Stamp,
    ) -> DriveLoop<'a, CountedTransport<T>, CoalescedTimer<Pacer<C>>> {
        DriveLoop::new(&self.transport, &self.timer, cancel, start)
    }

    /// A failure here shows again, on the tape of the request that would have had the connection.
    async fn connect_ahead(&self, count: u64, cancel: &Cancel) {
        cancel.unless_thrown(self.transport.preconnect(saturated(count))).await;
    }
}

fn saturated(count: u64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}
