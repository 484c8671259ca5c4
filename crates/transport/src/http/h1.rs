//! HTTP/1.1 on one connection, as far as a streamed reply needs it.
//!
//! A token's way through here is one read call into a buffer that all connections of a thread share, one pass over
//! the chunk's frame, and a call with the slice between: no copy, no allocation, and no other task.

mod body;
mod chunked;
mod head;
#[cfg(test)]
mod oracle;
mod pieces;

use std::io::{self, IoSlice, Write};
use std::ops::{ControlFlow, Range};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::{fmt, mem};

use bytes::Bytes;
use fizeau_core::{Clock, Nanos};
use hyper::Method;
use hyper::header::HeaderMap;
use tokio::io::AsyncWrite;

pub(super) use head::ReplyHead;
pub use pieces::read_http1;

use super::connect::why;
use super::ingest::IngestLoop;
#[cfg(target_os = "linux")]
use super::ingest::{DrainOutcome, RegisteredSocket};
use super::io::Io;
use super::log::IoLog;
#[cfg(target_os = "linux")]
use super::socket::ReadNow;
use super::wire::{BodyEnding, ReplyHeadError};
use crate::event::ReadMark;
use body::ReplyBody;
use head::{HeadReader, MalformedHead};

/// How many full reads one connection may have in a row, so that a server that outruns us on one does not keep the
/// others waiting.
const READS_IN_A_ROW: usize = 16;

/// An HTTP/1.1 connection, driven by the request that has it.
#[derive(Debug)]
pub(super) struct H1<C> {
    io: Io<C>,
    outgoing: Option<OutgoingRequest>,
    head: HeadReader,
    body: ReplyBody,
    /// What came in the same read as the head.
    rest: Vec<u8>,
    /// Whether another request may follow the present one.
    keeps_alive: bool,
    /// Whether the head of a reply has come on it.
    has_answered: bool,
}

impl<C: Clock> H1<C> {
    pub(super) fn new(io: Io<C>) -> Self {
        Self {
            io,
            outgoing: None,
            head: HeadReader::default(),
            body: ReplyBody::Length(0),
            rest: Vec::new(),
            keeps_alive: true,
            has_answered: false,
        }
    }

    pub(super) fn log(&self) -> &Arc<IoLog> {
        self.io.log()
    }

    pub(super) fn round_trip(&self) -> Option<Nanos> {
        self.io.round_trip()
    }

    /// Begins a request; [`H1::poll_head`] sends it.
    pub(super) fn begin(&mut self, request: OutgoingRequest) {
        self.log().begin();
        self.head = HeadReader::default();
        self.rest.clear();
        self.outgoing = Some(request);
    }

    /// Sends the request and reads the reply's head. The reply counts even if the request could not be sent to its end: a
    /// server may refuse it half-way.
    pub(super) fn poll_head(
        &mut self,
        cx: &mut Context<'_>,
        scratch: &mut [u8],
    ) -> Poll<Result<ReplyHead, ReplyHeadError>> {
        let sent = self.poll_send(cx);
        loop {
            match self.io.poll_receive(cx, scratch) {
                Poll::Ready(Ok(0)) => {
                    return Poll::Ready(Err(self.ended("connection closed".to_owned())));
                }
                // In TLS, an end without the word for it.
                Poll::Ready(Err(error)) if error.kind() == io::ErrorKind::UnexpectedEof => {
                    return Poll::Ready(Err(self.ended(why(&error))));
                }
                Poll::Ready(Ok(got)) => {
                    let bytes = scratch.get(..got).unwrap_or_default();
                    match self.head.take(bytes) {
                        Ok(None) => {}
                        Ok(Some(parsed)) => return Poll::Ready(Ok(self.open(parsed))),
                        Err(MalformedHead(why)) => {
                            return Poll::Ready(Err(ReplyHeadError::Malformed(why)));
                        }
                    }
                }
                Poll::Ready(Err(error)) => {
                    return Poll::Ready(Err(ReplyHeadError::Cut(why(&error))));
                }
                Poll::Pending => {
                    return match sent {
                        Poll::Ready(Err(error)) => {
                            Poll::Ready(Err(ReplyHeadError::Cut(why(&error))))
                        }
                        _ => Poll::Pending,
                    };
                }
            }
        }
    }

    /// What the server's end of the connection means, where no head has come.
    fn ended(&self, why: String) -> ReplyHeadError {
        match self.io.is_unacknowledged() {
            true => ReplyHeadError::Untaken(why),
            false => ReplyHeadError::Cut(why),
        }
    }

    fn poll_send(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if let Some(outgoing) = &mut self.outgoing {
            ready!(outgoing.poll_write(&mut self.io, cx))?;
            self.outgoing = None;
        }
        Poll::Ready(Ok(()))
    }

    fn open(&mut self, parsed: head::ParsedHead) -> ReplyHead {
        self.body = parsed.body;
        self.rest = mem::take(&mut self.head).into_rest();
        self.keeps_alive = parsed.keeps_alive;
        self.has_answered = true;
        parsed.head
    }

    /// Hands the body's content, as it comes, to `sink`, with the mark of the read that brought it; ready once there is
    /// no more to come, or `sink` wants no more. A server that answers early may still wait for the rest of the
    /// request, which is sent on.
    pub(super) fn poll_body(
        &mut self,
        cx: &mut Context<'_>,
        scratch: &mut [u8],
        sink: &mut impl FnMut(&IoLog, &[u8], ReadMark) -> ControlFlow<()>,
    ) -> Poll<BodyEnding> {
        // Where it cannot be sent, what is left of it keeps the connection from being used again.
        let _ = self.poll_send(cx);
        if !self.rest.is_empty() || self.body.is_over() {
            let rest = mem::take(&mut self.rest);
            if let Some(ended) = self.decode(&rest, sink) {
                return Poll::Ready(ended);
            }
        }
        for _ in 0..READS_IN_A_ROW {
            let read = ready!(self.io.poll_receive(cx, scratch));
            if let Some(ended) = self.take_read(read.ok(), scratch, sink) {
                return Poll::Ready(ended);
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    /// As [`H1::poll_body`], for the loop that the connection belongs to: with what is there, and nobody to be woken.
    #[cfg(target_os = "linux")]
    pub(super) fn drain_body(
        &mut self,
        scratch: &mut [u8],
        sink: &mut impl FnMut(&IoLog, &[u8], ReadMark) -> ControlFlow<()>,
    ) -> DrainOutcome {
        for _ in 0..READS_IN_A_ROW {
            let (read, is_all) = match self.io.receive_at_once(scratch) {
                Ok(ReadNow { got, is_all }) => (Some(got), is_all),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    return DrainOutcome::Emptied;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(_) => (None, false),
            };
            if let Some(ended) = self.take_read(read, scratch, sink) {
                return DrainOutcome::Ended(ended);
            }
            if is_all {
                return DrainOutcome::Emptied;
            }
        }
        DrainOutcome::More
    }

    /// Takes the bytes that a read brought to the start of `scratch`, none being the end, or that it failed; tells how the body
    /// ended if it did.
    fn take_read(
        &mut self,
        read: Option<usize>,
        scratch: &[u8],
        sink: &mut impl FnMut(&IoLog, &[u8], ReadMark) -> ControlFlow<()>,
    ) -> Option<BodyEnding> {
        match read {
            Some(0) if self.body == ReplyBody::UntilClose => Some(BodyEnding::Whole),
            Some(0) | None => Some(BodyEnding::Cut),
            Some(got) => self.decode(scratch.get(..got).unwrap_or_default(), sink),
        }
    }

    /// Hands on the content of `bytes`; tells how the body ended if it did.
    fn decode(
        &mut self,
        mut bytes: &[u8],
        sink: &mut impl FnMut(&IoLog, &[u8], ReadMark) -> ControlFlow<()>,
    ) -> Option<BodyEnding> {
        let log = self.io.log();
        let mark = log.mark();
        loop {
            match self.body.next(&mut bytes) {
                Ok(Some(content)) => {
                    if sink(log, content, mark).is_break() {
                        return Some(BodyEnding::Stopped);
                    }
                }
                Ok(None) => break,
                Err(MalformedHead(why)) => return Some(BodyEnding::Malformed(why)),
            }
        }
        if !self.body.is_over() {
            return None;
        }
        // What nobody asked for shows that the server counts otherwise than we do.
        self.keeps_alive &= bytes.is_empty();
        Some(BodyEnding::Whole)
    }

    /// The loop that hears of the connection, if it is not the runtime's.
    #[cfg(target_os = "linux")]
    pub(super) const fn line(&self) -> Option<&RegisteredSocket<C>> {
        self.io.line()
    }

    /// Has `ingest` hear of the connection, where it can.
    pub(super) fn adopt(self, ingest: &IngestLoop<C>) -> io::Result<Self>
    where
        C: Send + 'static,
    {
        Ok(Self { io: self.io.adopt(ingest)?, ..self })
    }

    /// Whether all of the request has been written.
    #[cfg(target_os = "linux")]
    pub(super) const fn is_sent(&self) -> bool {
        self.outgoing.is_none()
    }

    /// Whether another request can be sent, as far as can be known without sending it.
    pub(super) fn is_usable(&mut self) -> bool {
        self.is_promised() && self.io.is_silent()
    }

    /// Whether the head of a reply has come on it.
    pub(super) const fn has_answered(&self) -> bool {
        self.has_answered
    }

    /// Whether it ought to be kept for another request, by what the reply said.
    pub(super) fn is_promised(&self) -> bool {
        self.keeps_alive && self.outgoing.is_none() && self.rest.is_empty() && self.body.is_over()
    }
}

// A request as it goes out.

/// A POST without its body: all but the length is written once and for all requests.
pub(in crate::http) struct RequestHead {
    /// Up to and with `content-length: `.
    head: Vec<u8>,
    /// Where in it the request target lies.
    target: Range<usize>,
}

impl RequestHead {
    /// Of `target`, as it stands in the request line, with `headers`. A GET is one with an empty body.
    pub(in crate::http) fn new(method: &Method, target: &str, headers: &HeaderMap) -> Self {
        let mut head = format!("{method} {target} HTTP/1.1\r\n").into_bytes();
        let start = method.as_str().len() + 1;
        let target = start..start + target.len();
        for (name, value) in headers {
            head.extend_from_slice(name.as_str().as_bytes());
            head.extend_from_slice(b": ");
            head.extend_from_slice(value.as_bytes());
            head.extend_from_slice(b"\r\n");
        }
        head.extend_from_slice(b"content-length: ");
        Self { head, target }
    }

    /// The request that carries `body`, to another `target` where one is given.
    pub(in crate::http) fn with(&self, target: Option<&str>, body: Bytes) -> OutgoingRequest {
        let mut head = Vec::with_capacity(self.head.len() + target.map_or(0, str::len) + 24);
        head.extend_from_slice(&self.head);
        if let Some(target) = target {
            head.splice(self.target.clone(), target.bytes());
        }
        // Writing to a vector cannot fail.
        let _ = write!(head, "{}\r\n\r\n", body.len());
        OutgoingRequest { head, body, written: 0 }
    }
}

/// A request on its way, and how far it has come.
pub(in crate::http) struct OutgoingRequest {
    head: Vec<u8>,
    body: Bytes,
    written: usize,
}

impl OutgoingRequest {
    pub(in crate::http) fn is_sent(&self) -> bool {
        self.written == self.head.len() + self.body.len()
    }

    /// Writes on, head and body in one call where the socket takes them.
    pub(in crate::http) fn poll_write<C: Clock>(
        &mut self,
        io: &mut Io<C>,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<()>> {
        while !self.is_sent() {
            let head = self.head.get(self.written..).unwrap_or_default();
            let body = self.written.saturating_sub(self.head.len());
            let body = self.body.get(body..).unwrap_or_default();
            let slices = [IoSlice::new(head), IoSlice::new(body)];
            match ready!(Pin::new(&mut *io).poll_write_vectored(cx, &slices))? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                written => self.written += written,
            }
        }
        Pin::new(io).poll_flush(cx)
    }
}

/// Without the head, which holds keys.
impl fmt::Debug for RequestHead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Post")
    }
}

/// Without the head, which holds keys.
impl fmt::Debug for OutgoingRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let length = self.head.len() + self.body.len();
        write!(f, "Outgoing({} of {length} bytes written)", self.written)
    }
}
