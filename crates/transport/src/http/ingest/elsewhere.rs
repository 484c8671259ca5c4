//! Where there is no epoll: every connection is the runtime's.

use std::convert::Infallible;
use std::io;
use std::marker::PhantomData;
use std::net;
use std::task::{Context, Poll};

use fizeau_core::{Clock, Stamp};
use tokio::net::TcpStream;

use super::{LinedBody, NotAdopted};
use crate::http::watchdog::TimeoutAlarm;
use crate::http::wire::BodyEnding;

/// Takes nothing in.
#[derive(Debug)]
pub(in crate::http) struct IngestLoop<C>(PhantomData<fn() -> C>);

impl<C: Clock + Send + 'static> IngestLoop<C> {
    pub(in crate::http) const fn new() -> Self {
        Self(PhantomData)
    }

    /// Always the stream as it was.
    pub(in crate::http) fn adopt(
        &self,
        stream: TcpStream,
    ) -> Result<RegisteredSocket<C>, NotAdopted> {
        Err(NotAdopted::Kept(stream))
    }
}

/// There is none.
#[derive(Debug)]
pub(in crate::http) struct RegisteredSocket<C>(Infallible, PhantomData<fn() -> C>);

impl<C> RegisteredSocket<C> {
    pub(in crate::http) fn stream(&self) -> &net::TcpStream {
        match self.0 {}
    }

    pub(in crate::http) fn try_read<R>(&self, _: impl FnOnce() -> io::Result<R>) -> io::Result<R> {
        match self.0 {}
    }

    pub(in crate::http) fn try_write<R>(&self, _: impl FnOnce() -> io::Result<R>) -> io::Result<R> {
        match self.0 {}
    }

    pub(in crate::http) fn poll_read_ready(&self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.0 {}
    }

    pub(in crate::http) fn poll_write_ready(&self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.0 {}
    }
}

/// None ever is given.
#[derive(Debug)]
pub(in crate::http) struct GivenBody<C>(Infallible, PhantomData<fn() -> C>);

impl<C: Clock + Send + 'static> GivenBody<C> {
    pub(in crate::http) fn give(body: LinedBody<C>) -> Result<Self, Box<LinedBody<C>>> {
        Err(Box::new(body))
    }

    pub(in crate::http) fn poll(
        &mut self,
        _: &mut Context<'_>,
        _: impl Fn() -> Stamp,
    ) -> Poll<(LinedBody<C>, Result<BodyEnding, TimeoutAlarm>)> {
        match self.0 {}
    }

    pub(in crate::http) fn take_back(&mut self) -> Option<LinedBody<C>> {
        match self.0 {}
    }
}
