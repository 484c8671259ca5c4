//! How events are told apart in the bytes of a body.

use fizeau_core::Stamp;

use crate::event::{RawEvent, ReadMark};
use crate::ndjson::{NdjsonDecoder, NdjsonEvents};
use crate::sse::{SseDecoder, SseEvents};

/// How events are told apart in the bytes of a body. A reply's content type decides; a dialect's own framing
/// stands in where there is none.
///
/// ```
/// use fizeau_transport::Framing;
/// assert_eq!(Framing::of_media("application/x-ndjson"), Some(Framing::Ndjson));
/// assert_eq!(Framing::of_media("application/json"), None);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// One JSON object a line.
    Ndjson,
    /// Server-sent events.
    Sse,
    /// No events: the body is one JSON object.
    Whole,
}

impl Framing {
    /// The framing of a body of media type `media`, lower case and without parameters; none if it is no stream
    /// of events.
    #[must_use]
    pub fn of_media(media: &str) -> Option<Self> {
        match media {
            "text/event-stream" => Some(Self::Sse),
            "application/x-ndjson" | "application/ndjson" | "application/jsonl" => {
                Some(Self::Ndjson)
            }
            _ => None,
        }
    }

    /// The framing of a reply of media type `media`, lower case and without parameters, where this one was asked for;
    /// none if it cannot be read. Either kind of stream is taken for the other; a body in one piece is only where it
    /// was asked for.
    ///
    /// ```
    /// use fizeau_transport::Framing;
    /// assert_eq!(Framing::Sse.answered("application/x-ndjson"), Some(Framing::Ndjson));
    /// assert_eq!(Framing::Whole.answered("application/json"), Some(Framing::Whole));
    /// assert_eq!(Framing::Sse.answered("application/json"), None);
    /// ```
    #[must_use]
    pub fn answered(self, media: &str) -> Option<Self> {
        match self {
            Self::Whole => (media == self.media()).then_some(self),
            Self::Ndjson | Self::Sse => Self::of_media(media),
        }
    }
}

fizeau_core::words! {
    /// The media type to ask for.
    pub Framing::media {
        Ndjson = "application/x-ndjson", Sse = "text/event-stream", Whole = "application/json",
    }
}

/// A decoder of any framing.
#[derive(Debug)]
pub(crate) enum EventDecoder {
    Ndjson(NdjsonDecoder),
    Sse(SseDecoder),
    Whole(WholeBody),
}

impl EventDecoder {
    pub(crate) fn of(framing: Framing) -> Self {
        match framing {
            Framing::Ndjson => Self::Ndjson(NdjsonDecoder::default()),
            Framing::Sse => Self::Sse(SseDecoder::default()),
            Framing::Whole => Self::Whole(WholeBody::new()),
        }
    }

    /// Takes the bytes of (a part of) the read `mark`.
    pub(crate) fn feed<'b>(&mut self, bytes: &'b [u8], mark: ReadMark) -> DecodedEvents<'_, 'b> {
        match self {
            Self::Ndjson(decoder) => DecodedEvents::Ndjson(decoder.feed(bytes, mark)),
            Self::Sse(decoder) => DecodedEvents::Sse(decoder.feed(bytes, mark)),
            Self::Whole(body) => DecodedEvents::Whole(body.feed(bytes, mark)),
        }
    }

    /// Ends the body: an event whose end never came or, where the body is one event, that.
    pub(crate) fn finish(&mut self) -> Option<RawEvent<'_>> {
        match self {
            Self::Ndjson(decoder) => decoder.finish(),
            Self::Sse(decoder) => decoder.finish(),
            Self::Whole(body) => body.event(),
        }
    }
}

/// The events that the bytes of one feed complete.
pub(crate) enum DecodedEvents<'d, 'b> {
    Ndjson(NdjsonEvents<'d, 'b>),
    Sse(SseEvents<'d, 'b>),
    /// None but perhaps an error, in words.
    Whole(Option<String>),
}

impl DecodedEvents<'_, '_> {
    /// The next event; the error in words.
    pub(crate) fn next_event(&mut self) -> Option<Result<RawEvent<'_>, String>> {
        match self {
            Self::Ndjson(events) => {
                events.next_event().map(|event| event.map_err(|error| error.to_string()))
            }
            Self::Sse(events) => {
                events.next_event().map(|event| event.map_err(|error| error.to_string()))
            }
            Self::Whole(error) => error.take().map(Err),
        }
    }
}

// A body that is one event.

/// The most bytes of such a body: 64 MiB, some hundred embeddings of the longest kind, or one a token of a long text.
const LIMIT: usize = 64 << 20;

/// Gathers a body until its end. Its mark is that of the last read that brought any of it.
#[derive(Debug)]
pub(crate) struct WholeBody {
    data: Vec<u8>,
    mark: ReadMark,
    limit: usize,
}

impl WholeBody {
    pub(crate) const fn new() -> Self {
        Self { data: Vec::new(), mark: ReadMark::user(Stamp::EPOCH, 0), limit: LIMIT }
    }

    /// Takes the bytes of (a part of) the read `mark`; the error in words if they are too many.
    pub(crate) fn feed(&mut self, bytes: &[u8], mark: ReadMark) -> Option<String> {
        if self.data.len() + bytes.len() > self.limit {
            self.data = Vec::new();
            self.limit = 0;
            return Some(format!("the reply is longer than the limit of {LIMIT} bytes"));
        }
        if !bytes.is_empty() {
            self.data.extend_from_slice(bytes);
            self.mark = mark;
        }
        None
    }

    /// The body so far.
    pub(crate) fn event(&self) -> Option<RawEvent<'_>> {
        let event = RawEvent { data: &self.data, name: b"", mark: self.mark };
        (!self.data.is_empty()).then_some(event)
    }
}
