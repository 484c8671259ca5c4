//! The HTTP/2 connections to one endpoint, and the places on them.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, ready};

use fizeau_core::{Clock, ConnectMarks, Failure, Nanos};
use hyper::client::conn::http2::{self, SendRequest};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::sync::{Notify, OnceCell};

use super::upload::{AttributedConnection, SendingRequests, UploadBody};
use crate::http::io::Io;
use crate::http::log::IoLog;

/// Windows so large that they never hold a stream of tokens back.
const STREAM_WINDOW: u32 = 1 << 20;
const CONNECTION_WINDOW: u32 = 4 << 20;
/// The most that a reply's head may take.
const HEAD_LIMIT: u32 = 64 << 10;

/// The connections to one endpoint.
#[derive(Debug)]
pub(in crate::http) struct H2Connections {
    slots: RefCell<Vec<Rc<ConnectionSlot>>>,
    /// The most requests at a time on one connection.
    streams: usize,
}

/// A connection, or one that is being made: requests that come meanwhile take a place on it already and wait for it,
/// as they would wait for one of their own.
#[derive(Debug, Default)]
struct ConnectionSlot {
    link: OnceCell<H2Connection>,
    taken: Cell<usize>,
    given_up: Cell<bool>,
}

/// A connection that stands.
pub(in crate::http) struct H2Connection {
    sender: SendRequest<UploadBody>,
    log: Arc<IoLog>,
    sending: Arc<SendingRequests>,
    /// The most requests at a time that the server allows, by its last word on that.
    allowed: Box<dyn Fn() -> usize>,
    marks: ConnectMarks,
    round_trip: Option<Nanos>,
}

/// A place on a connection, free again when this is dropped.
#[derive(Debug)]
pub(in crate::http) struct StreamSlot(Rc<ConnectionSlot>);

impl H2Connections {
    pub(in crate::http) fn new(streams: usize) -> Self {
        Self { slots: RefCell::default(), streams }
    }

    /// A place on a connection that stands.
    pub(in crate::http) fn check_out(&self) -> Option<StreamSlot> {
        self.seat_where(|slot| slot.link.initialized())
    }

    /// A place on any connection: one that stands, one that is being made, or one to be made.
    pub(in crate::http) fn book(&self) -> StreamSlot {
        self.check_out().unwrap_or_else(|| self.book_new())
    }

    /// A place on a connection that does not stand yet: one that is being made, or one to be made.
    pub(in crate::http) fn book_new(&self) -> StreamSlot {
        self.seat_where(|slot| !slot.link.initialized()).unwrap_or_else(|| {
            let slot = Rc::new(ConnectionSlot::default());
            self.slots.borrow_mut().push(Rc::clone(&slot));
            StreamSlot::take(&slot)
        })
    }

    /// Whether the connection of `seat` has a place for all that have taken one. It may not, if more waited for it
    /// than the server turned out to allow.
    pub(in crate::http) fn holds(&self, seat: &StreamSlot) -> bool {
        seat.0.taken.get() <= self.most_on(&seat.0)
    }

    /// The first free place: connections fill up one after the other, so that there are no more than needed.
    fn seat_where(&self, fits: impl Fn(&ConnectionSlot) -> bool) -> Option<StreamSlot> {
        let mut slots = self.slots.borrow_mut();
        slots.retain(|slot| slot.is_alive());
        let mut free = slots.iter().filter(|slot| slot.taken.get() < self.most_on(slot));
        free.find(|slot| fits(slot)).map(StreamSlot::take)
    }

    fn most_on(&self, slot: &ConnectionSlot) -> usize {
        let allowed = slot.link.get().map(|link| (link.allowed)());
        allowed.map_or(self.streams, |allowed| allowed.min(self.streams))
    }
}

impl ConnectionSlot {
    fn is_alive(&self) -> bool {
        !self.given_up.get() && self.link.get().is_none_or(|link| !link.sender.is_closed())
    }
}

impl StreamSlot {
    fn take(slot: &Rc<ConnectionSlot>) -> Self {
        slot.taken.set(slot.taken.get() + 1);
        Self(Rc::clone(slot))
    }

    /// A place on a connection for one request alone.
    pub(in crate::http) fn alone() -> Self {
        Self::take(&Rc::new(ConnectionSlot::default()))
    }

    /// The connection, once it stands.
    pub(super) fn link(&self) -> Option<&H2Connection> {
        self.0.link.get()
    }

    /// Waits until the connection stands; whoever is first makes it with `connect`. Gives its marks.
    ///
    /// # Cancel safety
    /// If whoever makes it is dropped, the next one who waits makes it.
    pub(in crate::http) async fn ready(
        &self,
        connect: impl Future<Output = Result<H2Connection, Failure>>,
    ) -> Result<ConnectMarks, Failure> {
        Ok(self.0.link.get_or_try_init(|| connect).await?.marks)
    }

    pub(in crate::http) fn is_alive(&self) -> bool {
        self.0.is_alive()
    }

    /// Lets nobody else have a place there.
    pub(super) fn give_up(&self) {
        self.0.given_up.set(true);
    }
}

impl Drop for StreamSlot {
    fn drop(&mut self) {
        self.0.taken.set(self.0.taken.get().saturating_sub(1));
    }
}

impl H2Connection {
    /// HTTP/2 on `io`, once the server has said how many requests it takes at a time, which is the first thing that
    /// it says. The machinery runs as a task of the present runtime until the last request on it is over and nobody
    /// can begin another.
    ///
    /// # Errors
    /// If the connection ends before that.
    pub(in crate::http) async fn open<C: Clock + Clone + Send + 'static>(
        io: Io<C>,
        marks: ConnectMarks,
        clock: C,
    ) -> Result<Self, String> {
        let (log, round_trip) = (Arc::clone(io.log()), io.round_trip());
        let (sending, heard) = (Arc::new(SendingRequests::default()), Arc::new(Notify::new()));
        let traffic =
            AttributedConnection::new(io, clock, Arc::clone(&sending), Arc::clone(&heard));
        let (sender, connection) = http2::Builder::new(TokioExecutor::new())
            .initial_stream_window_size(STREAM_WINDOW)
            .initial_connection_window_size(CONNECTION_WINDOW)
            .max_header_list_size(HEAD_LIMIT)
            // Until the server has spoken; if it then sets no limit, there is none.
            .initial_max_send_streams(0)
            .handshake(TokioIo::new(traffic))
            .await
            .map_err(|error| super::innermost(&error).to_string())?;
        // Shared to ask it for the server's limit, which may change; all on one thread, so nobody waits for the lock.
        let connection = Arc::new(Mutex::new(Some(connection)));
        let (driven, told) = (Arc::clone(&connection), Arc::clone(&heard));
        tokio::spawn(poll_fn(move |cx| {
            let mut connection = locked(&driven);
            if let Some(running) = &mut *connection {
                // An error shows wherever it matters: at the requests.
                let _ = ready!(Pin::new(running).poll(cx));
            }
            *connection = None;
            told.notify_one();
            Poll::Ready(())
        }));
        let allowed = move || {
            let connection = locked(&connection);
            connection.as_ref().map_or(0, http2::Connection::current_max_send_streams)
        };
        while allowed() == 0 {
            heard.notified().await;
            if sender.is_closed() {
                return Err("it ended before the server's settings came".to_owned());
            }
        }
        Ok(Self { sender, log, sending, allowed: Box::new(allowed), marks, round_trip })
    }

    pub(super) fn sender(&self) -> SendRequest<UploadBody> {
        self.sender.clone()
    }

    pub(super) const fn log(&self) -> &Arc<IoLog> {
        &self.log
    }

    /// That of the connection when it was made.
    pub(super) const fn round_trip(&self) -> Option<Nanos> {
        self.round_trip
    }

    pub(super) const fn sending(&self) -> &Arc<SendingRequests> {
        &self.sending
    }
}

fizeau_core::debug_in_part!(H2Connection { marks });

fn locked<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
