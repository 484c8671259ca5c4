//! How many tokens each event carried, from the best evidence that covers the whole reply.

mod packed;

use fizeau_core::{Arrival, Channel, TokenSource, Tokens};

pub(crate) use packed::PackedOutput;

use crate::dialect::WireEvent;
use crate::event_template::TemplateMatch;

/// What one event shows of output.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EventOutput {
    bytes: u32,
    chars: u32,
    /// None if it has no text.
    channel: Option<Channel>,
    evidence: TokenEvidence,
}

/// What is known of how many of a reply's tokens were thoughts, apart from those within its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Thoughts {
    /// So many, by the server.
    Counted(u64),
    /// There were some, and the server does not say how many.
    Uncounted,
}

/// What an event says of its tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct TokenEvidence {
    ids: u32,
    logprobs: u32,
    /// The running count of generated tokens after it.
    running: Option<u32>,
}

impl EventOutput {
    /// What `event` may have carried; none if it shows neither text nor any trace of a token. `before` is the
    /// running count so far.
    pub(crate) fn of(event: &WireEvent<'_>, before: u64) -> Option<Self> {
        if let Some(bytes) = event.embedded {
            return Some(Self::embedding(bytes));
        }
        let channel = event.channel();
        let step = event.running.is_some_and(|running| running > before);
        if channel.is_none() && event.token_ids == 0 && event.logprobs == 0 && !step {
            return None;
        }
        let texts = event.texts();
        let sum =
            |count: fn(&str) -> usize| texts.iter().map(|(_, text)| count(text)).sum::<usize>();
        Some(Self {
            bytes: clamp(sum(str::len)),
            chars: clamp(sum(|text| text.chars().count())),
            channel,
            evidence: TokenEvidence {
                ids: event.token_ids,
                logprobs: event.logprobs,
                running: event.running.map(clamp),
            },
        })
    }

    /// An embedding in a body of `bytes` bytes.
    fn embedding(bytes: u64) -> Self {
        let evidence = TokenEvidence { ids: 0, logprobs: 0, running: None };
        Self { bytes: clamp(bytes), chars: 0, channel: Some(Channel::Embedding), evidence }
    }

    /// What `matched` carried.
    pub(crate) fn of_match(matched: &TemplateMatch<'_>) -> Self {
        Self {
            bytes: clamp(matched.len()),
            chars: clamp(matched.chars),
            channel: Some(matched.channel),
            evidence: TokenEvidence {
                ids: matched.token_ids,
                logprobs: matched.logprobs,
                running: matched.running.map(clamp),
            },
        }
    }
}

/// The output of a reply: arrivals whose tokens are yet to be counted, and the evidence for each.
#[derive(Debug)]
pub(crate) struct ReceivedOutput {
    arrivals: Vec<Arrival>,
    evidence: Vec<TokenEvidence>,
}

impl ReceivedOutput {
    /// Takes off each event what it repeats of those before it.
    pub(crate) fn take_off_repeats(&mut self) {
        let mut before = (0, 0, 0);
        for (arrival, evidence) in self.arrivals.iter_mut().zip(&mut self.evidence) {
            let whole = (arrival.bytes, arrival.chars, evidence.ids);
            arrival.bytes = whole.0.saturating_sub(before.0);
            arrival.chars = whole.1.saturating_sub(before.1);
            evidence.ids = whole.2.saturating_sub(before.2);
            if (arrival.bytes, arrival.chars) == (0, 0) {
                arrival.channel = Channel::Silent;
            }
            before = (before.0.max(whole.0), before.1.max(whole.1), before.2.max(whole.2));
        }
    }

    /// The arrivals with their token counts, and where the counts come from. `total` is the server's own final count,
    /// if it gave one, and `thoughts` how many of those it calls reasoning. What was asked for plays no part.
    pub(crate) fn count(
        mut self,
        total: Option<u64>,
        thoughts: Thoughts,
    ) -> (Vec<Arrival>, TokenSource) {
        if self.arrivals.iter().any(|arrival| !arrival.channel.has_tokens()) {
            return (self.arrivals, TokenSource::Tokenless);
        }
        let source = if self.listed(total, |evidence| evidence.ids) {
            TokenSource::TokenIds
        } else if self.steps(total) {
            TokenSource::ContinuousUsage
        } else if self.listed(total, |evidence| evidence.logprobs) {
            TokenSource::Logprobs
        } else {
            return self.estimate(total, thoughts);
        };
        self.arrivals.retain(|arrival| has_text(arrival) || arrival.tokens > 0);
        (self.arrivals, source)
    }

    fn each(&mut self) -> impl Iterator<Item = (&mut Arrival, &TokenEvidence)> {
        self.arrivals.iter_mut().zip(&self.evidence)
    }

    /// Takes the counts that every event lists for itself, if they cover the reply: they add up to the server's
    /// total or, without one, no text came without them.
    fn listed(&mut self, total: Option<u64>, list: fn(&TokenEvidence) -> u32) -> bool {
        let sum: u64 = self.evidence.iter().map(|evidence| u64::from(list(evidence))).sum();
        let mut events = self.arrivals.iter().zip(&self.evidence);
        let covers = match total {
            Some(total) => sum == total,
            None => events.all(|(arrival, listed)| !has_text(arrival) || list(listed) > 0),
        };
        if sum == 0 || !covers {
            return false;
        }
        self.each().for_each(|(arrival, evidence)| arrival.tokens = list(evidence));
        true
    }

    /// Takes the differences of the running count, if they cover the reply: all text came with a count that never
    /// fell, and the last count is the server's total. A count that is given only once, at the end, is no running
    /// count.
    fn steps(&mut self, total: Option<u64>) -> bool {
        let (mut before, mut steps, mut with_text) = (0, 0, false);
        for (arrival, evidence) in self.each() {
            let running = match evidence.running {
                Some(running) => running,
                None if has_text(arrival) => return false,
                None => before,
            };
            let Some(step) = running.checked_sub(before) else {
                return false;
            };
            with_text |= has_text(arrival);
            steps += u32::from(step > 0);
            arrival.tokens = step;
            before = running;
        }
        let is_running = steps > 0 && (with_text || steps > 1);
        is_running && total.is_none_or(|total| total == u64::from(before))
    }

    fn estimate(mut self, total: Option<u64>, thoughts: Thoughts) -> (Vec<Arrival>, TokenSource) {
        for (arrival, evidence) in self.each() {
            arrival.tokens =
                u32::from(has_text(arrival) || evidence.ids > 0 || evidence.logprobs > 0);
        }
        self.arrivals.retain(|arrival| arrival.tokens > 0);
        let thought = match thoughts {
            Thoughts::Counted(thought) => thought,
            Thoughts::Uncounted if self.arrivals.iter().any(is_thought) => 0,
            // How much of the total came with the events nobody knows.
            Thoughts::Uncounted => return (self.arrivals, TokenSource::Events),
        };
        let Some(total) = total else {
            return (self.arrivals, TokenSource::Events);
        };
        spread_total(total, thought, &mut self.arrivals);
        (self.arrivals, TokenSource::FinalUsageSpread)
    }
}

fn has_text(arrival: &Arrival) -> bool {
    arrival.channel != Channel::Silent
}

fn is_thought(arrival: &Arrival) -> bool {
    arrival.channel == Channel::Reasoning
}

fn spread<'a>(total: u64, events: impl Iterator<Item = &'a mut Arrival>, count: usize) {
    let shares = Tokens::new(total).spread_over(count);
    events.zip(shares).for_each(|(arrival, share)| arrival.tokens = share);
}

/// `total` spread over `events`, of which `thought` are thoughts by the server. Each channel has its own where the server's division
/// gives each event a token: a summary of the thoughts stands for all of them, and they make the answer no faster. Thoughts of which
/// nothing was streamed were all before the first event, so they are counted to it.
fn spread_total(total: u64, thought: u64, events: &mut [Arrival]) {
    let all = events.len();
    let thoughts = events.iter().filter(|event| is_thought(event)).count();
    let rest = total.saturating_sub(thought);
    let (thought, fits) = (thought.min(total), rest >= (all - thoughts) as u64);
    if thoughts == 0 && fits {
        spread(rest, events.iter_mut(), all);
        if let Some(first) = events.first_mut() {
            first.tokens = first.tokens.saturating_add(clamp(thought));
        }
    } else if fits && thoughts < all && thought >= thoughts as u64 {
        spread(thought, events.iter_mut().filter(|event| is_thought(event)), thoughts);
        spread(rest, events.iter_mut().filter(|event| !is_thought(event)), all - thoughts);
    } else {
        spread(total, events.iter_mut(), all);
    }
}

fn clamp(count: impl TryInto<u32>) -> u32 {
    count.try_into().unwrap_or(u32::MAX)
}
