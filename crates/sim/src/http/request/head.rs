//! The head of a request.

use super::{AfterReply, PeerAbilities};
use crate::http::fault::HEADER;
use crate::http::response::{Refusal, Status};

/// The most header lines taken.
const MOST_HEADERS: usize = 100;

/// What a request wants done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) enum Method {
    Delete,
    Get,
    Head,
    Post,
    /// Any that no route takes.
    Other(String),
}

impl Method {
    fn of(name: &str) -> Self {
        match name {
            "DELETE" => Self::Delete,
            "GET" => Self::Get,
            "HEAD" => Self::Head,
            "POST" => Self::Post,
            other => Self::Other(other.to_owned()),
        }
    }

    /// As on the wire.
    pub(in super::super) fn as_str(&self) -> &str {
        match self {
            Self::Delete => "DELETE",
            Self::Get => "GET",
            Self::Head => "HEAD",
            Self::Post => "POST",
            Self::Other(name) => name,
        }
    }
}

/// The version of HTTP that a client speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Version {
    /// Knows no chunks: a stream ends with its connection.
    Http10,
    Http11,
}

/// How long the body is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BodyLength {
    Chunked,
    Known(usize),
}

/// The head of a request, as far as it matters.
#[derive(Debug)]
pub(super) struct RequestHead {
    pub(super) method: Method,
    pub(super) target: String,
    /// Its `X-Request-Id`.
    pub(super) id: Option<String>,
    pub(super) length: BodyLength,
    pub(super) expects_continue: bool,
    /// The fault that the client chose for the reply.
    pub(super) fault: Option<String>,
    pub(super) peer: PeerAbilities,
}

impl RequestHead {
    /// The head that `bytes` begin with, and its length; none if more must come.
    pub(super) fn parse(bytes: &[u8]) -> Result<Option<(Self, usize)>, Refusal> {
        let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
        let mut parsed = httparse::Request::new(&mut headers);
        let length = match parsed.parse(bytes) {
            Ok(httparse::Status::Complete(length)) => length,
            Ok(httparse::Status::Partial) => return Ok(None),
            Err(httparse::Error::TooManyHeaders) => {
                let message = format!("the request has more than {MOST_HEADERS} header lines");
                return Err(Refusal::bad_request(None, message).at(Status::HEAD_TOO_LARGE));
            }
            Err(error) => {
                let message = format!("these bytes are no HTTP/1.1 request: {error}");
                return Err(Refusal::bad_request(None, message));
            }
        };
        let version = if parsed.version == Some(0) { Version::Http10 } else { Version::Http11 };
        let headers = Headers(parsed.headers);
        let head = Self {
            method: Method::of(parsed.method.unwrap_or_default()),
            target: origin(parsed.path.unwrap_or_default()).to_owned(),
            id: headers.first("x-request-id").map(str::to_owned),
            length: headers.length()?,
            expects_continue: headers.has("expect", "100-continue"),
            fault: headers.fault(),
            peer: PeerAbilities { version, after: headers.after(version) },
        };
        Ok(Some((head, length)))
    }
}

/// Path and query of a request's target, which may name scheme and host, as it does to a proxy.
fn origin(target: &str) -> &str {
    match target.split_once("://") {
        Some((scheme, rest)) if !scheme.contains('/') => {
            rest.find('/').and_then(|path| rest.get(path..)).unwrap_or("/")
        }
        _ => target,
    }
}

struct Headers<'a>(&'a [httparse::Header<'a>]);

impl<'a> Headers<'a> {
    /// The values of header `name`, lists taken apart.
    fn values(&self, name: &str) -> impl Iterator<Item = &'a str> {
        let found = self.0.iter().filter(move |header| header.name.eq_ignore_ascii_case(name));
        let text =
            |header: &httparse::Header<'a>| str::from_utf8(header.value).unwrap_or("\u{fffd}");
        found.map(text).flat_map(|value| value.split(',')).map(str::trim)
    }

    /// The value of the first header `name`, as it stands.
    fn first(&self, name: &str) -> Option<&'a str> {
        let found = self.0.iter().find(|header| header.name.eq_ignore_ascii_case(name))?;
        str::from_utf8(found.value).ok()
    }

    /// The faults that the client chose, in whichever way it listed them: all befall its reply.
    fn fault(&self) -> Option<String> {
        let chosen: Vec<_> = self.values(HEADER).collect();
        (!chosen.is_empty()).then(|| chosen.join("+"))
    }

    fn has(&self, name: &str, value: &str) -> bool {
        self.values(name).any(|found| found.eq_ignore_ascii_case(value))
    }

    fn after(&self, version: Version) -> AfterReply {
        match version {
            Version::Http10 if self.has("connection", "keep-alive") => AfterReply::KeepAlive,
            Version::Http11 if !self.has("connection", "close") => AfterReply::KeepAlive,
            _ => AfterReply::Close,
        }
    }

    fn length(&self) -> Result<BodyLength, Refusal> {
        let refuse = |message: &str| Err(Refusal::bad_request(None, message));
        let mut lengths = self.values("content-length");
        let mut codings = self.values("transfer-encoding").filter(|coding| !coding.is_empty());
        let (length, coding) = (lengths.next(), codings.next());
        match (length, coding) {
            (None, None) => Ok(BodyLength::Known(0)),
            (Some(_), Some(_)) => {
                refuse("the request has both content-length and transfer-encoding: send one")
            }
            (None, Some(coding))
                if coding.eq_ignore_ascii_case("chunked") && codings.next().is_none() =>
            {
                Ok(BodyLength::Chunked)
            }
            (None, Some(_)) => {
                let message = "the only transfer-encoding taken here is chunked";
                Err(Refusal::bad_request(None, message).at(Status::NOT_IMPLEMENTED))
            }
            (Some(length), None) => {
                let digits = !length.is_empty() && length.bytes().all(|byte| byte.is_ascii_digit());
                if !digits || lengths.any(|other| other != length) {
                    return refuse("content-length must be one number of bytes");
                }
                // Digits that do not fit are a length beyond any limit.
                Ok(BodyLength::Known(length.parse().unwrap_or(usize::MAX)))
            }
        }
    }
}
