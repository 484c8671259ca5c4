//! The loop.

use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use fizeau_core::{
    CallOff, Nanos, Release, RequestPurpose, RequestSource, Stamp, Tape, Timer, Transport,
};
use futures_util::stream::{FuturesUnordered, StreamExt};

use super::in_flight::InFlightTable;
use super::outlet::{CompletedRequest, NextRelease, Yielding, poll_once, send_request};
use super::release_queue::ReleaseQueue;
use super::{DriveEnding, DriveError, DriveOutcome, Outlet, Slots, TextAfter};
use crate::cancel::CancelWatch;
use crate::{Cancel, InFlight};

/// What a drive has to do with, but for where requests come from and tapes go.
pub(crate) struct DriveLoop<'a, T, C> {
    transport: &'a T,
    pub(super) timer: &'a C,
    cancel: &'a Cancel,
    /// The schedule's zero.
    pub(super) start: Stamp,
    stop_after: Option<Nanos>,
    /// What becomes of the text of a reply once it is known what follows from it.
    text: TextAfter,
    /// Once this is thrown nothing more is released; what is in flight then still finishes.
    until: Option<&'a Cancel>,
    /// Counts what is in flight; none where nobody watches.
    in_flight: Option<InFlight>,
    part: RequestPurpose,
    urgency: Rc<NextRelease>,
}

impl<'a, T: Transport, C: Timer> DriveLoop<'a, T, C> {
    /// Without a time limit; text is kept.
    pub(crate) fn new(transport: &'a T, timer: &'a C, cancel: &'a Cancel, start: Stamp) -> Self {
        Self {
            transport,
            timer,
            cancel,
            start,
            stop_after: None,
            text: TextAfter::Keep,
            until: None,
            in_flight: None,
            part: RequestPurpose::Load,
            urgency: Rc::default(),
        }
    }

    /// Until `enough` is thrown: then nothing more is released.
    pub(crate) fn until(self, enough: Option<&'a Cancel>) -> Self {
        Self { until: enough, ..self }
    }

    pub(crate) fn with(self, stop_after: Option<Nanos>, text: TextAfter) -> Self {
        Self { stop_after, text, ..self }
    }

    /// With what is in flight counted in `in_flight`.
    pub(crate) fn counted(self, in_flight: InFlight) -> Self {
        Self { in_flight: Some(in_flight), ..self }
    }

    /// A switch that calls off the drive loops of this level alone.
    pub(super) fn switch(&self) -> Cancel {
        self.cancel.part()
    }

    /// The same, called off by `cancel`.
    pub(super) fn heeding<'c>(&self, cancel: &'c Cancel) -> DriveLoop<'c, T, C>
    where
        'a: 'c,
    {
        let (in_flight, urgency) = (self.in_flight.clone(), Rc::clone(&self.urgency));
        DriveLoop { cancel, in_flight, urgency, ..*self }
    }

    /// The drive loop of the probe stream that runs beside this one, `until` the load is over. Each lets the other's due requests go
    /// before it reads.
    pub(super) fn for_probes(&self, until: &'a Cancel) -> Self {
        Self {
            stop_after: None,
            until: Some(until),
            in_flight: None,
            part: RequestPurpose::Probe,
            urgency: Rc::clone(&self.urgency),
            ..*self
        }
    }

    pub(crate) async fn run<S: RequestSource, L: Slots, K: Outlet>(
        &self,
        source: &mut S,
        slots: &mut L,
        outlet: &mut K,
    ) -> Result<DriveOutcome, DriveError<S::Error, T::Error, K::Error>> {
        let signals =
            DriveSignals { cancel: self.cancel.watch(), until: self.until.map(Cancel::watch) };
        let off = CallOff::default();
        let mut sending = FuturesUnordered::new();
        let mut table = InFlightTable::new(self.in_flight.clone());
        let mut unkept = VecDeque::new();
        let mut queue = ReleaseQueue::new(self.timer, self.start);
        queue.refill(source).map_err(DriveError::Source)?;
        let mut enough_since = None;
        let ended = loop {
            let (now, earliest) = (self.timer.now(), queue.earliest());
            if self.until.is_some_and(Cancel::is_cancelled) {
                enough_since = enough_since.or(Some(now));
            }
            let time_up = self.is_up(now) || earliest.is_some_and(|at| self.is_beyond(at));
            let is_idle = sending.is_empty() && (time_up || earliest.is_none());
            if let Some(ended) = self.over(is_idle, time_up) {
                break Ok(ended);
            }
            let mut open = (!time_up).then_some(&mut queue);
            if let Some(queue) = &mut open
                && let Some(leaving) = queue.next_ready(now, slots).await
            {
                let release = Release { intended: leaving.intended, released: now };
                table.enter(&leaving.request, release);
                let request_future = send_request(self.transport, leaving, release, &off);
                let request_future = poll_once(Box::pin(request_future)).await;
                sending.push(Yielding {
                    request_future,
                    urgency: &self.urgency,
                    clock: self.timer,
                });
                if let Err(error) = queue.refill(source) {
                    break Err(DriveError::Source(error));
                }
                self.make_way(queue.earliest()).await;
                continue;
            }
            // Only once nothing can be released: a disk that stalls must not hold requests back.
            if let Some(tape) = unkept.pop_front() {
                outlet.put(tape).map_err(DriveError::Sink)?;
                continue;
            }
            outlet.rest().map_err(DriveError::Sink)?;
            if let Some(completed) = self.event(&mut sending, &signals, open, slots).await {
                table.leave(completed.id);
                if let Err(error) = self.complete(completed, source, slots, &mut queue, &mut unkept)
                {
                    break Err(error);
                }
            }
        };
        self.urgency.set(self.part, None);
        // Abandon before recording, so that the endpoint is left alone at once.
        off.throw();
        self.keep_all(unkept, sending, table, outlet).map_err(DriveError::Sink)?;
        let (ended, held_back, abandoned) = (ended?, queue.held_back(), source.abandoned());
        let unsent = match (self.part, ended) {
            (RequestPurpose::Probe, _) | (_, DriveEnding::Exhausted) => 0,
            (RequestPurpose::Load, _) => {
                queue.unsent(source, self.end(enough_since)).map_err(DriveError::Source)?
            }
        };
        Ok(DriveOutcome { start: self.start, ended, held_back, abandoned, unsent })
    }

    /// Gives the `outlet` the tape of all that was sent and has none yet, also if the drive broke off.
    fn keep_all<F, K: Outlet>(
        &self,
        unkept: VecDeque<Tape>,
        sending: FuturesUnordered<F>,
        table: InFlightTable,
        outlet: &mut K,
    ) -> Result<(), K::Error>
    where
        F: Future<Output = CompletedRequest<T::Error>> + Unpin,
    {
        let cancelled = self.cancelled(sending, table);
        unkept.into_iter().chain(cancelled).try_for_each(|tape| outlet.put(tape))?;
        outlet.rest()
    }

    /// The tapes of requests that have been called off: their transport's own, and for the others what the `table` knows of them.
    fn cancelled<F>(&self, mut sending: FuturesUnordered<F>, mut table: InFlightTable) -> Vec<Tape>
    where
        F: Future<Output = CompletedRequest<T::Error>> + Unpin,
    {
        let mut tapes = last_words(&mut sending);
        for tape in &mut tapes {
            table.leave(tape.request);
            self.drop_text(tape);
        }
        drop(sending);
        tapes.extend(table.cancelled(self.timer.now()));
        tapes
    }

    fn drop_text(&self, tape: &mut Tape) {
        if self.text == TextAfter::Drop {
            tape.text = None;
        }
    }

    /// When a drive is over that does not wait for what is in flight.
    fn end(&self, enough_since: Option<Stamp>) -> Stamp {
        let stopped = enough_since.unwrap_or_else(|| self.timer.now());
        self.deadline().map_or(stopped, |deadline| deadline.min(stopped))
    }

    /// Lets a due probe go before the next of a burst of requests, and the load go on between probes where the `next` is due
    /// already.
    async fn make_way(&self, next: Option<Stamp>) {
        let makes_way = match self.part {
            RequestPurpose::Load => self.urgency.is_probe_due(|| self.timer.now()),
            RequestPurpose::Probe => next.is_some_and(|at| at <= self.timer.now()),
        };
        if makes_way {
            let mut has_made_way = false;
            poll_fn(|cx| match std::mem::replace(&mut has_made_way, true) {
                true => Poll::Ready(()),
                false => {
                    cx.waker().wake_by_ref();
                    Poll::Pending
                }
            })
            .await;
        }
    }

    /// Whether nothing more may be released `now`.
    fn is_up(&self, now: Stamp) -> bool {
        self.is_beyond(now) || self.until.is_some_and(Cancel::is_cancelled)
    }

    fn deadline(&self) -> Option<Stamp> {
        self.stop_after.map(|after| self.start + after)
    }

    fn is_beyond(&self, at: Stamp) -> bool {
        self.deadline().is_some_and(|deadline| at >= deadline)
    }

    /// Whether the drive ends now, and why. It is idle when nothing is in flight and nothing more may be released.
    fn over(&self, is_idle: bool, time_up: bool) -> Option<DriveEnding> {
        if self.cancel.is_cancelled() {
            return Some(DriveEnding::Cancelled);
        }
        let is_enough = self.until.is_some_and(Cancel::is_cancelled);
        is_idle.then_some(match time_up {
            _ if is_enough => DriveEnding::Enough,
            true => DriveEnding::TimeUp,
            false => DriveEnding::Exhausted,
        })
    }

    /// Waits for the first of: a request that ends, an instant or a slot of the `line`, the call-off. Gives the request;
    /// all else shows by itself when it is looked for.
    async fn event<F: Future + Unpin>(
        &self,
        sending: &mut FuturesUnordered<F>,
        signals: &DriveSignals,
        mut queue: Option<&mut ReleaseQueue<'_, C>>,
        slots: &mut impl Slots,
    ) -> Option<F::Output> {
        let at = queue.as_mut().and_then(|queue| queue.set_alarm(self.deadline()));
        self.urgency.set(self.part, at);
        poll_fn(|cx| {
            if signals.cancel.poll(cx).is_ready() {
                return Poll::Ready(None);
            }
            if let Some(queue) = &mut queue {
                // The next request goes first: a late send cannot be mended, a tape can wait.
                let until = signals.until.as_ref();
                if queue.poll(slots, cx).is_ready()
                    || until.is_some_and(|until| until.poll(cx).is_ready())
                {
                    return Poll::Ready(None);
                }
            }
            match sending.poll_next_unpin(cx) {
                Poll::Ready(Some(completed)) => Poll::Ready(Some(completed)),
                Poll::Ready(None) | Poll::Pending => Poll::Pending,
            }
        })
        .await
    }

    /// Sees to what follows from a request that ended, and to its slot. Its tape goes to the `unkept`, also where nobody can
    /// say what follows.
    fn complete<S: RequestSource, K>(
        &self,
        completed: CompletedRequest<T::Error>,
        source: &mut S,
        slots: &mut impl Slots,
        queue: &mut ReleaseQueue<'_, C>,
        unkept: &mut VecDeque<Tape>,
    ) -> Result<(), DriveError<S::Error, T::Error, K>> {
        let CompletedRequest { id, keeps_slot, sent } = completed;
        let mut tape = sent.map_err(|error| DriveError::Unsendable { request: id, error })?;
        let end = tape.marks.end.unwrap_or_else(|| self.timer.now());
        let next = source.after(&tape, end.saturating_since(self.start));
        if !keeps_slot || !matches!(next, Ok(Some(_))) {
            slots.give_back(end);
        }
        self.drop_text(&mut tape);
        unkept.push_back(tape);
        if let Some(next) = next.map_err(DriveError::Source)? {
            queue.follow(next, end, keeps_slot);
        }
        Ok(())
    }
}

/// The tapes of requests that have been called off, as far as their transport can make them.
fn last_words<F, E>(sending: &mut FuturesUnordered<F>) -> Vec<Tape>
where
    F: Future<Output = CompletedRequest<E>> + Unpin,
{
    let mut cx = Context::from_waker(Waker::noop());
    let polled = sending.iter_mut().filter_map(|request| match Pin::new(request).poll(&mut cx) {
        Poll::Ready(completed) => completed.sent.ok(),
        Poll::Pending => None,
    });
    polled.collect()
}

/// What a drive hears of from outside.
struct DriveSignals {
    cancel: CancelWatch,
    until: Option<CancelWatch>,
}
