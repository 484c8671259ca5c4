//! HTTP/2 on one connection: many requests at a time, hyper's machinery in a task of its own.
//!
//! Stamps are coarser than with HTTP/1.1. A piece of a reply has the stamp of the last read from the socket at the
//! moment it is handed over; that is the read which brought it unless the connection's task read again in the same
//! breath. The send marks are those of the writes that carried the request, up to the first wait of a large one for
//! the server's window.

mod links;
mod upload;

use std::error::Error;
use std::fmt;
use std::future::Future;
use std::ops::ControlFlow;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use fizeau_core::Nanos;
use hyper::body::{Body, Incoming};
use hyper::header::{CONNECTION, HOST, HeaderMap};
use hyper::{Method, Request, Response, Uri};

pub(super) use links::{H2Connection, H2Connections, StreamSlot};

use super::h1::ReplyHead;
use super::log::IoLog;
use super::wire::{BodyEnding, ReplyHeadError};
use crate::event::ReadMark;
use upload::UploadBody;

/// What every request of a target has in common.
#[derive(Default)]
pub(super) struct RequestTemplate {
    method: Method,
    uri: Uri,
    headers: HeaderMap,
}

/// What the words of a stream's reset by the server begin with; its reason follows.
pub(super) const RESET: &str = "stream error received: ";

type Answering = Pin<Box<dyn Future<Output = hyper::Result<Response<Incoming>>>>>;

/// One request's place on a connection.
pub(super) struct H2 {
    seat: StreamSlot,
    /// The request's own account, taken from that of the connection.
    log: Arc<IoLog>,
    /// The connection's count of reads when this request last looked.
    seen: Option<u32>,
    answer: Option<Answering>,
    body: Option<Incoming>,
}

impl RequestTemplate {
    /// Requests to `uri`, which is absolute. `Host` goes where HTTP/2 has it, into the URI's authority.
    pub(super) fn new(method: Method, uri: &Uri, headers: &HeaderMap) -> Self {
        let mut headers = headers.clone();
        headers.remove(CONNECTION);
        let mut parts = uri.clone().into_parts();
        if let Some(host) = headers.remove(HOST)
            && let Ok(host) = host.as_bytes().try_into()
        {
            parts.authority = Some(host);
        }
        let uri = Uri::from_parts(parts).unwrap_or_else(|_| uri.clone());
        Self { method, uri, headers }
    }

    /// The request that carries `upload`, to another `target` where one is given.
    fn with(&self, target: Option<&str>, upload: UploadBody) -> Request<UploadBody> {
        let mut request = Request::new(upload);
        *request.method_mut() = self.method.clone();
        *request.uri_mut() =
            target.and_then(|of| self.uri_to(of)).unwrap_or_else(|| self.uri.clone());
        *request.headers_mut() = self.headers.clone();
        request
    }

    /// The common URI with the path and query of `target`, which holds nothing that a URI may not.
    fn uri_to(&self, target: &str) -> Option<Uri> {
        let mut parts = self.uri.clone().into_parts();
        parts.path_and_query = target.parse::<Uri>().ok()?.into_parts().path_and_query;
        Uri::from_parts(parts).ok()
    }
}

impl H2 {
    pub(super) fn new(seat: StreamSlot) -> Self {
        Self { seat, log: Arc::default(), seen: None, answer: None, body: None }
    }

    pub(super) const fn log(&self) -> &Arc<IoLog> {
        &self.log
    }

    /// The round trip of the connection when it was made.
    pub(super) fn first_round_trip(&self) -> Option<Nanos> {
        self.seat.link()?.round_trip()
    }

    /// Begins a request; the connection's task sends it.
    pub(super) fn begin(&mut self, template: &RequestTemplate, target: Option<&str>, body: Bytes) {
        self.log.begin();
        self.log.rested(self.seat.link().and_then(|link| link.log().last_use()));
        self.seen = None;
        self.body = None;
        self.answer = self.seat.link().map(|link| {
            let upload = UploadBody::new(body, Arc::clone(&self.log), Arc::clone(link.sending()));
            Box::pin(link.sender().send_request(template.with(target, upload))) as Answering
        });
    }

    /// Waits for the head of the reply.
    pub(super) fn poll_head(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Result<ReplyHead, ReplyHeadError>> {
        let Some(answer) = &mut self.answer else {
            return Poll::Ready(Err(ReplyHeadError::Cut("the connection is gone".to_owned())));
        };
        let Poll::Ready(answered) = answer.as_mut().poll(cx) else {
            return Poll::Pending;
        };
        self.answer = None;
        Poll::Ready(match answered {
            Ok(response) => {
                self.note_read();
                let (head, body) = response.into_parts();
                self.body = Some(body);
                Ok(ReplyHead { status: head.status, headers: head.headers })
            }
            Err(error) => Err(self.headless(&error)),
        })
    }

    /// Hands the body's content to `sink` as it comes.
    pub(super) fn poll_body(
        &mut self,
        cx: &mut Context<'_>,
        sink: &mut impl FnMut(&IoLog, &[u8], ReadMark) -> ControlFlow<()>,
    ) -> Poll<BodyEnding> {
        loop {
            let Some(body) = &mut self.body else {
                return Poll::Ready(BodyEnding::Cut);
            };
            let Poll::Ready(frame) = Pin::new(&mut *body).poll_frame(cx) else {
                return Poll::Pending;
            };
            // A stream that the server resets without an error has no frame more either: gateways cut replies off so.
            let is_whole = body.is_end_stream();
            self.note_read();
            match frame {
                None if is_whole => return Poll::Ready(BodyEnding::Whole),
                None => return Poll::Ready(BodyEnding::Cut),
                Some(Err(error)) => {
                    let words = innermost(&error).to_string();
                    let reset =
                        words.strip_prefix(RESET).map(|why| BodyEnding::Reset(why.to_owned()));
                    return Poll::Ready(reset.unwrap_or(BodyEnding::Cut));
                }
                // Anything but data is trailers, which say nothing here.
                Some(Ok(frame)) => {
                    if let Ok(data) = frame.into_data()
                        && !data.is_empty()
                        && sink(&self.log, &data, self.log.mark()).is_break()
                    {
                        return Poll::Ready(BodyEnding::Stopped);
                    }
                }
            }
        }
    }

    /// Takes the connection's last read over, unless this request has it already: what one read brought shares its
    /// stamp and its number.
    fn note_read(&mut self) {
        let Some(link) = self.seat.link() else {
            return;
        };
        let reads = link.log().reads();
        if self.seen != Some(reads)
            && let Some((returned, age)) = link.log().last()
        {
            self.seen = Some(reads);
            self.log.read(returned, age);
        }
    }

    /// Why no head came. A connection that broke is given up, so that no other request is put on it.
    fn headless(&mut self, error: &hyper::Error) -> ReplyHeadError {
        let cause = innermost(error);
        let words = cause.to_string();
        // These are the errors of one stream, whoever found them; its connection stands.
        if !words.starts_with("stream error") {
            self.seat.give_up();
        }
        // A stream that was open has GOAWAY for its error only if the server names an earlier one as the last (RFC 9113, sections
        // 6.8 and 8.7).
        let is_untaken = words.starts_with("connection error received")
            || words.strip_prefix(RESET).is_some_and(|why| why.starts_with("refused stream"));
        if is_untaken {
            return ReplyHeadError::Untaken(words);
        }
        let is_death = error.is_canceled()
            || error.is_closed()
            || error.is_incomplete_message()
            || cause.is::<std::io::Error>();
        if !is_death {
            // The server's word, or what came of it: a reply had begun.
            self.note_read();
        }
        ReplyHeadError::Cut(words)
    }
}

/// Without the query and the headers, which may hold keys.
impl fmt::Debug for RequestTemplate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Template({} {})", self.method, self.uri.path())
    }
}

fizeau_core::debug_in_part!(H2 { seat });

/// The innermost cause of `error`: the system's, or one of hyper's HTTP/2 package, whose types are not ours to ask.
fn innermost(error: &hyper::Error) -> &(dyn Error + 'static) {
    let mut cause: &(dyn Error + 'static) = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause
}
