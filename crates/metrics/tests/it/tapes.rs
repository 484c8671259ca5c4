//! Tapes made by hand.

use fizeau_core::{
    Arrival, Channel, Failure, FailureClass, Nanos, Outcome, Stamp, Tape, TokenSource,
};
use proptest::prelude::*;

/// The instant `n` milliseconds after the epoch.
pub(crate) fn ms(n: u64) -> Stamp {
    Stamp::EPOCH + Nanos::from_millis(n)
}

/// A successful tape sent at `sent` with an event for each pair of milliseconds and tokens, counts by token id.
pub(crate) fn tape(sent: u64, events: &[(u64, u32)]) -> Tape {
    let mut tape = Tape::sent_at(ms(sent));
    let event = |&(at, tokens): &(u64, u32)| Arrival::tokens(ms(at), tokens, Channel::Visible);
    tape.arrivals = events.iter().map(event).collect();
    tape.token_source = TokenSource::TokenIds;
    tape.marks.end = tape.last_token();
    tape
}

/// The same tape with another ending.
pub(crate) fn failed(tape: Tape, class: FailureClass) -> Tape {
    let outcome = Outcome::Failed(Failure::new(class, "made by hand"));
    Tape { outcome, ..tape }
}

/// Successful tapes with one to twenty events of any size and spacing, some at one instant, sent a millisecond late.
pub(crate) fn any_tape() -> impl Strategy<Value = Tape> {
    let gap = prop_oneof![1 => Just(0), 3 => 0u64..50_000_000];
    let events = prop::collection::vec((gap, 0u32..9), 1..20);
    (0u64..1_000, events).prop_map(|(intended, events)| {
        let mut tape = Tape::sent_at(ms(intended + 1));
        tape.marks.intended = ms(intended);
        tape.token_source = TokenSource::FinalUsageSpread;
        let mut at = ms(intended + 1);
        for (gap, tokens) in events {
            at += Nanos::from_nanos(gap);
            tape.arrivals.push(Arrival::tokens(at, tokens, Channel::Visible));
        }
        tape.marks.end = Some(at);
        tape
    })
}
