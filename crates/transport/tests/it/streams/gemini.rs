//! Gemini's `:streamGenerateContent`.

use fizeau_core::Channel::{Reasoning, ToolCall, Visible};
use fizeau_core::FailureClass::{InStreamError, Truncated};
use fizeau_core::Finish::{Length, Other, Stop};
use fizeau_core::TokenSource::{ContinuousUsage, Events, FinalUsageSpread};
use fizeau_transport::Route::Gemini;

use super::{Case, V, case};

/// A chunk, with line ends as Google writes them.
fn chunk(parts: &str, finish: &str, rest: &str) -> String {
    format!(
        "data: {{\"candidates\":[{{\"content\":{{\"parts\":[{parts}],\"role\":\"model\"}}{finish},\"index\":0}}]{rest},\"modelVersion\":\"m\"}}\r\n\r\n"
    )
}

fn text(text: &str) -> String {
    format!(r#"{{"text":"{text}"}}"#)
}

fn finish(reason: &str) -> String {
    format!(r#","finishReason":"{reason}""#)
}

fn usage(answer: u32, thoughts: u32) -> String {
    let total = 3 + answer + thoughts;
    format!(
        r#","usageMetadata":{{"promptTokenCount":3,"candidatesTokenCount":{answer},"thoughtsTokenCount":{thoughts},"totalTokenCount":{total}}}"#
    )
}

pub(super) fn good() -> String {
    [
        chunk(&text("Ga bu"), "", &usage(2, 0)),
        chunk(&text(" zo"), &finish("MAX_TOKENS"), &usage(5, 0)),
    ]
    .concat()
}

pub(super) fn cases() -> Vec<Case> {
    [counts(), channels(), ends()].concat().into_iter().map(|case| case.on(Gemini)).collect()
}

fn counts() -> Vec<Case> {
    vec![
        case(
            "3, 5, 15, 28: Gemini, bundles and CRLF",
            good(),
            &[(2, Visible), (3, Visible)],
            ContinuousUsage,
            (Ok(Length), "Ga bu zo"),
        ),
        case(
            "3: Gemini, a count at the end only",
            [
                chunk(&text("Ga bu"), "", ""),
                chunk(&text(" zo"), "", ""),
                chunk(&text(""), &finish("STOP"), &usage(5, 0)),
            ]
            .concat(),
            &[(3, Visible), (2, Visible)],
            FinalUsageSpread,
            (Ok(Stop), "Ga bu zo"),
        ),
        case(
            "10: Gemini, a chunk of nothing but the reason, one of nothing at all",
            [
                chunk(&text("Ga"), "", &usage(1, 0)),
                "data: {\"usageMetadata\":{\"promptTokenCount\":3}}\r\n\r\n".to_owned(),
                "data: {\"candidates\":[{\"finishReason\":\"STOP\",\"index\":0}]}\r\n\r\n"
                    .to_owned(),
            ]
            .concat(),
            &[V],
            ContinuousUsage,
            (Ok(Stop), "Ga"),
        ),
    ]
}

fn channels() -> Vec<Case> {
    vec![
        case(
            "2: Gemini, thoughts are output",
            [
                chunk(r#"{"text":"hm","thought":true}"#, "", &usage(0, 2)),
                chunk(&text("Ga"), &finish("STOP"), &usage(1, 2)),
            ]
            .concat(),
            &[(2, Reasoning), V],
            ContinuousUsage,
            (Ok(Stop), "hmGa"),
        ),
        case(
            "2: Gemini, a call",
            chunk(r#"{"functionCall":{"name":"f","args":{"a":1}}}"#, &finish("STOP"), &usage(4, 0)),
            &[(4, ToolCall)],
            ContinuousUsage,
            (Ok(Stop), r#"f{"a":1}"#),
        ),
    ]
}

fn ends() -> Vec<Case> {
    let start = chunk(&text("Ga"), "", "");
    let failing = [
        ("11: Gemini, a safety filter", chunk("", &finish("SAFETY"), "")),
        ("11: Gemini, recitation", chunk(&text(""), &finish("RECITATION"), "")),
        (
            "11: Gemini, an error object",
            "data: {\"error\":{\"code\":503,\"message\":\"busy\"}}\r\n\r\n".to_owned(),
        ),
        (
            "11: Gemini, a blocked prompt",
            "data: {\"promptFeedback\":{\"blockReason\":\"SAFETY\"}}\r\n\r\n".to_owned(),
        ),
    ];
    let failing = failing.map(|(name, bad)| {
        let bytes = [&*start, &bad].concat();
        case(name, bytes, &[V], Events, (Err(InStreamError), "Ga"))
    });
    let others = [
        case(
            "28: Gemini, another reason",
            [&*start, &chunk("", &finish("OTHER"), "")].concat(),
            &[V],
            Events,
            (Ok(Other), "Ga"),
        ),
        case(
            "13: Gemini, no reason at the end",
            start.clone(),
            &[V],
            Events,
            (Err(Truncated), "Ga"),
        ),
        case(
            "13: Gemini, a body that breaks off behind the reason",
            good(),
            &[(2, Visible), (3, Visible)],
            ContinuousUsage,
            (Err(Truncated), "Ga bu zo"),
        )
        .cut(),
    ];
    failing.into_iter().chain(others).collect()
}
