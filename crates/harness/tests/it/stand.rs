//! A test stand: tokio's paused clock (it jumps when all is idle, so nothing sleeps) and a server that takes a fixed time.

use std::cell::{Cell, RefCell};
use std::convert::Infallible;
use std::future::{Future, poll_fn};
use std::task::{Poll, Waker};

use fizeau_core::{
    Arrival, Channel, Clock, EosRule, Failure, FailureClass, Finish, Marks, Nanos, Outcome, Part,
    Prompt, Release, Request, RequestId, RequestSource, Scheduled, Stamp, Tape, Timer, Tokens,
    Transport,
};

/// Runs `test` on a runtime whose clock jumps instead of sleeping.
pub(crate) fn paused<T>(test: impl Future<Output = T>) -> T {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    builder.enable_time().start_paused(true).build().unwrap().block_on(test)
}

/// tokio's clock, counted from the making of this value.
pub(crate) struct Paused(tokio::time::Instant);

impl Paused {
    pub(crate) fn new() -> Self {
        Self(tokio::time::Instant::now())
    }
}

impl Clock for Paused {
    fn now(&self) -> Stamp {
        Stamp::EPOCH + self.0.elapsed().into()
    }
}

impl Timer for Paused {
    fn sleep_until(&self, at: Stamp) -> impl Future<Output = ()> {
        tokio::time::sleep_until(self.0 + Nanos::from_nanos(at.as_nanos()).into())
    }
}

/// Serves any number of requests at once, each for the same time; every `fail_every`-th fails.
pub(crate) struct Server<'a> {
    pub(crate) time: &'a Paused,
    pub(crate) service: Nanos,
    pub(crate) fail_every: Option<u64>,
    pub(crate) in_flight: Cell<usize>,
    pub(crate) most_in_flight: Cell<usize>,
    pub(crate) served: RefCell<Vec<RequestId>>,
}

impl<'a> Server<'a> {
    pub(crate) fn new(time: &'a Paused, service: Nanos) -> Self {
        Self {
            time,
            service,
            fail_every: None,
            in_flight: Cell::new(0),
            most_in_flight: Cell::new(0),
            served: RefCell::default(),
        }
    }
}

impl Transport for Server<'_> {
    type Error = Infallible;

    async fn send(&self, request: &Request, release: Release) -> Result<Tape, Infallible> {
        let sent = self.time.now();
        self.in_flight.set(self.in_flight.get() + 1);
        self.most_in_flight.set(self.most_in_flight.get().max(self.in_flight.get()));
        self.time.sleep_until(sent + self.service).await;
        self.in_flight.set(self.in_flight.get() - 1);
        self.served.borrow_mut().push(request.id);
        let end = self.time.now();
        let mut tape = Tape::sent_at(sent);
        (tape.request, tape.session, tape.turn) = (request.id, request.session, request.turn);
        tape.text = Some(format!("reply {}", request.id));
        tape.marks = Marks { send_start: Some(sent), end: Some(end), ..Marks::released(release) };
        tape.outcome = Outcome::Complete(Finish::Length);
        tape.arrivals.push(Arrival::tokens(end, 1, Channel::Visible));
        if self.fail_every.is_some_and(|every| request.id.0.is_multiple_of(every)) {
            tape.outcome = Outcome::Failed(Failure::new(FailureClass::Truncated, "by design"));
        }
        Ok(tape)
    }
}

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
    pub(crate) sent: RefCell<Vec<(Part, Release)>>,
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
