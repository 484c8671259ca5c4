//! The way of bytes to a client: a socket, with TLS around it or not.

use std::io::{self, Read, Write};
use std::net::Shutdown;

use mio::net::TcpStream;

#[cfg(feature = "tls")]
use super::tls::{Tls, TlsSession};

/// Makes wires of sockets.
#[derive(Debug, Default)]
pub(super) struct SocketWires {
    #[cfg(feature = "tls")]
    pub(super) tls: Option<Tls>,
}

/// A connection's bytes in and out.
///
/// A write that would block may have taken bytes: it must be tried again with the same ones, and maybe more behind them.
pub(super) enum SocketWire {
    Plain(TcpStream),
    #[cfg(feature = "tls")]
    Tls(Box<TlsSession>),
}

impl SocketWires {
    /// Takes a socket that was accepted.
    ///
    /// # Errors
    /// If TLS cannot be set up, for want of random numbers say.
    #[cfg_attr(not(feature = "tls"), expect(clippy::unnecessary_wraps, reason = "TLS may fail"))]
    pub(super) fn take(&self, socket: TcpStream) -> io::Result<SocketWire> {
        #[cfg(feature = "tls")]
        if let Some(tls) = &self.tls {
            return Ok(SocketWire::Tls(Box::new(tls.session(socket)?)));
        }
        Ok(SocketWire::Plain(socket))
    }

    /// How URLs of the server begin.
    pub(super) const fn scheme(&self) -> &'static str {
        #[cfg(feature = "tls")]
        if self.tls.is_some() {
            return "https";
        }
        "http"
    }
}

impl SocketWire {
    /// The socket itself, to be watched.
    pub(super) const fn socket(&mut self) -> &mut TcpStream {
        match self {
            Self::Plain(socket) => socket,
            #[cfg(feature = "tls")]
            Self::Tls(session) => session.socket(),
        }
    }

    /// Tells the client that no more comes. The socket is told nothing.
    pub(super) fn say_end(&mut self) {
        #[cfg(feature = "tls")]
        if let Self::Tls(session) = self {
            session.say_end();
        }
    }

    /// Ends this half of the connection.
    pub(super) fn shutdown(&mut self) -> io::Result<()> {
        self.say_end();
        self.socket().shutdown(Shutdown::Write)
    }
}

impl Read for SocketWire {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(socket) => socket.read(buffer),
            #[cfg(feature = "tls")]
            Self::Tls(session) => session.read(buffer),
        }
    }
}

impl Write for SocketWire {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(socket) => socket.write(bytes),
            #[cfg(feature = "tls")]
            Self::Tls(session) => session.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
