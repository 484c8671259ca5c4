//! A test stand: tokio's paused clock (it jumps when all is idle, so nothing sleeps) and a server that takes a fixed time.

use std::cell::{Cell, RefCell};
use std::convert::Infallible;
use std::future::Future;

use fizeau_core::{
    Arrival, Channel, Clock, Failure, FailureClass, Finish, Nanos, Outcome, Release, Request,
    RequestId, RequestMarks, Stamp, Tape, Timer, Transport,
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
        tape.marks = RequestMarks {
            send_start: Some(sent),
            end: Some(end),
            ..RequestMarks::released(release)
        };
        tape.outcome = Outcome::Complete(Finish::Length);
        tape.arrivals.push(Arrival::tokens(end, 1, Channel::Visible));
        if self.fail_every.is_some_and(|every| request.id.0.is_multiple_of(every)) {
            tape.outcome = Outcome::Failed(Failure::new(FailureClass::Truncated, "by design"));
        }
        Ok(tape)
    }
}
