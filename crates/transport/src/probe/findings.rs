//! What two tapes of an endpoint tell about it.

use std::fmt;

use fizeau_core::{EosRule, Finish, Nanos, Outcome, Tape, TokenSource, Tokens};
use serde::Serialize;

/// What was found out about how an endpoint streams. Facts about what came, not about what a server could do.
///
/// ```
/// use fizeau_core::{Arrival, Channel, Nanos, Stamp, Tape};
/// use fizeau_transport::{Findings, EventDelivery};
/// let mut tape = Tape::sent_at(Stamp::EPOCH);
/// for k in 1..=16 {
///     let at = Stamp::EPOCH + Nanos::from_millis(10 * k);
///     tape.arrivals.push(Arrival::tokens(at, 1, Channel::Visible));
/// }
/// assert_eq!(Findings::of(&[tape.clone(), tape]).flow, EventDelivery::Spaced);
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Findings {
    /// Whether it generates the asked length when asked to.
    pub forced_length: ForcedLength,
    /// Where token counts come from; the worse of the two.
    pub token_source: TokenSource,
    /// Mean tokens of a generation event; absent if nothing tells how many tokens came.
    pub tokens_per_event: Option<f64>,
    /// Tokens of the first event, the more of the two; absent unless each event's count is exact.
    pub first_event_tokens: Option<Tokens>,
    /// How the events came; the worse of the two.
    pub flow: EventDelivery,
    /// Share of the gaps between events that were zero: both came in one read. Absent without gaps.
    pub zero_gap_share: Option<f64>,
    /// What the server says of its own timing.
    pub server_timings: Vec<ServerTimed>,
    /// Events before the first that holds a token, such as role chunks; absent if that was not looked at.
    pub events_before_first_token: Option<u32>,
}

/// Whether an endpoint generates exactly as many tokens as requested, past the model's own end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum ForcedLength {
    /// Its protocol has no way to ask.
    CannotAsk,
    /// It was asked, and just as many came.
    Honoured,
    /// It took the wish, and another number came.
    NotHonoured {
        /// The tokens that were requested.
        #[serde(rename = "asked")]
        requested: Tokens,
        /// The tokens that were received.
        #[serde(rename = "came")]
        received: Tokens,
    },
    /// It refused a request with the wish and carried out the same without it.
    Refused,
    /// It took the option, and the reply does not show how many tokens came.
    Undetermined,
}

/// How the events of a reply came; later ones spoil a measurement more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum EventDelivery {
    /// Too few events to judge.
    Undetermined,
    /// One by one.
    Spaced,
    /// The whole reply in one or two reads, so soon that the server may simply be this fast.
    AtOnce,
    /// At least half of them together with the one before.
    Bursts,
    /// The whole reply [at once](Tape::came_at_once), though it took long: something between holds events back, and no
    /// latency of a token can be measured.
    Buffered,
}

/// A part of a request that a server times by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ServerTimed {
    /// The wait for a place.
    Queue,
    /// The prompt.
    Prefill,
    /// The generation.
    Decode,
}

impl Findings {
    /// What `tapes`, of successful requests, tell. A tape whose request asked to generate past the model's own end tells
    /// whether the length can be forced; where none did, it is said that one cannot ask.
    #[must_use]
    pub fn of(tapes: &[Tape; 2]) -> Self {
        let timings = tapes.iter().filter_map(|tape| tape.server_timing);
        let mut server_timings: Vec<ServerTimed> = timings
            .flat_map(|timing| {
                [
                    timing.queue.map(|_| ServerTimed::Queue),
                    timing.prefill.map(|_| ServerTimed::Prefill),
                    timing.decode.map(|_| ServerTimed::Decode),
                ]
            })
            .flatten()
            .collect();
        server_timings.sort_unstable();
        server_timings.dedup();
        let [first, second] = tapes;
        Self {
            forced_length: forced_length(tapes),
            token_source: first.token_source.max(second.token_source),
            tokens_per_event: tokens_per_event(tapes),
            first_event_tokens: first_event_tokens(tapes),
            flow: flow(first).max(flow(second)),
            zero_gap_share: zero_gap_share(tapes),
            server_timings,
            events_before_first_token: None,
        }
    }
}

/// A short reply says more than one of the full length: any model may happen to go on that far.
fn forced_length(tapes: &[Tape]) -> ForcedLength {
    let forced: Vec<&Tape> = tapes.iter().filter(|t| t.requested.eos == EosRule::Ignore).collect();
    let other = |tape: &&Tape| {
        let (requested, received) = (tape.requested.output_tokens, tokens(tape)?);
        (received != requested).then_some(ForcedLength::NotHonoured { requested, received })
    };
    if forced.is_empty() {
        return ForcedLength::CannotAsk;
    }
    if let Some(differs) = forced.iter().find_map(other) {
        return differs;
    }
    // Where nothing is counted, the server's own word for why it ended has to do.
    let reached =
        |tape: &&Tape| tokens(tape).is_some() || tape.outcome == Outcome::Complete(Finish::Length);
    if forced.iter().all(reached) { ForcedLength::Honoured } else { ForcedLength::Undetermined }
}

/// How many tokens came, where that is more than a count of events.
fn tokens(tape: &Tape) -> Option<Tokens> {
    let reported = tape.usage.and_then(|usage| usage.completion_tokens);
    reported.or_else(|| is_counted(tape).then(|| tape.output_tokens()))
}

fn is_counted(tape: &Tape) -> bool {
    tape.token_source != TokenSource::Events
}

fn tokens_per_event(tapes: &[Tape]) -> Option<f64> {
    let events: usize = tapes.iter().map(|tape| tape.arrivals.len()).sum();
    let all: Tokens = tapes.iter().map(Tape::output_tokens).sum();
    (events > 0 && tapes.iter().all(is_counted)).then(|| all.get() as f64 / events as f64)
}

fn first_event_tokens(tapes: &[Tape]) -> Option<Tokens> {
    if !tapes.iter().all(|tape| tape.token_source.is_exact()) {
        return None;
    }
    let firsts = tapes.iter().filter_map(|tape| tape.arrivals.first());
    firsts.map(|first| Tokens::new(first.tokens.into())).max()
}

/// For each gap between events of one reply: whether both came in one read, which shows as the same stamp.
fn gaps(tape: &Tape) -> impl Iterator<Item = Nanos> {
    let pairs = tape.arrivals.iter().zip(tape.arrivals.iter().skip(1));
    pairs.map(|(before, after)| after.at.saturating_since(before.at))
}

fn zero_gap_share(tapes: &[Tape]) -> Option<f64> {
    let gaps: Vec<Nanos> = tapes.iter().flat_map(gaps).collect();
    let zero = gaps.iter().filter(|gap| **gap == Nanos::ZERO).count();
    (!gaps.is_empty()).then(|| zero as f64 / gaps.len() as f64)
}

/// The fewest events from which the way in which they came can be told.
const FEWEST: usize = 6;

/// No server in ordinary use generates a reply's tokens faster than this; one that is tested flat out may.
const FASTEST: Nanos = Nanos::from_millis(1);

fn flow(tape: &Tape) -> EventDelivery {
    let events = tape.arrivals.len();
    if events < FEWEST {
        return EventDelivery::Undetermined;
    }
    let apart = gaps(tape).filter(|gap| *gap > Nanos::ZERO).count();
    match is_slow(tape) {
        true if tape.came_at_once() => EventDelivery::Buffered,
        false if tape.came_at_once() || apart <= 1 => EventDelivery::AtOnce,
        _ if 2 * apart < events => EventDelivery::Bursts,
        _ => EventDelivery::Spaced,
    }
}

/// Whether a reply took so long that its events would have come apart, had nothing held them back.
fn is_slow(tape: &Tape) -> bool {
    let took = tape.marks.send_start.zip(tape.last_output());
    took.is_some_and(|(sent, last)| {
        let took = last.saturating_since(sent).as_nanos();
        took / tape.arrivals.len().max(1) as u64 >= FASTEST.as_nanos()
    })
}

impl Findings {
    /// What was found, for a person: each thing by its name.
    #[must_use]
    pub fn rows(&self) -> [(&'static str, String); 6] {
        [
            ("token counts", self.counts().to_owned()),
            ("forced length", self.forced_length.to_string()),
            ("tokens per event", self.bundles()),
            ("events came", self.gaps()),
            ("first events", self.start()),
            ("server timings", self.timings()),
        ]
    }

    const fn counts(&self) -> &'static str {
        match self.token_source {
            TokenSource::Tokenless => "none: nothing is generated",
            TokenSource::TokenIds => "token ids on each event: exact",
            TokenSource::ContinuousUsage => "running usage on each event: exact",
            TokenSource::Logprobs => "log-probabilities on each event: exact",
            TokenSource::FinalUsageSpread => "usage at the end only, spread over the events",
            TokenSource::Tokenizer => "by a tokenizer of ours",
            TokenSource::Events => "none: events are counted",
        }
    }

    fn bundles(&self) -> String {
        let Some(mean) = self.tokens_per_event else {
            return "unknown: tokens are not counted".to_owned();
        };
        match self.first_event_tokens {
            Some(first) => format!("{mean:.2}; in the first event {first}"),
            None => format!("{mean:.2}; in the first event unknown"),
        }
    }

    fn gaps(&self) -> String {
        match (self.flow, self.zero_gap_share) {
            (EventDelivery::Spaced | EventDelivery::Bursts, Some(share)) => {
                format!("{}; {:.0}% of the gaps are zero", self.flow, 100.0 * share)
            }
            (flow, _) => flow.to_string(),
        }
    }

    fn start(&self) -> String {
        match self.events_before_first_token {
            None => "not looked at".to_owned(),
            Some(0) => "the first event holds a token".to_owned(),
            Some(1) => "one without a token (a role, say) before the first token".to_owned(),
            Some(n) => format!("{n} without a token before the first token"),
        }
    }

    fn timings(&self) -> String {
        let names: Vec<String> = self.server_timings.iter().map(ToString::to_string).collect();
        if names.is_empty() { "none".to_owned() } else { names.join(", ") }
    }
}

impl fmt::Display for ForcedLength {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CannotAsk => f.write_str("this route has no such option: outputs may be shorter"),
            Self::Honoured => f.write_str("honoured: as many tokens as requested"),
            Self::NotHonoured { requested, received } => {
                write!(f, "not honoured: {received} of {requested} requested tokens came")
            }
            Self::Refused => {
                f.write_str("refused: the server took the same request only without this option")
            }
            Self::Undetermined => {
                f.write_str("requested; the reply does not show how many tokens came")
            }
        }
    }
}

fizeau_core::words! {
    EventDelivery, shown {
        Undetermined = "too few events to judge", Spaced = "one by one",
        AtOnce = "all at once, as a fast server may send them", Bursts = "in bursts",
        Buffered = "all at once after a wait: something holds them back",
    }
}

fizeau_core::words! {
    ServerTimed, shown {
        Queue = "queue", Prefill = "prefill", Decode = "decode",
    }
}
