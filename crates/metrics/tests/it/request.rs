//! The figures of one request. Several tests hold defects of other tools that ours must not have.

use fizeau_core::{
    Arrival, Channel, ConnectMarks, EosRule, FailureClass, Millis, Nanos, RequestedTokens, Tokens,
    Usage,
};
use fizeau_metrics::{RequestMetrics, inter_chunk, inter_token};
use proptest::prelude::*;

use crate::tapes::{any_tape, failed, ms, tape};

fn millis(n: u64) -> Option<Nanos> {
    Some(Nanos::from_millis(n))
}

#[test]
fn every_figure_follows_its_definition() {
    let mut tape = tape(10, &[(30, 1), (40, 1), (60, 3)]);
    tape.marks.intended = ms(3);
    tape.arrivals[0].channel = Channel::Reasoning;
    let metrics = RequestMetrics::of(&tape);
    assert_eq!(metrics.ttft, millis(20));
    assert_eq!(metrics.ttft_scheduled, millis(27));
    assert_eq!(metrics.first_visible, millis(30));
    assert_eq!(metrics.tpot.map(Millis::get), Some(7.5));
    assert_eq!(metrics.e2el, millis(50));
    assert_eq!(metrics.e2el_scheduled, millis(57));
    assert_eq!(metrics.send_lateness, millis(7));
    assert_eq!(metrics.output_tokens, Some(Tokens::new(5)));
    assert_eq!(metrics.first_event_tokens, Some(Tokens::new(1)));
}

#[test]
fn tokens_of_the_first_event_took_no_time_of_tpot() {
    // Nine tokens come in the first event, one 10 ms later: dividing by n - 1 would say 1.1 ms.
    let metrics = RequestMetrics::of(&tape(0, &[(20, 9), (30, 1)]));
    assert_eq!(metrics.tpot.map(Millis::get), Some(10.0));
}

/// Eight tokens of 30 ms each that a buffer let go together are the same reply, whether they are one event or eight.
#[test]
fn what_came_at_the_first_instant_took_no_time_however_many_events_it_was() {
    let one = tape(0, &[(240, 8), (480, 8)]);
    let mut eight = tape(0, &[]);
    for (at, events) in [(240, 8), (480, 8)] {
        eight.arrivals.extend((0..events).map(|_| Arrival::tokens(ms(at), 1, Channel::Visible)));
    }
    for tape in [one, eight] {
        let metrics = RequestMetrics::of(&tape);
        assert_eq!(metrics.tpot.map(Millis::get), Some(30.0));
        assert_eq!(metrics.first_event_tokens, Some(Tokens::new(8)));
        let time: f64 = inter_token(&tape).map(|share| share.gap.as_millis_f64()).sum();
        assert_eq!(time, 240.0);
    }
    let at_once = tape(0, &[(240, 1), (240, 1)]);
    assert_eq!(RequestMetrics::of(&at_once).tpot, None, "absent, not 0.0");
    assert_eq!((inter_chunk(&at_once).count(), inter_token(&at_once).count()), (1, 0));
}

#[test]
fn a_request_of_one_event_has_no_tpot_and_no_gaps() {
    for tokens in [1, 5] {
        let tape = tape(0, &[(20, tokens)]);
        let metrics = RequestMetrics::of(&tape);
        assert_eq!(metrics.tpot, None, "absent, not 0.0");
        assert_eq!(metrics.e2el, millis(20));
        assert_eq!(inter_chunk(&tape).count(), 0);
        assert_eq!(inter_token(&tape).count(), 0);
    }
}

#[test]
fn an_end_after_the_last_token_does_not_extend_the_request() {
    let mut tape = tape(0, &[(20, 1), (30, 1)]);
    tape.marks.end = Some(ms(500)); // The usage chunk and the end marker came late.
    let metrics = RequestMetrics::of(&tape);
    assert_eq!(metrics.e2el, millis(30));
    assert_eq!(metrics.tpot.map(Millis::get), Some(10.0));
}

#[test]
fn silent_tokens_are_tokens_and_not_visible() {
    let mut tape = tape(0, &[(20, 1), (30, 1), (40, 1)]);
    tape.arrivals[0].channel = Channel::Silent;
    tape.arrivals[2].channel = Channel::Silent;
    let metrics = RequestMetrics::of(&tape);
    assert_eq!((metrics.ttft, metrics.first_visible), (millis(20), millis(30)));
    assert_eq!(metrics.e2el, millis(40));
    assert_eq!(metrics.output_tokens, Some(Tokens::new(3)));

    let silent = |arrival: &Arrival| Arrival { channel: Channel::Silent, ..*arrival };
    tape.arrivals = tape.arrivals.iter().map(silent).collect();
    assert_eq!(RequestMetrics::of(&tape).first_visible, None);
}

#[test]
fn a_length_that_was_asked_is_never_a_length_that_was_received() {
    let mut tape = tape(0, &[(20, 1), (30, 2)]);
    tape.requested = RequestedTokens {
        input_tokens: None,
        output_tokens: Tokens::new(250),
        eos: EosRule::Ignore,
    };
    tape.usage = Some(Usage::default()); // A usage object that says nothing.
    assert_eq!(RequestMetrics::of(&tape).output_tokens, Some(Tokens::new(3)));
}

#[test]
fn a_failed_request_has_no_latency_but_left_when_it_left() {
    let mut tape = failed(tape(10, &[(30, 1), (40, 1)]), FailureClass::Truncated);
    tape.marks.intended = ms(8);
    let metrics = RequestMetrics::of(&tape);
    let mut expected = RequestMetrics::default();
    (expected.send_lateness, expected.release_lateness) = (millis(2), millis(2));
    (expected.send_delay, expected.connection_wait) = (millis(0), millis(0));
    assert_eq!(metrics, expected);
    assert_eq!(inter_chunk(&tape).count(), 0);
    assert_eq!(inter_token(&tape).count(), 0);
}

#[test]
fn connecting_is_a_figure_of_its_own() {
    let mut tape = tape(10, &[(30, 1)]);
    let connect = ConnectMarks { start: ms(1), dns: Some(ms(2)), tcp: ms(4), tls: None };
    tape.marks.connect = Some(connect);
    assert_eq!(RequestMetrics::of(&tape).connect, millis(3));
    tape.marks.connect = Some(ConnectMarks { tls: Some(ms(9)), ..connect });
    assert_eq!(RequestMetrics::of(&tape).connect, millis(8));
    assert_eq!(RequestMetrics::of(&tape).ttft, millis(20));
}

#[test]
fn marks_in_the_wrong_order_give_no_figure() {
    let metrics = RequestMetrics::of(&tape(50, &[(30, 1), (60, 1)]));
    assert_eq!(metrics.ttft, None);
    assert_eq!(metrics.e2el, millis(10));
    let mut unsent = tape(0, &[(30, 1)]);
    unsent.marks.send_start = None;
    assert_eq!(RequestMetrics::of(&unsent).ttft, None);
    assert_eq!(RequestMetrics::of(&unsent).ttft_scheduled, millis(30));
}

#[test]
fn a_gap_is_shared_over_the_tokens_of_the_event_that_closes_it() {
    // The third event has no token by its source: its time runs on to the fourth.
    let tape = tape(0, &[(20, 4), (30, 2), (40, 0), (50, 4)]);
    let gaps: Vec<u64> = inter_chunk(&tape).map(|gap| gap.as_nanos() / 1_000_000).collect();
    assert_eq!(gaps, [10, 10, 10]);
    let shares: Vec<(f64, u64)> =
        inter_token(&tape).map(|share| (share.per_token.get(), share.tokens.get())).collect();
    assert_eq!(shares, [(5.0, 2), (5.0, 4)]);
}

proptest! {
    #![proptest_config(crate::cases(256))]

    #[test]
    fn tpot_times_its_tokens_is_the_time_between_first_and_last(tape in any_tape()) {
        let metrics = RequestMetrics::of(&tape);
        let first = tape.arrivals.iter().take_while(|arrival| {
            arrival.at.saturating_since(tape.arrivals[0].at) < Nanos::from_micros(10)
        });
        let k: u64 = first.map(|arrival| u64::from(arrival.tokens)).sum();
        let n = tape.output_tokens().get();
        match metrics.tpot {
            None => prop_assert!(n == k),
            Some(tpot) => {
                let span = tape.last_token().unwrap().since(tape.first_token().unwrap()).unwrap();
                let again = tpot.get() * (n - k) as f64;
                prop_assert!((again - span.as_millis_f64()).abs() <= 1e-9 * (1.0 + again));
            }
        }
    }

    #[test]
    fn the_weighted_mean_of_itl_is_tpot(mut tape in any_tape()) {
        // Trailing events without a token lie after the last gap that a token closes.
        tape.arrivals.last_mut().unwrap().tokens += 1;
        let (mut time, mut tokens) = (0.0, 0);
        for share in inter_token(&tape) {
            time += share.per_token.get() * share.tokens.get() as f64;
            tokens += share.tokens.get();
        }
        match RequestMetrics::of(&tape).tpot {
            None => prop_assert_eq!(tokens, 0),
            Some(tpot) => {
                prop_assert!((time / tokens as f64 - tpot.get()).abs() <= 1e-9 * (1.0 + tpot.get()));
            }
        }
    }

    #[test]
    fn the_parts_make_the_whole(tape in any_tape()) {
        let metrics = RequestMetrics::of(&tape);
        let gaps: Nanos = inter_chunk(&tape).sum();
        prop_assert_eq!(metrics.ttft.map(|ttft| ttft + gaps), metrics.e2el);
        let late = metrics.send_lateness.unwrap();
        prop_assert_eq!(metrics.ttft.map(|ttft| ttft + late), metrics.ttft_scheduled);
    }
}
