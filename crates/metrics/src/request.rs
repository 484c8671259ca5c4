//! The figures of one request.

use fizeau_core::{
    Channel, ConnectMarks, Millis, Nanos, PerSec, RequestMarks, Stamp, Tape, Tokens,
};

use crate::events::is_together;

/// The figures of one request, from its tape.
///
/// With s the send start, i the intended instant, f the first token's arrival, l the last one's, n the output
/// tokens and k those of the first generation event. A figure whose definition does not hold is absent, never
/// zero. A request that failed has no latency at all, since whatever it received is no answer; how late it
/// left and how long it took to connect stay, for neither depends on the answer.
///
/// ```
/// use fizeau_core::{Arrival, Channel, Nanos, Stamp, Tape};
/// use fizeau_metrics::RequestMetrics;
///
/// let ms = |n| Stamp::EPOCH + Nanos::from_millis(n);
/// let mut tape = Tape::sent_at(ms(0));
/// tape.arrivals.push(Arrival::tokens(ms(20), 1, Channel::Visible));
/// tape.arrivals.push(Arrival::tokens(ms(30), 2, Channel::Visible));
///
/// let metrics = RequestMetrics::of(&tape);
/// assert_eq!(metrics.ttft, Some(Nanos::from_millis(20)));
/// assert_eq!(metrics.tpot.map(|tpot| tpot.get()), Some(5.0)); // two tokens in 10 ms
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub struct RequestMetrics {
    /// Time to first token, f - s: the first on any channel. Making a connection is no part of it.
    pub ttft: Option<Nanos>,
    /// Time to first token from the schedule, f - i: what a user who does not wait for others sees.
    pub ttft_scheduled: Option<Nanos>,
    /// Send start to the first token that a reader would see; absent if all was reasoning or silent.
    pub first_visible: Option<Nanos>,
    /// Time spent reasoning before the answer began: the first token to the first that a reader would see. Absent unless
    /// reasoning came in between, and where no answer followed.
    pub reasoning: Option<Nanos>,
    /// Time per output token, (l - f) / (n - k), a fraction of full precision; absent unless n > k.
    pub tpot: Option<Millis>,
    /// Decode, as its user sees it: (n - k) / (l - f), one over TPOT, in tokens per second. Absent where TPOT is, or is zero.
    pub user_tps: Option<PerSec>,
    /// Prefill, as seen from outside: prompt tokens that no prefix cache supplied, over TTFT. TTFT has the queue and the
    /// network in it, so the engine was at least as fast. Absent where the prompt's length is unknown or all of it came
    /// from a cache.
    pub prefill_tps: Option<PerSec>,
    /// End-to-end latency, l - s, where l is the arrival of the last of the output: the last token, or the embedding. A
    /// usage chunk or an end marker after it does not extend it.
    pub e2el: Option<Nanos>,
    /// End-to-end latency from the schedule, l - i.
    pub e2el_scheduled: Option<Nanos>,
    /// How late the request left, s - i; zero where a timer let it go some microseconds early. Where a connection had to be made first, its making is part of this.
    pub send_lateness: Option<Nanos>,
    /// How late the pacer let the request go, released - i, zero where it did so early: the client's own doing, or a cap's on requests in flight.
    pub release_lateness: Option<Nanos>,
    /// How long the client took from the release to the send start, the wait for a connection not counted.
    pub send_delay: Option<Nanos>,
    /// How much of the time from the release to the send start went into the making of a connection; zero when one was
    /// at hand.
    pub connection_wait: Option<Nanos>,
    /// How long the making of the connection took, name and TLS included; absent when one was at hand.
    pub connect: Option<Nanos>,
    /// The part of it that the name took; absent for a literal address.
    pub dns: Option<Nanos>,
    /// The part of it that the TCP handshake took.
    pub tcp: Option<Nanos>,
    /// The part of it that the TLS handshake took; absent without TLS.
    pub tls: Option<Nanos>,
    /// The network's part of the other latencies: one round trip, the shortest that the kernel had seen on the connection. Absent
    /// where it does not say, or the request failed.
    pub network: Option<Nanos>,
    /// n: tokens received; absent if the request failed.
    pub output_tokens: Option<Tokens>,
    /// k: tokens of the first generation event, and of those that came at the same instant; absent if the request failed.
    pub first_event_tokens: Option<Tokens>,
}

impl RequestMetrics {
    /// The figures of `tape`.
    #[must_use]
    pub fn of(tape: &Tape) -> Self {
        Self::with(tape, tape.output_tokens())
    }

    /// The figures of `tape`, whose output tokens have been added up.
    pub(crate) fn with(tape: &Tape, output: Tokens) -> Self {
        let marks = &tape.marks;
        let connect = marks.connect.as_ref();
        let since_release = span(Some(marks.released), marks.send_start);
        let waited = since_release.map(|_| connection_wait(marks));
        let regardless = Self {
            send_lateness: marks.send_start.map(|sent| sent.saturating_since(marks.intended)),
            release_lateness: Some(marks.released.saturating_since(marks.intended)),
            send_delay: since_release.zip(waited).map(|(all, waited)| all.saturating_sub(waited)),
            connection_wait: waited,
            connect: connect.and_then(|c| connected(c).since(c.start)),
            dns: connect.and_then(|c| c.dns?.since(c.start)),
            tcp: connect.and_then(|c| c.tcp.since(c.dns.unwrap_or(c.start))),
            tls: connect.and_then(|c| c.tls?.since(c.tcp)),
            ..Self::default()
        };
        if !tape.is_success() {
            return regardless;
        }
        let (sent, intended) = (tape.marks.send_start, Some(tape.marks.intended));
        let (first, last) = (tape.first_token(), tape.last_output());
        let (ttft, tpot) = (span(sent, first), tpot(tape, output));
        Self {
            ttft,
            ttft_scheduled: span(intended, first),
            first_visible: span(sent, tape.first_visible()),
            reasoning: reasoning(tape),
            tpot,
            user_tps: tpot
                .filter(|tpot| tpot.get() > 0.0)
                .map(|tpot| PerSec::new(1e3 / tpot.get())),
            prefill_tps: ttft.and_then(|ttft| prefill_tps(tape, ttft)),
            e2el: span(sent, last),
            e2el_scheduled: span(intended, last),
            network: tape.round_trip,
            output_tokens: Some(output),
            first_event_tokens: first_event_tokens(tape),
            ..regardless
        }
    }
}

/// The time between two instants; none if either is unknown or they are in the wrong order.
fn span(from: Option<Stamp>, to: Option<Stamp>) -> Option<Nanos> {
    to?.since(from?)
}

/// When the connection could carry bytes.
fn connected(marks: &ConnectMarks) -> Stamp {
    marks.tls.unwrap_or(marks.tcp)
}

/// Only what lies between release and send start: a connection may have been begun before.
fn connection_wait(marks: &RequestMarks) -> Nanos {
    let (Some(connect), Some(sent)) = (&marks.connect, marks.send_start) else {
        return Nanos::ZERO;
    };
    let begun = connect.start.max(marks.released);
    connected(connect).min(sent).saturating_since(begun)
}

fn first_event_tokens(tape: &Tape) -> Option<Tokens> {
    let first = tape.arrivals.first()?;
    let at_once = tape.arrivals.iter().take_while(|arrival| is_together(first.at, arrival.at));
    Some(Tokens::new(at_once.map(|arrival| u64::from(arrival.tokens)).sum()))
}

fn tpot(tape: &Tape, output: Tokens) -> Option<Millis> {
    let later = output.get() - first_event_tokens(tape)?.get();
    if later == 0 {
        return None;
    }
    let span = span(tape.first_token(), tape.last_token())?;
    Some(Millis::new(span.as_millis_f64() / later as f64))
}

fn reasoning(tape: &Tape) -> Option<Nanos> {
    let before_answer = tape.arrivals.iter().take_while(|arrival| !arrival.channel.is_visible());
    let mut thoughts = before_answer.filter(|arrival| arrival.channel == Channel::Reasoning);
    thoughts.next()?;
    span(tape.first_token(), tape.first_visible())
}

fn prefill_tps(tape: &Tape, ttft: Nanos) -> Option<PerSec> {
    let cached = tape.usage.and_then(|usage| usage.cached_tokens).unwrap_or_default();
    let read = tape.input_tokens()?.get().saturating_sub(cached.get());
    (read > 0 && ttft > Nanos::ZERO).then(|| PerSec::new(read as f64 / ttft.as_secs_f64()))
}
