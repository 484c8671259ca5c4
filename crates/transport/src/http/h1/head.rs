//! The head of a reply.

use hyper::header::{CONNECTION, HeaderMap, HeaderName, HeaderValue};
use hyper::{StatusCode, Version};
use memchr::memchr_iter;

use super::body::ReplyBody;

/// The most bytes of a reply's head, interim ones before it included.
const MOST_BYTES: usize = 64 << 10;
/// The most header lines.
const MOST_HEADERS: usize = 128;

/// What a reply says before its body.
#[derive(Debug)]
pub(in crate::http) struct ReplyHead {
    pub(in crate::http) status: StatusCode,
    pub(in crate::http) headers: HeaderMap,
}

/// A head and what follows from it for the connection.
#[derive(Debug)]
pub(super) struct ParsedHead {
    pub(super) head: ReplyHead,
    pub(super) body: ReplyBody,
    /// Whether another request may follow on the connection.
    pub(super) keeps_alive: bool,
}

/// Collects the bytes of a head, and keeps what comes after it.
#[derive(Debug, Default)]
pub(super) struct HeadReader {
    held: Vec<u8>,
    /// How much of `held` has been searched for the head's end.
    searched: usize,
    /// How many bytes were taken in all.
    taken: usize,
}

/// Why there is no head: in words, what is wrong with the bytes.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct MalformedHead(pub(super) String);

impl HeadReader {
    /// Takes more bytes; gives the head once it is whole. Interim replies (1xx) are passed over.
    pub(super) fn take(&mut self, bytes: &[u8]) -> Result<Option<ParsedHead>, MalformedHead> {
        self.held.extend_from_slice(bytes);
        loop {
            self.drop_blank_lines();
            if !could_be_http(&self.held) {
                let hint = if is_tls(&self.held) { " (is it an https:// endpoint?)" } else { "" };
                return Err(MalformedHead(format!("it does not begin with HTTP/1{hint}")));
            }
            let whole = self.has_end();
            if self.taken + self.held.len() > MOST_BYTES && !whole {
                return Err(too_long());
            }
            if !whole {
                return Ok(None);
            }
            let (length, parsed) = parse(&self.held)?;
            self.held.drain(..length);
            (self.searched, self.taken) = (0, self.taken + length);
            match parsed {
                Some(_) if self.taken > MOST_BYTES => return Err(too_long()),
                Some(parsed) => return Ok(Some(parsed)),
                None if self.taken > MOST_BYTES => {
                    let why = format!("interim replies exceed {MOST_BYTES} bytes");
                    return Err(MalformedHead(why));
                }
                None => {}
            }
        }
    }

    /// What came behind the head.
    pub(super) fn into_rest(self) -> Vec<u8> {
        self.held
    }

    /// RFC 9112, section 2.2: a client passes over blank lines before a head.
    fn drop_blank_lines(&mut self) {
        let blank = self.held.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
        self.held.drain(..blank);
        self.taken += blank;
    }

    /// Whether a blank line has come. Only new bytes are searched, so that a head that drips costs no more.
    fn has_end(&mut self) -> bool {
        let from = self.searched.saturating_sub(2);
        self.searched = self.held.len();
        let new = self.held.get(from..).unwrap_or_default();
        memchr_iter(b'\n', new).any(|at| {
            let after = new.get(at + 1..).unwrap_or_default();
            after.starts_with(b"\n") || after.starts_with(b"\r\n")
        })
    }
}

fn too_long() -> MalformedHead {
    MalformedHead(format!("it is longer than {MOST_BYTES} bytes"))
}

/// Whether `held` is the start of an HTTP/1 head as far as it goes.
fn could_be_http(held: &[u8]) -> bool {
    held.iter().zip(b"HTTP/1.").all(|(is, ought)| is == ought)
}

/// Whether `held` looks like an alert in TLS: what a server that expects TLS answers to a request in the clear. By its first byte
/// alone, since the others may not be there yet.
fn is_tls(held: &[u8]) -> bool {
    held.first() == Some(&21)
}

/// The length of the head at the start of `held`, and the head unless it is an interim one.
fn parse(held: &[u8]) -> Result<(usize, Option<ParsedHead>), MalformedHead> {
    let mut fields = [httparse::EMPTY_HEADER; MOST_HEADERS];
    let mut response = httparse::Response::new(&mut fields);
    let length = match response.parse(held) {
        Ok(httparse::Status::Complete(length)) => length,
        Ok(httparse::Status::Partial) => return Err(MalformedHead("it has no end".to_owned())),
        Err(error) => return Err(MalformedHead(error.to_string())),
    };
    let status = response.code.and_then(|code| StatusCode::from_u16(code).ok());
    let status = status
        .ok_or_else(|| MalformedHead("its status is not a number of 100 or above".to_owned()))?;
    if status == StatusCode::SWITCHING_PROTOCOLS {
        return Err(MalformedHead(
            "it switches to another protocol (101), which was not requested".to_owned(),
        ));
    }
    if status.is_informational() {
        return Ok((length, None));
    }
    let version = if response.version == Some(0) { Version::HTTP_10 } else { Version::HTTP_11 };
    let headers = headers(response.headers)?;
    let body = ReplyBody::of(status, version, &headers)?;
    let keeps_alive = body != ReplyBody::UntilClose && keeps_alive(version, &headers);
    let head = ReplyHead { status, headers };
    Ok((length, Some(ParsedHead { head, body, keeps_alive })))
}

fn headers(fields: &[httparse::Header<'_>]) -> Result<HeaderMap, MalformedHead> {
    let mut headers = HeaderMap::with_capacity(fields.len());
    for field in fields {
        let name = HeaderName::from_bytes(field.name.as_bytes());
        let value = HeaderValue::from_bytes(field.value);
        let (Ok(name), Ok(value)) = (name, value) else {
            return Err(MalformedHead(format!("its line `{:.40}` is not a header", field.name)));
        };
        headers.append(name, value);
    }
    Ok(headers)
}

/// RFC 9112, section 9.3.
fn keeps_alive(version: Version, headers: &HeaderMap) -> bool {
    let says = |word: &str| {
        let lines = headers.get_all(CONNECTION).into_iter().filter_map(|line| line.to_str().ok());
        lines.flat_map(|line| line.split(',')).any(|has| has.trim().eq_ignore_ascii_case(word))
    };
    !says("close") && (version == Version::HTTP_11 || says("keep-alive"))
}
