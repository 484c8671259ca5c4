//! One connection, whatever version of HTTP it speaks.

use std::cell::RefCell;
use std::fmt;
use std::io;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::task::{Context, Poll};

use fizeau_core::{Clock, Nanos};

use super::h1::{H1, ReplyHead};
use super::h2::H2;
use super::ingest::IngestLoop;
use super::io::Io;
use super::log::IoLog;
use crate::event::ReadMark;
use crate::target::KeepAliveRecord;

/// A connection that is driven by whoever uses it, in the same task: no hand-over to another task stands between
/// the arrival of bytes and the reading of them.
///
/// A request is begun, its head polled for, then its body; dropping the wire at any time gives it up.
#[derive(Debug)]
pub(super) enum DrivenConnection<C> {
    H1(Box<H1<C>>),
    H2(Box<H2>),
}

/// Why no head of a reply came.
#[derive(Debug)]
pub(super) enum ReplyHeadError {
    /// The connection ended or broke, for this reason.
    Cut(String),
    /// The server cannot have taken the request, for this reason: it ended the connection before, or says so.
    Untaken(String),
    /// What came is no head, for this reason.
    Malformed(String),
}

/// How a body came to its end.
#[derive(Debug)]
pub(super) enum BodyEnding {
    /// With its connection, before it was complete.
    Cut,
    /// Its framing makes no sense, for this reason.
    Malformed(String),
    /// With its stream alone, which the server reset for this reason; its connection stands.
    Reset(String),
    /// Whoever took its content wanted no more.
    Stopped,
    /// As HTTP says that it should.
    Whole,
}

impl<C: Clock> DrivenConnection<C> {
    /// HTTP/1.1 on `io`.
    pub(super) fn h1(io: Io<C>) -> Self {
        Self::H1(Box::new(H1::new(io)))
    }

    /// Has `ingest` hear of the connection, where it can.
    ///
    /// # Errors
    /// If the connection was lost over it.
    pub(super) fn adopt(self, ingest: &IngestLoop<C>) -> io::Result<Self>
    where
        C: Send + 'static,
    {
        Ok(match self {
            Self::H1(h1) => Self::H1(Box::new(h1.adopt(ingest)?)),
            Self::H2(_) => self,
        })
    }

    /// The account of the socket underneath.
    pub(super) fn log(&self) -> &Arc<IoLog> {
        match self {
            Self::H1(h1) => h1.log(),
            Self::H2(h2) => h2.log(),
        }
    }

    /// The shortest round trip that the kernel has seen on the socket underneath; of one that many requests share at a time, which
    /// its own task has, none.
    pub(super) fn round_trip(&self) -> Option<Nanos> {
        match self {
            Self::H1(h1) => h1.round_trip(),
            Self::H2(_) => None,
        }
    }

    /// The same of any connection, as far as it is known: of one that many requests share, what it was when the connection was made.
    pub(super) fn known_round_trip(&self) -> Option<Nanos> {
        match self {
            Self::H1(h1) => h1.round_trip(),
            Self::H2(h2) => h2.first_round_trip(),
        }
    }

    /// Sends what is begun and reads the head of the reply. `scratch` is for the reading; nothing stays in it.
    pub(super) fn poll_head(
        &mut self,
        cx: &mut Context<'_>,
        scratch: &mut [u8],
    ) -> Poll<Result<ReplyHead, ReplyHeadError>> {
        match self {
            Self::H1(h1) => h1.poll_head(cx, scratch),
            Self::H2(h2) => h2.poll_head(cx),
        }
    }

    /// Hands the body's content to `sink` as it comes, piece by piece, each with the socket's account and the mark of its read, until the body
    /// ends or `sink` wants no more.
    pub(super) fn poll_body(
        &mut self,
        cx: &mut Context<'_>,
        scratch: &mut [u8],
        sink: &mut impl FnMut(&IoLog, &[u8], ReadMark) -> ControlFlow<()>,
    ) -> Poll<BodyEnding> {
        match self {
            Self::H1(h1) => h1.poll_body(cx, scratch, sink),
            Self::H2(h2) => h2.poll_body(cx, sink),
        }
    }

    /// Whether a reply came on it; on one that many requests share that is not told.
    pub(super) fn has_answered(&self) -> bool {
        matches!(self, Self::H1(h1) if h1.has_answered())
    }

    /// Whether another request can be sent, as far as can be known without sending it.
    pub(super) fn is_usable(&mut self) -> bool {
        match self {
            Self::H1(h1) => h1.is_usable(),
            // Its place on the connection is free for another request as soon as it is dropped.
            Self::H2(_) => false,
        }
    }
}

// Idle connections.

/// Idle connections, the one used last on top. Without a limit: one would be a hidden queue.
pub(super) struct IdleConnections<C> {
    kept: RefCell<Vec<DrivenConnection<C>>>,
    keep_alive: KeepAliveRecord,
}

/// No server's keep-alive timer is shorter.
pub(super) const SHORTEST_KEEP_ALIVE: Nanos = Nanos::from_secs(1);

impl<C: Clock> IdleConnections<C> {
    /// An idle connection that is, as far as can be seen, alive. Dead ones are dropped on the way.
    pub(super) fn check_out(&self, clock: &C) -> Option<DrivenConnection<C>> {
        loop {
            let mut wire = self.kept.borrow_mut().pop()?;
            if wire.is_usable() {
                return Some(wire);
            }
            self.note_dead(&wire, clock);
        }
    }

    /// Keeps `wire` for another request, if it can carry one.
    pub(super) fn check_in(&self, mut wire: DrivenConnection<C>, clock: &C) {
        if wire.is_usable() {
            self.kept.borrow_mut().push(wire);
        } else if matches!(&wire, DrivenConnection::H1(h1) if h1.is_promised()) {
            self.note_dead(&wire, clock);
        }
    }

    /// Takes note of a connection that the server closed, where that was soon after a reply.
    fn note_dead(&self, wire: &DrivenConnection<C>, clock: &C) {
        let rest = wire.log().last_use().map(|last| clock.now().saturating_since(last));
        if wire.has_answered() && rest.is_some_and(|rest| rest < SHORTEST_KEEP_ALIVE) {
            self.keep_alive.note_closed_early();
        }
    }
}

impl<C> IdleConnections<C> {
    /// None yet, of a server of which that is known.
    pub(super) fn new(keep_alive: KeepAliveRecord) -> Self {
        Self { kept: RefCell::default(), keep_alive }
    }

    pub(super) fn idle(&self) -> usize {
        self.kept.borrow().len()
    }
}

impl<C> fmt::Debug for IdleConnections<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Pool({} idle)", self.idle())
    }
}
