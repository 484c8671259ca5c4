//! Findings from tapes made by hand.

use fizeau_core::{
    Arrival, Channel, EosRule, Finish, Nanos, Outcome, ServerTiming, Stamp, Tape, TokenSource,
    Tokens, Usage,
};
use fizeau_transport::{EventDelivery, Findings, ForcedLength, ServerTimed};
use proptest::prelude::*;

/// A reply whose events come at these times, in microseconds after the sending, with one token each.
fn tape(at_us: impl IntoIterator<Item = u64>) -> Tape {
    let mut tape = Tape::sent_at(Stamp::EPOCH);
    tape.token_source = TokenSource::ContinuousUsage;
    let stamps = at_us.into_iter().map(|at| Stamp::EPOCH + Nanos::from_micros(at));
    tape.arrivals.extend(stamps.map(|at| Arrival::tokens(at, 1, Channel::Visible)));
    tape
}

fn even(events: u64, gap_us: u64) -> Tape {
    tape((1..=events).map(|k| 50_000 + k * gap_us))
}

fn flow(of: Tape) -> EventDelivery {
    Findings::of(&[of.clone(), of]).flow
}

#[test]
fn how_events_came() {
    assert_eq!(flow(even(16, 10_000)), EventDelivery::Spaced);
    // Sixteen tokens after 400 ms in one read, in two, or in one after 1 ms.
    assert_eq!(flow(tape([400_000; 16])), EventDelivery::Buffered);
    assert_eq!(flow(tape((0..16).map(|k| 400_000 + k / 8))), EventDelivery::Buffered);
    assert_eq!(flow(tape([1_000; 16])), EventDelivery::AtOnce);
    // A gateway lets 250 events go after 5 s, in 35 packets of 11 us each.
    let packets = (0..250).map(|k| 5_000_000 + k / 7 * 11);
    assert_eq!(flow(tape(packets)), EventDelivery::Buffered);
    // Four by four, and one pair.
    assert_eq!(flow(tape((0..16).map(|k| 400_000 + k / 4 * 40_000))), EventDelivery::Bursts);
    assert_eq!(flow(tape((0..16).map(|k| 400_000 + k.max(1) * 10_000))), EventDelivery::Spaced);
    assert_eq!(flow(tape([400_000; 3])), EventDelivery::Undetermined);
    assert_eq!(flow(tape([])), EventDelivery::Undetermined);
}

#[test]
fn the_worse_of_two_replies_tells() {
    let pair = [even(16, 10_000), tape([400_000; 16])];
    let findings = Findings::of(&pair);
    assert_eq!(findings.flow, EventDelivery::Buffered);
    assert_eq!(findings.zero_gap_share, Some(0.5));
}

fn asked(eos: EosRule, asked: u64, came: u64) -> Tape {
    let mut tape = even(came, 10_000);
    tape.requested.eos = eos;
    tape.requested.output_tokens = Tokens::new(asked);
    tape
}

#[test]
fn whether_the_length_was_forced() {
    let of = |tape: Tape| Findings::of(&[asked(EosRule::Stop, 16, 5), tape]).forced_length;
    assert_eq!(of(asked(EosRule::Stop, 16, 16)), ForcedLength::CannotAsk);
    assert_eq!(of(asked(EosRule::Ignore, 16, 16)), ForcedLength::Honoured);
    for came in [15, 17] {
        let expected =
            ForcedLength::NotHonoured { requested: Tokens::new(16), received: Tokens::new(came) };
        assert_eq!(of(asked(EosRule::Ignore, 16, came)), expected);
    }
}

#[test]
fn a_count_of_events_proves_no_length() {
    let by_events = |finish| {
        let mut tape = asked(EosRule::Ignore, 16, 16);
        tape.token_source = TokenSource::Events;
        tape.outcome = Outcome::Complete(finish);
        tape
    };
    let of = |tape: &Tape| Findings::of(&[asked(EosRule::Stop, 16, 5), tape.clone()]);
    assert_eq!(of(&by_events(Finish::Stop)).forced_length, ForcedLength::Undetermined);
    assert_eq!(of(&by_events(Finish::Length)).forced_length, ForcedLength::Honoured);
    assert_eq!(of(&by_events(Finish::Length)).tokens_per_event, None);
    let mut reported = by_events(Finish::Stop);
    reported.usage = Some(Usage { completion_tokens: Some(Tokens::new(9)), ..Usage::default() });
    let (requested, received) = (Tokens::new(16), Tokens::new(9));
    assert_eq!(of(&reported).forced_length, ForcedLength::NotHonoured { requested, received });
}

#[test]
fn bundles_and_the_first_of_them() {
    let mut tape = even(4, 10_000);
    for (arrival, tokens) in tape.arrivals.iter_mut().zip([7, 1, 2, 2]) {
        arrival.tokens = tokens;
    }
    let findings = Findings::of(&[tape.clone(), tape.clone()]);
    assert_eq!(findings.tokens_per_event, Some(3.0));
    assert_eq!(findings.first_event_tokens, Some(Tokens::new(7)));
    tape.token_source = TokenSource::FinalUsageSpread;
    let findings = Findings::of(&[even(4, 10_000), tape]);
    assert_eq!(findings.token_source, TokenSource::FinalUsageSpread);
    assert_eq!(findings.first_event_tokens, None);
}

#[test]
fn timings_of_the_server() {
    let mut timed = even(4, 10_000);
    let decode = Some(Nanos::from_millis(3));
    timed.server_timing = Some(ServerTiming { decode, queue: decode, prefill: None });
    let findings = Findings::of(&[timed.clone(), timed]);
    assert_eq!(findings.server_timings, [ServerTimed::Queue, ServerTimed::Decode]);
}

proptest! {
    /// Anything can come, and a share is a share.
    #[test]
    fn findings_hold_for_any_stamps(first in stamps(), second in stamps()) {
        let findings = Findings::of(&[tape(first.clone()), tape(second.clone())]);
        let gaps = first.len().saturating_sub(1) + second.len().saturating_sub(1);
        prop_assert_eq!(findings.zero_gap_share.is_some(), gaps > 0);
        prop_assert!(findings.zero_gap_share.is_none_or(|share| (0.0..=1.0).contains(&share)));
        if findings.zero_gap_share == Some(0.0) {
            prop_assert!([EventDelivery::Undetermined, EventDelivery::Spaced].contains(&findings.flow));
        }
    }

    /// Moving a whole reply in time changes nothing but how long it took.
    #[test]
    fn bursts_do_not_depend_on_when(stamps in stamps(), by in 0_u64..1_000_000) {
        let moved = tape(stamps.iter().map(|at| at + by));
        let (before, after) = (flow(tape(stamps)), flow(moved));
        let is_later = [EventDelivery::AtOnce, EventDelivery::Bursts].contains(&before);
        prop_assert!(before == after || is_later && after == EventDelivery::Buffered);
    }
}

fn stamps() -> impl Strategy<Value = Vec<u64>> {
    proptest::collection::vec(0_u64..50, 0..24).prop_map(|gaps| {
        let sum = gaps.into_iter().scan(0, |at, gap| {
            *at += gap / 10 * 700;
            Some(*at)
        });
        sum.collect()
    })
}
