//! The HTTP/2 connections to one endpoint, and the places on them.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use fizeau_core::{Clock, ConnectMarks, Failure, FailureClass};
use hyper::client::conn::http2::{self, SendRequest};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::sync::OnceCell;

use super::upload::{Attributed, Sending, Upload};
use crate::http::io::Io;
use crate::http::log::IoLog;

/// Windows so large that they never hold a stream of tokens back.
const STREAM_WINDOW: u32 = 1 << 20;
const CONNECTION_WINDOW: u32 = 4 << 20;
/// The most that a reply's head may take.
const HEAD_LIMIT: u32 = 64 << 10;

/// The connections to one endpoint.
#[derive(Debug)]
pub(in crate::http) struct Links {
    slots: RefCell<Vec<Rc<Slot>>>,
    /// The most requests at a time on one connection.
    streams: usize,
}

/// A connection, or one that is being made: requests that come meanwhile take a place on it already and wait for it,
/// as they would wait for one of their own.
#[derive(Debug, Default)]
struct Slot {
    link: OnceCell<Link>,
    taken: Cell<usize>,
    given_up: Cell<bool>,
}

/// A connection that stands.
pub(in crate::http) struct Link {
    sender: SendRequest<Upload>,
    log: Arc<IoLog>,
    sending: Arc<Sending>,
    /// The most requests at a time that the server allows.
    allowed: Arc<AtomicUsize>,
    marks: ConnectMarks,
    /// Whether the version was agreed upon in the handshake.
    agreed: bool,
}

/// A place on a connection, free again when this is dropped.
#[derive(Debug)]
pub(in crate::http) struct Seat(Rc<Slot>);

impl Links {
    pub(in crate::http) fn new(streams: usize) -> Self {
        Self { slots: RefCell::default(), streams }
    }

    /// A place on a connection that stands.
    pub(in crate::http) fn check_out(&self) -> Option<Seat> {
        self.seat_where(|slot| slot.link.initialized())
    }

    /// A place on a connection that is being made, or on one to be made.
    pub(in crate::http) fn book(&self) -> Seat {
        if let Some(seat) = self.seat_where(|slot| !slot.link.initialized()) {
            return seat;
        }
        let slot = Rc::new(Slot::default());
        self.slots.borrow_mut().push(Rc::clone(&slot));
        Seat::take(&slot)
    }

    /// The first free place: connections fill up one after the other, so that there are no more than needed.
    fn seat_where(&self, fits: impl Fn(&Slot) -> bool) -> Option<Seat> {
        let mut slots = self.slots.borrow_mut();
        slots.retain(|slot| slot.is_alive());
        let mut free = slots.iter().filter(|slot| slot.taken.get() < self.most_on(slot));
        free.find(|slot| fits(slot)).map(Seat::take)
    }

    fn most_on(&self, slot: &Slot) -> usize {
        let allowed = slot.link.get().map(|link| link.allowed.load(Relaxed));
        allowed.map_or(self.streams, |allowed| allowed.min(self.streams))
    }
}

impl Slot {
    fn is_alive(&self) -> bool {
        !self.given_up.get() && self.link.get().is_none_or(|link| !link.sender.is_closed())
    }
}

impl Seat {
    fn take(slot: &Rc<Slot>) -> Self {
        slot.taken.set(slot.taken.get() + 1);
        Self(Rc::clone(slot))
    }

    /// A place on a connection for one request alone.
    pub(in crate::http) fn alone() -> Self {
        Self::take(&Rc::new(Slot::default()))
    }

    /// The connection, once it stands.
    pub(super) fn link(&self) -> Option<&Link> {
        self.0.link.get()
    }

    /// Waits until the connection stands; whoever is first makes it with `connect`. Gives its marks.
    ///
    /// # Cancel safety
    /// If whoever makes it is dropped, the next one who waits makes it.
    pub(in crate::http) async fn ready(
        &self,
        connect: impl Future<Output = Result<Link, Failure>>,
    ) -> Result<ConnectMarks, Failure> {
        Ok(self.0.link.get_or_try_init(|| connect).await?.marks)
    }

    /// Lets nobody else have a place there.
    pub(super) fn give_up(&self) {
        self.0.given_up.set(true);
    }

    /// What may be wrong with a connection that broke.
    pub(super) fn doubt(&self) -> &'static str {
        match self.link() {
            Some(link) if !link.agreed => " (does it speak HTTP/2 without TLS?)",
            _ => "",
        }
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.0.taken.set(self.0.taken.get().saturating_sub(1));
    }
}

impl Link {
    /// HTTP/2 on `io`. Its machinery runs as a task of the present runtime until the last request on it is over and
    /// nobody can begin another.
    ///
    /// # Errors
    /// If the connection breaks at once.
    pub(in crate::http) async fn open<C: Clock + Clone + Send + 'static>(
        io: Io<C>,
        marks: ConnectMarks,
        clock: C,
        streams: usize,
    ) -> Result<Self, Failure> {
        let log = Arc::clone(io.log());
        let sending = Arc::new(Sending::default());
        let attributed = Attributed::new(io, clock, Arc::clone(&sending));
        let (sender, mut connection) = http2::Builder::new(TokioExecutor::new())
            .initial_stream_window_size(STREAM_WINDOW)
            .initial_connection_window_size(CONNECTION_WINDOW)
            .max_header_list_size(HEAD_LIMIT)
            // What is assumed until the server says otherwise, which it does with its first words.
            .initial_max_send_streams(streams)
            .handshake(TokioIo::new(attributed))
            .await
            .map_err(|error| {
                let why = super::innermost(&error);
                Failure::new(FailureClass::Connect, format!("HTTP/2 could not be begun: {why}"))
            })?;
        let allowed = Arc::new(AtomicUsize::new(streams));
        let told = Arc::clone(&allowed);
        tokio::spawn(poll_fn(move |cx| {
            let polled = Pin::new(&mut connection).poll(cx);
            told.store(connection.current_max_send_streams(), Relaxed);
            // An error shows wherever it matters: at the requests.
            polled.map(drop)
        }));
        Ok(Self { sender, log, sending, allowed, marks, agreed: marks.tls.is_some() })
    }

    pub(super) fn sender(&self) -> SendRequest<Upload> {
        self.sender.clone()
    }

    pub(super) const fn log(&self) -> &Arc<IoLog> {
        &self.log
    }

    pub(super) const fn sending(&self) -> &Arc<Sending> {
        &self.sending
    }
}

impl fmt::Debug for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Link").field("allowed", &self.allowed).finish_non_exhaustive()
    }
}
