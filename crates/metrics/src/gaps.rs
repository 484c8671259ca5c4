//! The gaps within one reply: between events (ICL) and between tokens (ITL).

use fizeau_core::{Arrival, Millis, Nanos, Stamp, Tape, Tokens};

use crate::events::is_together;

/// The gaps between successive generation events of `tape`: inter-chunk latency, which other tools often call
/// ITL.
///
/// A request that failed has none. A pair of events whose stamps are in the wrong order has no gap.
pub fn inter_chunk(tape: &Tape) -> impl Iterator<Item = Nanos> {
    let arrivals = successful(tape);
    let pairs = arrivals.iter().zip(arrivals.iter().skip(1));
    pairs.filter_map(|(earlier, later)| later.at.since(earlier.at))
}

/// A gap, shared over the tokens that it brought.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct ItlShare {
    /// The whole gap.
    pub gap: Nanos,
    /// The gap divided by `tokens`: what each of them took. A fraction, of full precision.
    pub per_token: Millis,
    /// How many tokens the event that closed the gap carried; at least 1. The weight of `per_token` in
    /// statistics.
    pub tokens: Tokens,
}

/// The inter-token latencies of `tape`: each gap shared over the tokens of the event that closes it.
///
/// An event without a token (a source that is an estimate may give it none) closes no gap: the time runs on
/// to the next event that has one, so that no time is lost between two tokens. The gaps start at the first
/// event and those that came at the same instant, whatever they carried, as TPOT does. Hence the mean of the shares, weighted
/// by tokens, is the request's TPOT whenever its last event carried a token. A request that failed has none.
pub fn inter_token(tape: &Tape) -> impl Iterator<Item = ItlShare> {
    inter_token_at(tape).map(|(_, share)| share)
}

/// The same, each with the instant at which its gap closed.
pub(crate) fn inter_token_at(tape: &Tape) -> impl Iterator<Item = (Stamp, ItlShare)> {
    let arrivals = successful(tape);
    let mut previous = arrivals.first().map(|first| first.at);
    let is_first = move |arrival: &&Arrival| previous.is_some_and(|at| is_together(at, arrival.at));
    let later = arrivals.iter().skip_while(is_first);
    let with_tokens = later.filter(|arrival| arrival.tokens > 0);
    with_tokens.filter_map(move |arrival| {
        let gap = arrival.at.since(previous.replace(arrival.at)?)?;
        let per_token = Millis::new(gap.as_millis_f64() / f64::from(arrival.tokens));
        let tokens = Tokens::new(arrival.tokens.into());
        Some((arrival.at, ItlShare { gap, per_token, tokens }))
    })
}

fn successful(tape: &Tape) -> &[Arrival] {
    if tape.is_success() { &tape.arrivals } else { &[] }
}
