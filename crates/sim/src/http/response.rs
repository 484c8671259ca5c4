//! Heads of replies, and replies that are ready at once.

use std::fmt::Write as _;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::parsed_request::GeneratingRoute;
use super::request::{AfterReply, Method, PeerAbilities, Version};
use crate::serve::SubmitError;

const JSON: &str = "application/json";

/// A reply that is ready, mostly with a JSON body.
#[derive(Debug)]
pub(super) struct ReadyResponse {
    status: Status,
    /// The methods that the route takes, where another was tried.
    allow: Option<&'static str>,
    retry_after: Option<Duration>,
    request_id: Option<String>,
    kind: &'static str,
    body: Vec<u8>,
}

impl ReadyResponse {
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
    pub(super) fn refusal_on(route: GeneratingRoute, refusal: &Refusal) -> Self {
        match route {
            GeneratingRoute::Messages => Self::refused(refusal, &refusal.to_anthropic_json()),
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
    pub(super) fn render(self, method: &Method, peer: PeerAbilities) -> Vec<u8> {
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
pub(super) enum StreamFraming {
    Chunked,
    /// By the end of the connection.
    UntilClose,
}

/// The head of an event stream, its framing, and what becomes of the connection then.
pub(super) fn stream_head(
    peer: PeerAbilities,
    request_id: Option<&str>,
) -> (Vec<u8>, StreamFraming, AfterReply) {
    let (framing, after) = match peer.version {
        Version::Http10 => (StreamFraming::UntilClose, AfterReply::Close),
        Version::Http11 => (StreamFraming::Chunked, peer.after),
    };
    let mut head =
        head(Status::OK, "text/event-stream; charset=utf-8", PeerAbilities { after, ..peer });
    push_id(&mut head, request_id);
    head.push_str("cache-control: no-cache\r\n");
    if framing == StreamFraming::Chunked {
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
fn head(status: Status, kind: &str, peer: PeerAbilities) -> String {
    let connection = match (peer.version, peer.after) {
        (Version::Http10, AfterReply::KeepAlive) => "connection: keep-alive\r\n",
        (Version::Http11, AfterReply::Close) => "connection: close\r\n",
        _ => "",
    };
    let (code, reason) = (status.code(), status.reason());
    format!("HTTP/1.1 {code} {reason}\r\ncontent-type: {kind}\r\n{connection}")
}

// Requests that cannot be answered, in the form of vLLM's error object or, on its route, Anthropic's.

/// A status of HTTP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Status(u16, &'static str);

impl Status {
    pub(super) const OK: Self = Self(200, "OK");
    pub(super) const BAD_REQUEST: Self = Self(400, "Bad Request");
    pub(super) const NOT_FOUND: Self = Self(404, "Not Found");
    pub(super) const METHOD_NOT_ALLOWED: Self = Self(405, "Method Not Allowed");
    pub(super) const BODY_TOO_LARGE: Self = Self(413, "Content Too Large");
    pub(super) const TOO_MANY: Self = Self(429, "Too Many Requests");
    pub(super) const HEAD_TOO_LARGE: Self = Self(431, "Request Header Fields Too Large");
    pub(super) const INTERNAL: Self = Self(500, "Internal Server Error");
    pub(super) const NOT_IMPLEMENTED: Self = Self(501, "Not Implemented");
    pub(super) const UNAVAILABLE: Self = Self(503, "Service Unavailable");

    pub(super) const fn code(self) -> u16 {
        self.0
    }

    pub(super) const fn reason(self) -> &'static str {
        self.1
    }
}

/// How long a client is asked to stay away while the queue is full: the shortest that whole seconds can say.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// The request that `body` is.
pub(super) fn parsed<T: DeserializeOwned>(body: &[u8]) -> Result<T, Refusal> {
    serde_json::from_slice(body)
        .map_err(|error| Refusal::bad_request(None, format!("the body is not a request: {error}")))
}

/// A request that cannot be answered.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) status: Status,
    pub(super) kind: &'static str,
    pub(super) param: Option<&'static str>,
    pub(super) message: String,
    /// How long to stay away, where that is told.
    pub(super) retry_after: Option<Duration>,
}

impl Refusal {
    pub(super) fn bad_request(param: Option<&'static str>, message: impl Into<String>) -> Self {
        Self {
            status: Status::BAD_REQUEST,
            kind: "BadRequestError",
            param,
            message: message.into(),
            retry_after: None,
        }
    }

    pub(super) fn not_found(param: Option<&'static str>, message: String) -> Self {
        let kind = "NotFoundError";
        Self { kind, ..Self::bad_request(param, message).at(Status::NOT_FOUND) }
    }

    /// The same with another status.
    pub(super) fn at(self, status: Status) -> Self {
        Self { status, ..self }
    }

    /// The body to send on OpenAI's routes and SGLang's.
    pub(super) fn to_json(&self) -> Value {
        json!({"error": {
            "message": self.message,
            "type": self.kind,
            "param": self.param,
            "code": self.status.code(),
        }})
    }

    /// The body to send on Anthropic's. The types are those of Anthropic's API reference, "Errors".
    pub(super) fn to_anthropic_json(&self) -> Value {
        let kind = match self.status {
            Status::NOT_FOUND => "not_found_error",
            Status::BODY_TOO_LARGE => "request_too_large",
            Status::TOO_MANY => "rate_limit_error",
            Status::INTERNAL => "api_error",
            Status::UNAVAILABLE => "overloaded_error",
            _ => "invalid_request_error",
        };
        json!({"type": "error", "error": {"type": kind, "message": self.message}})
    }
}

/// An engine that does not take a job.
impl From<SubmitError> for Refusal {
    fn from(error: SubmitError) -> Self {
        let refusal = Self::bad_request(None, error.to_string());
        match error {
            SubmitError::QueueFull { .. } => {
                let (status, kind) = (Status::TOO_MANY, "TooManyRequestsError");
                Self { status, kind, retry_after: Some(RETRY_AFTER), ..refusal }
            }
            _ => refusal,
        }
    }
}
