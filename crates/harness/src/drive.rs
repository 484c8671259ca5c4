//! The driver: releases requests at their instants, keeps the cap, collects tapes. One loop for every kind of load, in
//! real and in virtual time.

use std::collections::{BTreeMap, VecDeque};
use std::error::Error;
use std::future::{Future, Ready, poll_fn, ready};
use std::num::NonZeroU32;
use std::pin::Pin;
use std::task::Poll;

use fizeau_core::{
    Asked, Connection, Failure, FailureClass, Marks, Nanos, Outcome, Request, RequestId,
    RequestSource, Scheduled, Stamp, StampSource, Tape, TapeSink, Timer, TokenSource, Transport,
};
use futures_util::future::Either;
use futures_util::stream::{FuturesUnordered, StreamExt};

use crate::Cancel;

/// How hard to press.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Load {
    /// The most requests in flight at once; none for no cap. In a closed loop this is the concurrency. In an open loop
    /// a request that the cap holds back keeps its intended instant, so that its waiting shows.
    pub max_in_flight: Option<NonZeroU32>,
    /// Release nothing more once this much time has passed since the start; what is in flight then still finishes.
    pub stop_after: Option<Nanos>,
}

/// What a drive did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Driven {
    /// When it began: scheduled requests count their instants from here.
    pub start: Stamp,
    /// Why it ended.
    pub ended: Ended,
    /// How many scheduled requests had to wait past their instant because of the cap.
    pub held_back: u64,
}

/// Why a drive ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// It was called off; requests in flight were recorded as cancelled.
    Cancelled,
    /// The source had no more requests.
    Exhausted,
    /// [`Load::stop_after`] had passed.
    TimeUp,
}

/// Why a drive broke off.
#[derive(Debug, thiserror::Error)]
pub enum DriveError<S: Error, T: Error, K: Error> {
    /// The source of requests failed.
    #[error("the source of requests failed: {0}")]
    Source(S),
    /// A request could not be expressed for the endpoint.
    #[error("request {request} cannot be sent: {error}")]
    Unsendable {
        /// Which request.
        request: RequestId,
        /// Why.
        error: T,
    },
    /// A tape could not be kept.
    #[error("a finished request could not be recorded: {0}")]
    Sink(K),
}

/// Sends the requests of `source` through `transport` under `load` and hands each tape to `sink` as it ends.
///
/// A request without an instant leaves as soon as the cap allows, and its intended instant is the one at which its slot
/// became free. A request with an instant leaves then, whatever the server does, unless the cap holds it back.
///
/// # Errors
/// If the source, the sink, or the expression of a request fails. Tapes recorded until then stay recorded. Failures of
/// the *endpoint* are not errors: they are tapes.
pub async fn drive<S, T, C, K>(
    source: &mut S,
    transport: &T,
    timer: &C,
    load: Load,
    sink: &mut K,
    cancel: &Cancel,
) -> Result<Driven, DriveError<S::Error, T::Error, K::Error>>
where
    S: RequestSource,
    T: Transport,
    C: Timer,
    K: TapeSink,
{
    let start = timer.now();
    let deadline = load.stop_after.map(|after| start + after);
    let cap = load.max_in_flight.map_or(usize::MAX, |cap| cap.get() as usize);
    let mut flights = FuturesUnordered::new();
    let mut manifest = Manifest::default();
    let mut slot_free_since = start;
    let (mut full_until, mut held_back) = (start, 0);
    let mut unkept = VecDeque::new();
    let mut next = Next::take(source, timer, start).map_err(DriveError::Source)?;
    let ended = loop {
        if cancel.is_cancelled() {
            break Ended::Cancelled;
        }
        let now = timer.now();
        let beyond = |at: Stamp| deadline.is_some_and(|deadline| at >= deadline);
        let time_up = beyond(now) || next.as_ref().and_then(|next| next.at).is_some_and(beyond);
        if time_up && flights.is_empty() {
            break Ended::TimeUp;
        }
        let has_slot = flights.len() < cap && !time_up;
        match next.as_ref() {
            None if flights.is_empty() => break Ended::Exhausted,
            Some(due) if has_slot && due.at.is_none_or(|at| at <= now) => {
                if let Some(due) = next.take() {
                    let intended = due.at.unwrap_or(slot_free_since);
                    held_back += u64::from(due.at.is_some_and(|at| at < full_until));
                    manifest.enter(&due.request, intended, now);
                    let flight = fly(transport, due.request, intended, now);
                    flights.push(launch(flight).await);
                }
                next = Next::take(source, timer, start).map_err(DriveError::Source)?;
                continue;
            }
            _ => {}
        }
        // Only once nothing can be released: a disk that stalls must not hold requests back.
        if let Some(tape) = unkept.pop_front() {
            sink.record(&tape).map_err(DriveError::Sink)?;
            continue;
        }
        let alarm = next.as_mut().filter(|_| has_slot).map(|next| &mut next.alarm);
        match wait(&mut flights, alarm, cancel).await {
            Event::Landed((id, landed)) => {
                let tape = landed.map_err(|error| DriveError::Unsendable { request: id, error })?;
                manifest.leave(id);
                if flights.len() + 1 == cap {
                    full_until = timer.now();
                }
                slot_free_since = tape.marks.end.unwrap_or_else(|| timer.now());
                unkept.push_back(tape);
            }
            Event::Due | Event::Cancelled => {}
        }
    };
    // Abandon before recording, so that the endpoint is left alone at once.
    drop(flights);
    for tape in unkept.into_iter().chain(manifest.cancelled(timer.now())) {
        sink.record(&tape).map_err(DriveError::Sink)?;
    }
    Ok(Driven { start, ended, held_back })
}

/// The next request of the source, with an alarm set for its instant.
struct Next<F> {
    at: Option<Stamp>,
    request: Request,
    alarm: Pin<Box<F>>,
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
            let alarm = Box::pin(timer.sleep_until(at.unwrap_or(start)));
            Next { at, request, alarm }
        }))
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
        Poll::Ready(landed) => Either::Right(ready(landed)),
        Poll::Pending => Either::Left(flight),
    }
}

enum Event<L> {
    Landed(L),
    Due,
    Cancelled,
}

/// Waits for the first of: a request that ends, the next request's instant, the call-off.
async fn wait<L: Future, A: Future<Output = ()>>(
    flights: &mut FuturesUnordered<L>,
    mut alarm: Option<&mut Pin<Box<A>>>,
    cancel: &Cancel,
) -> Event<L::Output> {
    poll_fn(|cx| {
        if cancel.poll(cx).is_ready() {
            return Poll::Ready(Event::Cancelled);
        }
        // The alarm goes first: a late send cannot be mended, a tape can wait.
        if let Some(alarm) = alarm.as_mut()
            && alarm.as_mut().poll(cx).is_ready()
        {
            return Poll::Ready(Event::Due);
        }
        match flights.poll_next_unpin(cx) {
            Poll::Ready(Some(landed)) => Poll::Ready(Event::Landed(landed)),
            Poll::Ready(None) | Poll::Pending => Poll::Pending,
        }
    })
    .await
}

/// Who is in flight, so that a cancelled request leaves a tape too.
#[derive(Default)]
struct Manifest(BTreeMap<RequestId, Tape>);

impl Manifest {
    fn enter(&mut self, request: &Request, intended: Stamp, released: Stamp) {
        let tape = Tape {
            request: request.id,
            session: request.session,
            turn: request.turn,
            endpoint: 0,
            asked: Asked {
                input_tokens: request.input_tokens,
                output_tokens: request.max_output_tokens,
                eos: request.eos,
            },
            marks: Marks::released(intended, released),
            stamps: StampSource::User,
            arrivals: Vec::new(),
            token_source: TokenSource::Events,
            usage: None,
            server_timing: None,
            connection: Connection::Reused,
            outcome: Outcome::Failed(Failure::new(
                FailureClass::Cancelled,
                "the run was called off while this request was in flight",
            )),
            text: None,
        };
        self.0.insert(request.id, tape);
    }

    fn leave(&mut self, id: RequestId) {
        self.0.remove(&id);
    }

    fn cancelled(self, now: Stamp) -> impl Iterator<Item = Tape> {
        self.0.into_values().map(move |mut tape| {
            tape.marks.end = Some(now);
            tape
        })
    }
}
