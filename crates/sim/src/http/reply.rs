//! Bodies of replies: whole, or a stream fed by the engine.

use std::collections::VecDeque;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use fizeau_core::{Clock, Stamp};
use hyper::body::{Body, Frame, SizeHint};

use super::app::Call;
use super::ask::{Ask, Delivery};
use super::driver::Event;
use super::frames::{self, Frames};
use super::truth::Record;
use crate::job::{Emission, SubmitError};

/// The engine's thread has ended, so the reply breaks off: a client must not take it for a good end.
#[derive(Debug, thiserror::Error)]
#[error("the simulated engine has stopped")]
pub(super) struct Stopped;

/// The body of any reply.
pub(super) enum Reply {
    /// In one piece; none once it has been taken.
    Whole(Option<Bytes>),
    Stream(Box<TokenStream>),
}

impl Reply {
    pub(super) fn whole(body: impl Into<Bytes>) -> Self {
        Self::Whole(Some(body.into()))
    }
}

impl Body for Reply {
    type Data = Bytes;
    type Error = Stopped;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Stopped>>> {
        match self.get_mut() {
            Self::Whole(body) => Poll::Ready(body.take().map(|body| Ok(Frame::data(body)))),
            Self::Stream(stream) => {
                stream.poll_bytes(context).map(|bytes| bytes.map(|bytes| bytes.map(Frame::data)))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Self::Whole(None))
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(body) => {
                SizeHint::with_exact(body.as_ref().map_or(0, |body| body.len() as u64))
            }
            Self::Stream(_) => SizeHint::default(),
        }
    }
}

/// The events of a stream, each written as its token comes from the engine.
pub(super) struct TokenStream {
    call: Call,
    frames: Frames,
    record: Option<Record>,
    ready: VecDeque<Bytes>,
    ended: bool,
}

impl TokenStream {
    pub(super) const fn new(call: Call, frames: Frames, record: Record) -> Self {
        Self { call, frames, record: Some(record), ready: VecDeque::new(), ended: false }
    }

    fn poll_bytes(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Bytes, Stopped>>> {
        loop {
            if let Some(bytes) = self.ready.pop_front() {
                return Poll::Ready(Some(Ok(bytes)));
            }
            if self.ended {
                return Poll::Ready(None);
            }
            match ready!(self.call.events.poll_recv(context)) {
                Some(Event::Token(emission)) => self.token(&emission),
                Some(Event::Refused(error)) => {
                    self.call.close();
                    self.ready.push_back(frames::error(&error));
                    self.end();
                }
                None => {
                    self.ended = true;
                    return Poll::Ready(Some(Err(Stopped)));
                }
            }
        }
    }

    fn token(&mut self, emission: &Emission) {
        if emission.index == 0 {
            self.ready.extend(self.frames.role());
        }
        self.ready.push_back(self.frames.token(emission));
        if let Some(record) = &mut self.record {
            // The connection writes to its socket as soon as it has taken what is ready.
            record.token(emission.at, self.call.app.clock.now());
        }
        if emission.last {
            self.call.close();
            if let Some(record) = self.record.take() {
                self.call.app.truth().push(record);
            }
            self.ready.extend(self.frames.usage(emission.index + 1));
            self.end();
        }
    }

    fn end(&mut self) {
        self.ready.push_back(frames::done());
        self.ended = true;
    }
}

/// Why a reply in one piece could not be had.
pub(super) enum NoReply {
    Refused(SubmitError),
    Stopped,
}

/// Waits for a whole reply; how many tokens it has.
pub(super) async fn collect(mut call: Call, mut record: Record) -> Result<u64, NoReply> {
    loop {
        match call.events.recv().await {
            Some(Event::Token(emission)) => {
                record.token(emission.at, call.app.clock.now());
                if emission.last {
                    call.close();
                    call.app.truth().push(record);
                    return Ok(emission.index + 1);
                }
            }
            Some(Event::Refused(error)) => {
                call.close();
                return Err(NoReply::Refused(error));
            }
            None => return Err(NoReply::Stopped),
        }
    }
}

/// The record of a request that arrived at `arrived` and has no token yet.
pub(super) fn record(ask: &Ask, call: &Call, arrived: Stamp) -> Record {
    Record {
        id: frames::reply_id(ask.route, call.id),
        streamed: ask.delivery == Delivery::Streamed,
        prompt_tokens: ask.prompt_tokens.get(),
        arrived_ns: arrived,
        first_token_ns: None,
        token_ns: Vec::new(),
        scheduled_ns: Vec::new(),
    }
}
