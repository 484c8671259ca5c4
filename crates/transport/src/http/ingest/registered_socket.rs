//! A connection of the loop.

use std::fmt;
use std::io;
use std::net;
use std::sync::Arc;
use std::task::{Context, Poll};

use super::hub::Hub;

/// A connection that the loop hears of.
pub(in crate::http) struct RegisteredSocket<C> {
    hub: Arc<Hub<C>>,
    key: usize,
    stream: net::TcpStream,
}

impl<C> fmt::Debug for RegisteredSocket<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RegisteredSocket")
            .field("key", &self.key)
            .field("stream", &self.stream)
            .finish()
    }
}

impl<C> Drop for RegisteredSocket<C> {
    fn drop(&mut self) {
        self.hub.remove(self.key, &self.stream);
    }
}

impl<C> RegisteredSocket<C> {
    pub(super) const fn new(hub: Arc<Hub<C>>, key: usize, stream: net::TcpStream) -> Self {
        Self { hub, key, stream }
    }

    pub(super) const fn hub(&self) -> &Arc<Hub<C>> {
        &self.hub
    }

    pub(super) const fn key(&self) -> usize {
        self.key
    }

    pub(in crate::http) const fn stream(&self) -> &net::TcpStream {
        &self.stream
    }

    /// Does `read`, if there may be something to read, and takes note if it would have to wait. An edge that comes meanwhile
    /// is heard after that.
    pub(in crate::http) fn try_read<R>(
        &self,
        read: impl FnOnce() -> io::Result<R>,
    ) -> io::Result<R> {
        self.hub.attempt(self.key, |readiness| &mut readiness.is_readable, read)
    }

    /// The same with what is written.
    pub(in crate::http) fn try_write<R>(
        &self,
        write: impl FnOnce() -> io::Result<R>,
    ) -> io::Result<R> {
        self.hub.attempt(self.key, |readiness| &mut readiness.is_writable, write)
    }

    pub(in crate::http) fn poll_read_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.hub.poll_ready(self.key, cx, |readiness| readiness.is_readable)
    }

    pub(in crate::http) fn poll_write_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.hub.poll_ready(self.key, cx, |readiness| readiness.is_writable)
    }
}
