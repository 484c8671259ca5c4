//! The loop.

use std::cell::Cell;
use std::collections::VecDeque;
use std::future::{Future, Ready, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use fizeau_core::{
    Clock, Nanos, Request, RequestId, RequestSource, Scheduled, Stamp, Tape, Timer, Transport,
};
use futures_util::future::Either;
use futures_util::stream::{FuturesUnordered, StreamExt};

use super::manifest::Manifest;
use super::{DriveError, Driven, Ended, Outlet, Slots};
use crate::Cancel;
use crate::cancel::CancelWatch;

/// What a drive has to do with, but for where requests come from and tapes go.
pub(crate) struct Course<'a, T, C> {
    pub(crate) transport: &'a T,
    pub(crate) timer: &'a C,
    pub(crate) cancel: &'a Cancel,
    /// The schedule's zero.
    pub(crate) start: Stamp,
    pub(crate) stop_after: Option<Nanos>,
}

impl<T: Transport, C: Timer> Course<'_, T, C> {
    pub(crate) async fn run<S: RequestSource, L: Slots, K: Outlet>(
        &self,
        source: &mut S,
        slots: &mut L,
        outlet: &mut K,
    ) -> Result<Driven, DriveError<S::Error, T::Error, K::Error>> {
        let (timer, start) = (self.timer, self.start);
        let deadline = self.stop_after.map(|after| start + after);
        let beyond = |at: Stamp| deadline.is_some_and(|deadline| at >= deadline);
        let cancel = self.cancel.watch();
        let urgent = Cell::new(None);
        let mut flights = FuturesUnordered::new();
        let mut manifest = Manifest::default();
        let mut unkept = VecDeque::new();
        let mut held_back = 0;
        let mut next = Next::take(source, timer, start).map_err(DriveError::Source)?;
        let ended = loop {
            let now = timer.now();
            let time_up = beyond(now) || next.as_ref().and_then(|next| next.at).is_some_and(beyond);
            let mut due = next.as_mut().filter(|_| !time_up);
            if let Some(ended) = self.over(due.is_none() && flights.is_empty(), time_up) {
                break ended;
            }
            if let Some(due) = due.as_mut().filter(|due| due.at.is_none_or(|at| at <= now)) {
                if due.try_admit(slots).await {
                    if let Some(Next { at, request, free_since, .. }) = next.take() {
                        let intended = at.or(free_since).unwrap_or(start);
                        manifest.enter(&request, intended, now);
                        let flight = launch(fly(self.transport, request, intended, now)).await;
                        flights.push(Yielding { flight, urgent: &urgent, clock: timer });
                    }
                    next = Next::take(source, timer, start).map_err(DriveError::Source)?;
                    continue;
                }
                held_back += due.hold();
            }
            // Only once nothing can be released: a disk that stalls must not hold requests back.
            if let Some(tape) = unkept.pop_front() {
                outlet.put(tape).map_err(DriveError::Sink)?;
                continue;
            }
            outlet.rest().map_err(DriveError::Sink)?;
            let waiting = Waiting { flights: &mut flights, urgent: &urgent, cancel: &cancel };
            if let Event::Landed((id, landed)) = waiting.event(due, slots).await {
                manifest.leave(id);
                let tape = landed.map_err(|error| DriveError::Unsendable { request: id, error })?;
                slots.give_back(tape.marks.end.unwrap_or_else(|| timer.now()));
                unkept.push_back(tape);
            }
        };
        // Abandon before recording, so that the endpoint is left alone at once.
        drop(flights);
        for tape in unkept.into_iter().chain(manifest.cancelled(timer.now())) {
            outlet.put(tape).map_err(DriveError::Sink)?;
        }
        outlet.rest().map_err(DriveError::Sink)?;
        Ok(Driven { start, ended, held_back })
    }

    /// Whether the drive ends now, and why. It is idle when nothing is in flight and nothing more may be released.
    fn over(&self, is_idle: bool, time_up: bool) -> Option<Ended> {
        if self.cancel.is_cancelled() {
            return Some(Ended::Cancelled);
        }
        is_idle.then_some(if time_up { Ended::TimeUp } else { Ended::Exhausted })
    }
}

/// The next request of the source, with an alarm for its instant.
struct Next<F> {
    at: Option<Stamp>,
    request: Request,
    /// None where there is no instant to wait for.
    alarm: Option<Pin<Box<F>>>,
    /// Whether it has a slot already.
    admitted: bool,
    /// Since when that slot was free, where it is known.
    free_since: Option<Stamp>,
    /// Whether its instant came while there was no slot.
    held: bool,
}

impl Next<()> {
    /// Takes the next request from `source`. A function of `Next<()>` because the alarm's type has no name.
    fn take<'t, S: RequestSource, C: Timer>(
        source: &mut S,
        timer: &'t C,
        start: Stamp,
    ) -> Result<Option<Next<impl Future<Output = ()> + use<'t, S, C>>>, S::Error> {
        let scheduled = source.next_request()?;
        Ok(scheduled.map(|Scheduled { at, request }| {
            let at = at.map(|offset| start + offset);
            let alarm = at.map(|at| Box::pin(timer.sleep_until(at)));
            Next { at, request, alarm, admitted: false, free_since: None, held: false }
        }))
    }
}

impl<F: Future<Output = ()>> Next<F> {
    /// Whether it may leave now. Where it may not, the task is woken when it may.
    async fn try_admit(&mut self, slots: &mut impl Slots) -> bool {
        poll_fn(|cx| Poll::Ready(self.poll_admit(slots, cx))).await.is_ready()
    }

    fn poll_admit(&mut self, slots: &mut impl Slots, cx: &mut Context<'_>) -> Poll<()> {
        if self.admitted {
            return Poll::Ready(());
        }
        self.free_since = ready!(slots.poll_take(self.request.id, cx));
        self.admitted = true;
        Poll::Ready(())
    }

    /// Its instant has come and there is no slot. Gives 1 the first time.
    fn hold(&mut self) -> u64 {
        let is_new = self.at.is_some() && !std::mem::replace(&mut self.held, true);
        u64::from(is_new)
    }

    /// Ready when there is a reason to look at it again: its instant has come, or, after that, there is a slot.
    fn poll(&mut self, slots: &mut impl Slots, cx: &mut Context<'_>) -> Poll<()> {
        match self.alarm.as_mut() {
            Some(alarm) => {
                let rung = alarm.as_mut().poll(cx);
                if rung.is_ready() {
                    self.alarm = None;
                }
                rung
            }
            None => self.poll_admit(slots, cx),
        }
    }
}

async fn fly<T: Transport>(
    transport: &T,
    request: Request,
    intended: Stamp,
    released: Stamp,
) -> (RequestId, Result<Tape, T::Error>) {
    (request.id, transport.send(&request, intended, released).await)
}

/// Lets `flight` go as far as it can, which sends its request. Left to the other flights' turn, it would wait for
/// the making of the next request and for the tapes of all that ended at the same time.
async fn launch<F: Future>(flight: F) -> Either<Pin<Box<F>>, Ready<F::Output>> {
    let mut flight = Box::pin(flight);
    match poll_fn(|cx| Poll::Ready(flight.as_mut().poll(cx))).await {
        Poll::Ready(landed) => Either::Right(std::future::ready(landed)),
        Poll::Pending => Either::Left(flight),
    }
}

/// A flight that lets a due request go first: otherwise a thousand flights with something to read would hold it up for
/// as long as all their reading takes.
struct Yielding<'a, F, C> {
    flight: F,
    /// When the next request is due, while one is waited for.
    urgent: &'a Cell<Option<Stamp>>,
    clock: &'a C,
}

impl<F: Future + Unpin, C: Clock> Future for Yielding<'_, F, C> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        if self.urgent.get().is_some_and(|at| self.clock.now() >= at) {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        Pin::new(&mut self.flight).poll(cx)
    }
}

/// What ended a wait. All but a landing shows by itself when it is looked for.
enum Event<L> {
    Landed(L),
    Other,
}

/// All that can end a wait but the next request.
struct Waiting<'a, L> {
    flights: &'a mut FuturesUnordered<L>,
    urgent: &'a Cell<Option<Stamp>>,
    cancel: &'a CancelWatch,
}

impl<L: Future> Waiting<'_, L> {
    /// Waits for the first of: a request that ends, the next request's instant or slot, the call-off.
    async fn event<F: Future<Output = ()>>(
        self,
        mut next: Option<&mut Next<F>>,
        slots: &mut impl Slots,
    ) -> Event<L::Output> {
        self.urgent.set(next.as_ref().filter(|next| next.alarm.is_some()).and_then(|next| next.at));
        poll_fn(|cx| {
            if self.cancel.poll(cx).is_ready() {
                return Poll::Ready(Event::Other);
            }
            // The next request goes first: a late send cannot be mended, a tape can wait.
            if let Some(next) = next.as_mut()
                && next.poll(slots, cx).is_ready()
            {
                return Poll::Ready(Event::Other);
            }
            match self.flights.poll_next_unpin(cx) {
                Poll::Ready(Some(landed)) => Poll::Ready(Event::Landed(landed)),
                Poll::Ready(None) | Poll::Pending => Poll::Pending,
            }
        })
        .await
    }
}
