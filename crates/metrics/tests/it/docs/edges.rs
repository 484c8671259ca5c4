//! The table of edge cases, cell by cell.

use fizeau_core::{Arrival, Channel, FailureClass, Tape, TokenSource};
use fizeau_metrics::{RequestMetrics, inter_chunk, inter_token};

use super::table;
use crate::tapes::{failed, ms, tape};

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
