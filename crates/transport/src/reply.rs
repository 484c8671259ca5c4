//! A reply's bytes to arrivals, counts and an outcome, without I/O.

use fizeau_core::{
    Arrival, Failure, FailureClass, Finish, Outcome, ServerTiming, TokenSource, Tokens, Usage,
};

use crate::dialect::{Dialect, EndRule, Repeats, WireEvent};
use crate::event::{RawEvent, ReadMark};
use crate::framing::{Decoder, Framing};
use crate::growth::{Counts, Growth};
use crate::secret::Secrets;
use crate::tokens::{self, Seen};

/// Reads the body of one streamed reply with status 200: bytes and the stamps of the reads that brought them in,
/// a [`Reply`] out. The strict rule of success lives here.
///
/// ```
/// use fizeau_core::{Finish, Outcome, Stamp};
/// use fizeau_transport::{BodyEnd, Completions, KeepText, ReadMark, ReplyReader};
/// let mut reader = ReplyReader::new(&Completions, KeepText::No);
/// let body = b"data: {\"choices\":[{\"text\":\"Ga\",\"finish_reason\":\"length\"}]}\n\ndata: [DONE]\n\n";
/// reader.feed(body, ReadMark::user(Stamp::from_nanos(7), 0));
/// let reply = reader.finish(BodyEnd::Whole);
/// assert_eq!(reply.outcome, Outcome::Complete(Finish::Length));
/// assert_eq!(reply.arrivals[0].at, Stamp::from_nanos(7));
/// ```
#[derive(Debug)]
pub struct ReplyReader<'d> {
    dialect: &'d dyn Dialect,
    decoder: Decoder,
    notes: Notes,
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

/// What a feed showed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
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
        let text = (keep_text == KeepText::Yes).then(String::new);
        Self {
            dialect,
            decoder: Decoder::of(framing),
            notes: Notes::new(match dialect.repeats() {
                Repeats::Never => Growth::none(text),
                Repeats::Perhaps => Growth::perhaps(text),
            }),
        }
    }

    /// Takes the bytes of (a part of) the read `mark`.
    pub fn feed(&mut self, bytes: &[u8], mark: ReadMark) -> Progress {
        let before = self.notes.seen.len();
        if self.notes.broken {
            return Progress::Broken;
        }
        let mut events = self.decoder.feed(bytes, mark);
        while !self.notes.broken
            && let Some(event) = events.next_event()
        {
            match event {
                Ok(event) => self.notes.take_event(self.dialect, &event),
                Err(words) => self.notes.malformed(words),
            }
        }
        if self.notes.broken {
            Progress::Broken
        } else if self.notes.failure.is_some() || self.notes.done {
            Progress::Settled
        } else if self.notes.seen.len() > before {
            Progress::Tokens
        } else {
            Progress::Quiet
        }
    }

    /// Ends the reading and counts the tokens.
    #[must_use]
    pub fn finish(self, end: BodyEnd) -> Reply {
        self.finish_without(end, &Secrets::default())
    }

    /// As [`ReplyReader::finish`], with `secrets` scrubbed from what the server said.
    pub(crate) fn finish_without(mut self, end: BodyEnd, secrets: &Secrets) -> Reply {
        if !self.notes.broken
            && let Some(event) = self.decoder.finish()
            // Half an event is rarely whole JSON. That is no garbage: the missing end tells what happened.
            && let Ok(wire) = self.dialect.read(&event)
        {
            self.notes.take(wire, event.mark);
        }
        self.notes.into_reply(self.dialect.end(), end, secrets)
    }
}

/// The most events with output, and the most bytes of kept text, of one reply. Far beyond any model's context:
/// they stop a server that never does.
const MOST_EVENTS: usize = 1 << 22;
const MOST_TEXT: usize = 1 << 28;

/// What has been read so far.
#[derive(Debug)]
struct Notes {
    seen: Vec<Seen>,
    /// How many may be seen at most.
    most_events: usize,
    running: u64,
    usage: Option<Usage>,
    timing: Option<ServerTiming>,
    finish: Option<Finish>,
    done: bool,
    /// The first failure. It stays, whatever follows.
    failure: Option<(FailureClass, String)>,
    /// The stream makes no sense any more.
    broken: bool,
    /// The text, and whether events repeat it.
    growth: Growth,
}

impl Notes {
    const fn new(growth: Growth) -> Self {
        Self {
            seen: Vec::new(),
            most_events: MOST_EVENTS,
            running: 0,
            usage: None,
            timing: None,
            finish: None,
            done: false,
            failure: None,
            broken: false,
            growth,
        }
    }

    fn take_event(&mut self, dialect: &dyn Dialect, event: &RawEvent<'_>) {
        match dialect.read(event) {
            Ok(wire) => self.take(wire, event.mark),
            Err(error) => self.malformed(error.to_string()),
        }
    }

    fn take(&mut self, event: WireEvent<'_>, mark: ReadMark) {
        if let Some(seen) = Seen::of(&event, self.running, mark) {
            if self.is_full() {
                self.malformed("the reply is longer than any model could make it".to_owned());
                return;
            }
            self.seen.push(seen);
            let counts =
                Counts { ids: event.token_ids, before: self.running, running: event.running };
            // Thoughts come before the answer where one event holds both.
            let texts = event.texts().into_iter().rev().map(|(_, text)| text);
            self.growth.take(texts, counts);
        }
        self.running = event.running.unwrap_or(self.running).max(self.running);
        self.take_usage(event.usage);
        self.timing = event.timing.or(self.timing);
        self.finish = event.finish.or(self.finish);
        self.done |= event.done;
        if let Some(words) = event.error {
            let failure = (FailureClass::InStreamError, words);
            self.failure.get_or_insert(failure);
        }
    }

    fn is_full(&self) -> bool {
        self.seen.len() >= self.most_events || self.growth.kept() >= MOST_TEXT
    }

    /// The last usage wins, but none that counts no output over one that does. What it does not mention stays as
    /// it was: some protocols tell input and output in different events.
    fn take_usage(&mut self, usage: Option<Usage>) {
        let counts = |usage: &Usage| usage.completion_tokens > Some(Tokens::ZERO);
        let Some(new) = usage else {
            return;
        };
        let old = self.usage.unwrap_or_default();
        if counts(&new) || !counts(&old) {
            self.usage = Some(Usage {
                prompt_tokens: new.prompt_tokens.or(old.prompt_tokens),
                completion_tokens: new.completion_tokens.or(old.completion_tokens),
                cached_tokens: new.cached_tokens.or(old.cached_tokens),
                reasoning_tokens: new.reasoning_tokens.or(old.reasoning_tokens),
            });
        }
    }

    fn malformed(&mut self, detail: String) {
        self.failure.get_or_insert((FailureClass::Malformed, detail));
        self.broken = true;
    }

    fn into_reply(mut self, rule: EndRule, end: BodyEnd, secrets: &Secrets) -> Reply {
        if self.growth.is_repeating() {
            tokens::take_off_repeats(&mut self.seen);
        }
        let total = self.usage.and_then(|usage| usage.completion_tokens);
        let total = total.map(Tokens::get).filter(|total| *total > 0);
        let thought = self.usage.and_then(|usage| usage.reasoning_tokens).map_or(0, Tokens::get);
        let (arrivals, token_source) = tokens::count(&self.seen, total, thought);
        let body_may_end = match rule {
            EndRule::Body => true,
            EndRule::FinishThenBody => self.finish.is_some(),
            EndRule::Marker => false,
        };
        let ended = self.done || (body_may_end && end == BodyEnd::Whole);
        let outcome = if let Some((class, detail)) = self.failure {
            Outcome::Failed(Failure::new(class, secrets.detail(&detail)))
        } else if !ended {
            Outcome::Failed(unfinished(end, arrivals.len()))
        } else if arrivals.is_empty() {
            let by_server = total.map(|total| format!(", though the server counted {total}"));
            let by_server = by_server.unwrap_or_default();
            let detail =
                format!("the reply ended well without a token that could be seen{by_server}");
            Outcome::Failed(Failure::new(FailureClass::Empty, detail))
        } else {
            Outcome::Complete(self.finish.unwrap_or(Finish::Unstated))
        };
        Reply {
            arrivals,
            token_source,
            usage: self.usage,
            server_timing: self.timing,
            outcome,
            text: self.growth.into_text(),
        }
    }
}

/// Why a reply without the protocol's own end is none.
fn unfinished(end: BodyEnd, events: usize) -> Failure {
    let how = match end {
        BodyEnd::Stopped(failure) => return failure,
        BodyEnd::Cut => "the connection broke",
        BodyEnd::Whole => "the reply ended",
    };
    let detail = format!("{how} after {events} events with output, without the protocol's own end");
    Failure::new(FailureClass::Truncated, detail)
}

#[cfg(test)]
mod tests {
    use fizeau_core::{FailureClass, Outcome, Stamp};

    use super::{BodyEnd, KeepText, Progress, ReplyReader};
    use crate::dialect::{Ask, Completions, Dialect, EndRule, EventError, RequestError, WireEvent};
    use crate::event::{RawEvent, ReadMark};

    const EVENT: &[u8] = b"data: {\"choices\":[{\"text\":\"a\"}]}\n\n";

    #[test]
    fn a_server_that_never_stops_is_stopped() {
        let mut reader = ReplyReader::new(&Completions, KeepText::No);
        reader.notes.most_events = 2;
        assert_eq!(reader.feed(EVENT, ReadMark::user(Stamp::EPOCH, 0)), Progress::Tokens);
        assert_eq!(reader.feed(EVENT, ReadMark::user(Stamp::EPOCH, 1)), Progress::Tokens);
        assert_eq!(reader.feed(EVENT, ReadMark::user(Stamp::EPOCH, 2)), Progress::Broken);
        let reply = reader.finish(BodyEnd::Whole);
        assert_eq!(reply.arrivals.len(), 2);
        let malformed =
            |outcome| matches!(outcome, Outcome::Failed(f) if f.class == FailureClass::Malformed);
        assert!(malformed(reply.outcome));
    }

    /// Completions whose reply ends with its body.
    #[derive(Debug)]
    struct Unmarked;

    impl Dialect for Unmarked {
        fn body(&self, ask: &Ask<'_>) -> Result<Vec<u8>, RequestError> {
            Completions.body(ask)
        }

        fn read<'a>(&self, event: &RawEvent<'a>) -> Result<WireEvent<'a>, EventError> {
            Completions.read(event)
        }

        fn end(&self) -> EndRule {
            EndRule::Body
        }
    }

    #[test]
    fn without_a_marker_the_end_of_the_body_is_the_end() {
        for (end, good) in [(BodyEnd::Whole, true), (BodyEnd::Cut, false)] {
            let mut reader = ReplyReader::new(&Unmarked, KeepText::No);
            reader.feed(EVENT, ReadMark::user(Stamp::EPOCH, 0));
            let outcome = reader.finish(end).outcome;
            assert_eq!(matches!(outcome, Outcome::Complete(_)), good);
        }
    }
}
