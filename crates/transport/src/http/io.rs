//! What a connection's bytes pass through.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use fizeau_core::Clock;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::log::IoLog;
use super::socket::Stamped;

/// A connection's bytes, in whatever wrapping they travel.
#[derive(Debug)]
pub(super) enum Io<C> {
    /// As they are.
    Plain(Stamped<C>),
}

impl<C: Clock> Io<C> {
    /// The account of the socket underneath.
    pub(super) const fn log(&self) -> &Arc<IoLog> {
        match self {
            Self::Plain(socket) => socket.log(),
        }
    }

    /// Reads what is there into `into`, which is not empty; no bytes are the end.
    pub(super) fn poll_receive(
        &mut self,
        cx: &mut Context<'_>,
        into: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        match self {
            Self::Plain(socket) => socket.poll_receive(cx, into),
        }
    }

    /// Whether an idle connection is as it ought to be: silent. One that can be read has been closed, or says
    /// something that nobody asked for. As long as the runtime has heard nothing, this makes no system call.
    pub(super) fn is_silent(&mut self) -> bool {
        let mut cx = Context::from_waker(Waker::noop());
        self.poll_receive(&mut cx, &mut [0]).is_pending()
    }
}

impl<C: Clock> AsyncRead for Io<C> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match &mut *self {
            Self::Plain(socket) => Pin::new(socket).poll_read(cx, buf),
        }
    }
}

impl<C: Clock> AsyncWrite for Io<C> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match &mut *self {
            Self::Plain(socket) => Pin::new(socket).poll_write(cx, bytes),
        }
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match &mut *self {
            Self::Plain(socket) => Pin::new(socket).poll_write_vectored(cx, slices),
        }
    }

    fn is_write_vectored(&self) -> bool {
        match self {
            Self::Plain(socket) => socket.is_write_vectored(),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut *self {
            Self::Plain(socket) => Pin::new(socket).poll_flush(cx),
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut *self {
            Self::Plain(socket) => Pin::new(socket).poll_shutdown(cx),
        }
    }
}
