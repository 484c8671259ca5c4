//! What a connection's bytes pass through.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
#[cfg(feature = "tls")]
use std::task::ready;
use std::task::{Context, Poll, Waker};

use fizeau_core::{Clock, Nanos};
#[cfg(feature = "tls")]
use tokio::io::AsyncBufRead;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
#[cfg(feature = "tls")]
use tokio_rustls::client::TlsStream;

use super::ingest::IngestLoop;
#[cfg(target_os = "linux")]
use super::ingest::RegisteredSocket;
use super::log::IoLog;
#[cfg(target_os = "linux")]
use super::socket::ReadNow;
use super::socket::Stamped;

/// A connection's bytes, in whatever wrapping they travel.
#[derive(Debug)]
pub(super) enum Io<C> {
    /// As they are.
    Plain(Stamped<C>),
    /// In TLS. The stamps are those of the reads underneath: what is decrypted came in the last of them.
    #[cfg(feature = "tls")]
    Tls(Box<TlsStream<Stamped<C>>>),
}

impl<C: Clock> Io<C> {
    /// The account of the socket underneath.
    pub(super) fn log(&self) -> &Arc<IoLog> {
        match self {
            Self::Plain(socket) => socket.log(),
            #[cfg(feature = "tls")]
            Self::Tls(stream) => stream.get_ref().0.log(),
        }
    }

    /// The shortest round trip that the kernel has seen on the socket underneath.
    pub(super) fn round_trip(&self) -> Option<Nanos> {
        match self {
            Self::Plain(socket) => socket.round_trip(),
            #[cfg(feature = "tls")]
            Self::Tls(stream) => stream.get_ref().0.round_trip(),
        }
    }

    /// Whether nothing of the present request has reached the server's kernel, as far as ours can tell.
    pub(super) fn is_unacknowledged(&self) -> bool {
        match self {
            Self::Plain(socket) => socket.is_unacknowledged(),
            #[cfg(feature = "tls")]
            Self::Tls(stream) => stream.get_ref().0.is_unacknowledged(),
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
            #[cfg(feature = "tls")]
            Self::Tls(stream) => {
                let read = poll_decrypted(stream, cx, into);
                // Reads that gave nothing to hand on were TLS's own affair: tickets for later sessions, or its end.
                match read {
                    Poll::Ready(Ok(got)) if got > 0 => self.log().heed(),
                    _ => self.log().forget_unheeded(),
                }
                read
            }
        }
    }

    /// As [`Io::poll_receive`], of a connection in the hands of its loop: what is there at once.
    #[cfg(target_os = "linux")]
    pub(super) fn receive_at_once(&self, into: &mut [u8]) -> io::Result<ReadNow> {
        match self {
            Self::Plain(socket) => socket.receive_at_once(into),
            // None is ever in a loop's hands.
            #[cfg(feature = "tls")]
            Self::Tls(_) => Err(io::ErrorKind::Unsupported.into()),
        }
    }

    /// The loop that hears of the connection, if it is not the runtime's.
    #[cfg(target_os = "linux")]
    pub(super) const fn line(&self) -> Option<&RegisteredSocket<C>> {
        match self {
            Self::Plain(socket) => socket.line(),
            #[cfg(feature = "tls")]
            Self::Tls(_) => None,
        }
    }

    /// Has `ingest` hear of the connection, where it can.
    pub(super) fn adopt(self, ingest: &IngestLoop<C>) -> io::Result<Self>
    where
        C: Send + 'static,
    {
        match self {
            Self::Plain(socket) => socket.adopt(ingest).map(Self::Plain),
            #[cfg(feature = "tls")]
            Self::Tls(_) => Ok(self),
        }
    }

    /// Whether an idle connection is as it ought to be: silent. One that can be read has been closed, or says
    /// something that nobody asked for. As long as the runtime has heard nothing, this makes no system call.
    pub(super) fn is_silent(&mut self) -> bool {
        let mut cx = Context::from_waker(Waker::noop());
        self.poll_receive(&mut cx, &mut [0]).is_pending()
    }
}

/// What one record holds. `poll_read` would fill all of `into`, and read from the socket in between: the first bytes
/// would have the stamp of the last.
#[cfg(feature = "tls")]
fn poll_decrypted<C: Clock>(
    stream: &mut TlsStream<Stamped<C>>,
    cx: &mut Context<'_>,
    into: &mut [u8],
) -> Poll<io::Result<usize>> {
    let mut stream = Pin::new(stream);
    let there = ready!(stream.as_mut().poll_fill_buf(cx))?;
    let count = there.len().min(into.len());
    if let (Some(to), Some(from)) = (into.get_mut(..count), there.get(..count)) {
        to.copy_from_slice(from);
    }
    stream.consume(count);
    Poll::Ready(Ok(count))
}

impl<C: Clock> AsyncRead for Io<C> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match &mut *self {
            Self::Plain(socket) => Pin::new(socket).poll_read(cx, buf),
            #[cfg(feature = "tls")]
            Self::Tls(stream) => {
                let got = ready!(poll_decrypted(stream, cx, buf.initialize_unfilled()))?;
                buf.advance(got);
                Poll::Ready(Ok(()))
            }
        }
    }
}

/// What the stream does, whichever it is.
macro_rules! either {
    ($io:expr, $stream:ident => $does:expr) => {
        match $io {
            Io::Plain($stream) => $does,
            #[cfg(feature = "tls")]
            Io::Tls($stream) => $does,
        }
    };
}

impl<C: Clock> AsyncWrite for Io<C> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        either!(&mut *self, stream => Pin::new(stream).poll_write(cx, bytes))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        either!(&mut *self, stream => Pin::new(stream).poll_write_vectored(cx, slices))
    }

    fn is_write_vectored(&self) -> bool {
        either!(self, stream => stream.is_write_vectored())
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        either!(&mut *self, stream => Pin::new(stream).poll_flush(cx))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        either!(&mut *self, stream => Pin::new(stream).poll_shutdown(cx))
    }
}
