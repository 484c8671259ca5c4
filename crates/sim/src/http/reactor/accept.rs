//! New connections.

use std::io::ErrorKind;
use std::net::IpAddr;

use fizeau_core::{Clock, Nanos, Stamp};
use mio::net::TcpStream;
use mio::{Interest, Token};

use super::super::conn::Conn;
use super::{LOOK, Reactor};

/// How long to wait after a connection could not be accepted, which is mostly a lack of file descriptors that others
/// will give back.
const ACCEPT_PAUSE: Nanos = Nanos::from_millis(10);

/// Whether there may be connections to accept.
#[derive(Debug, Clone, Copy)]
pub(super) enum Accept {
    Nothing,
    At(Stamp),
}

impl Reactor {
    /// Takes up connections, some at a time.
    pub(super) fn accept(&mut self) {
        match self.accept {
            Accept::At(at) if at <= self.app.clock.now() => {}
            _ => return,
        }
        for _ in 0..LOOK {
            if self.conns.len() >= self.app.faults.most_connections() {
                self.accept = Accept::Nothing;
                return;
            }
            match self.listener.accept() {
                Ok((socket, address)) => {
                    self.welcome(socket, address.ip());
                    if let Some(pause) = self.app.faults.accept_pause() {
                        self.accept = Accept::At(self.app.clock.now() + pause);
                        return;
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    self.accept = Accept::Nothing;
                    return;
                }
                Err(error) => {
                    tracing::warn!(%error, "a connection could not be accepted");
                    self.accept = Accept::At(self.app.clock.now() + ACCEPT_PAUSE);
                    return;
                }
            }
        }
    }

    fn welcome(&mut self, socket: TcpStream, client: IpAddr) {
        // Without this, the kernel would hold small writes back until earlier ones are acknowledged.
        if let Err(error) = socket.set_nodelay(true) {
            tracing::debug!(%error, "TCP_NODELAY could not be set");
        }
        let wire = match self.app.wires.take(socket) {
            Ok(wire) => wire,
            Err(error) => return tracing::warn!(%error, "TLS could not be set up"),
        };
        let slot = self.conns.insert(Conn::new(wire, self.body_limit));
        let Some(conn) = self.conns.get_mut(slot) else {
            return;
        };
        conn.client = Some(client);
        conn.is_deaf = self.app.faults.is_deaf();
        let interest = Interest::READABLE | Interest::WRITABLE;
        let registered = self.poll.registry().register(conn.wire.socket(), Token(slot), interest);
        if let Err(error) = registered {
            tracing::warn!(%error, "a connection could not be watched");
            self.close(slot);
        }
    }
}
