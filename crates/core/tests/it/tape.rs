use fizeau_core::{
    Arrival, Channel, ConnectMarks, Failure, FailureClass, Nanos, Outcome, ReadLag, Stamp, Tape,
    TokenSource, Tokens, Usage,
};
use proptest::prelude::*;

fn channel() -> impl Strategy<Value = Channel> {
    prop_oneof![
        Just(Channel::Visible),
        Just(Channel::Reasoning),
        Just(Channel::Silent),
        Just(Channel::ToolCall),
        Just(Channel::Refusal),
        Just(Channel::Embedding),
    ]
}

prop_compose! {
    fn arrivals()(steps in prop::collection::vec((0..1u64 << 40, any::<[u32; 5]>(), channel()), 0..200))
        -> Vec<Arrival> {
        let mut at = Stamp::EPOCH;
        steps.into_iter().map(|(gap, [read, tokens, bytes, chars, lag], channel)| {
            at += Nanos::from_nanos(gap);
            let read_lag = ReadLag::of(Nanos::from_nanos(lag.into()));
            Arrival { at, read, tokens, bytes, chars, channel, read_lag }
        }).collect()
    }
}

proptest! {
    #[test]
    fn a_tape_survives_its_line_of_json(arrivals in arrivals(), text in prop::option::of(".*")) {
        let mut tape = Tape::sent_at(Stamp::from_nanos(5));
        tape.arrivals = arrivals;
        tape.text = text;
        tape.token_source = TokenSource::ContinuousUsage;
        tape.usage = Some(Usage { prompt_tokens: Some(Tokens::new(250)), ..Usage::default() });
        let line = serde_json::to_string(&tape).unwrap();
        prop_assert!(!line.contains('\n'));
        prop_assert_eq!(serde_json::from_str::<Tape>(&line).unwrap(), tape);
    }

    #[test]
    fn foreign_columns_never_panic(gaps in prop::collection::vec(any::<u64>(), 0..4), run in any::<u64>()) {
        let mut value = serde_json::to_value(Tape::sent_at(Stamp::EPOCH)).unwrap();
        value["arrivals"]["gap_ns"] = gaps.clone().into();
        value["arrivals"]["channel"] = serde_json::json!([["visible", run], ["visible", u64::MAX]]);
        prop_assert!(serde_json::from_value::<Tape>(value).is_err());
    }
}

proptest! {
    #[test]
    fn spread_tokens_add_up_and_are_even(total in 0u64..100_000, events in 0usize..300) {
        let mut tape = Tape::sent_at(Stamp::EPOCH);
        tape.arrivals = vec![Arrival::tokens(Stamp::EPOCH, 1, Channel::Visible); events];
        tape.spread_tokens(Tokens::new(total), TokenSource::Tokenizer);
        let shares: Vec<u32> = tape.arrivals.iter().map(|arrival| arrival.tokens).collect();
        match (shares.iter().max(), shares.iter().min()) {
            (Some(most), Some(least)) => {
                prop_assert_eq!(tape.output_tokens(), Tokens::new(total));
                prop_assert!(most - least <= 1 && shares.first() == Some(most));
                prop_assert_eq!(tape.token_source, TokenSource::Tokenizer);
            }
            _ => prop_assert_eq!(tape.token_source, TokenSource::Events),
        }
    }
}

#[test]
fn first_and_last_tokens_are_read_off_the_arrivals() {
    let at = |ms| Stamp::EPOCH + Nanos::from_millis(ms);
    let mut tape = Tape::sent_at(at(0));
    assert_eq!((tape.first_token(), tape.last_token()), (None, None));
    tape.arrivals = vec![
        Arrival::tokens(at(20), 2, Channel::Reasoning),
        Arrival::tokens(at(25), 1, Channel::Silent),
        Arrival::tokens(at(30), 3, Channel::Visible),
    ];
    assert_eq!(tape.first_token(), Some(at(20)));
    assert_eq!(tape.first_visible(), Some(at(30)));
    assert_eq!(tape.last_token(), Some(at(30)));
    assert_eq!(tape.output_tokens(), Tokens::new(6));
}

#[test]
fn an_embedding_is_output_without_a_token() {
    let at = Stamp::from_nanos(7);
    let mut tape = Tape::sent_at(Stamp::EPOCH);
    tape.arrivals = vec![Arrival::tokens(at, 0, Channel::Embedding)];
    assert_eq!((tape.first_token(), tape.last_token(), tape.last_output()), (None, None, Some(at)));
}

#[test]
fn the_servers_prompt_length_wins_over_the_asked_one() {
    let mut tape = Tape::sent_at(Stamp::EPOCH);
    assert_eq!(tape.input_tokens(), None);
    tape.requested.input_tokens = Some(Tokens::new(250));
    assert_eq!(tape.input_tokens(), Some(Tokens::new(250)));
    tape.usage = Some(Usage { prompt_tokens: Some(Tokens::new(258)), ..Usage::default() });
    assert_eq!(tape.input_tokens(), Some(Tokens::new(258)));
}

#[test]
fn a_failure_is_not_a_success_and_says_why() {
    let mut tape = Tape::sent_at(Stamp::EPOCH);
    let failure = Failure::new(FailureClass::Truncated, "the reply ended without [DONE]");
    assert_eq!(failure.to_string(), "truncated: the reply ended without [DONE]");
    tape.outcome = Outcome::Failed(failure);
    assert!(!tape.is_success());
}

#[test]
fn a_tape_on_another_clock_has_every_instant_moved_and_no_length() {
    let at = |ms: u64| Stamp::EPOCH + Nanos::from_millis(ms);
    let mut tape = Tape::sent_at(at(10));
    let (dns, tls) = (Some(at(11)), Some(at(13)));
    tape.marks.connect = Some(ConnectMarks { start: at(10), dns, tcp: at(12), tls });
    tape.marks.headers = Some(at(20));
    tape.marks.end = Some(at(40));
    tape.arrivals = vec![Arrival::tokens(at(30), 2, Channel::Visible)];
    let before = tape.clone();
    tape.put_later(Nanos::from_millis(7));
    let connect = tape.marks.connect.unwrap();
    assert_eq!(
        (connect.start, connect.dns, connect.tcp, connect.tls),
        (at(17), Some(at(18)), at(19), Some(at(20)))
    );
    assert_eq!((tape.marks.intended, tape.marks.released), (at(17), at(17)));
    assert_eq!((tape.marks.headers, tape.marks.end), (Some(at(27)), Some(at(47))));
    assert_eq!(tape.arrivals[0].at, at(37));
    tape.map_stamps(|stamp| Stamp::EPOCH + (stamp.saturating_since(at(7))));
    assert_eq!(tape, before);
}
