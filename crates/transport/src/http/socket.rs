//! A socket that stamps what passes through it.

use std::cell::Cell;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use fizeau_core::{Clock, Stamp};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

/// What passed through a socket since the present request began. Shared by the socket, which writes it, and the
/// request, which reads it; both live on one thread.
#[derive(Debug, Default)]
pub(super) struct IoLog {
    first_write: Cell<Option<Stamp>>,
    last_write: Cell<Option<Stamp>>,
    first_read: Cell<Option<Stamp>>,
    last_read: Cell<Option<Stamp>>,
    reads: Cell<u32>,
}

impl IoLog {
    /// Starts over for another request.
    pub(super) fn begin(&self) {
        self.first_write.set(None);
        self.last_write.set(None);
        self.first_read.set(None);
        self.last_read.set(None);
        self.reads.set(0);
    }

    pub(super) const fn first_write(&self) -> Option<Stamp> {
        self.first_write.get()
    }

    pub(super) const fn last_write(&self) -> Option<Stamp> {
        self.last_write.get()
    }

    pub(super) const fn first_read(&self) -> Option<Stamp> {
        self.first_read.get()
    }

    pub(super) const fn last_read(&self) -> Option<Stamp> {
        self.last_read.get()
    }

    /// Stamp and number, from 0, of the last read that brought bytes.
    pub(super) fn last(&self) -> (Stamp, u32) {
        let at = self.last_read.get().unwrap_or_default();
        (at, self.reads.get().saturating_sub(1))
    }

    /// Takes note of a write: `before` the call, because the kernel may deliver the bytes within it, and
    /// `after`.
    fn wrote(&self, before: Stamp, after: Stamp) {
        if self.first_write.get().is_none() {
            self.first_write.set(Some(before));
        }
        self.last_write.set(Some(after));
    }

    fn read(&self, at: Stamp) {
        if self.first_read.get().is_none() {
            self.first_read.set(Some(at));
        }
        self.last_read.set(Some(at));
        self.reads.set(self.reads.get().saturating_add(1));
    }
}

/// A TCP stream that stamps each read as the call returns, before anything looks at the bytes, and each write.
#[derive(Debug)]
pub(super) struct Stamped<C> {
    stream: TcpStream,
    clock: Rc<C>,
    log: Rc<IoLog>,
}

impl<C> Stamped<C> {
    pub(super) const fn new(stream: TcpStream, clock: Rc<C>, log: Rc<IoLog>) -> Self {
        Self { stream, clock, log }
    }
}

impl<C: Clock> Stamped<C> {
    fn stamp_write(
        &mut self,
        write: impl FnOnce(Pin<&mut TcpStream>) -> Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        let before = self.clock.now();
        let written = ready!(write(Pin::new(&mut self.stream)))?;
        if written > 0 {
            self.log.wrote(before, self.clock.now());
        }
        Poll::Ready(Ok(written))
    }
}

impl<C: Clock> AsyncRead for Stamped<C> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(cx, buf))?;
        if buf.filled().len() > before {
            self.log.read(self.clock.now());
        }
        Poll::Ready(Ok(()))
    }
}

impl<C: Clock> AsyncWrite for Stamped<C> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.stamp_write(|stream| stream.poll_write(cx, bytes))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.stamp_write(|stream| stream.poll_write_vectored(cx, slices))
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
