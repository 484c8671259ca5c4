//! The requests of a level on one axis of time.

use std::borrow::Cow;

use fizeau_core::{Millis, Nanos, RequestPurpose, Stamp, Tape, Tokens};

use super::{CountSeries, TimeSpan, end_of};
use crate::{RequestMetrics, inter_chunk};

/// When each request of a level was sent, prefilled, decoded and over: eighty bytes a request, and no tokens.
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
#[derive(Debug, Clone, Default)]
pub struct Timeline {
    /// In order of sending.
    requests: Vec<SentRequest>,
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

    /// What tells one from another that was sent at the same instant, so that the order of all depends on nothing else.
    const fn key(&self) -> impl Ord + use<> {
        let when = (self.at, self.end, self.intended, self.first);
        let counts = (self.output, self.prompt, self.gaps, self.gap_tokens);
        (when, (self.e2el, self.visible, counts, self.has_token, self.is_good))
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
        self.requests.extend(sent(tape, metrics, gaps).map(|sent| SentRequest { is_good, ..sent }));
    }

    /// Takes in all that `other` has.
    pub(crate) fn append(&mut self, mut other: Self) {
        self.requests.append(&mut other.requests);
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
        self.count(|request| TimeSpan::new(request.at, request.end))
    }

    /// Requests that waited for their first token.
    pub(crate) fn prefilling(&self) -> CountSeries {
        self.count(|request| TimeSpan::new(request.at, request.first))
    }

    /// Requests from their first token to their end. With those in prefill they are all in flight.
    pub(crate) fn decoding(&self) -> CountSeries {
        self.count(|request| TimeSpan::new(request.first, request.end))
    }

    /// Requests that were due and not over: from the intended instant to the end. A cap on requests in flight keeps the
    /// queue on the client's side; here it shows.
    pub(crate) fn due(&self) -> CountSeries {
        self.count(|request| TimeSpan::new(request.intended, request.end))
    }

    /// In order of sending.
    pub(crate) fn requests(&self) -> &[SentRequest] {
        &self.requests
    }

    fn count(&self, span: impl Fn(&SentRequest) -> TimeSpan) -> CountSeries {
        CountSeries::of(self.requests.iter().map(span))
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
        has_token: metrics.ttft_scheduled.is_some(),
        is_good: false,
    })
}

/// As many as there are, or [`NONE`].
fn tokens(n: Option<Tokens>) -> u32 {
    n.map_or(NONE, |n| count(n.get()).min(NONE - 1))
}

/// As many as there are, up to four thousand million.
fn count(n: u64) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}
