//! The requests of a level on one axis of time.

mod folded;

pub(crate) use folded::{FoldedRequests, RequestEvent};

use std::borrow::Cow;

use fizeau_core::{Millis, Nanos, RequestPurpose, Stamp, Tape, Tokens, split_mix};

use super::{CountSeries, TimeSpan, end_of};
use crate::{RequestMetrics, inter_chunk};

/// How many requests are kept one by one: 2^17, ten megabytes of them.
pub(crate) const EXACT: usize = 1 << 17;

/// When each request of a level was sent, prefilled, decoded and over: eighty bytes a request, and no tokens.
///
/// Of more than [`LevelTally::EXACT`](crate::LevelTally::EXACT) requests it keeps an even part, drawn by lot, and counts all by cells
/// of time: how many were going on is then known at the ends of cells, and the rest from the part.
///
/// All requests of the load that were sent count, failed ones too, since they were in flight like the others. Those of a
/// probe stream do not. One without a first token was in prefill until its end.
///
/// ```
/// use fizeau_core::{Arrival, Channel, Nanos, Stamp, Tape};
/// use fizeau_metrics::{Saturation, Timeline};
///
/// let ms = |n| Stamp::EPOCH + Nanos::from_millis(n);
/// let mut tape = Tape::sent_at(ms(0));
/// tape.arrivals.push(Arrival::tokens(ms(20), 1, Channel::Visible));
/// tape.arrivals.push(Arrival::tokens(ms(50), 3, Channel::Visible));
/// let timeline = Timeline::of([&tape]);
/// // One request tells nothing of a queue, nor of a steady state.
/// assert!(matches!(timeline.saturation(), Saturation::Unknown(_)));
/// assert!(timeline.steady().is_err());
/// ```
#[derive(Debug, Clone)]
pub struct Timeline {
    /// In order of sending.
    requests: Vec<SentRequest>,
    /// The most that are kept, at least one.
    most: usize,
    /// What there is of all, once they were more.
    folded: Option<Box<FoldedRequests>>,
}

/// What is kept of a request, in eighty bytes: a level may have millions.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SentRequest {
    pub(crate) at: Stamp,
    pub(crate) intended: Stamp,
    pub(crate) first: Stamp,
    pub(crate) end: Stamp,
    e2el: PackedDuration,
    visible: PackedDuration,
    /// NaN where there is none.
    tpot: f64,
    /// [`NONE`] where there is none, as in the next.
    output: u32,
    prompt: u32,
    /// Gaps between events, and the tokens that came after the first event; of completed requests.
    pub(crate) gaps: u32,
    pub(crate) gap_tokens: u32,
    /// Which requests are kept where they are too many hangs on the zeros at its end.
    lot: u32,
    has_token: bool,
    /// Whether it met its goals; never where there are none.
    pub(crate) is_good: bool,
}

/// No number of tokens.
const NONE: u32 = u32::MAX;

/// A length of time, or none, in eight bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct PackedDuration(u64);

impl PackedDuration {
    const fn of(time: Option<Nanos>) -> Self {
        match time {
            Some(time) => Self(time.as_nanos()),
            None => Self(u64::MAX),
        }
    }

    const fn get(self) -> Option<Nanos> {
        match self.0 {
            u64::MAX => None,
            nanos => Some(Nanos::from_nanos(nanos)),
        }
    }
}

impl SentRequest {
    /// From the intended instant to the first token, or to the reply where that has none: what windows and saturation look at.
    pub(crate) fn wait(&self) -> Option<Nanos> {
        self.ttft_scheduled().or_else(|| self.e2el_scheduled())
    }

    /// From the sending to the first token; of completed requests, and none of a reply without tokens.
    pub(crate) fn ttft(&self) -> Option<Nanos> {
        self.first.since(self.at).filter(|_| self.has_token)
    }

    /// From the intended instant to the first token; of completed requests, and none of a reply without tokens.
    pub(crate) fn ttft_scheduled(&self) -> Option<Nanos> {
        self.first.since(self.intended).filter(|_| self.has_token)
    }

    /// From the sending to the first token that a reader would see; of completed requests.
    pub(crate) const fn visible(&self) -> Option<Nanos> {
        self.visible.get()
    }

    /// Time per output token; of completed requests.
    pub(crate) const fn tpot(&self) -> Option<Millis> {
        if self.tpot.is_nan() { None } else { Some(Millis::new(self.tpot)) }
    }

    /// From the sending to the last of the output; of completed requests.
    pub(crate) const fn e2el(&self) -> Option<Nanos> {
        self.e2el.get()
    }

    /// When the last of its output came; the end of one that has none.
    pub(crate) fn last(&self) -> Stamp {
        self.e2el().map_or(self.end, |e2el| self.at + e2el)
    }

    /// From the intended instant to the last of the output; of completed requests.
    pub(crate) fn e2el_scheduled(&self) -> Option<Nanos> {
        (self.at + self.e2el()?).since(self.intended)
    }

    /// Tokens received; of completed requests.
    pub(crate) fn output(&self) -> Option<Tokens> {
        (self.output != NONE).then(|| Tokens::new(self.output.into()))
    }

    /// Tokens of the prompt, where they are known; of completed requests.
    pub(crate) fn prompt(&self) -> Option<Tokens> {
        (self.prompt != NONE).then(|| Tokens::new(self.prompt.into()))
    }

    /// When something happened to it.
    const fn when(&self, event: RequestEvent) -> Stamp {
        match event {
            RequestEvent::Intended => self.intended,
            RequestEvent::Sent => self.at,
            RequestEvent::First | RequestEvent::Prompt => self.first,
            RequestEvent::Over | RequestEvent::Completed | RequestEvent::Good => self.end,
        }
    }

    /// How much an event of it counts.
    fn amount(&self, event: RequestEvent) -> Tokens {
        match event {
            RequestEvent::Completed => Tokens::new(self.output().is_some().into()),
            RequestEvent::Good => Tokens::new(self.is_good.into()),
            RequestEvent::Prompt => self.prompt().unwrap_or_default(),
            RequestEvent::Intended
            | RequestEvent::Sent
            | RequestEvent::First
            | RequestEvent::Over => Tokens::new(1),
        }
    }

    /// What tells one from another that was sent at the same instant, so that the order of all depends on nothing else.
    const fn key(&self) -> impl Ord + use<> {
        let when = (self.at, self.end, self.intended, self.first);
        let counts = (self.output, self.prompt, self.gaps, self.gap_tokens);
        (when, (self.e2el, self.visible, counts, self.has_token, self.is_good))
    }
}

impl Default for Timeline {
    fn default() -> Self {
        Self { requests: Vec::new(), most: EXACT, folded: None }
    }
}

impl Timeline {
    /// Of `tapes`, in any order.
    #[must_use]
    pub fn of<'a>(tapes: impl IntoIterator<Item = &'a Tape>) -> Self {
        let mut timeline = Self::default();
        for tape in tapes {
            let gaps = inter_chunk(tape).count() as u64;
            timeline.add(tape, &RequestMetrics::of(tape), gaps, false);
        }
        timeline.sort();
        timeline
    }

    /// Takes in a tape with so many gaps between its events, in any order; [`Timeline::sort`] puts all in theirs.
    pub(crate) fn add(&mut self, tape: &Tape, metrics: &RequestMetrics, gaps: u64, is_good: bool) {
        let Some(request) = sent(tape, metrics, gaps).map(|sent| SentRequest { is_good, ..sent })
        else {
            return;
        };
        while self.requests.len() == self.most && self.keeps(&request) {
            self.halve();
        }
        if let Some(folded) = &mut self.folded {
            folded.add(&request);
        }
        if self.keeps(&request) {
            self.requests.push(request);
        }
    }

    /// Takes in all that `other` has.
    pub(crate) fn append(&mut self, mut other: Self) {
        match (&mut self.folded, other.folded) {
            (None, None) => {}
            (Some(ours), Some(theirs)) => ours.merge(&theirs),
            (Some(ours), None) => other.requests.iter().for_each(|request| ours.add(request)),
            (None, Some(mut theirs)) => {
                self.requests.iter().for_each(|request| theirs.add(request));
                self.folded = Some(theirs);
            }
        }
        if let Some(folded) = &self.folded {
            self.requests.retain(|request| folded.keeps(request));
            other.requests.retain(|request| folded.keeps(request));
        }
        self.requests.append(&mut other.requests);
        while self.requests.len() > self.most {
            self.halve();
        }
    }

    /// The same, keeping at most so many requests one by one. Of none yet.
    pub(crate) fn up_to(most: usize) -> Self {
        Self { most: most.max(1), ..Self::default() }
    }

    /// What there is of all requests, where they were too many to keep.
    pub(crate) fn folded(&self) -> Option<&FoldedRequests> {
        self.folded.as_deref()
    }

    /// How many requests each of those stands for that are kept: one, while all are.
    pub(crate) fn each_stands_for(&self) -> f64 {
        self.folded.as_ref().map_or(1.0, |all| all.all() as f64 / self.requests.len().max(1) as f64)
    }

    /// How many bytes it holds, in cells and in requests.
    #[cfg(test)]
    pub(crate) fn bytes(&self) -> [usize; 2] {
        let cells = self.folded.as_ref().map_or(0, |folded| folded.bytes());
        [cells, self.requests.capacity() * size_of::<SentRequest>()]
    }

    fn keeps(&self, request: &SentRequest) -> bool {
        self.folded.as_ref().is_none_or(|folded| folded.keeps(request))
    }

    /// Keeps about half as many.
    fn halve(&mut self) {
        let all = || Box::new(FoldedRequests::of(&self.requests));
        let folded = self.folded.get_or_insert_with(all);
        folded.halve();
        self.requests.retain(|request| folded.keeps(request));
    }

    /// In order of sending: a copy, unless it is already.
    pub(crate) fn sorted(&self) -> Cow<'_, Self> {
        if self.requests.is_sorted_by_key(SentRequest::key) {
            return Cow::Borrowed(self);
        }
        let mut sorted = self.clone();
        sorted.sort();
        Cow::Owned(sorted)
    }

    /// Puts all in order of sending; those sent at one instant in that of their ends, so that the order in which they were
    /// taken in does not matter.
    pub(crate) fn sort(&mut self) {
        self.requests.sort_unstable_by_key(SentRequest::key);
    }

    /// Requests in flight: from send start to end. Its integral is the sum of their times in flight (Little's law).
    pub(crate) fn in_flight(&self) -> CountSeries {
        self.count(RequestEvent::Sent, RequestEvent::Over)
    }

    /// Requests that waited for their first token.
    pub(crate) fn prefilling(&self) -> CountSeries {
        self.count(RequestEvent::Sent, RequestEvent::First)
    }

    /// Requests from their first token to their end. With those in prefill they are all in flight.
    pub(crate) fn decoding(&self) -> CountSeries {
        self.count(RequestEvent::First, RequestEvent::Over)
    }

    /// Requests that were due and not over: from the intended instant to the end. A cap on requests in flight keeps the
    /// queue on the client's side; here it shows.
    pub(crate) fn due(&self) -> CountSeries {
        self.count(RequestEvent::Intended, RequestEvent::Over)
    }

    /// Those that are kept, in order of sending.
    pub(crate) fn requests(&self) -> &[SentRequest] {
        &self.requests
    }

    fn count(&self, from: RequestEvent, to: RequestEvent) -> CountSeries {
        let span = |request: &SentRequest| TimeSpan::new(request.when(from), request.when(to));
        match &self.folded {
            Some(folded) => folded.count(from, to),
            None => CountSeries::of(self.requests.iter().map(span)),
        }
    }
}

/// What is kept of `tape`; none if it was never sent or belongs to a probe.
fn sent(tape: &Tape, metrics: &RequestMetrics, gaps: u64) -> Option<SentRequest> {
    if tape.part == RequestPurpose::Probe {
        return None;
    }
    let at = tape.marks.send_start?;
    let end = end_of(tape).unwrap_or(at).max(at);
    Some(SentRequest {
        at,
        intended: tape.marks.intended,
        first: tape.first_token().unwrap_or(end).clamp(at, end),
        end,
        e2el: PackedDuration::of(metrics.e2el),
        visible: PackedDuration::of(metrics.first_visible),
        tpot: metrics.tpot.map_or(f64::NAN, Millis::get),
        output: tokens(metrics.output_tokens),
        prompt: tokens(metrics.output_tokens.and_then(|_| tape.input_tokens())),
        gaps: count(gaps),
        gap_tokens: metrics.tpot.map_or(0, |_| {
            let first = metrics.first_event_tokens.unwrap_or_default();
            count(metrics.output_tokens.unwrap_or_default().get().saturating_sub(first.get()))
        }),
        lot: lot(tape),
        has_token: metrics.ttft_scheduled.is_some(),
        is_good: false,
    })
}

/// A number that hangs on which request it is and on when it was due, and is as good as drawn by lot.
const fn lot(tape: &Tape) -> u32 {
    let due = tape.marks.intended.as_nanos().wrapping_mul(split_mix::STEP);
    split_mix::mixed(due ^ tape.request.0.wrapping_add(1).rotate_left(32)) as u32
}

/// As many as there are, or [`NONE`].
fn tokens(n: Option<Tokens>) -> u32 {
    n.map_or(NONE, |n| count(n.get()).min(NONE - 1))
}

/// As many as there are, up to four thousand million.
fn count(n: u64) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}
