//! The table of edge cases, cell by cell.

use fizeau_core::{Arrival, Channel, FailureClass, Tape, TokenSource};
use fizeau_metrics::{RequestMetrics, inter_chunk, inter_token};
use proptest::prelude::*;

use super::page::table;
use crate::cases;
use crate::tapes::{any_tape, failed, ms, tape};

/// A reply with these channels, an event of one token each, ten milliseconds apart.
fn on(channels: &[Channel]) -> Tape {
    let mut tape = tape(0, &[]);
    let arrivals = (1..).zip(channels).map(|(k, &channel)| Arrival::tokens(ms(10 * k), 1, channel));
    tape.arrivals = arrivals.collect();
    tape
}

fn embedding() -> Tape {
    let mut tape = tape(0, &[]);
    tape.arrivals = vec![Arrival::tokens(ms(10), 0, Channel::Embedding)];
    tape.token_source = TokenSource::Tokenless;
    tape
}

/// The reply that a row of the table is about.
fn reply(case: &str) -> Tape {
    use Channel::{Reasoning, Refusal, Silent, ToolCall, Visible};
    match case {
        "several events, a token each" => tape(0, &[(10, 1), (20, 1), (30, 1)]),
        "several events, several tokens each" => tape(0, &[(10, 3), (20, 2)]),
        "one token" => tape(0, &[(10, 1)]),
        "one event of several tokens" => tape(0, &[(10, 5)]),
        "first event without a token, by an estimate" => tape(0, &[(10, 0), (20, 1), (30, 1)]),
        "all tokens in the first event, by an estimate" => tape(0, &[(10, 2), (20, 0)]),
        "only reasoning" => on(&[Reasoning; 3]),
        "reasoning, then text" => on(&[Reasoning, Reasoning, Visible]),
        "only a tool call" => on(&[ToolCall; 3]),
        "only a refusal" => on(&[Refusal; 3]),
        "tokens without text" => on(&[Silent; 3]),
        "embedding" => embedding(),
        "prompt of unknown length" => {
            let tape = tape(0, &[(10, 1), (20, 1)]);
            assert_eq!(tape.input_tokens(), None);
            tape
        }
        "failed before a token" => failed(tape(0, &[]), FailureClass::Status),
        "failed after some tokens" => failed(tape(0, &[(10, 1), (20, 1)]), FailureClass::Truncated),
        _ => panic!("no reply was made for the row `{case}`"),
    }
}

#[test]
fn each_edge_case_is_as_the_page_says() {
    let rows =
        table(&["reply", "TTFT", "first visible", "TPOT", "ITL", "ICL", "E2EL", "output tokens"]);
    assert_eq!(rows.len(), 15, "a case is missing");
    for row in rows {
        let tape = reply(row[0]);
        let metrics = RequestMetrics::of(&tape);
        let found = [
            metrics.ttft.is_some(),
            metrics.first_visible.is_some(),
            metrics.tpot.is_some(),
            inter_token(&tape).next().is_some(),
            inter_chunk(&tape).next().is_some(),
            metrics.e2el.is_some(),
            metrics.output_tokens.is_some(),
        ];
        let says = found.map(|is_there| if is_there { "yes" } else { "-" });
        assert_eq!(row[1..], says, "{}", row[0]);
        // The scheduled ones come and go with the others.
        assert_eq!(metrics.ttft_scheduled.is_some(), metrics.ttft.is_some(), "{}", row[0]);
        assert_eq!(metrics.e2el_scheduled.is_some(), metrics.e2el.is_some(), "{}", row[0]);
    }
}

proptest! {
    #![proptest_config(cases(200))]

    /// "E2EL = TTFT + (n - k) TPOT holds for each request", and its scheduled form is later by the send lateness.
    #[test]
    fn latencies_add_up(tape in any_tape()) {
        let metrics = RequestMetrics::of(&tape);
        let millis = |span: Option<fizeau_core::Nanos>| span.map(fizeau_core::Nanos::as_millis_f64);
        let later = metrics.output_tokens.zip(metrics.first_event_tokens);
        let later = later.map_or(0, |(n, k)| n.get() - k.get());
        let (e2el, ttft) = (millis(metrics.e2el).unwrap(), millis(metrics.ttft).unwrap());
        if let Some(tpot) = metrics.tpot {
            let sum = later as f64 * tpot.get() + ttft;
            prop_assert!((sum - e2el).abs() <= 1e-9 * e2el, "{sum} {e2el}");
        } else {
            prop_assert_eq!(later, 0);
        }
        let late = metrics.send_lateness.unwrap();
        prop_assert_eq!(metrics.e2el.map(|e2el| e2el + late), metrics.e2el_scheduled);
        prop_assert_eq!(metrics.ttft.map(|ttft| ttft + late), metrics.ttft_scheduled);
        prop_assert_eq!(inter_chunk(&tape).count() + 1, tape.arrivals.len());
    }
}
