//! Lines of JSON out of bytes, without I/O.
//!
//! One line is one event, as in the NDJSON specification (github.com/ndjson/ndjson-spec): LF ends a line, a CR
//! before it is white space, empty lines say nothing. A last line without its LF is handed out and reported.

use fizeau_core::Stamp;
use memchr::memchr;

use crate::event::{DEFAULT_EVENT_LIMIT, DecoderState, RawEvent, ReadMark};

/// Turns bytes, in pieces of any size, into lines, each with the mark of the read that *completed* it. How the
/// bytes were cut never matters to what comes out, only to the marks.
///
/// A line that lies whole in the bytes of one feed is lent from there; one that was cut is put together in a buffer
/// that is reused. Memory is bounded by the limit on one line.
///
/// ```
/// use fizeau_core::Stamp;
/// use fizeau_transport::ReadMark;
/// use fizeau_transport::ndjson::NdjsonDecoder;
/// let mut decoder = NdjsonDecoder::default();
/// let (first, second) = (Stamp::from_nanos(5), Stamp::from_nanos(9));
/// assert!(decoder.feed(b"{\"a\"", ReadMark::user(first, 0)).next_event().is_none());
/// let mut lines = decoder.feed(b":1}\r\n\n", ReadMark::user(second, 1));
/// let event = lines.next_event().unwrap()?;
/// assert_eq!((event.data, event.mark), (&b"{\"a\":1}"[..], ReadMark::user(second, 1)));
/// assert!(lines.next_event().is_none());
/// # Ok::<(), fizeau_transport::ndjson::NdjsonError>(())
/// ```
#[derive(Debug)]
pub struct NdjsonDecoder {
    limit: usize,
    state: DecoderState,
    /// No line has ended yet, so the next one may start with a byte order mark.
    at_start: bool,
    /// The head of a line whose end has not come yet.
    open: Vec<u8>,
    /// The line in `open` was handed out, and is to be forgotten before the next byte is looked at.
    spent: bool,
    /// The last read.
    mark: ReadMark,
}

/// The lines that the bytes of one feed complete. Those that are not asked for are passed over.
#[derive(Debug)]
#[must_use = "the lines of a feed are lost unless they are asked for"]
pub struct NdjsonEvents<'d, 'b> {
    decoder: &'d mut NdjsonDecoder,
    rest: &'b [u8],
}

/// Why a stream of lines cannot be read on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NdjsonError {
    /// A line was longer than the decoder's limit. Nothing comes after this error.
    #[error("a line of the stream is longer than the limit of {limit} bytes")]
    TooLong {
        /// The limit, in bytes.
        limit: usize,
    },
}

impl NdjsonDecoder {
    /// A decoder that takes lines of up to `limit` bytes, without their LF.
    #[must_use]
    pub const fn new(limit: usize) -> Self {
        Self {
            limit,
            state: DecoderState::Reading,
            at_start: true,
            open: Vec::new(),
            spent: false,
            mark: ReadMark::user(Stamp::EPOCH, 0),
        }
    }

    /// Takes the bytes of (a part of) the read `mark`.
    pub const fn feed<'b>(&mut self, bytes: &'b [u8], mark: ReadMark) -> NdjsonEvents<'_, 'b> {
        self.mark = mark;
        NdjsonEvents { decoder: self, rest: bytes }
    }

    /// Ends the stream: a line whose end never came, with the last read's mark. Further feeds are ignored.
    pub fn finish(&mut self) -> Option<RawEvent<'_>> {
        self.forget_spent();
        let was_reading = self.state == DecoderState::Reading;
        self.state = DecoderState::Over;
        let data = content(&self.open, self.at_start)?;
        was_reading.then_some(RawEvent { data, name: b"", mark: self.mark })
    }

    fn forget_spent(&mut self) {
        if std::mem::take(&mut self.spent) {
            self.open.clear();
        }
    }

    /// Whether a line of `len` bytes is within the limit.
    fn fits(&mut self, len: usize) -> bool {
        if len > self.limit {
            self.state = DecoderState::TooLong;
            self.open = Vec::new();
        }
        self.state == DecoderState::Reading
    }

    /// Takes the next line off `rest`; none if it does not end there, or the limit is exceeded.
    fn line<'b>(&mut self, rest: &mut &'b [u8]) -> Option<LineSource<'b>> {
        if self.state != DecoderState::Reading {
            return None;
        }
        let end = memchr(b'\n', rest);
        let (part, next) = rest.split_at(end.unwrap_or(rest.len()));
        *rest = next.strip_prefix(b"\n").unwrap_or(next);
        if !self.fits(self.open.len() + part.len()) {
            return None;
        }
        if end.is_some() && self.open.is_empty() {
            return Some(LineSource::Feed(part));
        }
        self.open.extend_from_slice(part);
        end.map(|_| LineSource::Buffer)
    }
}

/// Where a line lies.
enum LineSource<'b> {
    /// Partly in earlier feeds.
    Buffer,
    Feed(&'b [u8]),
}

impl NdjsonEvents<'_, '_> {
    /// The next line, or none until more bytes are fed. An error comes after all lines before it, once.
    pub fn next_event(&mut self) -> Option<Result<RawEvent<'_>, NdjsonError>> {
        let decoder = &mut *self.decoder;
        let mark = decoder.mark;
        decoder.forget_spent();
        while let Some(line) = decoder.line(&mut self.rest) {
            let at_start = std::mem::take(&mut decoder.at_start);
            match line {
                LineSource::Feed(line) => {
                    if let Some(data) = content(line, at_start) {
                        return Some(Ok(RawEvent { data, name: b"", mark }));
                    }
                }
                LineSource::Buffer if content(&decoder.open, at_start).is_none() => {
                    decoder.open.clear();
                }
                LineSource::Buffer => {
                    decoder.spent = true;
                    let data = content(&self.decoder.open, at_start).unwrap_or_default();
                    return Some(Ok(RawEvent { data, name: b"", mark }));
                }
            }
        }
        if decoder.state == DecoderState::TooLong {
            decoder.state = DecoderState::Over;
            return Some(Err(NdjsonError::TooLong { limit: decoder.limit }));
        }
        None
    }
}

impl Drop for NdjsonEvents<'_, '_> {
    fn drop(&mut self) {
        while self.next_event().is_some() {}
    }
}

impl Default for NdjsonDecoder {
    /// A decoder with [`DEFAULT_EVENT_LIMIT`].
    fn default() -> Self {
        Self::new(DEFAULT_EVENT_LIMIT)
    }
}

/// What `line` holds beside a byte order mark at the very start and a CR at the end; none if it is blank.
fn content(line: &[u8], at_start: bool) -> Option<&[u8]> {
    let mut line = line;
    if at_start {
        line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line);
    }
    line = line.strip_suffix(b"\r").unwrap_or(line);
    (!line.trim_ascii().is_empty()).then_some(line)
}
