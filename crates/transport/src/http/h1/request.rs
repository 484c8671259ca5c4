//! A request as it goes out.

use std::fmt;
use std::io::{self, IoSlice, Write};
use std::ops::Range;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use fizeau_core::Clock;
use hyper::Method;
use hyper::header::HeaderMap;
use tokio::io::AsyncWrite;

use crate::http::io::Io;

/// A POST without its body: all but the length is written once and for all requests.
pub(in crate::http) struct Post {
    /// Up to and with `content-length: `.
    head: Vec<u8>,
    /// Where in it the request target lies.
    target: Range<usize>,
}

impl Post {
    /// Of `target`, as it stands in the request line, with `headers`. A GET is one with an empty body.
    pub(in crate::http) fn new(method: &Method, target: &str, headers: &HeaderMap) -> Self {
        let mut head = format!("{method} {target} HTTP/1.1\r\n").into_bytes();
        let start = method.as_str().len() + 1;
        let target = start..start + target.len();
        for (name, value) in headers {
            head.extend_from_slice(name.as_str().as_bytes());
            head.extend_from_slice(b": ");
            head.extend_from_slice(value.as_bytes());
            head.extend_from_slice(b"\r\n");
        }
        head.extend_from_slice(b"content-length: ");
        Self { head, target }
    }

    /// The request that carries `body`, to another `target` where one is given.
    pub(in crate::http) fn with(&self, target: Option<&str>, body: Bytes) -> Outgoing {
        let mut head = Vec::with_capacity(self.head.len() + target.map_or(0, str::len) + 24);
        head.extend_from_slice(&self.head);
        if let Some(target) = target {
            head.splice(self.target.clone(), target.bytes());
        }
        // Writing to a vector cannot fail.
        let _ = write!(head, "{}\r\n\r\n", body.len());
        Outgoing { head, body, written: 0 }
    }
}

/// A request on its way, and how far it has come.
pub(in crate::http) struct Outgoing {
    head: Vec<u8>,
    body: Bytes,
    written: usize,
}

impl Outgoing {
    pub(in crate::http) fn is_sent(&self) -> bool {
        self.written == self.head.len() + self.body.len()
    }

    /// Writes on, head and body in one call where the socket takes them.
    pub(in crate::http) fn poll_write<C: Clock>(
        &mut self,
        io: &mut Io<C>,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<()>> {
        while !self.is_sent() {
            let head = self.head.get(self.written..).unwrap_or_default();
            let body = self.written.saturating_sub(self.head.len());
            let body = self.body.get(body..).unwrap_or_default();
            let slices = [IoSlice::new(head), IoSlice::new(body)];
            match ready!(Pin::new(&mut *io).poll_write_vectored(cx, &slices))? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                written => self.written += written,
            }
        }
        Pin::new(io).poll_flush(cx)
    }
}

/// Without the head, which holds keys.
impl fmt::Debug for Post {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Post")
    }
}

/// Without the head, which holds keys.
impl fmt::Debug for Outgoing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let length = self.head.len() + self.body.len();
        write!(f, "Outgoing({} of {length} bytes written)", self.written)
    }
}
