//! What the rules of all tools take from tapes. Times are seconds unless a name says otherwise.

use std::cell::OnceCell;

use fizeau_core::{Channel, FailureClass, Nanos, Outcome, RequestPurpose, Stamp, Tape, Tokens};

use super::{PeerSettings, Sample};
use fizeau_metrics::SimpleGoals;

/// The tapes of a run's load.
#[derive(Debug)]
pub(super) struct Run<'a> {
    pub(super) tapes: Vec<&'a Tape>,
    pub(super) settings: PeerSettings,
    /// What [`Run::event_gaps`] and [`Run::text_gaps`] found: most tools sort the same gaps.
    event_gaps: OnceCell<Sample>,
    text_gaps: OnceCell<Sample>,
}

impl<'a> Run<'a> {
    pub(super) fn of(tapes: impl IntoIterator<Item = &'a Tape>, settings: &PeerSettings) -> Self {
        let load = tapes.into_iter().filter(|tape| tape.part == RequestPurpose::Load);
        Self {
            tapes: load.collect(),
            settings: settings.clone(),
            event_gaps: OnceCell::new(),
            text_gaps: OnceCell::new(),
        }
    }

    /// The gaps between all generation events of each reply that succeeded, in milliseconds.
    pub(super) fn event_gaps(&self) -> &Sample {
        self.event_gaps.get_or_init(|| self.good().flat_map(|tape| millis(events(tape))).collect())
    }

    /// The same of the events that carry text.
    pub(super) fn text_gaps(&self) -> &Sample {
        self.text_gaps
            .get_or_init(|| self.good().flat_map(|tape| millis(with_text(tape))).collect())
    }

    /// The goals of goodput, or why there are none. What a tool cannot be asked for has no figure of it.
    pub(super) fn goals(&self) -> Result<SimpleGoals, &'static str> {
        if self.settings.goals.is_empty() {
            return Err("no goals were given");
        }
        self.settings.goals.simple().ok_or("the goals go beyond one group of ttft, tpot and e2el")
    }

    /// Which of the goals of TTFT, TPOT and latency these figures in seconds meet: one that is not set is met, one without a
    /// figure is not.
    pub(super) fn met(&self, seconds: [Option<f64>; 3]) -> [bool; 3] {
        let goals = self.goals().unwrap_or_default();
        let [ttft, tpot, e2el] = seconds;
        [(goals.ttft, ttft), (goals.tpot, tpot), (goals.e2el, e2el)].map(|(goal, seconds)| {
            goal.is_none_or(|goal| seconds.is_some_and(|seconds| seconds * 1e3 <= goal.get()))
        })
    }

    /// Those that succeeded.
    pub(super) fn good(&self) -> impl Iterator<Item = &'a Tape> {
        self.tapes.iter().copied().filter(|tape| tape.is_success())
    }

    pub(super) fn completed(&self) -> u64 {
        self.good().count() as u64
    }

    pub(super) fn failed(&self) -> u64 {
        self.tapes.len() as u64 - self.completed()
    }

    /// The sum of `each` over those that succeeded.
    pub(super) fn sum(&self, each: impl Fn(&Tape) -> u64) -> u64 {
        self.good().fold(0, |sum, tape| sum.saturating_add(each(tape)))
    }

    /// From the first release to the last end, failed requests included: how long a loop took that issues and
    /// then waits for all. The wait before the first arrival, which such a loop has too, is on no tape.
    pub(super) fn issuing(&self) -> f64 {
        span(self.tapes.iter().copied(), |tape| tape.marks.released, end)
    }
}

/// From the least instant `from` to the greatest instant `to`; zero of no tapes.
pub(super) fn span<'a>(
    tapes: impl Iterator<Item = &'a Tape>,
    from: fn(&Tape) -> Stamp,
    to: fn(&Tape) -> Stamp,
) -> f64 {
    let whole = tapes.map(|tape| (from(tape), to(tape)));
    let whole = whole.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
    whole.map_or(0.0, |(first, last)| secs(last.saturating_since(first)))
}

pub(super) fn secs(span: Nanos) -> f64 {
    span.as_secs_f64()
}

/// When a request was sent, or at least let go.
pub(crate) fn sent(tape: &Tape) -> Stamp {
    tape.marks.send_start.unwrap_or(tape.marks.released)
}

/// When a request was over: the end of its reply, the usage event and the end marker included.
pub(crate) fn end(tape: &Tape) -> Stamp {
    let end = tape.marks.end.or_else(|| tape.last_output());
    end.unwrap_or_else(|| sent(tape))
}

/// When the last of the output came, or else the end.
pub(super) fn last_output(tape: &Tape) -> Stamp {
    tape.last_output().unwrap_or_else(|| end(tape))
}

/// Time to the first token on any channel, in whole nanoseconds.
pub(crate) fn first_token(tape: &Tape) -> Option<Nanos> {
    tape.first_token()?.since(sent(tape))
}

/// Time to the last of the output, in whole nanoseconds.
pub(crate) fn last_token(tape: &Tape) -> Option<Nanos> {
    tape.last_output()?.since(sent(tape))
}

/// How long a request waited for a slot after it was due.
pub(crate) fn queued(tape: &Tape) -> Nanos {
    tape.marks.released.saturating_since(tape.marks.intended)
}

/// How long after the sending `at` was.
pub(super) fn after_sending(tape: &Tape, at: Stamp) -> Option<f64> {
    at.since(sent(tape)).map(secs)
}

/// Time to the first token on any channel.
pub(super) fn ttft(tape: &Tape) -> Option<f64> {
    first_token(tape).map(secs)
}

/// Time to the last of the output.
pub(super) fn to_last(tape: &Tape) -> Option<f64> {
    last_token(tape).map(secs)
}

/// Time to the end of the reply.
pub(super) fn to_end(tape: &Tape) -> Option<f64> {
    after_sending(tape, end(tape))
}

/// The instants of the events that carry text, on any channel.
pub(super) fn with_text(tape: &Tape) -> impl Iterator<Item = Stamp> {
    tape.arrivals.iter().filter(|event| event.channel != Channel::Silent).map(|event| event.at)
}

/// The instants of all generation events.
pub(crate) fn events(tape: &Tape) -> impl Iterator<Item = Stamp> {
    tape.arrivals.iter().map(|event| event.at)
}

/// The time between each instant and the one before it.
pub(super) fn gaps(instants: impl Iterator<Item = Stamp>) -> impl Iterator<Item = f64> {
    spans(instants).map(secs)
}

/// The same in milliseconds, as most tools have it: seconds, times a thousand.
fn millis(instants: impl Iterator<Item = Stamp>) -> impl Iterator<Item = f64> {
    gaps(instants).map(|seconds| seconds * 1e3)
}

/// The same in whole nanoseconds.
pub(crate) fn spans(instants: impl Iterator<Item = Stamp>) -> impl Iterator<Item = Nanos> {
    let mut before = None;
    instants.filter_map(move |at| Some(at.saturating_since(before.replace(at)?)))
}

/// `span` shared over all tokens but the first; none unless there are two.
pub(super) fn per_later_token(span: f64, tokens: u64) -> Option<f64> {
    (tokens > 1).then(|| span / (tokens - 1) as f64)
}

/// The prompt's length: the server's word, else what was asked, else zero.
pub(super) fn input(tape: &Tape) -> u64 {
    tape.input_tokens().map_or(0, Tokens::get)
}

/// The tokens on the tape: what stands in for a tokenizer over the text.
pub(super) fn counted(tape: &Tape) -> u64 {
    tape.output_tokens().get()
}

/// The server's count of output tokens, if it gave one that is not zero.
pub(super) fn reported(tape: &Tape) -> Option<u64> {
    let tokens = tape.usage.and_then(|usage| usage.completion_tokens)?.get();
    (tokens > 0).then_some(tokens)
}

/// The server's count, else the tape's.
pub(crate) fn reported_or_counted(tape: &Tape) -> u64 {
    reported(tape).unwrap_or_else(|| counted(tape))
}

/// Whether the request was cancelled before its end, rather than gone wrong.
pub(crate) fn was_called_off(tape: &Tape) -> bool {
    matches!(&tape.outcome, Outcome::Failed(failure) if failure.class == FailureClass::Cancelled)
}
