//! Heads of replies, and replies that are ready at once.

use std::fmt::Write as _;

use super::refusal::{Refusal, Status};
use super::request::{After, Method, Peer, Version};

const JSON: &str = "application/json";

/// A reply that is ready, mostly with a JSON body.
#[derive(Debug)]
pub(super) struct Response {
    status: Status,
    /// The methods that the route takes, where another was tried.
    allow: Option<&'static str>,
    /// After how many seconds to try again.
    retry_after: Option<u32>,
    kind: &'static str,
    body: Vec<u8>,
}

impl Response {
    pub(super) fn json(body: impl Into<Vec<u8>>) -> Self {
        Self::new(Status::OK, JSON, body.into())
    }

    /// A body of another kind.
    pub(super) fn text(kind: &'static str, body: String) -> Self {
        Self::new(Status::OK, kind, body.into())
    }

    const fn new(status: Status, kind: &'static str, body: Vec<u8>) -> Self {
        Self { status, allow: None, retry_after: None, kind, body }
    }

    pub(super) fn refusal(refusal: &Refusal) -> Self {
        // Those who come too early may try again in a second, the least that there is to say.
        let retry_after = (refusal.status == Status::TOO_MANY_REQUESTS).then_some(1);
        Self { retry_after, ..Self::new(refusal.status, JSON, refusal.to_json().into()) }
    }

    pub(super) fn allowing(self, methods: &'static str) -> Self {
        Self { allow: Some(methods), ..self }
    }

    /// Its bytes, as the answer to `method`.
    pub(super) fn render(self, method: &Method, peer: Peer) -> Vec<u8> {
        let mut head = head(self.status, self.kind, peer);
        // Writing to a string cannot fail.
        write!(head, "content-length: {}\r\n", self.body.len()).ok();
        if let Some(methods) = self.allow {
            write!(head, "allow: {methods}\r\n").ok();
        }
        if let Some(seconds) = self.retry_after {
            write!(head, "retry-after: {seconds}\r\n").ok();
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
pub(super) fn stream_head(peer: Peer) -> (String, Framing, After) {
    let (framing, after) = match peer.version {
        Version::Http10 => (Framing::UntilClose, After::Close),
        Version::Http11 => (Framing::Chunked, peer.after),
    };
    let mut head = head(Status::OK, "text/event-stream; charset=utf-8", Peer { after, ..peer });
    head.push_str("cache-control: no-cache\r\n");
    if framing == Framing::Chunked {
        head.push_str("transfer-encoding: chunked\r\n");
    }
    head.push_str("\r\n");
    (head, framing, after)
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
