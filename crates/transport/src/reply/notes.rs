//! What has been read of a reply so far, and what it comes to.

use fizeau_core::{Failure, FailureClass, Finish, Outcome, ServerTiming, Tokens, Usage};

use super::{BodyEnd, Reply};
use crate::cumulative::{CumulativeStream, EventCounts};
use crate::dialect::{EndRule, WireEvent};
use crate::event::ReadMark;
use crate::event_template::TemplateMatch;
use crate::secret::Secrets;
use crate::tokens::{EventOutput, PackedOutput, Thoughts};

/// The most events with output, and the most bytes of kept text, of one reply. Far beyond any model's context:
/// they stop a server that never does.
const MOST_EVENTS: usize = 1 << 22;
const MOST_TEXT: usize = 1 << 28;

/// The most tokens that a server may count of one request: a thousand times the longest context of a model. Past it a count is
/// garbage, or grows towards what the counts of a tape cannot hold.
const MOST_TOKENS: u64 = 1 << 30;

/// What has been read so far.
#[derive(Debug)]
pub(super) struct ReplyNotes {
    pub(super) seen: PackedOutput,
    /// How many may be seen at most.
    pub(super) most_events: usize,
    /// The highest running count so far.
    running: u64,
    usage: Option<Usage>,
    timing: Option<ServerTiming>,
    finish: Option<Finish>,
    pub(super) done: bool,
    /// The first failure. It stays, whatever follows.
    pub(super) failure: Option<(FailureClass, String)>,
    /// The stream makes no sense any more.
    pub(super) broken: bool,
    /// The text, and whether events repeat it.
    growth: CumulativeStream,
    tag: ThinkingTag,
    /// Whether an event told that the model thought.
    has_thought: bool,
}

/// Looks for `<think>` or `</think>` in the answer, however events cut it: what has it streamed its thoughts as text.
#[derive(Debug, Default)]
struct ThinkingTag {
    /// How many bytes of it came last.
    seen: usize,
}

impl ThinkingTag {
    const END: &[u8] = b"think>";

    fn take(&mut self, text: &[u8]) {
        for byte in text {
            self.seen = match Self::END.get(self.seen) {
                None => return,
                Some(next) if next == byte => self.seen + 1,
                Some(_) => usize::from(Self::END.first() == Some(byte)),
            };
        }
    }

    const fn is_found(&self) -> bool {
        self.seen == Self::END.len()
    }
}

impl ReplyNotes {
    pub(super) fn new(growth: CumulativeStream) -> Self {
        Self {
            seen: PackedOutput::default(),
            most_events: MOST_EVENTS,
            running: 0,
            usage: None,
            timing: None,
            finish: None,
            done: false,
            failure: None,
            broken: false,
            growth,
            tag: ThinkingTag::default(),
            has_thought: false,
        }
    }

    /// Notes all that `event` says; the read `mark` completed it.
    pub(super) fn take(&mut self, event: &WireEvent<'_>, mark: ReadMark) {
        let counts = self.counts(event.token_ids, event.running);
        if let Some(output) = EventOutput::of(event, self.running) {
            let visible = event.texts().into_iter().filter(|(channel, _)| channel.is_visible());
            visible.for_each(|(_, text)| self.tag.take(text.as_bytes()));
            // Thoughts come before the answer where one event holds both.
            let texts = event.texts().into_iter().rev().map(|(_, text)| text);
            self.take_output(output, texts, counts, mark);
        }
        self.take_counts(event.running, event.usage);
        self.timing = event.timing.or(self.timing);
        // The Responses route tells of the call first and that it is completed later.
        let is_call = self.finish == Some(Finish::ToolCalls) && event.finish == Some(Finish::Stop);
        self.finish = event.finish.filter(|_| !is_call).or(self.finish);
        self.done |= event.done;
        self.has_thought |= event.has_thought;
        if let Some(words) = &event.error {
            let failure = (FailureClass::InStreamError, words.clone());
            self.failure.get_or_insert(failure);
        }
    }

    /// As [`ReplyNotes::take`], for an event that matches a template.
    pub(super) fn take_match(&mut self, matched: &TemplateMatch<'_>, mark: ReadMark) {
        let counts = self.counts(matched.token_ids, matched.running);
        if matched.channel.is_visible() {
            self.tag.take(matched.bytes());
        }
        self.take_output(
            EventOutput::of_match(matched),
            std::iter::once_with(|| matched.text()),
            counts,
            mark,
        );
        self.take_counts(matched.running, matched.usage);
    }

    /// Notes the `running` count and the `usage` of an event, unless they are none that a request can have.
    fn take_counts(&mut self, running: Option<u64>, usage: Option<Usage>) {
        let highest = usage.map_or(0, |of| {
            let count = |count: Option<Tokens>| count.map_or(0, Tokens::get);
            let sums = count(of.prompt_tokens).max(count(of.completion_tokens));
            sums.max(count(of.cached_tokens)).max(count(of.reasoning_tokens))
        });
        let count = running.map_or(highest, |running| running.max(highest));
        if count > MOST_TOKENS {
            self.malformed(format!(
                "the server counts {count} tokens, more than any request can have (limit {MOST_TOKENS})"
            ));
            return;
        }
        self.running = running.unwrap_or(self.running).max(self.running);
        self.take_usage(usage);
    }

    /// Notes `output`, made of `texts`.
    fn take_output<'t>(
        &mut self,
        output: EventOutput,
        texts: impl Iterator<Item = &'t str>,
        counts: EventCounts,
        mark: ReadMark,
    ) {
        if self.is_full() {
            self.malformed("the reply is longer than any model could make it".to_owned());
            return;
        }
        self.seen.push(output, mark);
        self.growth.take(texts, counts);
    }

    const fn counts(&self, ids: u32, running: Option<u64>) -> EventCounts {
        EventCounts { ids, before: self.running, running }
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

    /// The stream makes no sense from here on, for the reason `detail`.
    pub(super) fn malformed(&mut self, detail: String) {
        self.failure.get_or_insert((FailureClass::Malformed, detail));
        self.broken = true;
    }

    /// Counts the tokens and judges the whole. `secrets` are scrubbed from what the server said.
    pub(super) fn into_reply(self, rule: EndRule, end: BodyEnd, secrets: &Secrets) -> Reply {
        let mut output = self.seen.unpack();
        if self.growth.is_repeating() {
            output.take_off_repeats();
        }
        let total = self.usage.and_then(|usage| usage.completion_tokens);
        let total = total.map(Tokens::get).filter(|total| *total > 0);
        let thoughts = match self.usage.and_then(|usage| usage.reasoning_tokens) {
            _ if self.tag.is_found() => Thoughts::Counted(0),
            Some(count) => Thoughts::Counted(count.get()),
            None if self.has_thought => Thoughts::Uncounted,
            None => Thoughts::Counted(0),
        };
        let (arrivals, token_source) = output.count(total, thoughts);
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
                format!("the reply ended well without output that could be seen{by_server}");
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
