//! Requests as rows.

use fizeau_core::{Failure, FailureClass, LoadKind, Outcome, Tape, Tokens, Usage};
use fizeau_metrics::RequestMetrics;
use fizeau_report::{RequestRow, TableCell};
use proptest::prelude::*;

use crate::{cases, sample};

fn row(tape: &Tape) -> RequestRow<'_> {
    RequestRow {
        level: "concurrency-0032",
        load: LoadKind::Concurrency.at(32.0),
        tape,
        unseen: None,
    }
}

/// The field of that column.
fn cell<'a>(row: &RequestRow<'a>, name: &str) -> TableCell<'a> {
    let at = RequestRow::legend().position(|(column, ..)| column == name).unwrap();
    row.cells().nth(at).unwrap()
}

/// A line of a CSV file, taken apart as RFC 4180 has it.
pub(crate) fn fields(line: &str) -> Vec<String> {
    let (mut fields, mut is_quoted, mut chars) =
        (vec![String::new()], false, line.chars().peekable());
    while let Some(char) = chars.next() {
        let last = fields.last_mut().unwrap();
        match (char, is_quoted) {
            ('"', true) if chars.peek() == Some(&'"') => {
                last.push('"');
                chars.next();
            }
            ('"', _) => is_quoted = !is_quoted,
            (',', false) => fields.push(String::new()),
            _ => last.push(char),
        }
    }
    fields
}

#[test]
fn a_column_is_named_once_and_has_its_unit() {
    let names: Vec<&str> = RequestRow::legend().map(|(name, ..)| name).collect();
    let head = RequestRow::csv_head();
    assert_eq!(head.split(',').collect::<Vec<_>>(), names);
    let once: std::collections::BTreeSet<&str> = names.iter().copied().collect();
    assert_eq!(once.len(), names.len());
    assert!(names.iter().all(|name| !name.contains(['"', ' '])));
}

#[test]
fn the_figures_are_those_of_the_request() {
    for tape in sample::tapes(32) {
        let (row, metrics) = (row(&tape), RequestMetrics::of(&tape));
        let known = |value: Option<f64>| value.map_or(TableCell::Empty, TableCell::Number);
        let ms =
            |time: Option<fizeau_core::Nanos>| known(time.map(fizeau_core::Nanos::as_millis_f64));
        assert_eq!(cell(&row, "ttft_ms"), ms(metrics.ttft));
        assert_eq!(cell(&row, "tpot_ms"), known(metrics.tpot.map(fizeau_core::Millis::get)));
        assert_eq!(cell(&row, "e2el_ms"), ms(metrics.e2el));
        assert_eq!(cell(&row, "send_lateness_ms"), ms(metrics.send_lateness));
        assert_eq!(cell(&row, "input_tokens"), TableCell::Whole(250));
        let status = if tape.is_success() { "complete" } else { "failed" };
        assert_eq!(cell(&row, "status"), TableCell::Text(status.into()));
    }
}

#[test]
fn a_failed_request_has_its_class_and_no_latency() {
    let mut tape = sample::tapes(4).remove(0);
    let failure =
        Failure { status: Some(503), ..Failure::new(FailureClass::Status, "503, \"busy\"") };
    tape.outcome = Outcome::Failed(failure);
    let row = row(&tape);
    assert_eq!(cell(&row, "ended_by"), TableCell::Text("status".into()));
    assert_eq!(cell(&row, "http_status"), TableCell::Whole(503));
    for figure in ["ttft_ms", "tpot_ms", "e2el_ms", "output_tokens", "longest_gap_ms"] {
        assert_eq!(cell(&row, figure), TableCell::Empty, "{figure}");
    }
    assert!(row.csv().contains(",\"503, \"\"busy\"\"\","), "{}", row.csv());
}

#[test]
fn the_server_is_believed_before_the_plan() {
    let mut tape = sample::tapes(4).remove(0);
    let (prompt, cached) = (Some(Tokens::new(271)), Some(Tokens::new(16)));
    tape.usage = Some(Usage { prompt_tokens: prompt, cached_tokens: cached, ..Usage::default() });
    assert_eq!(cell(&row(&tape), "requested_input_tokens"), TableCell::Whole(250));
    assert_eq!(cell(&row(&tape), "input_tokens"), TableCell::Whole(271));
    assert_eq!(cell(&row(&tape), "cached_tokens"), TableCell::Whole(16));
}

proptest! {
    #![proptest_config(cases(64))]

    /// Whatever a server or a plan calls things, a row is as many fields as there are names, and each comes back.
    #[test]
    fn any_text_comes_back(model in "\\PC*[,\"\r\n]?\\PC*", detail in "[a\",\r\n ]*") {
        let mut tape = sample::tapes(4).remove(0);
        tape.model = Some(model.as_str().into());
        tape.outcome = Outcome::Failed(Failure::new(FailureClass::Malformed, detail.as_str()));
        let row = row(&tape);
        let line = row.csv();
        let fields = fields(&line);
        prop_assert_eq!(fields.len(), RequestRow::legend().count());
        let at = |name| RequestRow::legend().position(|(column, ..)| column == name).unwrap();
        prop_assert_eq!(&fields[at("model")], &model);
        prop_assert_eq!(&fields[at("detail")], &detail);
    }
}
