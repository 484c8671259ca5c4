//! What the rules of all tools take from tapes. Times are seconds unless a name says otherwise.

use std::cell::OnceCell;

use fizeau_core::{Channel, FailureClass, Nanos, Outcome, RequestPurpose, Stamp, Tape, Tokens};
use fizeau_metrics::SimpleGoals;

use super::PeerSettings;
use super::gaps::{GapSample, ReplySteps};
use super::request::PeerRequest;

/// The requests of a run's load, taken in one by one.
#[derive(Debug, Default)]
pub(super) struct Run {
    pub(super) requests: Vec<PeerRequest>,
    pub(super) steps: ReplySteps,
    pub(super) settings: PeerSettings,
    /// What [`Run::event_gaps`] and [`Run::text_gaps`] gave: most tools ask for the same.
    event_gaps: OnceCell<GapSample>,
    text_gaps: OnceCell<GapSample>,
}

impl Run {
    pub(super) fn of<'a>(
        tapes: impl IntoIterator<Item = &'a Tape>,
        settings: &PeerSettings,
    ) -> Self {
        let mut run = Self { settings: settings.clone(), ..Self::default() };
        tapes.into_iter().for_each(|tape| run.add(tape));
        run
    }

    /// Takes in the tape of a request; a probe is none of the load's.
    pub(super) fn add(&mut self, tape: &Tape) {
        if tape.part != RequestPurpose::Load {
            return;
        }
        let request = PeerRequest::of(tape);
        if request.is_success {
            self.steps.add(tape, &request);
        }
        self.requests.push(request);
    }

    /// The gaps between all generation events of each reply that succeeded, in milliseconds.
    pub(super) fn event_gaps(&self) -> &GapSample {
        self.event_gaps.get_or_init(|| self.steps.event_gaps())
    }

    /// The same of the events that carry text.
    pub(super) fn text_gaps(&self) -> &GapSample {
        self.text_gaps.get_or_init(|| self.steps.text_gaps())
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
    pub(super) fn good(&self) -> impl Iterator<Item = &PeerRequest> {
        self.requests.iter().filter(|request| request.is_success)
    }

    pub(super) fn completed(&self) -> u64 {
        self.good().count() as u64
    }

    pub(super) fn failed(&self) -> u64 {
        self.requests.len() as u64 - self.completed()
    }

    /// The sum of `each` over those that succeeded.
    pub(super) fn sum(&self, each: impl Fn(&PeerRequest) -> u64) -> u64 {
        self.good().fold(0, |sum, request| sum.saturating_add(each(request)))
    }

    /// From the first release to the last end, failed requests included, and at least as long as the level took: how long a loop took that issues and
    /// then waits for all. The wait before the first arrival, which such a loop has too, is on no tape.
    pub(super) fn issuing(&self) -> f64 {
        let span = span(self.requests.iter(), |request| request.released, |request| request.end);
        span.max(secs(self.settings.lasted))
    }
}

/// From the least instant `from` to the greatest instant `to`; zero of no requests.
pub(super) fn span<'a>(
    requests: impl Iterator<Item = &'a PeerRequest>,
    from: impl Fn(&PeerRequest) -> Stamp,
    to: impl Fn(&PeerRequest) -> Stamp,
) -> f64 {
    let whole = requests.map(|request| (from(request), to(request)));
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

/// The instants of the events that carry text, on any channel.
pub(super) fn with_text(tape: &Tape) -> impl Iterator<Item = Stamp> {
    tape.arrivals.iter().filter(|event| event.channel != Channel::Silent).map(|event| event.at)
}

/// The instants of all generation events.
pub(crate) fn events(tape: &Tape) -> impl Iterator<Item = Stamp> {
    tape.arrivals.iter().map(|event| event.at)
}

/// The instants at which tokens came and how many at each, if there are two tokens at least. An event may claim any number, so
/// that there is no room for an instant of each.
pub(super) fn token_times(tape: &Tape) -> impl Iterator<Item = (Stamp, u64)> {
    let times = tape.arrivals.iter().map(|event| (event.at, u64::from(event.tokens)));
    let count = times.clone().fold(0, |sum: u64, (_, tokens)| sum.saturating_add(tokens));
    times.filter(move |(_, tokens)| count > 1 && *tokens > 0)
}

/// The time between each instant and the one before it.
pub(crate) fn spans(instants: impl Iterator<Item = Stamp>) -> impl Iterator<Item = Nanos> {
    let mut before = None;
    instants.filter_map(move |at| Some(at.saturating_since(before.replace(at)?)))
}

/// `span` shared over all tokens but the first; none unless there are two.
pub(super) fn per_later_token(span: f64, tokens: u64) -> Option<f64> {
    (tokens > 1).then(|| span / (tokens - 1) as f64)
}

/// The server's count, else the tape's.
pub(crate) fn reported_or_counted(tape: &Tape) -> u64 {
    let reported = tape.usage.and_then(|usage| usage.completion_tokens).map(Tokens::get);
    reported.filter(|tokens| *tokens > 0).unwrap_or_else(|| tape.output_tokens().get())
}

/// Whether the request was cancelled before its end, rather than gone wrong.
pub(crate) fn was_called_off(tape: &Tape) -> bool {
    matches!(&tape.outcome, Outcome::Failed(failure) if failure.class == FailureClass::Cancelled)
}
