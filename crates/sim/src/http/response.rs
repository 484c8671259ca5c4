//! Heads of replies, and replies that are ready at once.

use std::fmt::Write as _;
use std::time::Duration;

use serde_json::Value;

use super::ask::Route;
use super::refusal::{Refusal, Status};
use super::request::{After, Method, Peer, Version};

const JSON: &str = "application/json";

/// A reply that is ready, mostly with a JSON body.
#[derive(Debug)]
pub(super) struct Response {
    status: Status,
    /// The methods that the route takes, where another was tried.
    allow: Option<&'static str>,
    retry_after: Option<Duration>,
    request_id: Option<String>,
    kind: &'static str,
    body: Vec<u8>,
}

impl Response {
    pub(super) fn json(body: impl Into<Vec<u8>>) -> Self {
        Self::new(JSON, body.into())
    }

    /// A body of another kind.
    pub(super) fn text(kind: &'static str, body: String) -> Self {
        Self::new(kind, body.into())
    }

    const fn new(kind: &'static str, body: Vec<u8>) -> Self {
        let status = Status::OK;
        Self { status, allow: None, retry_after: None, request_id: None, kind, body }
    }

    /// In the form of all routes but Anthropic's.
    pub(super) fn refusal(refusal: &Refusal) -> Self {
        Self::refused(refusal, &refusal.to_json())
    }

    /// In the form of `route`.
    pub(super) fn refusal_on(route: Route, refusal: &Refusal) -> Self {
        match route {
            Route::Messages => Self::refused(refusal, &refusal.to_anthropic_json()),
            _ => Self::refusal(refusal),
        }
    }

    fn refused(refusal: &Refusal, body: &Value) -> Self {
        let (status, retry_after) = (refusal.status, refusal.retry_after);
        Self { status, retry_after, ..Self::json(body.to_string()) }
    }

    /// With the name that the client gave its request, if it gave one.
    pub(super) fn echoing(self, request_id: Option<String>) -> Self {
        Self { request_id, ..self }
    }

    pub(super) fn allowing(self, methods: &'static str) -> Self {
        Self { allow: Some(methods), ..self }
    }

    /// Its bytes, as the answer to `method`.
    pub(super) fn render(self, method: &Method, peer: Peer) -> Vec<u8> {
        let mut head = head(self.status, self.kind, peer);
        push_id(&mut head, self.request_id.as_deref());
        // Writing to a string cannot fail.
        write!(head, "content-length: {}\r\n", self.body.len()).ok();
        if let Some(methods) = self.allow {
            write!(head, "allow: {methods}\r\n").ok();
        }
        // A number of whole seconds, of which none is too short.
        if let Some(wait) = self.retry_after {
            write!(head, "retry-after: {}\r\n", wait.as_nanos().div_ceil(1_000_000_000)).ok();
        }
        head.push_str("\r\n");
        let mut bytes = head.into_bytes();
        if *method != Method::Head {
            bytes.extend_from_slice(&self.body);
        }
        bytes
    }
}

/// How the end of a stream is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Framing {
    Chunked,
    /// By the end of the connection.
    UntilClose,
}

/// The head of an event stream, its framing, and what becomes of the connection then.
pub(super) fn stream_head(peer: Peer, request_id: Option<&str>) -> (Vec<u8>, Framing, After) {
    let (framing, after) = match peer.version {
        Version::Http10 => (Framing::UntilClose, After::Close),
        Version::Http11 => (Framing::Chunked, peer.after),
    };
    let mut head = head(Status::OK, "text/event-stream; charset=utf-8", Peer { after, ..peer });
    push_id(&mut head, request_id);
    head.push_str("cache-control: no-cache\r\n");
    if framing == Framing::Chunked {
        head.push_str("transfer-encoding: chunked\r\n");
    }
    head.push_str("\r\n");
    (head.into_bytes(), framing, after)
}

/// Gives a request's name back. One that came in a body may hold what no header can.
fn push_id(head: &mut String, id: Option<&str>) {
    let fits = |id: &&str| id.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ');
    if let Some(id) = id.filter(fits) {
        write!(head, "x-request-id: {id}\r\n").ok();
    }
}

/// The lines that every head begins with.
fn head(status: Status, kind: &str, peer: Peer) -> String {
    let connection = match (peer.version, peer.after) {
        (Version::Http10, After::KeepAlive) => "connection: keep-alive\r\n",
        (Version::Http11, After::Close) => "connection: close\r\n",
        _ => "",
    };
    let (code, reason) = (status.code(), status.reason());
    format!("HTTP/1.1 {code} {reason}\r\ncontent-type: {kind}\r\n{connection}")
}
