//! A socket that stamps what passes through it.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use fizeau_core::{Clock, Nanos};
use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf};
use tokio::net::TcpStream;

use super::StampChoice;
use super::kernel;
use super::log::IoLog;

/// A TCP stream that stamps each read, by the kernel where it can and else as the call returns, and each write.
#[derive(Debug)]
pub(super) struct Stamped<C> {
    stream: TcpStream,
    clock: C,
    log: Arc<IoLog>,
}

/// Nothing in it is ever pinned.
impl<C> Unpin for Stamped<C> {}

impl<C> Stamped<C> {
    /// Stamps on `stream` as chosen. A kernel that cannot is no error: the log says who stamped.
    pub(super) fn new(stream: TcpStream, clock: C, choice: StampChoice) -> Self {
        if choice == StampChoice::KernelIfAvailable
            && let Err(error) = kernel::enable(&stream)
        {
            tracing::debug!(%error, "no stamps from the kernel");
        }
        Self { stream, clock, log: Arc::default() }
    }

    /// The account that it keeps.
    pub(super) const fn log(&self) -> &Arc<IoLog> {
        &self.log
    }

    /// One read call, if the runtime thinks that there is something to read.
    ///
    /// A read that does not fill the buffer has emptied the socket, so that the next one could only say so; the
    /// runtime is told at once that there is nothing (by the error that the closure ends with), which saves a
    /// system call a token. Bytes that come after the read raise a new event, and so does the end: epoll is
    /// edge-triggered here. `tokio::net::TcpStream::poll_read` does the same.
    fn receive(&self, into: &mut [u8]) -> io::Result<(usize, Option<Nanos>)> {
        let mut got = None;
        let tried = self.stream.try_io(Interest::READABLE, || {
            let read = kernel::receive(&self.stream, into)?;
            got = Some(read);
            if (1..into.len()).contains(&read.0) && READINESS_IS_EDGES {
                return Err(io::ErrorKind::WouldBlock.into());
            }
            Ok(())
        });
        match (got, tried) {
            (Some(read), _) => Ok(read),
            (None, tried) => Err(tried.err().unwrap_or_else(|| io::ErrorKind::WouldBlock.into())),
        }
    }
}

/// Whether readiness comes as edges (epoll); elsewhere a further read call finds out.
const READINESS_IS_EDGES: bool = cfg!(target_os = "linux");

impl<C: Clock> Stamped<C> {
    /// Reads what is there into `into`, which is not empty; no bytes are the end.
    ///
    /// The read is tried before the runtime is asked to wait, so that a wake-up with bytes costs one read call and
    /// one registration, and nothing of a task's budget.
    pub(super) fn poll_receive(
        &self,
        cx: &mut Context<'_>,
        into: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        loop {
            match self.receive(into) {
                Ok((got, age)) => {
                    if got > 0 {
                        self.log.read(self.clock.now(), age);
                    }
                    return Poll::Ready(Ok(got));
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    ready!(self.stream.poll_read_ready(cx))?;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
    }

    fn poll_send(
        &self,
        cx: &mut Context<'_>,
        write: impl Fn(&TcpStream) -> io::Result<usize>,
    ) -> Poll<io::Result<usize>> {
        loop {
            let before = self.clock.now();
            match write(&self.stream) {
                Ok(written) => {
                    if written > 0 {
                        self.log.wrote(before, self.clock.now());
                    }
                    return Poll::Ready(Ok(written));
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    ready!(self.stream.poll_write_ready(cx))?;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
    }
}

impl<C: Clock> AsyncRead for Stamped<C> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let got = ready!(self.poll_receive(cx, buf.initialize_unfilled()))?;
        buf.advance(got);
        Poll::Ready(Ok(()))
    }
}

impl<C: Clock> AsyncWrite for Stamped<C> {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.poll_send(cx, |stream| stream.try_write(bytes))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.poll_send(cx, |stream| stream.try_write_vectored(slices))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
