//! The reading of a reply's body, by whoever has the connection.

use std::ops::ControlFlow;
use std::task::{Context, Poll};

use fizeau_core::{Clock, Stamp};

use super::ingest::{GivenBody, LinedBody};
use super::log::IoLog;
use super::watchdog::{TimeoutAlarm, WaitPhase, Watchdog};
use super::wire::{BodyEnding, DrivenConnection};
use crate::event::ReadMark;
#[cfg(target_os = "linux")]
use crate::prefetch;
use crate::reply::{FeedProgress, ReplyReader};

/// The most that is read of a body that is not a stream.
const PLAIN_BODY_LIMIT: usize = 64 << 10;

/// What a body comes to, and how long it may still take.
#[derive(Debug)]
pub(super) struct BodyContent {
    pub(super) watchdog: Watchdog,
    pub(super) kind: BodyKind,
    /// When all was said.
    pub(super) settled: Option<Stamp>,
}

/// What a body is read as.
#[derive(Debug)]
pub(super) enum BodyKind {
    /// The start of one that is not a stream.
    Plain(Vec<u8>),
    /// A stream of events. Their JSON is read between reads; their stamps were taken before it.
    Events(Box<ReplyReader<'static>>),
}

impl BodyContent {
    /// Has the reader fetched, whose address is at hand.
    #[cfg(target_os = "linux")]
    pub(super) fn fetch_ahead(&self) {
        if let BodyKind::Events(reader) = &self.kind {
            prefetch::fetch(&**reader);
        }
    }

    /// Has fetched what the reader points to.
    #[cfg(target_os = "linux")]
    pub(super) fn fetch_buffers(&self) {
        if let BodyKind::Events(reader) = &self.kind {
            reader.fetch_buffers();
        }
    }

    /// Takes the next piece, which the read `mark` brought on the socket of `log`.
    pub(super) fn take(&mut self, log: &IoLog, bytes: &[u8], mark: ReadMark) -> ControlFlow<()> {
        let reader = match &mut self.kind {
            BodyKind::Events(reader) => reader,
            BodyKind::Plain(kept) => {
                let room = PLAIN_BODY_LIMIT - kept.len();
                kept.extend_from_slice(bytes.get(..room).unwrap_or(bytes));
                return if bytes.len() > room {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                };
            }
        };
        // Waiting begins with our own read: what the kernel had long before, it may have more of.
        let since = || log.returned().map_or(mark.at, |returned| returned.max(mark.at));
        match reader.feed(bytes, mark) {
            FeedProgress::Broken => return ControlFlow::Break(()),
            FeedProgress::Quiet => {}
            FeedProgress::Settled if self.watchdog.phase() == WaitPhase::BodyEnd => {}
            FeedProgress::Settled => {
                self.settled = Some(mark.at);
                self.watchdog.enter(WaitPhase::BodyEnd, since());
            }
            FeedProgress::Tokens => self.watchdog.enter(WaitPhase::NextToken, since()),
        }
        ControlFlow::Continue(())
    }
}

/// A body under way: read by the request that waits for it, until an [`IngestLoop`](super::ingest::IngestLoop) can.
#[derive(Debug)]
pub(super) enum BodyReading<C> {
    Held(HeldBody<C>),
    Given(GivenBody<C>),
    /// Over, and handed on.
    Over,
}

/// A body that its request reads by itself.
#[derive(Debug)]
pub(super) struct HeldBody<C> {
    pub(super) wire: DrivenConnection<C>,
    pub(super) content: BodyContent,
}

/// A body that is over.
pub(super) struct EndedBody<C> {
    pub(super) wire: DrivenConnection<C>,
    pub(super) content: BodyContent,
    pub(super) how: Result<BodyEnding, TimeoutAlarm>,
}

impl<C: Clock + Send + 'static> BodyReading<C> {
    pub(super) const fn new(wire: DrivenConnection<C>, content: BodyContent) -> Self {
        Self::Held(HeldBody { wire, content })
    }

    /// Reads on, or waits for who reads; ready once the body is over or a limit is reached.
    pub(super) fn poll(
        &mut self,
        cx: &mut Context<'_>,
        scratch: &mut [u8],
        clock: &C,
    ) -> Poll<EndedBody<C>> {
        match std::mem::replace(self, Self::Over) {
            Self::Held(mut held) => match held.poll(cx, scratch, clock) {
                Poll::Ready(how) => Poll::Ready(held.ended(how)),
                Poll::Pending => {
                    *self = held.give();
                    Poll::Pending
                }
            },
            Self::Given(mut given) => match given.poll(cx, || clock.now()) {
                Poll::Ready((LinedBody { h1, content }, how)) => {
                    Poll::Ready(EndedBody { wire: DrivenConnection::H1(h1), content, how })
                }
                Poll::Pending => {
                    *self = Self::Given(given);
                    Poll::Pending
                }
            },
            // Nobody asks again what has been answered.
            Self::Over => Poll::Pending,
        }
    }
}

impl<C: Clock + Send + 'static> BodyReading<C> {
    /// Ends it where it is, whoever reads it.
    pub(super) fn call_off(&mut self) -> Poll<EndedBody<C>> {
        let how = Err(TimeoutAlarm::CalledOff);
        match std::mem::replace(self, Self::Over) {
            Self::Held(held) => Poll::Ready(held.ended(how)),
            Self::Given(mut given) => match given.take_back() {
                Some(LinedBody { h1, content }) => {
                    Poll::Ready(EndedBody { wire: DrivenConnection::H1(h1), content, how })
                }
                None => Poll::Pending,
            },
            Self::Over => Poll::Pending,
        }
    }
}

impl<C: Clock + Send + 'static> HeldBody<C> {
    fn poll(
        &mut self,
        cx: &mut Context<'_>,
        scratch: &mut [u8],
        clock: &C,
    ) -> Poll<Result<BodyEnding, TimeoutAlarm>> {
        let Self { wire, content } = self;
        let mut read_at: Option<Stamp> = None;
        let polled = wire.poll_body(cx, scratch, &mut |log: &IoLog, bytes: &[u8], mark| {
            read_at = log.returned();
            content.take(log, bytes, mark)
        });
        match polled {
            Poll::Ready(ended) => Poll::Ready(Ok(ended)),
            // Any instant since the task was woken will do.
            Poll::Pending => {
                content.watchdog.poll(cx, || read_at.unwrap_or_else(|| clock.now())).map(Err)
            }
        }
    }

    fn ended(self, how: Result<BodyEnding, TimeoutAlarm>) -> EndedBody<C> {
        EndedBody { wire: self.wire, content: self.content, how }
    }

    /// Gives the body to the loop that its connection belongs to, if it belongs to one and has nothing left to say or hear.
    fn give(self) -> BodyReading<C> {
        match self.wire {
            DrivenConnection::H1(h1) => {
                match GivenBody::give(LinedBody { h1, content: self.content }) {
                    Ok(given) => BodyReading::Given(given),
                    Err(body) => BodyReading::new(DrivenConnection::H1(body.h1), body.content),
                }
            }
            wire @ DrivenConnection::H2(_) => BodyReading::new(wire, self.content),
        }
    }
}
