//! Anthropic's Messages.

use fizeau_core::Channel::{Reasoning, ToolCall, Visible};
use fizeau_core::FailureClass::{InStreamError, Truncated};
use fizeau_core::Finish::{Length, Stop, ToolCalls};
use fizeau_core::TokenSource::{ContinuousUsage, Events, FinalUsageSpread};
use fizeau_transport::Route::Messages;

use super::{Case, DONE, V, case};

fn event(kind: &str, fields: &str) -> String {
    format!("event: {kind}\ndata: {{\"type\":\"{kind}\"{fields}}}\n\n")
}

/// The start, whose output count is a stand-in.
fn start() -> String {
    event(
        "message_start",
        r#","message":{"id":"m","type":"message","role":"assistant","content":[],"stop_reason":null,"usage":{"input_tokens":4,"cache_creation_input_tokens":3,"cache_read_input_tokens":2,"output_tokens":7}}"#,
    )
}

fn ping() -> String {
    event("ping", "")
}

fn block(block: &str) -> String {
    event("content_block_start", &format!(r#","index":0,"content_block":{{{block}}}"#))
}

fn delta(kind: &str, field: &str, text: &str, rest: &str) -> String {
    event(
        "content_block_delta",
        &format!(r#","index":0,"delta":{{"type":"{kind}","{field}":"{text}"}}{rest}"#),
    )
}

fn text(text: &str) -> String {
    delta("text_delta", "text", text, "")
}

fn message_delta(reason: &str, count: u32) -> String {
    event(
        "message_delta",
        &format!(
            r#","delta":{{"stop_reason":{reason},"stop_sequence":null}},"usage":{{"output_tokens":{count}}}"#
        ),
    )
}

fn stop() -> String {
    [
        event("content_block_stop", r#","index":0"#),
        message_delta(r#""max_tokens""#, 4),
        event("message_stop", ""),
    ]
    .concat()
}

fn opening() -> String {
    [start(), ping(), block(r#""type":"text","text":"""#)].concat()
}

pub(super) fn good() -> String {
    [opening(), text("Ga"), ping(), text(" bu"), stop()].concat()
}

pub(super) fn cases() -> Vec<Case> {
    [counts(), thoughts(), channels(), failures()]
        .concat()
        .into_iter()
        .map(|case| case.on(Messages))
        .collect()
}

fn counts() -> Vec<Case> {
    let stamped = |text: &str, count: u32| {
        let usage = format!(r#","usage":{{"output_tokens":{count}}}"#);
        delta("text_delta", "text", text, &usage)
    };
    vec![
        case(
            "1, 28: Anthropic, pings and a stand-in for a count",
            good(),
            &[(2, Visible), (2, Visible)],
            FinalUsageSpread,
            (Ok(Length), "Ga bu"),
        ),
        case(
            "8: Anthropic, several counts, each of all so far",
            [
                opening(),
                text("Ga"),
                message_delta("null", 1),
                text(" bu"),
                message_delta("null", 3),
                stop(),
            ]
            .concat(),
            &[(2, Visible), (2, Visible)],
            FinalUsageSpread,
            (Ok(Length), "Ga bu"),
        ),
        case(
            "3: Anthropic, a running count on each delta",
            [opening(), stamped("Ga", 3), stamped(" bu", 4), stop()].concat(),
            &[(3, Visible), (1, Visible)],
            ContinuousUsage,
            (Ok(Length), "Ga bu"),
        ),
        case(
            "9: Anthropic, the end marker of other routes behind the end",
            [&*good(), DONE].concat(),
            &[(2, Visible), (2, Visible)],
            FinalUsageSpread,
            (Ok(Length), "Ga bu"),
        ),
    ]
}

/// A reply whose thoughts show the text `shown`, and what its last usage has beside the 12 tokens of output.
fn thoughtful(shown: &str, details: &str) -> String {
    let end = message_delta(r#""model_context_window_exceeded""#, 12);
    [
        start(),
        block(r#""type":"thinking","thinking":"","signature":"""#),
        delta("thinking_delta", "thinking", shown, ""),
        delta("signature_delta", "signature", "EqQBCg", ""),
        event("content_block_stop", r#","index":0"#),
        block(r#""type":"text","text":"""#),
        text("Ga"),
        text(" bu"),
        end.replace(r#""output_tokens":12"#, &format!(r#""output_tokens":12{details}"#)),
        event("message_stop", ""),
    ]
    .concat()
}

/// `thinking_tokens` are in Anthropic's usage since version 0.105.0 of its SDK (anthropics/anthropic-sdk-python#1017).
fn thoughts() -> Vec<Case> {
    let counted = r#","output_tokens_details":{"thinking_tokens":10}"#;
    vec![
        case(
            "5: Anthropic, thoughts that are counted and not displayed",
            thoughtful("", counted),
            &[(11, Visible), V],
            FinalUsageSpread,
            (Ok(Length), "Ga bu"),
        ),
        case(
            "5: Anthropic, thoughts that are counted, and a summary of them",
            thoughtful("hm", counted),
            &[(10, Reasoning), V, V],
            FinalUsageSpread,
            (Ok(Length), "hmGa bu"),
        ),
        case(
            "5: Anthropic, thoughts that are neither counted nor displayed: the total is of more than the events",
            thoughtful("", ""),
            &[V, V],
            Events,
            (Ok(Length), "Ga bu"),
        ),
    ]
}

fn channels() -> Vec<Case> {
    vec![
        case(
            "2: Anthropic, thoughts; a signature is no token",
            [
                start(),
                block(r#""type":"thinking","thinking":"","signature":"""#),
                delta("thinking_delta", "thinking", "hm", ""),
                delta("signature_delta", "signature", "EqQBCg", ""),
                block(r#""type":"text","text":"""#),
                text("Ga"),
                event("unheard_of", r#","delta":{"text":"x"}"#),
                message_delta(r#""end_turn""#, 2),
                event("message_stop", ""),
            ]
            .concat(),
            &[(1, Reasoning), V],
            FinalUsageSpread,
            (Ok(Stop), "hmGa"),
        ),
        case(
            "2: Anthropic, a tool",
            [
                start(),
                block(r#""type":"tool_use","id":"t","name":"f","input":{}"#),
                delta("input_json_delta", "partial_json", "", ""),
                delta("input_json_delta", "partial_json", "{}", ""),
                message_delta(r#""tool_use""#, 2),
                event("message_stop", ""),
            ]
            .concat(),
            &[(1, ToolCall), (1, ToolCall)],
            FinalUsageSpread,
            (Ok(ToolCalls), "f{}"),
        ),
    ]
}

fn failures() -> Vec<Case> {
    let error = r#","error":{"type":"overloaded_error","message":"busy"}"#;
    vec![
        case(
            "11, 12: Anthropic, an error, and what follows",
            [opening(), text("Ga"), event("error", error), stop()].concat(),
            &[(4, Visible)],
            FinalUsageSpread,
            (Err(InStreamError), "Ga"),
        ),
        case(
            "11: Anthropic, an error without an event's name",
            [opening(), text("Ga"), format!("data: {{\"type\":\"error\"{error}}}\n\n")].concat(),
            &[V],
            Events,
            (Err(InStreamError), "Ga"),
        ),
        case(
            "11: Anthropic, a refusal by a filter",
            [opening(), text("Ga"), message_delta(r#""refusal""#, 1), event("message_stop", "")]
                .concat(),
            &[V],
            FinalUsageSpread,
            (Err(InStreamError), "Ga"),
        ),
        case(
            "13: Anthropic, no message_stop",
            [opening(), text("Ga"), message_delta(r#""max_tokens""#, 1)].concat(),
            &[V],
            FinalUsageSpread,
            (Err(Truncated), "Ga"),
        ),
    ]
}
