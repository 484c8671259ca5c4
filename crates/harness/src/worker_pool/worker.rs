//! One worker: an event loop that carries out its part of each level.

use std::convert::Infallible;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;

use fizeau_core::{Clock, Failure, Nanos, Stamp, Tape, Timer, WarmUp};
use fizeau_metrics::ClientWatch;
use fizeau_workload::{Walk, WalkError};
use tokio::sync::{mpsc, oneshot};

use super::Preconnect;
use super::coalesce::{Counted, PollCoalescer, Wakeful};
use super::partition::{Assignment, Share};
use crate::drive::{DriveError, DriveLoop, Driven, Keep, Outlet, TextAfter, drive_with_probe};
use crate::pacer::Pacer;
use crate::proof::{SelfWatch, Watch};
use crate::{Cancel, InFlight};

/// What a worker is told to do.
#[derive(Debug)]
pub(super) enum Command<E> {
    Level(Box<Part<E>>),
    Preconnect { count: u64, answer: oneshot::Sender<Result<(), Failure>> },
}

/// A worker's part of a level.
pub(super) struct Part<E> {
    pub(super) hand: Assignment,
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
    pub(super) post: Post<E>,
}

impl<E> std::fmt::Debug for Part<E> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Part").finish_non_exhaustive()
    }
}

/// What a worker tells the collecting side.
#[expect(
    clippy::large_enum_variant,
    reason = "almost every message is a tape, and none is boxed for it"
)]
pub(super) enum Message<E> {
    /// It has warmed up and connected, and waits for the start.
    Ready(WarmUp),
    /// A measured request ended.
    Ended(Tape),
    /// Its part is over.
    Done(Result<(Driven, ClientWatch), Unsendable<E>>),
    /// The worker of this number is gone.
    Gone(usize),
}

/// An error of a drive whose sink cannot fail.
pub(super) type Unsendable<E> = DriveError<WalkError, E, Infallible>;

/// A worker's way to the collecting side. Dropped before the worker is done, it tells that too.
pub(super) struct Post<E> {
    worker: usize,
    outbox: mpsc::UnboundedSender<Message<E>>,
    is_done: bool,
}

impl<E> Post<E> {
    pub(super) const fn new(worker: usize, outbox: mpsc::UnboundedSender<Message<E>>) -> Self {
        Self { worker, outbox, is_done: false }
    }

    /// Where nobody listens any more, the level has been called off, and the drive sees that by itself.
    fn send(&self, message: Message<E>) {
        let _ = self.outbox.send(message);
    }

    fn done(mut self, result: Result<(Driven, ClientWatch), Unsendable<E>>) {
        self.is_done = true;
        self.send(Message::Done(result));
    }
}

impl<E> Outlet for Post<E> {
    type Error = Infallible;

    fn put(&mut self, tape: Tape) -> Result<(), Infallible> {
        self.send(Message::Ended(tape));
        Ok(())
    }

    fn rest(&mut self) -> Result<(), Infallible> {
        Ok(())
    }
}

impl<E> Drop for Post<E> {
    fn drop(&mut self) {
        if !self.is_done {
            self.send(Message::Gone(self.worker));
        }
    }
}

/// The state of a worker thread.
pub(super) struct Worker<T, C> {
    transport: Counted<T>,
    timer: Wakeful<Pacer<C>>,
}

impl<T: Preconnect, C: Clock> Worker<T, C> {
    pub(super) fn new(transport: T, clock: C, nap: PollCoalescer) -> Self {
        Self {
            transport: Counted { transport, nap: nap.clone() },
            timer: Wakeful { timer: Pacer::new(clock), nap },
        }
    }

    /// Carries out orders until nobody can give any more.
    pub(super) async fn obey(self, mut orders: mpsc::UnboundedReceiver<Command<T::Error>>) {
        while let Some(command) = orders.recv().await {
            match command {
                Command::Level(part) => self.level(*part).await,
                Command::Preconnect { count, answer } => {
                    let opened = self.transport.preconnect(saturated(count)).await;
                    // Whoever does not wait for the answer does not want it.
                    let _ = answer.send(opened);
                }
            }
        }
    }

    async fn level(&self, part: Part<T::Error>) {
        let Part { hand, ahead, stop_after, text, cancel, enough, in_flight, start, mut post } =
            part;
        let Assignment { mut warmup, mut requests, cap, underway, probe } = hand;
        self.timer.nap.forget();
        match self.warm_up(&mut warmup, &cap, &cancel).await {
            Ok(warmup) => {
                self.connect_ahead(ahead, &cancel).await;
                post.send(Message::Ready(warmup));
            }
            Err(error) => return post.done(Err(error)),
        }
        let Ok(start) = start.await else {
            let driven = Driven::none(self.timer.now());
            return post.done(Ok((driven, ClientWatch::default())));
        };
        let slots = cap.slots(&self.timer, start);
        self.timer.sleep_until(start).await;
        let watch = Watch::start(SelfWatch::Thread, &self.timer);
        let course = self.course(&cancel, start).with(stop_after, text).until(Some(&enough));
        let course = course.counted(in_flight);
        let driven =
            drive_with_probe(&course, &mut requests, underway, slots, probe, &mut post).await;
        post.done(driven.map(|driven| (driven, watch.stop(&self.timer))));
    }

    async fn warm_up(
        &self,
        requests: &mut Walk,
        cap: &Share,
        cancel: &Cancel,
    ) -> Result<WarmUp, Unsendable<T::Error>> {
        let mut count = WarmUp::default();
        let course = self.course(cancel, self.timer.now());
        let mut slots = cap.warmup_slots(&self.timer);
        course.run(requests, &mut slots, &mut Keep::new(&mut count)).await?;
        Ok(count)
    }

    fn course<'a>(
        &'a self,
        cancel: &'a Cancel,
        start: Stamp,
    ) -> DriveLoop<'a, Counted<T>, Wakeful<Pacer<C>>> {
        DriveLoop::new(&self.transport, &self.timer, cancel, start)
    }

    /// A failure here shows again, on the tape of the request that would have had the connection.
    async fn connect_ahead(&self, count: u64, cancel: &Cancel) {
        let watch = cancel.watch();
        let mut connecting = pin!(self.transport.preconnect(saturated(count)));
        poll_fn(|cx| match watch.poll(cx) {
            Poll::Ready(()) => Poll::Ready(()),
            Poll::Pending => connecting.as_mut().poll(cx).map(drop),
        })
        .await;
    }
}

fn saturated(count: u64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}
