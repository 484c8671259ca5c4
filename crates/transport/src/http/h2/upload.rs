//! What is sent, and when it left.

use std::convert::Infallible;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use bytes::Bytes;
use fizeau_core::{Clock, Stamp};
use hyper::body::{Body, Frame, SizeHint};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::Notify;

use crate::http::io::Io;
use crate::http::log::IoLog;

/// The requests that a connection is sending just now, by their accounts. Both ends are on one thread: the lock is
/// never waited for.
#[derive(Debug, Default)]
pub(super) struct SendingRequests(Mutex<Vec<Arc<IoLog>>>);

impl SendingRequests {
    fn with<T>(&self, act: impl FnOnce(&mut Vec<Arc<IoLog>>) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A request's body, which says when it is fetched for sending: from then on, what is written holds the request.
#[derive(Debug)]
pub(super) struct UploadBody {
    body: Option<Bytes>,
    log: Arc<IoLog>,
    sending: Arc<SendingRequests>,
}

impl UploadBody {
    pub(super) const fn new(body: Bytes, log: Arc<IoLog>, sending: Arc<SendingRequests>) -> Self {
        Self { body: Some(body), log, sending }
    }
}

impl Body for UploadBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let body = self.body.take();
        if body.is_some() {
            self.sending.with(|sending| sending.push(Arc::clone(&self.log)));
        }
        Poll::Ready(body.map(|body| Ok(Frame::data(body))))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.body.as_ref().map_or(0, |body| body.len() as u64))
    }
}

/// A connection's bytes, whose writes go into the accounts of the requests that are being sent.
#[derive(Debug)]
pub(super) struct AttributedConnection<C> {
    io: Io<C>,
    clock: C,
    sending: Arc<SendingRequests>,
    /// Told whenever what has been read so far is dealt with.
    heard: Arc<Notify>,
}

// Nothing of it is ever pinned, least of all the clock.
impl<C> Unpin for AttributedConnection<C> {}

impl<C> AttributedConnection<C> {
    pub(super) const fn new(
        io: Io<C>,
        clock: C,
        sending: Arc<SendingRequests>,
        heard: Arc<Notify>,
    ) -> Self {
        Self { io, clock, sending, heard }
    }
}

impl<C: Clock> AttributedConnection<C> {
    fn note(
        &mut self,
        write: impl FnOnce(Pin<&mut Io<C>>) -> Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        let before: Stamp = self.clock.now();
        let written = write(Pin::new(&mut self.io));
        if let Poll::Ready(Ok(bytes)) = written {
            let after = self.clock.now();
            let note = |log: &Arc<IoLog>| log.wrote(before, after, bytes);
            self.sending.with(|sending| sending.iter().for_each(note));
        }
        written
    }
}

impl<C: Clock> AsyncRead for AttributedConnection<C> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        // Nobody asks for more before that.
        self.heard.notify_one();
        Pin::new(&mut self.io).poll_read(cx, buf)
    }
}

impl<C: Clock> AsyncWrite for AttributedConnection<C> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.note(|io| io.poll_write(cx, bytes))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.note(|io| io.poll_write_vectored(cx, slices))
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }

    /// hyper flushes when it has written all that it was given.
    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.io).poll_flush(cx);
        if flushed.is_ready() {
            self.sending.with(Vec::clear);
        }
        flushed
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(cx)
    }
}
