//! A socket that stamps what passes through it.

use std::io::{self, IoSlice, Write};
use std::net::Shutdown;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use fizeau_core::{Clock, Nanos, StampSource};
use memchr::memmem;
use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf};
use tokio::net::TcpStream;

use super::ingest::{IngestLoop, NotAdopted, RegisteredSocket};
use super::kernel;
use super::log::IoLog;
use crate::target::StampChoice;

/// A TCP stream that stamps each read, by the kernel where it can and else as the call returns, and each write.
#[derive(Debug)]
pub(super) struct Stamped<C> {
    stream: HeardStream<C>,
    clock: C,
    log: Arc<IoLog>,
    stamps: StampSource,
    /// Whether what passes is what HTTP says, and not TLS's cipher of it.
    is_clear: bool,
}

/// A stream, and who hears when there is something to read or room to write.
#[derive(Debug)]
enum HeardStream<C> {
    /// The runtime.
    Runtime(TcpStream),
    /// The loop that its transport has for all its connections.
    Loop(RegisteredSocket<C>),
}

/// A read that did not wait.
#[derive(Debug, Clone, Copy)]
pub(super) struct ReadNow {
    /// How many bytes came; none are the end.
    pub(super) got: usize,
    /// Whether that was all, so that another read could only say so.
    pub(super) is_all: bool,
}

/// The most bytes that are taken apart by message: four of a few hundred bytes. Further behind, the kernel has
/// merged the packets, and their stamps, itself; and the time is needed to catch up.
const MOST_TAKEN_APART: usize = 2 << 10;

/// Nothing in it is ever pinned.
impl<C> Unpin for Stamped<C> {}

impl<C> Stamped<C> {
    /// Stamps on `stream` as chosen. A kernel that cannot is no error: the log says who stamped.
    pub(super) fn new(stream: TcpStream, clock: C, choice: StampChoice) -> Self
    where
        C: Clock,
    {
        let stamps = match choice {
            StampChoice::KernelIfAvailable if kernel::enable(&stream).is_ok() => {
                StampSource::Kernel
            }
            _ => StampSource::User,
        };
        let stream = HeardStream::Runtime(stream);
        let log = Arc::new(IoLog::since(clock.now()));
        Self { stream, clock, log, stamps, is_clear: true }
    }

    /// The same for TLS, in whose bytes no message can be told from the next.
    #[cfg(feature = "tls")]
    pub(super) fn enciphered(self) -> Self {
        Self { is_clear: false, ..self }
    }

    /// The loop that hears of it, if it is not the runtime.
    #[cfg(target_os = "linux")]
    pub(super) const fn line(&self) -> Option<&RegisteredSocket<C>> {
        match &self.stream {
            HeardStream::Runtime(_) => None,
            HeardStream::Loop(line) => Some(line),
        }
    }

    /// Has `ingest` hear of it from now on; where that cannot be, the runtime goes on.
    ///
    /// # Errors
    /// If neither can.
    pub(super) fn adopt(self, ingest: &IngestLoop<C>) -> io::Result<Self>
    where
        C: Clock + Send + 'static,
    {
        let stream = match self.stream {
            HeardStream::Runtime(stream) => match ingest.adopt(stream) {
                Ok(line) => HeardStream::Loop(line),
                Err(NotAdopted::Kept(stream)) => HeardStream::Runtime(stream),
                #[cfg(target_os = "linux")]
                Err(NotAdopted::Lost(error)) => return Err(error),
            },
            HeardStream::Loop(line) => HeardStream::Loop(line),
        };
        Ok(Self { stream, ..self })
    }

    /// The account that it keeps.
    pub(super) const fn log(&self) -> &Arc<IoLog> {
        &self.log
    }

    /// The shortest round trip that the kernel has seen on it.
    pub(super) fn round_trip(&self) -> Option<Nanos> {
        match &self.stream {
            HeardStream::Runtime(stream) => kernel::least_round_trip(stream),
            HeardStream::Loop(line) => kernel::least_round_trip(line.stream()),
        }
    }

    /// Whether nothing of the present request had reached the server's kernel when the last of the server's packets left it, as far
    /// as ours can tell. After the server's end that is all it will ever have had of it in time.
    pub(super) fn is_unacknowledged(&self) -> bool {
        let unacknowledged = match &self.stream {
            HeardStream::Runtime(stream) => kernel::unacknowledged(stream),
            HeardStream::Loop(line) => kernel::unacknowledged(line.stream()),
        };
        let written = self.log.written();
        written > 0 && unacknowledged.is_some_and(|bytes| bytes >= written)
    }

    /// The start of `into` that the next read is to fill, so that it takes one message and not two: those that waited
    /// together would share the stamp of the last one, but each packet has its own.
    ///
    /// Only looked at where this process comes late by the server's pace, so that a token that is read in time costs
    /// nothing.
    fn one_message<'b>(&self, into: &'b mut [u8]) -> &'b mut [u8]
    where
        C: Clock,
    {
        if self.stamps == StampSource::User
            || !self.is_clear
            || !self.log.is_behind(self.clock.now())
        {
            return into;
        }
        let room = into.len().min(MOST_TAKEN_APART + 1);
        let Some(ahead) = into.get_mut(..room) else {
            return into;
        };
        let there = match &self.stream {
            HeardStream::Runtime(stream) => kernel::peek(stream, ahead),
            HeardStream::Loop(line) => kernel::peek(line.stream(), ahead),
        };
        let there = there.unwrap_or_default();
        let waiting = ahead.get(..there).filter(|_| there <= MOST_TAKEN_APART);
        match waiting.and_then(end_of_message) {
            // What is all that waits is read without a limit, which shows that it was all.
            Some(end) if end < there => into.get_mut(..end).unwrap_or_default(),
            _ => into,
        }
    }

    /// One read call, if the runtime thinks that there is something to read.
    ///
    /// A read that does not fill the buffer has emptied the socket, so that the next one could only say so; the
    /// runtime is told at once that there is nothing (by the error that the closure ends with), which saves a
    /// system call a token. Bytes that come after the read raise a new event, and so does the end: epoll is
    /// edge-triggered here. `tokio::net::TcpStream::poll_read` does the same.
    fn receive(&self, into: &mut [u8]) -> io::Result<usize>
    where
        C: Clock,
    {
        let mut got = None;
        let read = || {
            let read = self.receive_at_once(into)?;
            got = Some(read.got);
            if read.is_all { Err(io::ErrorKind::WouldBlock.into()) } else { Ok(()) }
        };
        let tried = match &self.stream {
            HeardStream::Runtime(stream) => stream.try_io(Interest::READABLE, read),
            HeardStream::Loop(line) => line.try_read(read),
        };
        match (got, tried) {
            (Some(got), _) => Ok(got),
            (None, tried) => Err(tried.err().unwrap_or_else(|| io::ErrorKind::WouldBlock.into())),
        }
    }

    /// One read call, whoever hears of the socket.
    ///
    /// # Errors
    /// What the system says; [`io::ErrorKind::WouldBlock`] if nothing is there.
    pub(super) fn receive_at_once(&self, into: &mut [u8]) -> io::Result<ReadNow>
    where
        C: Clock,
    {
        let into = self.one_message(into);
        let (got, age) = match &self.stream {
            HeardStream::Runtime(stream) => kernel::receive(stream, into)?,
            HeardStream::Loop(line) => kernel::receive(line.stream(), into)?,
        };
        if got > 0 {
            self.log.read(self.clock.now(), age);
        }
        Ok(ReadNow { got, is_all: READINESS_IS_EDGES && (1..into.len()).contains(&got) })
    }
}

/// Where the first message in `bytes` ends, as far as HTTP and streams of events show it without being parsed: a blank
/// line ends a head, and an event; behind one that ends a chunk comes the chunk's own line end. A wrong guess costs a
/// read call and nothing else.
fn end_of_message(bytes: &[u8]) -> Option<usize> {
    let blank = |end: &'static [u8]| memmem::find(bytes, end).map(|at| at + end.len());
    blank(b"\n\r\n").or_else(|| blank(b"\n\n"))
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
                Ok(got) => return Poll::Ready(Ok(got)),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    ready!(match &self.stream {
                        HeardStream::Runtime(stream) => stream.poll_read_ready(cx),
                        HeardStream::Loop(line) => line.poll_read_ready(cx),
                    })?;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
    }

    fn poll_send(&self, cx: &mut Context<'_>, slices: &[IoSlice<'_>]) -> Poll<io::Result<usize>> {
        loop {
            let before = self.clock.now();
            let written = match &self.stream {
                HeardStream::Runtime(stream) => stream.try_write_vectored(slices),
                HeardStream::Loop(line) => {
                    line.try_write(|| (&mut line.stream()).write_vectored(slices))
                }
            };
            match written {
                Ok(written) => {
                    if written > 0 {
                        self.log.wrote(before, self.clock.now(), written);
                    }
                    return Poll::Ready(Ok(written));
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    ready!(match &self.stream {
                        HeardStream::Runtime(stream) => stream.poll_write_ready(cx),
                        HeardStream::Loop(line) => line.poll_write_ready(cx),
                    })?;
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
        self.poll_send(cx, &[IoSlice::new(bytes)])
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.poll_send(cx, slices)
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.stream {
            HeardStream::Runtime(stream) => Pin::new(stream).poll_flush(cx),
            HeardStream::Loop(_) => Poll::Ready(Ok(())),
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.stream {
            HeardStream::Runtime(stream) => Pin::new(stream).poll_shutdown(cx),
            HeardStream::Loop(line) => Poll::Ready(line.stream().shutdown(Shutdown::Write)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::end_of_message;

    #[test]
    fn where_a_message_ends() {
        let first = |bytes: &'static str| end_of_message(bytes.as_bytes()).map(|end| &bytes[..end]);
        assert_eq!(
            first("HTTP/1.1 200 OK\r\nA: b\r\n\r\n5\r\n"),
            Some("HTTP/1.1 200 OK\r\nA: b\r\n\r\n")
        );
        assert_eq!(first("9\r\ndata: a\n\n\r\n9\r\ndata: b\n\n\r\n"), Some("9\r\ndata: a\n\n\r\n"));
        assert_eq!(first("data: a\n\ndata: b\n\n"), Some("data: a\n\n"));
        assert_eq!(first("data: a\n"), None);
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn messages_that_waited_are_read_one_by_one() {
        use std::future::poll_fn;
        use std::io::Write;
        use std::net::TcpListener;

        use tokio::net::TcpStream;

        use super::{StampChoice, Stamped, kernel};
        use crate::clock::MonotonicClock;

        const BOTH: &[u8] = b"data: a\n\ndata: b\n\n";
        for (choice, first) in [(StampChoice::KernelIfAvailable, 9), (StampChoice::User, 18)] {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let near = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
            let (mut far, _) = listener.accept().unwrap();
            far.write_all(BOTH).unwrap();
            while kernel::peek(&near, &mut [0; 64]).unwrap_or_default() < BOTH.len() {}
            let socket = Stamped::new(near, MonotonicClock::new(), choice);
            let mut bytes = [0; 64];
            let mut got = Vec::new();
            while got.len() < BOTH.len() {
                let read = poll_fn(|cx| socket.poll_receive(cx, &mut bytes)).await.unwrap();
                assert!(got.len() + read == first || got.len() == first, "{read}");
                got.extend_from_slice(&bytes[..read]);
            }
            assert_eq!(got, BOTH);
        }
    }
}
