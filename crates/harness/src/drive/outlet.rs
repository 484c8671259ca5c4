//! Where the driver puts tapes.

use std::cell::Cell;
use std::future::{Future, Ready, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll};

use fizeau_core::{
    CallOff, Clock, Release, RequestId, RequestPurpose, Stamp, Tape, TapeSink, Transport,
};
use futures_util::future::Either;

use super::release_queue::ReadyRequest;

/// Takes finished tapes by value, so that they can go on to another thread without a copy.
pub(crate) trait Outlet {
    /// Why a tape could not be taken.
    type Error: std::error::Error;

    /// Takes one.
    fn put(&mut self, tape: Tape) -> Result<(), Self::Error>;

    /// Nothing more is at hand: the driver is about to wait.
    fn rest(&mut self) -> Result<(), Self::Error>;
}

/// A sink, as an outlet: it is told to flush when nothing more is at hand.
pub(crate) struct SinkOutlet<'a, K> {
    sink: &'a mut K,
    unflushed: bool,
}

impl<'a, K> SinkOutlet<'a, K> {
    pub(crate) const fn new(sink: &'a mut K) -> Self {
        Self { sink, unflushed: false }
    }
}

impl<K: TapeSink> Outlet for SinkOutlet<'_, K> {
    type Error = K::Error;

    fn put(&mut self, tape: Tape) -> Result<(), K::Error> {
        self.unflushed = true;
        self.sink.record(&tape)
    }

    fn rest(&mut self) -> Result<(), K::Error> {
        if std::mem::take(&mut self.unflushed) { self.sink.flush() } else { Ok(()) }
    }
}

// A request on its way.

/// A request that is back.
pub(super) struct CompletedRequest<E> {
    pub(super) id: RequestId,
    pub(super) keeps_slot: bool,
    pub(super) sent: Result<Tape, E>,
}

/// Sends what leaves, as `release` says, until `off` is thrown.
pub(super) async fn send_request<T: Transport>(
    transport: &T,
    leaving: ReadyRequest,
    release: Release,
    off: &CallOff,
) -> CompletedRequest<T::Error> {
    let ReadyRequest { request, keeps_slot, .. } = leaving;
    let mut sent = transport.send_until(&request, release, off).await;
    if let Ok(tape) = &mut sent {
        // What follows from a tape hangs on these, whether the transport copied them or not.
        (tape.session, tape.turn, tape.part) = (request.session, request.turn, request.part);
        tape.model = request.model;
    }
    CompletedRequest { id: request.id, keeps_slot, sent }
}

/// Lets `request_future` go as far as it can, which sends its request. Left to its turn among the others, it would wait for
/// the making of the next request and for the tapes of all that ended at the same time. It comes boxed, since it is large, and
/// each hand that it goes through would copy it.
pub(super) async fn poll_once<F: Future>(
    mut request_future: Pin<Box<F>>,
) -> Either<Pin<Box<F>>, Ready<F::Output>> {
    match poll_fn(|cx| Poll::Ready(request_future.as_mut().poll(cx))).await {
        Poll::Ready(completed) => Either::Right(std::future::ready(completed)),
        Poll::Pending => Either::Left(request_future),
    }
}

/// A request in flight that lets a due request go first: otherwise a thousand requests with something to read would hold it up for
/// as long as all their reading takes.
pub(super) struct Yielding<'a, F, C> {
    pub(super) request_future: F,
    pub(super) urgency: &'a NextRelease,
    pub(super) clock: &'a C,
}

impl<F: Future + Unpin, C: Clock> Future for Yielding<'_, F, C> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        if self.urgency.earliest().is_some_and(|at| self.clock.now() >= at) {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        Pin::new(&mut self.request_future).poll(cx)
    }
}

/// When the next request is due, while one is waited for: of the load, and of the probe stream beside it.
#[derive(Debug, Default)]
pub(super) struct NextRelease {
    load: Cell<Option<Stamp>>,
    probe: Cell<Option<Stamp>>,
}

impl NextRelease {
    pub(super) fn set(&self, part: RequestPurpose, at: Option<Stamp>) {
        match part {
            RequestPurpose::Load => self.load.set(at),
            RequestPurpose::Probe => self.probe.set(at),
        }
    }

    pub(super) fn is_probe_due(&self, now: impl FnOnce() -> Stamp) -> bool {
        self.probe.get().is_some_and(|at| at <= now())
    }

    fn earliest(&self) -> Option<Stamp> {
        match (self.load.get(), self.probe.get()) {
            (Some(load), Some(probe)) => Some(load.min(probe)),
            (load, probe) => load.or(probe),
        }
    }
}

#[cfg(test)]
mod tests {
    use fizeau_core::{CallOff, Prompt, Release, Request, RequestId, Stamp, Tokens};
    use fizeau_transport::{Backend, HttpTransport, MonotonicClock, Target};

    use super::{ReadyRequest, send_request};

    /// Most of it is the transport's.
    const MOST: usize = 2 << 10;

    #[test]
    fn a_request_on_its_way_is_small() {
        let target = Target::new("http://127.0.0.1:1", Backend::Vllm, "m").unwrap();
        let transport = HttpTransport::new(target, MonotonicClock::new());
        let request = Request::new(RequestId(0), Prompt::Text("Once".to_owned()), Tokens::new(16));
        let leaving = ReadyRequest { request, intended: Stamp::EPOCH, keeps_slot: false };
        let off = CallOff::default();
        let sending = send_request(&transport, leaving, Release::at(Stamp::EPOCH), &off);
        let size = size_of_val(&sending);
        assert!(size <= MOST, "{size} bytes");
    }
}
