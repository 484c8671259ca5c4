//! SGLang's `/generate`, cumulative and incremental.

use fizeau_core::Channel::{Silent, Visible};
use fizeau_core::FailureClass::{InStreamError, Truncated};
use fizeau_core::Finish::{Length, Stop, Unstated};
use fizeau_core::TokenSource::{ContinuousUsage, TokenIds};
use fizeau_transport::Route::SglangGenerate;

use super::{Case, DONE, V, case, event};

/// An event with `text`, `ids` and the running count.
fn chunk(text: &str, ids: &str, count: u32, reason: &str) -> String {
    event(&format!(
        r#"{{"text":"{text}","output_ids":[{ids}],"meta_info":{{"id":"r1","finish_reason":{reason},"prompt_tokens":3,"completion_tokens":{count},"cached_tokens":0}}}}"#
    ))
}

const LENGTH: &str = r#"{"type":"length","length":4}"#;

fn cumulative() -> String {
    [
        chunk("Ga", "11", 1, "null"),
        chunk("Ga bu", "11,12", 2, "null"),
        chunk("Ga bu", "11,12,13", 3, "null"),
        chunk("Ga bu zo", "11,12,13,14", 4, LENGTH),
        DONE.into(),
    ]
    .concat()
}

pub(super) fn good() -> String {
    cumulative()
}

pub(super) fn cases() -> Vec<Case> {
    [repeating(), counted_otherwise(), bad_ends()]
        .concat()
        .into_iter()
        .map(|case| case.on(SglangGenerate))
        .collect()
}

fn repeating() -> Vec<Case> {
    let incremental = [
        chunk("Ga", "11", 1, "null"),
        chunk(" bu", "12", 2, "null"),
        chunk("", "13", 3, "null"),
        chunk(" zo", "14", 4, LENGTH),
        DONE.into(),
    ];
    let expected = [V, V, (1, Silent), V];
    let expect =
        |name, bytes: String| case(name, bytes, &expected, TokenIds, (Ok(Length), "Ga bu zo"));
    let without_ids = |bytes: &str| {
        let mut bytes = bytes.to_owned();
        for ids in ["11,12,13,14", "11,12,13", "11,12", "11", "12", "13", "14"] {
            bytes = bytes.replace(&format!("[{ids}]"), "[]");
        }
        bytes
    };
    let by_count = |name, bytes: &str| {
        let case = expect(name, without_ids(bytes));
        let expected = super::Expected { source: ContinuousUsage, ..case.expected };
        Case { expected, ..case }
    };
    vec![
        expect("26: SGLang, cumulative", cumulative()),
        expect("26: SGLang, incremental", incremental.concat()),
        by_count("26: SGLang, cumulative, text alone", &cumulative()),
        by_count("26: SGLang, incremental, text alone", &incremental.concat()),
    ]
}

fn counted_otherwise() -> Vec<Case> {
    vec![
        case(
            "3, 5: SGLang, bundles of a stream interval",
            [
                chunk("Ga bu", "11,12", 2, "null"),
                chunk("Ga bu zo me", "11,12,13,14,15", 5, LENGTH),
                DONE.into(),
            ]
            .concat(),
            &[(2, Visible), (3, Visible)],
            TokenIds,
            (Ok(Length), "Ga bu zo me"),
        ),
        case(
            "3: SGLang, ids without text",
            [
                event(r#"{"output_ids":[11],"meta_info":{"completion_tokens":1}}"#),
                event(r#"{"output_ids":[11,12],"meta_info":{"completion_tokens":2,"finish_reason":{"type":"stop","matched":2}}}"#),
                DONE.into(),
            ]
            .concat(),
            &[(1, Silent), (1, Silent)],
            TokenIds,
            (Ok(Stop), ""),
        ),
        case(
            "26: SGLang, the same text each time is new each time",
            [
                event(r#"{"text":"a","meta_info":{"completion_tokens":1}}"#),
                event(r#"{"text":"a","meta_info":{"completion_tokens":2}}"#),
                event(r#"{"text":"a","meta_info":{"completion_tokens":3}}"#),
                DONE.into(),
            ]
            .concat(),
            &[V, V, V],
            ContinuousUsage,
            (Ok(Unstated), "aaa"),
        ),
    ]
}

fn bad_ends() -> Vec<Case> {
    let start = chunk("Ga", "11", 1, "null");
    let aborted = r#"{"type":"abort","message":"gone"}"#;
    vec![
        case(
            "11: SGLang, an error object, and what follows",
            [
                &*start,
                &event(r#"{"error":{"message":"no","code":500}}"#),
                &chunk("Ga bu", "11,12", 2, LENGTH),
                DONE,
            ]
            .concat(),
            &[V, V],
            TokenIds,
            (Err(InStreamError), "Ga bu"),
        ),
        case(
            "11: SGLang, an abort",
            [&*start, &chunk("Ga", "11", 1, aborted), DONE].concat(),
            &[V],
            TokenIds,
            (Err(InStreamError), "Ga"),
        ),
        case(
            "13: SGLang, no end marker",
            [&*start, &*chunk("Ga bu", "11,12", 2, LENGTH)].concat(),
            &[V, V],
            TokenIds,
            (Err(Truncated), "Ga bu"),
        ),
    ]
}
