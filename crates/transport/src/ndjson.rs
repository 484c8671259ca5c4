//! Lines of JSON out of bytes, without I/O.
//!
//! One line is one event, as in the NDJSON specification (github.com/ndjson/ndjson-spec): LF ends a line, a CR
//! before it is white space, empty lines say nothing. A last line without its LF is handed out and reported.

use std::ops::Range;

use fizeau_core::Stamp;
use memchr::memchr;

use crate::event::{DEFAULT_EVENT_LIMIT, RawEvent, ReadMark, Tail};

/// Turns bytes, in pieces of any size, into lines, each with the stamp and number of the read that *completed*
/// it. How the bytes were cut never matters to what comes out, only to the stamps.
///
/// Memory is bounded by the limit on one line plus the bytes of one feed, if lines are drained after each feed.
///
/// ```
/// use fizeau_core::Stamp;
/// use fizeau_transport::ReadMark;
/// use fizeau_transport::ndjson::NdjsonDecoder;
/// let mut decoder = NdjsonDecoder::default();
/// decoder.feed(b"{\"a\"", ReadMark::user(Stamp::from_nanos(5), 0));
/// assert!(decoder.next_event().is_none());
/// decoder.feed(b":1}\r\n\n", ReadMark::user(Stamp::from_nanos(9), 1));
/// let event = decoder.next_event().unwrap()?;
/// assert_eq!((event.data, event.mark), (&b"{\"a\":1}"[..], ReadMark::user(Stamp::from_nanos(9), 1)));
/// assert!(decoder.next_event().is_none());
/// # Ok::<(), fizeau_transport::ndjson::NdjsonError>(())
/// ```
#[derive(Debug)]
pub struct NdjsonDecoder {
    limit: usize,
    state: State,
    /// No line has ended yet, so the next one may start with a byte order mark.
    at_start: bool,
    /// The ready lines, then the open one. Reused, so that a line costs a copy and no allocation.
    data: Vec<u8>,
    /// Where the open line begins.
    open: usize,
    ready: Vec<Ready>,
    /// How many of `ready` have been handed out.
    taken: usize,
    mark: ReadMark,
}

/// Why a stream of lines cannot be read on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NdjsonError {
    /// A line was longer than the decoder's limit. Nothing comes after this error.
    #[error("a line of the stream is longer than the limit of {limit} bytes")]
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

/// A line that waits to be handed out.
#[derive(Debug)]
struct Ready {
    data: Range<usize>,
    mark: ReadMark,
}

impl NdjsonDecoder {
    /// A decoder that takes lines of up to `limit` bytes, without their LF.
    #[must_use]
    pub const fn new(limit: usize) -> Self {
        Self {
            limit,
            state: State::Reading,
            at_start: true,
            data: Vec::new(),
            open: 0,
            ready: Vec::new(),
            taken: 0,
            mark: ReadMark::user(Stamp::EPOCH, 0),
        }
    }

    /// Takes the bytes of (a part of) the read `mark`. Drain the lines
    /// after each feed.
    pub fn feed(&mut self, bytes: &[u8], mark: ReadMark) {
        self.recycle();
        self.mark = mark;
        let mut rest = bytes;
        while self.state == State::Reading {
            let (line, next) = match memchr(b'\n', rest) {
                Some(end) => (&rest[..end], Some(&rest[end + 1..])),
                None => (rest, None),
            };
            self.keep(line);
            let Some(next) = next else {
                return;
            };
            self.end_line();
            rest = next;
        }
    }

    /// The next line, or none until more bytes are fed. An error comes after all lines before it, once.
    pub fn next_event(&mut self) -> Option<Result<RawEvent<'_>, NdjsonError>> {
        if let Some(ready) = self.ready.get(self.taken) {
            self.taken += 1;
            return Some(Ok(RawEvent {
                data: self.data.get(ready.data.clone()).unwrap_or_default(),
                name: b"",
                mark: ready.mark,
            }));
        }
        if self.state == State::TooLong {
            self.state = State::Over;
            return Some(Err(NdjsonError::TooLong { limit: self.limit }));
        }
        None
    }

    /// Ends the stream: completes a line that is still open, with the last read's stamp, and says whether there
    /// was one. Drain the lines once more after it; further feeds are ignored.
    pub fn finish(&mut self) -> Tail {
        self.recycle();
        if self.state != State::Reading {
            return Tail::Whole;
        }
        let before = self.ready.len();
        self.end_line();
        self.state = State::Over;
        if self.ready.len() > before { Tail::Truncated } else { Tail::Whole }
    }

    /// Forgets the lines that were handed out. What is left of the open one moves to the front, once.
    fn recycle(&mut self) {
        if self.taken < self.ready.len() {
            return;
        }
        self.ready.clear();
        self.taken = 0;
        self.data.drain(..self.open);
        self.open = 0;
    }

    fn keep(&mut self, part: &[u8]) {
        if self.data.len() - self.open + part.len() > self.limit {
            self.state = State::TooLong;
            self.data.truncate(self.open);
        } else {
            self.data.extend_from_slice(part);
        }
    }

    fn end_line(&mut self) {
        if self.state != State::Reading {
            return;
        }
        let line = self.data.get(self.open..).unwrap_or_default();
        let mut from = self.open;
        if std::mem::take(&mut self.at_start) && line.starts_with(b"\xEF\xBB\xBF") {
            from += 3;
        }
        let to = self.data.len() - usize::from(line.ends_with(b"\r"));
        let line = self.data.get(from..to).unwrap_or_default();
        if !line.trim_ascii().is_empty() {
            self.ready.push(Ready { data: from..to, mark: self.mark });
        }
        self.open = self.data.len();
    }
}

impl Default for NdjsonDecoder {
    /// A decoder with [`DEFAULT_EVENT_LIMIT`].
    fn default() -> Self {
        Self::new(DEFAULT_EVENT_LIMIT)
    }
}
