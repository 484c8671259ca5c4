//! A test stand: requests, and streams that never end; the clock and the server are [`paused`].

mod paused;

pub(crate) use paused::{Paused, Server, paused};

use std::cell::{Cell, RefCell};
use std::convert::Infallible;
use std::future::poll_fn;
use std::task::{Poll, Waker};

use fizeau_core::{
    Clock, EosRule, Nanos, Prompt, Release, Request, RequestId, RequestPurpose, RequestSource,
    Scheduled, Stamp, Tape, Timer, Tokens, Transport,
};

pub(crate) fn request(id: u64) -> Request {
    Request {
        input_tokens: Some(Tokens::new(3)),
        eos: EosRule::Ignore,
        ..Request::new(RequestId(id), Prompt::TokenIds(vec![1, 2, 3]), Tokens::new(1))
    }
}

/// Requests at the given offsets; `None` for as soon as there is a slot.
pub(crate) struct Listed(pub(crate) std::vec::IntoIter<Scheduled>);

impl Listed {
    pub(crate) fn new(offsets: impl IntoIterator<Item = Option<Nanos>>) -> Self {
        let offsets = offsets.into_iter().zip(0..);
        let listed: Vec<_> =
            offsets.map(|(at, id)| Scheduled { at, request: request(id) }).collect();
        Self(listed.into_iter())
    }
}

impl RequestSource for Listed {
    type Error = Infallible;

    fn next_request(&mut self) -> Result<Option<Scheduled>, Infallible> {
        Ok(self.0.next())
    }
}

/// A clock that each reading of [`Streams`] moves on by a millisecond.
#[derive(Default)]
pub(crate) struct Readings(Cell<u64>);

impl Clock for Readings {
    fn now(&self) -> Stamp {
        Stamp::EPOCH + Nanos::from_millis(self.0.get())
    }
}

impl Timer for Readings {
    async fn sleep_until(&self, at: Stamp) {
        poll_fn(|_| if self.now() >= at { Poll::Ready(()) } else { Poll::Pending }).await;
    }
}

/// Streams that never end; the test wakes them all, as a socket with bytes would.
pub(crate) struct Streams<'a> {
    readings: &'a Readings,
    asleep: RefCell<Vec<Waker>>,
    /// What was sent, and when.
    pub(crate) sent: RefCell<Vec<(RequestPurpose, Release)>>,
}

impl<'a> Streams<'a> {
    pub(crate) fn new(readings: &'a Readings) -> Self {
        Self { readings, asleep: RefCell::default(), sent: RefCell::default() }
    }

    pub(crate) fn wake(&self) {
        self.asleep.take().into_iter().for_each(Waker::wake);
    }
}

impl Transport for Streams<'_> {
    type Error = Infallible;

    async fn send(&self, request: &Request, release: Release) -> Result<Tape, Infallible> {
        self.sent.borrow_mut().push((request.part, release));
        poll_fn(|cx| {
            self.readings.0.set(self.readings.0.get() + 1);
            self.asleep.borrow_mut().push(cx.waker().clone());
            Poll::Pending
        })
        .await
    }
}
