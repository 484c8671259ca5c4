//! Requests out of bytes, with no socket: HTTP/1.0 and 1.1 as RFC 9112 has them.

mod body;
mod head;

pub(super) use head::{Method, Version};

use super::response::{Refusal, Status};
use body::{BodyProgress, RequestBody};
use head::RequestHead;

/// The longest head taken.
const HEAD_LIMIT: usize = 64 << 10;

/// A whole request.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct HttpRequest {
    pub(super) method: Method,
    /// As sent, without scheme and host: path and query.
    pub(super) target: String,
    /// What the client calls it, in header `X-Request-Id`.
    pub(super) id: Option<String>,
    pub(super) body: Vec<u8>,
    pub(super) peer: PeerAbilities,
    /// The fault that the client chose for the reply.
    pub(super) fault: Option<String>,
}

/// What the one who asks understands, and wants of the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PeerAbilities {
    pub(super) version: Version,
    pub(super) after: AfterReply,
}

/// What becomes of the connection after the reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AfterReply {
    Close,
    KeepAlive,
}

/// Bytes in, requests out, one after another. How the bytes are cut makes no difference.
#[derive(Debug)]
pub(super) struct RequestParser {
    body_limit: usize,
    bytes: Vec<u8>,
    /// How many of `bytes` are used up.
    used: usize,
    /// The head of a request whose body is under way.
    open: Option<(RequestHead, RequestBody)>,
    /// Whether the client waits to be told to send its body.
    waits: bool,
}

impl RequestParser {
    /// A parser of requests with bodies of up to `body_limit` bytes.
    pub(super) const fn new(body_limit: usize) -> Self {
        Self { body_limit, bytes: Vec::new(), used: 0, open: None, waits: false }
    }

    /// Takes what came.
    pub(super) fn feed(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// How many bytes wait to become requests.
    pub(super) const fn waiting(&self) -> usize {
        self.bytes.len() - self.used
    }

    /// Whether a `100 Continue` is to be sent; says so once.
    pub(super) const fn take_continue(&mut self) -> bool {
        std::mem::replace(&mut self.waits, false)
    }

    /// The next request, if all of it is there.
    ///
    /// # Errors
    /// If the bytes are no request, or one larger than is taken. Nothing after that can be understood.
    pub(super) fn next(&mut self) -> Result<Option<HttpRequest>, Refusal> {
        let (head, mut body) = match self.open.take() {
            Some(open) => open,
            None => match self.open()? {
                Some(open) => open,
                None => return Ok(None),
            },
        };
        let rest = self.bytes.get(self.used..).unwrap_or_default();
        let progress = body.take(rest, self.body_limit)?;
        let (used, whole) = match progress {
            BodyProgress::Part { used } => (used, None),
            BodyProgress::Whole { used, body } => (used, Some(body)),
        };
        self.used += used;
        self.compact();
        match whole {
            Some(body) => {
                // Whoever sent its body unasked no longer waits.
                self.waits = false;
                let RequestHead { method, target, id, peer, fault, .. } = head;
                Ok(Some(HttpRequest { method, target, id, body, peer, fault }))
            }
            None => {
                self.open = Some((head, body));
                Ok(None)
            }
        }
    }

    /// Reads a head.
    fn open(&mut self) -> Result<Option<(RequestHead, RequestBody)>, Refusal> {
        let rest = self.bytes.get(self.used..).unwrap_or_default();
        let head = rest.get(..HEAD_LIMIT).unwrap_or(rest);
        let Some((head, length)) = RequestHead::parse(head)? else {
            return if rest.len() < HEAD_LIMIT { Ok(None) } else { Err(too_long()) };
        };
        self.used += length;
        let body = RequestBody::of(&head, self.body_limit)?;
        self.waits = head.expects_continue && head.peer.version == Version::Http11;
        Ok(Some((head, body)))
    }

    /// Forgets what is used up.
    fn compact(&mut self) {
        self.bytes.drain(..self.used);
        self.used = 0;
    }
}

fn too_long() -> Refusal {
    let message =
        format!("the head of the request is longer than the {HEAD_LIMIT} bytes taken here");
    Refusal::bad_request(None, message).at(Status::HEAD_TOO_LARGE)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const LIMIT: usize = 40;

    /// All requests in `pieces`, and the fault that ended them.
    fn parse(pieces: &[&[u8]]) -> (Vec<HttpRequest>, Option<(u16, String)>) {
        let mut parser = RequestParser::new(LIMIT);
        let mut requests = Vec::new();
        for piece in pieces {
            parser.feed(piece);
            loop {
                match parser.next() {
                    Ok(Some(request)) => requests.push(request),
                    Ok(None) => break,
                    Err(refusal) => {
                        return (requests, Some((refusal.status.code(), refusal.message)));
                    }
                }
            }
        }
        (requests, None)
    }

    const POST: &str =
        "POST /v1/completions?x=1 HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello";
    const CHUNKED: &str = "POST /c HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n\
                           3;name=value\r\nhel\r\n02\r\nlo\r\n0\r\nTrailer: x\r\n\r\n";
    const GET: &str = "GET http://host:80/truth HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n";

    proptest! {
        /// However the bytes are cut, the same requests come out, and the same fault.
        #[test]
        fn cuts_make_no_difference(
            kinds in prop::collection::vec(0usize..6, 1..5),
            cuts in prop::collection::vec(0usize..600, 0..12),
        ) {
            let kind = |kind: &usize| match kind {
                0 => POST.to_owned(),
                1 => CHUNKED.to_owned(),
                2 => GET.to_owned(),
                3 => CHUNKED.replace("02\r\n", "0x\r\n"),
                4 => POST.replace("Host", "Expect: 100-continue\r\nHost"),
                _ => CHUNKED.replace("Trailer", "Tra iler"),
            };
            let text: String = kinds.iter().map(kind).collect();
            let bytes = text.as_bytes();
            let mut cuts: Vec<_> = cuts.iter().map(|cut| cut % (bytes.len() + 1)).collect();
            cuts.extend([0, bytes.len()]);
            cuts.sort_unstable();
            let pieces: Vec<_> = cuts.windows(2).map(|cut| &bytes[cut[0]..cut[1]]).collect();
            prop_assert_eq!(parse(&pieces), parse(&[bytes]));
            let single: Vec<_> = bytes.chunks(1).collect();
            prop_assert_eq!(parse(&single), parse(&[bytes]));
        }

        /// Whatever comes, nothing panics.
        #[test]
        fn no_bytes_break_it(bytes in prop::collection::vec(any::<u8>(), 0..300), post in any::<bool>()) {
            let head = if post { "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n" } else { "" };
            parse(&[head.as_bytes(), &bytes]);
        }
    }
}
