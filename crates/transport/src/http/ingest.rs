//! One epoll descriptor for all HTTP/1.1 connections of a transport.
//!
//! tokio hears of that descriptor alone. One task waits for it and reads whatever has something to read in one loop: socket,
//! decoder and tape of a reply are in one place meanwhile, and the request that waits for the reply is woken once it is over.
//! Until the body of a reply, and where the runtime's own registration is kept, a request reads by itself.

#[cfg(target_os = "linux")]
mod body;
#[cfg(not(target_os = "linux"))]
mod elsewhere;
#[cfg(target_os = "linux")]
mod hub;
#[cfg(target_os = "linux")]
mod registered_socket;

#[cfg(not(target_os = "linux"))]
pub(super) use elsewhere::{GivenBody, IngestLoop, RegisteredSocket};
#[cfg(target_os = "linux")]
pub(super) use {body::GivenBody, hub::IngestLoop, registered_socket::RegisteredSocket};

#[cfg(target_os = "linux")]
use std::io;

use tokio::net::TcpStream;

use super::h1::H1;
use super::reading::BodyContent;
#[cfg(target_os = "linux")]
use super::wire::BodyEnding;

/// A body that is being read, with the connection that it comes on.
#[derive(Debug)]
pub(super) struct LinedBody<C> {
    pub(super) h1: Box<H1<C>>,
    pub(super) content: BodyContent,
}

/// How far the reading of a body came with what was there.
#[cfg(target_os = "linux")]
#[derive(Debug)]
pub(super) enum DrainOutcome {
    /// Nothing more is there.
    Emptied,
    /// It is over.
    Ended(BodyEnding),
    /// More may be there, and others have their turn first.
    More,
}

/// Why a loop did not take a stream over.
#[derive(Debug)]
pub(super) enum NotAdopted {
    /// It cannot; the stream is as it was.
    Kept(TcpStream),
    /// The stream was lost over it.
    #[cfg(target_os = "linux")]
    Lost(io::Error),
}
