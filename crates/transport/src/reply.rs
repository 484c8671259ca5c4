//! A reply's bytes to arrivals, counts and an outcome, without I/O.

mod notes;

use fizeau_core::{Arrival, Failure, Outcome, ServerTiming, TokenSource, Tokens, Usage};

use crate::cumulative::CumulativeStream;
use crate::dialect::{CumulativeEvents, Dialect, Spoken};
use crate::event::{RawEvent, ReadMark};
use crate::event_template::EventTemplates;
use crate::framing::{EventDecoder, Framing};
use crate::lenient_json;
use crate::secret::Secrets;
use notes::ReplyNotes;

/// Reads the body of one reply with status 200: bytes and the marks of the reads that brought them in, a [`Reply`]
/// out. The strict rule of success lives here.
///
/// ```
/// use fizeau_core::{Finish, Outcome, Stamp};
/// use fizeau_transport::{BodyEnd, KeepText, ReadMark, ReplyReader, Route};
/// let mut reader = ReplyReader::new(Route::Completions.dialect(), KeepText::No);
/// let body = b"data: {\"choices\":[{\"text\":\"Ga\",\"finish_reason\":\"length\"}]}\n\ndata: [DONE]\n\n";
/// reader.feed(body, ReadMark::user(Stamp::from_nanos(7), 0));
/// let reply = reader.finish(BodyEnd::Whole);
/// assert_eq!(reply.outcome, Outcome::Complete(Finish::Length));
/// assert_eq!(reply.arrivals[0].at, Stamp::from_nanos(7));
/// ```
#[derive(Debug)]
pub struct ReplyReader<'d> {
    dialect: Spoken<'d>,
    decoder: EventDecoder,
    templates: EventTemplates,
    notes: ReplyNotes,
}

/// Whether a tape keeps the generated text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum KeepText {
    /// Only its bytes and characters are counted.
    #[default]
    No,
    /// All of it, in order of arrival, on whichever channel it came: what a tokenizer needs to count the output.
    Yes,
}

/// How a body ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BodyEnd {
    /// It broke off: the connection ended before the body was complete.
    Cut,
    /// It was given up, for this reason.
    Stopped(Failure),
    /// As HTTP says that it should.
    Whole,
}

/// What the bytes of one feed brought.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FeedProgress {
    /// The stream cannot be read on; feeding more changes nothing.
    Broken,
    /// No sign of a token.
    Quiet,
    /// The reply's end marker or an error has come. What follows can still turn good into bad, never bad into
    /// good.
    Settled,
    /// At least one token.
    Tokens,
}

/// All that was seen of a reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// Every generation event, in order.
    pub arrivals: Vec<Arrival>,
    /// Where their token counts come from.
    pub token_source: TokenSource,
    /// What the server said it used.
    pub usage: Option<Usage>,
    /// What the server said of its own timing.
    pub server_timing: Option<ServerTiming>,
    /// How it ended.
    pub outcome: Outcome,
    /// The generated text, if it was to be kept.
    pub text: Option<String>,
}

impl Reply {
    /// A reply of which nothing was seen but the failure.
    #[must_use]
    pub const fn failed(failure: Failure) -> Self {
        Self {
            arrivals: Vec::new(),
            token_source: TokenSource::Events,
            usage: None,
            server_timing: None,
            outcome: Outcome::Failed(failure),
            text: None,
        }
    }
}

impl<'d> ReplyReader<'d> {
    /// A reader of `dialect`, in its own framing.
    #[must_use]
    pub fn new(dialect: &'d dyn Dialect, keep_text: KeepText) -> Self {
        Self::framed(dialect, dialect.framing(), keep_text)
    }

    /// A reader of `dialect` in a body framed as `framing`.
    #[must_use]
    pub fn framed(dialect: &'d dyn Dialect, framing: Framing, keep_text: KeepText) -> Self {
        Self::spoken(Spoken::Borrowed(dialect), framing, keep_text)
    }

    pub(crate) fn spoken(dialect: Spoken<'d>, framing: Framing, keep_text: KeepText) -> Self {
        let text = (keep_text == KeepText::Yes).then(String::new);
        Self {
            decoder: EventDecoder::of(framing),
            templates: EventTemplates::of(dialect.varying()),
            notes: ReplyNotes::new(match dialect.repeats() {
                CumulativeEvents::Never => CumulativeStream::none(text),
                CumulativeEvents::Perhaps => CumulativeStream::perhaps(text),
            }),
            dialect,
        }
    }

    /// The same, with room for a reply of `output` tokens: what was asked for, so that memory is taken once.
    #[must_use]
    pub fn expecting(mut self, output: Tokens) -> Self {
        let events = usize::try_from(output.get()).unwrap_or(usize::MAX);
        self.notes.seen.reserve(events);
        self
    }

    /// Has fetched what the next event will be held against, and where it will be kept.
    #[cfg(target_os = "linux")]
    pub(crate) fn fetch_buffers(&self) {
        self.templates.fetch_buffers();
        self.notes.seen.fetch_ends();
    }

    /// Takes the bytes of (a part of) the read `mark`.
    pub fn feed(&mut self, bytes: &[u8], mark: ReadMark) -> FeedProgress {
        if self.notes.broken {
            return FeedProgress::Broken;
        }
        let before = self.notes.seen.len();
        let Self { dialect, decoder, templates, notes } = self;
        let mut events = decoder.feed(bytes, mark);
        while !notes.broken
            && let Some(event) = events.next_event()
        {
            let event = match event {
                Ok(event) => event,
                Err(words) => {
                    notes.malformed(words);
                    break;
                }
            };
            read_event(&**dialect, templates, notes, &event);
        }
        drop(events);
        if self.notes.broken {
            FeedProgress::Broken
        } else if self.notes.failure.is_some() || self.notes.done {
            FeedProgress::Settled
        } else if self.notes.seen.len() > before {
            FeedProgress::Tokens
        } else {
            FeedProgress::Quiet
        }
    }

    /// Ends the reading and counts the tokens.
    #[must_use]
    pub fn finish(self, end: BodyEnd) -> Reply {
        self.finish_without(end, &Secrets::default())
    }

    /// As [`ReplyReader::finish`], with `secrets` scrubbed from what the server said.
    pub(crate) fn finish_without(mut self, end: BodyEnd, secrets: &Secrets) -> Reply {
        let Self { dialect, decoder, templates, notes } = &mut self;
        let is_whole = matches!(decoder, EventDecoder::Whole(_)) && end == BodyEnd::Whole;
        if !notes.broken
            && let Some(event) = decoder.finish()
        {
            if is_whole {
                read_event(&**dialect, templates, notes, &event);
            } else if let Ok(wire) = dialect.read(&event) {
                // Half an event is rarely whole JSON. That is no garbage: the missing end tells what happened.
                notes.take(&wire, event.mark);
            }
        }
        self.notes.into_reply(self.dialect.end(), end, secrets)
    }
}

/// Notes what `event` says: by the template at hand, by the dialect or, if it is odd, once it is plain.
fn read_event(
    dialect: &dyn Dialect,
    templates: &mut EventTemplates,
    notes: &mut ReplyNotes,
    event: &RawEvent<'_>,
) {
    if let Some(matched) = templates.match_event(event) {
        notes.take_match(&matched, event.mark);
        return;
    }
    let error = match dialect.read(event) {
        Ok(wire) => {
            templates.learn(dialect, event, &wire);
            notes.take(&wire, event.mark);
            return;
        }
        Err(error) => error,
    };
    // Rare enough to be read three times.
    let plain = lenient_json::plain(event.data);
    let plain = plain.as_deref().map(|data| dialect.read(&RawEvent { data, ..*event }));
    match plain {
        Some(Ok(wire)) => notes.take(&wire, event.mark),
        _ => notes.malformed(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use fizeau_core::Stamp;

    use super::{BodyEnd, FeedProgress, KeepText, ReplyReader};
    use crate::event::ReadMark;
    use crate::route::Route;

    #[test]
    fn a_server_that_never_stops_is_stopped() {
        let mut reader = ReplyReader::new(Route::Completions.dialect(), KeepText::No);
        reader.notes.most_events = 2;
        for expected in [FeedProgress::Tokens, FeedProgress::Tokens, FeedProgress::Broken] {
            let event = b"data: {\"choices\":[{\"text\":\"a\"}]}\n\n";
            assert_eq!(reader.feed(event, ReadMark::user(Stamp::EPOCH, 0)), expected);
        }
        let reply = reader.finish(BodyEnd::Whole);
        assert_eq!(reply.arrivals.len(), 2);
        assert!(format!("{:?}", reply.outcome).contains("Malformed"));
    }

    #[test]
    fn counts_that_no_request_can_have_are_garbage() {
        let most = 1_u64 << 30;
        for count in ["prompt_tokens", "completion_tokens"] {
            for (value, is_good) in [(most, true), (most + 1, false), (10_u64.pow(12), false)] {
                let mut reader = ReplyReader::new(Route::Completions.dialect(), KeepText::No);
                let usage = format!(r#""usage":{{"{count}":{value}}}"#);
                let event = format!(r#"{{"choices":[{{"text":"a"}}],{usage}}}"#);
                let stream = format!("data: {event}\n\ndata: {event}\n\ndata: [DONE]\n\n");
                reader.feed(stream.as_bytes(), ReadMark::user(Stamp::EPOCH, 0));
                let reply = reader.finish(BodyEnd::Whole);
                let outcome = format!("{:?}", reply.outcome);
                assert_eq!(outcome.contains("Complete"), is_good, "{count} {value}: {outcome}");
                assert_eq!(outcome.contains("more than any request"), !is_good, "{outcome}");
            }
        }
    }
}
