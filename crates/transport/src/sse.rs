//! Server-sent events out of bytes, without I/O.
//!
//! The rules are those of the HTML standard, section "Interpreting an event stream", but for two: a half
//! event at the end of the stream is handed out and reported, where a browser drops it, and a field named `error` is the data of an
//! event of that name, as older servers of llama.cpp send it.

use fizeau_core::Stamp;
use memchr::{memchr, memchr2};

use crate::event::{DEFAULT_EVENT_LIMIT, DecoderState, RawEvent, ReadMark};

/// Turns bytes, in pieces of any size, into server-sent events, each with the mark of the read that *completed*
/// it.
///
/// Line ends may be LF, CRLF, a lone CR or a mixture, and may be cut between reads. Comments and unknown
/// fields never end or cancel an event; an event without data is no event. How the bytes were cut never
/// matters to what comes out, only to the marks.
///
/// An event that lies whole in the bytes of one feed is lent from there. One that was cut, or has several lines, is
/// put together in a buffer that is reused; memory is bounded by the limit on one event.
///
/// ```
/// use fizeau_core::Stamp;
/// use fizeau_transport::ReadMark;
/// use fizeau_transport::sse::SseDecoder;
/// let mut decoder = SseDecoder::default();
/// let (first, second) = (Stamp::from_nanos(5), Stamp::from_nanos(9));
/// assert!(decoder.feed(b": ping\ndata: {\"a\"", ReadMark::user(first, 0)).next_event().is_none());
/// let mut events = decoder.feed(b":1}\r\n\r\n", ReadMark::user(second, 1));
/// let event = events.next_event().unwrap()?;
/// assert_eq!((event.data, event.mark), (&b"{\"a\":1}"[..], ReadMark::user(second, 1)));
/// # Ok::<(), fizeau_transport::sse::SseError>(())
/// ```
#[derive(Debug)]
pub struct SseDecoder {
    limit: usize,
    state: DecoderState,
    /// The head of a line whose end has not come yet.
    line: Vec<u8>,
    /// The last byte was a CR that ended a line; an LF right behind it belongs to it.
    after_cr: bool,
    /// No line has ended yet, so the next one may start with a byte order mark.
    at_start: bool,
    /// Data of the event under way.
    data: Vec<u8>,
    /// Its name.
    name: Vec<u8>,
    has_data: bool,
    /// The event under way was handed out, and is to be forgotten before the next byte is looked at.
    spent: bool,
    /// The last read.
    mark: ReadMark,
}

/// The events that the bytes of one feed complete. Those that are not asked for are passed over.
#[derive(Debug)]
#[must_use = "the events of a feed are lost unless they are asked for"]
pub struct SseEvents<'d, 'b> {
    decoder: &'d mut SseDecoder,
    rest: &'b [u8],
}

/// Why a stream of events cannot be read on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SseError {
    /// An event was longer than the decoder's limit. Nothing comes after this error.
    #[error("an event of the stream is longer than the limit of {limit} bytes")]
    TooLong {
        /// The limit, in bytes.
        limit: usize,
    },
}

/// Whether a line completed an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LineOutcome {
    Completes,
    GoesOn,
}

impl SseDecoder {
    /// A decoder that takes events of up to `limit` bytes: the data so far and the line under way, its field
    /// name included.
    #[must_use]
    pub const fn new(limit: usize) -> Self {
        Self {
            limit,
            state: DecoderState::Reading,
            line: Vec::new(),
            after_cr: false,
            at_start: true,
            data: Vec::new(),
            name: Vec::new(),
            has_data: false,
            spent: false,
            mark: ReadMark::user(Stamp::EPOCH, 0),
        }
    }

    /// Takes the bytes of (a part of) the read `mark`.
    pub fn feed<'b>(&mut self, bytes: &'b [u8], mark: ReadMark) -> SseEvents<'_, 'b> {
        self.mark = mark;
        let mut rest = bytes;
        if self.after_cr && !rest.is_empty() {
            self.after_cr = false;
            rest = rest.strip_prefix(b"\n").unwrap_or(rest);
        }
        SseEvents { decoder: self, rest }
    }

    /// Ends the stream: an event that is still open, whose end never came, with the last read's mark. Further feeds
    /// are ignored.
    pub fn finish(&mut self) -> Option<RawEvent<'_>> {
        self.forget_spent();
        if self.state == DecoderState::Reading && !self.line.is_empty() {
            self.end_line(b"");
        }
        let open = self.state == DecoderState::Reading && self.has_data;
        self.state = DecoderState::Over;
        open.then_some(RawEvent { data: &self.data, name: &self.name, mark: self.mark })
    }

    /// The event that `rest` begins with, if it is one `data` line and a blank one and nothing came before them: so
    /// most of them are. What follows comes with it.
    fn whole<'b>(&mut self, rest: &'b [u8]) -> Option<(&'b [u8], &'b [u8])> {
        let between = self.line.is_empty() && !self.has_data && self.name.is_empty();
        if !between || self.state != DecoderState::Reading || !rest.starts_with(b"data:") {
            return None;
        }
        let (line, end) = cut(rest, memchr2(b'\n', b'\r', rest)?)?;
        let next = end.strip_prefix(b"\n\n").or_else(|| end.strip_prefix(b"\r\n\r\n"))?;
        if line.len() > self.limit {
            return None;
        }
        self.at_start = false;
        Some((value(line, b"data:".len()), next))
    }

    /// Takes lines off `rest` until one completes an event.
    fn advance(&mut self, rest: &mut &[u8]) -> LineOutcome {
        while self.state == DecoderState::Reading {
            let Some((line, end)) = memchr2(b'\n', b'\r', rest).and_then(|at| cut(rest, at)) else {
                self.keep(std::mem::take(rest));
                return LineOutcome::GoesOn;
            };
            *rest = end.strip_prefix(b"\r\n").unwrap_or_else(|| &end[1..]);
            self.after_cr = end == b"\r";
            if self.end_line(line) == LineOutcome::Completes {
                return LineOutcome::Completes;
            }
        }
        LineOutcome::GoesOn
    }

    fn forget_spent(&mut self) {
        if std::mem::take(&mut self.spent) {
            self.data.clear();
            self.name.clear();
            self.has_data = false;
        }
    }

    /// Keeps the head of a line that goes on in a later read.
    fn keep(&mut self, head: &[u8]) {
        if self.fits(self.line.len() + head.len()) {
            self.line.extend_from_slice(head);
        }
    }

    fn end_line(&mut self, rest: &[u8]) -> LineOutcome {
        if !self.fits(self.line.len() + rest.len()) {
            return LineOutcome::GoesOn;
        }
        if self.line.is_empty() {
            return self.take_line(rest);
        }
        let mut line = std::mem::take(&mut self.line);
        line.extend_from_slice(rest);
        let completes = self.take_line(&line);
        line.clear();
        self.line = line;
        completes
    }

    /// Whether the open event may have another line of `line` bytes. The answer depends on the whole line
    /// only, never on how it was cut, so a stream fails at the same event however it came.
    fn fits(&mut self, line: usize) -> bool {
        if self.data.len() + self.name.len() + line > self.limit {
            self.state = DecoderState::TooLong;
            self.line = Vec::new();
        }
        self.state == DecoderState::Reading
    }

    fn take_line(&mut self, line: &[u8]) -> LineOutcome {
        let mut line = line;
        if std::mem::take(&mut self.at_start) {
            line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line);
        }
        if line.is_empty() {
            if self.has_data {
                return LineOutcome::Completes;
            }
            self.name.clear();
            return LineOutcome::GoesOn;
        }
        let field = memchr(b':', line).unwrap_or(line.len());
        let value = value(line, field + 1);
        match line.get(..field).unwrap_or_default() {
            b"data" => self.take_data(value),
            b"event" => {
                self.name.clear();
                self.name.extend_from_slice(value);
            }
            b"error" => {
                self.name.clear();
                self.name.extend_from_slice(b"error");
                self.take_data(value);
            }
            // A comment has an empty field name; `id`, `retry` and unknown fields say nothing to us.
            _ => {}
        }
        LineOutcome::GoesOn
    }

    fn take_data(&mut self, value: &[u8]) {
        if self.has_data {
            self.data.push(b'\n');
        }
        self.data.extend_from_slice(value);
        self.has_data = true;
    }
}

impl SseEvents<'_, '_> {
    /// The next event, or none until more bytes are fed. An error comes after all events before it, once.
    pub fn next_event(&mut self) -> Option<Result<RawEvent<'_>, SseError>> {
        let decoder = &mut *self.decoder;
        if self.rest.is_empty() && decoder.state == DecoderState::Reading {
            return None;
        }
        decoder.forget_spent();
        let mark = decoder.mark;
        if let Some((data, next)) = decoder.whole(self.rest) {
            self.rest = next;
            return Some(Ok(RawEvent { data, name: b"", mark }));
        }
        if decoder.advance(&mut self.rest) == LineOutcome::Completes {
            decoder.spent = true;
            return Some(Ok(RawEvent { data: &decoder.data, name: &decoder.name, mark }));
        }
        if decoder.state == DecoderState::TooLong {
            decoder.state = DecoderState::Over;
            return Some(Err(SseError::TooLong { limit: decoder.limit }));
        }
        None
    }
}

impl Drop for SseEvents<'_, '_> {
    fn drop(&mut self) {
        while self.next_event().is_some() {}
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

/// The value of a field: `line` from `at` on, less one space.
fn value(line: &[u8], at: usize) -> &[u8] {
    let value = line.get(at..).unwrap_or_default();
    value.strip_prefix(b" ").unwrap_or(value)
}
