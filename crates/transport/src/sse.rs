//! Server-sent events out of bytes, without I/O.
//!
//! The rules are those of the HTML standard, section "Interpreting an event stream", but for one: a half
//! event at the end of the stream is handed out and reported, where a browser drops it.

use std::ops::Range;

use fizeau_core::Stamp;
use memchr::{memchr, memchr2};

use crate::event::{DEFAULT_EVENT_LIMIT, RawEvent, ReadMark, Tail};

/// Turns bytes, in pieces of any size, into server-sent events, each with the stamp and number of the read that
/// *completed* it.
///
/// Line ends may be LF, CRLF, a lone CR or a mixture, and may be cut between reads. Comments and unknown
/// fields never end or cancel an event; an event without data is no event. How the bytes were cut never
/// matters to what comes out, only to the stamps.
///
/// Memory is bounded by the limit on one event plus the bytes of one feed, if events are drained after each
/// feed.
///
/// ```
/// use fizeau_core::Stamp;
/// use fizeau_transport::ReadMark;
/// use fizeau_transport::sse::SseDecoder;
/// let mut decoder = SseDecoder::default();
/// decoder.feed(b": ping\ndata: {\"a\"", ReadMark::user(Stamp::from_nanos(5), 0));
/// assert!(decoder.next_event().is_none());
/// decoder.feed(b":1}\r\n\r\n", ReadMark::user(Stamp::from_nanos(9), 1));
/// let event = decoder.next_event().unwrap()?;
/// assert_eq!((event.data, event.mark), (&b"{\"a\":1}"[..], ReadMark::user(Stamp::from_nanos(9), 1)));
/// # Ok::<(), fizeau_transport::sse::SseError>(())
/// ```
#[derive(Debug)]
pub struct SseDecoder {
    limit: usize,
    state: State,
    /// The head of a line whose end has not come yet.
    line: Vec<u8>,
    /// The last byte was a CR that ended a line; an LF right behind it belongs to it.
    after_cr: bool,
    /// No line has ended yet, so the next one may start with a byte order mark.
    at_start: bool,
    /// Data of the ready events, then of the open one. Reused, so that an event costs a copy and no allocation.
    data: Vec<u8>,
    /// Names of the ready events, then of the open one.
    names: Vec<u8>,
    open: Open,
    ready: Vec<Ready>,
    /// How many of `ready` have been handed out.
    taken: usize,
    mark: ReadMark,
}

/// Why a stream of events cannot be read on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SseError {
    /// An event was longer than the decoder's limit. Nothing comes after this error.
    #[error("an event of the stream is longer than the limit of {limit} bytes")]
    TooLong {
        /// The limit, in bytes.
        limit: usize,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Reading,
    /// The limit was exceeded and the error not handed out yet.
    TooLong,
    Over,
}

/// The event whose blank line has not come yet.
#[derive(Debug, Default)]
struct Open {
    data_from: usize,
    name_from: usize,
    has_data: bool,
}

/// An event that waits to be handed out.
#[derive(Debug)]
struct Ready {
    data: Range<usize>,
    name: Range<usize>,
    mark: ReadMark,
}

impl SseDecoder {
    /// A decoder that takes events of up to `limit` bytes: the data so far and the line under way, its field
    /// name included.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            state: State::Reading,
            line: Vec::new(),
            after_cr: false,
            at_start: true,
            data: Vec::new(),
            names: Vec::new(),
            open: Open::default(),
            ready: Vec::new(),
            taken: 0,
            mark: ReadMark::user(Stamp::EPOCH, 0),
        }
    }

    /// Takes the bytes of (a part of) the read `mark`. Drain the events
    /// after each feed.
    pub fn feed(&mut self, bytes: &[u8], mark: ReadMark) {
        self.recycle();
        self.mark = mark;
        let mut rest = bytes;
        if self.after_cr && !rest.is_empty() {
            self.after_cr = false;
            rest = rest.strip_prefix(b"\n").unwrap_or(rest);
        }
        while self.state == State::Reading {
            let Some((line, end)) = memchr2(b'\n', b'\r', rest).and_then(|at| cut(rest, at)) else {
                self.keep(rest);
                return;
            };
            rest = end.strip_prefix(b"\r\n").unwrap_or_else(|| &end[1..]);
            self.after_cr = end == b"\r";
            self.end_line(line);
        }
    }

    /// The next event, or none until more bytes are fed. An error comes after all events before it, once.
    pub fn next_event(&mut self) -> Option<Result<RawEvent<'_>, SseError>> {
        if let Some(ready) = self.ready.get(self.taken) {
            self.taken += 1;
            return Some(Ok(RawEvent {
                data: self.data.get(ready.data.clone()).unwrap_or_default(),
                name: self.names.get(ready.name.clone()).unwrap_or_default(),
                mark: ready.mark,
            }));
        }
        if self.state == State::TooLong {
            self.state = State::Over;
            return Some(Err(SseError::TooLong { limit: self.limit }));
        }
        None
    }

    /// Ends the stream: completes an event that is still open, with the last read's stamp, and says whether
    /// there was one. Drain the events once more after it; further feeds are ignored.
    pub fn finish(&mut self) -> Tail {
        self.recycle();
        if self.state != State::Reading {
            return Tail::Whole;
        }
        if !self.line.is_empty() {
            self.end_line(b"");
        }
        if self.state != State::Reading {
            return Tail::Whole;
        }
        self.state = State::Over;
        let tail = if self.open.has_data { Tail::Truncated } else { Tail::Whole };
        self.end_event();
        tail
    }

    /// Forgets the events that were handed out. What is left of the open event moves to the front, once.
    fn recycle(&mut self) {
        if self.taken < self.ready.len() {
            return;
        }
        self.ready.clear();
        self.taken = 0;
        self.data.drain(..self.open.data_from);
        self.names.drain(..self.open.name_from);
        (self.open.data_from, self.open.name_from) = (0, 0);
    }

    /// Keeps the head of a line that goes on in a later read.
    fn keep(&mut self, head: &[u8]) {
        if self.fits(self.line.len() + head.len()) {
            self.line.extend_from_slice(head);
        }
    }

    fn end_line(&mut self, rest: &[u8]) {
        if !self.fits(self.line.len() + rest.len()) {
            return;
        }
        if self.line.is_empty() {
            self.take_line(rest);
        } else {
            let mut line = std::mem::take(&mut self.line);
            line.extend_from_slice(rest);
            self.take_line(&line);
            line.clear();
            self.line = line;
        }
    }

    /// Whether the open event may have another line of `line` bytes. The answer depends on the whole line
    /// only, never on how it was cut, so a stream fails at the same event however it came.
    fn fits(&mut self, line: usize) -> bool {
        let open = self.data.len() - self.open.data_from + self.names.len() - self.open.name_from;
        if open + line > self.limit {
            self.state = State::TooLong;
            self.line = Vec::new();
        }
        self.state == State::Reading
    }

    fn take_line(&mut self, line: &[u8]) {
        let mut line = line;
        if std::mem::take(&mut self.at_start) {
            line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line);
        }
        if line.is_empty() {
            self.end_event();
            return;
        }
        let (field, value) = match memchr(b':', line).and_then(|at| cut(line, at)) {
            Some((field, value)) => {
                let value = &value[1..];
                (field, value.strip_prefix(b" ").unwrap_or(value))
            }
            None => (line, &b""[..]),
        };
        match field {
            b"data" => {
                if self.open.has_data {
                    self.data.push(b'\n');
                }
                self.data.extend_from_slice(value);
                self.open.has_data = true;
            }
            b"event" => {
                self.names.truncate(self.open.name_from);
                self.names.extend_from_slice(value);
            }
            // A comment has an empty field name; `id`, `retry` and unknown fields say nothing to us.
            _ => {}
        }
    }

    fn end_event(&mut self) {
        if self.open.has_data {
            self.ready.push(Ready {
                data: self.open.data_from..self.data.len(),
                name: self.open.name_from..self.names.len(),
                mark: self.mark,
            });
        } else {
            self.names.truncate(self.open.name_from);
        }
        self.open =
            Open { data_from: self.data.len(), name_from: self.names.len(), has_data: false };
    }
}

impl Default for SseDecoder {
    /// A decoder with [`DEFAULT_EVENT_LIMIT`].
    fn default() -> Self {
        Self::new(DEFAULT_EVENT_LIMIT)
    }
}

/// `bytes` before `at`, and from `at` on; the second is not empty.
fn cut(bytes: &[u8], at: usize) -> Option<(&[u8], &[u8])> {
    bytes.split_at_checked(at).filter(|(_, end)| !end.is_empty())
}
