//! OpenAI's Responses.

use fizeau_core::Channel::{Reasoning, Refusal, ToolCall, Visible};
use fizeau_core::FailureClass::{InStreamError, Truncated};
use fizeau_core::Finish::{Length, Stop, ToolCalls, Unstated};
use fizeau_core::TokenSource::{Events, FinalUsageSpread, Logprobs};
use fizeau_transport::Route::Responses;

use super::{Case, DONE, V, case};

/// An event of type `kind` with `fields` behind it.
fn event(kind: &str, fields: &str) -> String {
    format!("event: {kind}\ndata: {{\"type\":\"{kind}\"{fields}}}\n\n")
}

fn delta(kind: &str, text: &str) -> String {
    event(
        &format!("response.{kind}.delta"),
        &format!(
            r#","sequence_number":4,"item_id":"i","output_index":0,"content_index":0,"delta":"{text}","logprobs":[],"obfuscation":"x7""#
        ),
    )
}

fn text(text: &str) -> String {
    delta("output_text", text)
}

/// What comes before the first token.
fn opening() -> String {
    let usage =
        r#","response":{"id":"r","status":"in_progress","output":[],"usage":null,"error":null}"#;
    [
        event("response.created", usage),
        event("response.queued", usage),
        event("response.in_progress", usage),
        event(
            "response.output_item.added",
            r#","item":{"id":"i","type":"message","status":"in_progress","content":[]}"#,
        ),
        event("response.content_part.added", r#","part":{"type":"output_text","text":""}"#),
    ]
    .concat()
}

/// The whole text again, three times.
fn repeats() -> String {
    let part = r#""type":"output_text","text":"Ga bu""#;
    [
        event("response.output_text.done", r#","text":"Ga bu""#),
        event("response.content_part.done", &format!(r#","part":{{{part}}}"#)),
        event(
            "response.output_item.done",
            &format!(r#","item":{{"type":"message","content":[{{{part}}}]}}"#),
        ),
    ]
    .concat()
}

fn end(kind: &str, fields: &str, count: u32) -> String {
    event(
        &format!("response.{kind}"),
        &format!(
            r#","sequence_number":70,"response":{{"id":"r","status":"{kind}"{fields},"output":[{{"content":[{{"text":"Ga bu"}}]}}],"usage":{{"input_tokens":3,"input_tokens_details":{{"cached_tokens":2}},"output_tokens":{count},"output_tokens_details":{{"reasoning_tokens":1}},"total_tokens":9}}}}"#
        ),
    )
}

const CAPPED: &str = r#","incomplete_details":{"reason":"max_output_tokens"}"#;

pub(super) fn good() -> String {
    [opening(), text("Ga"), text(" bu"), repeats(), end("incomplete", CAPPED, 4)].concat()
}

pub(super) fn cases() -> Vec<Case> {
    [ends(), channels(), failures()].concat().into_iter().map(|case| case.on(Responses)).collect()
}

fn ends() -> Vec<Case> {
    let start = [opening(), text("Ga"), text(" bu"), repeats()].concat();
    let expect = |name, bytes: Vec<&str>, finish| {
        case(
            name,
            bytes.concat(),
            // Four tokens, one of them a thought that was never streamed.
            &[(3, Visible), (1, Visible)],
            FinalUsageSpread,
            (Ok(finish), "Ga bu"),
        )
    };
    let completed = end("completed", "", 4);
    vec![
        expect("28: Responses, a capped reply", vec![&good()], Length),
        expect("Responses, a whole reply", vec![&start, &completed], Stop),
        expect(
            "28: Responses, incomplete without a reason",
            vec![&start, &end("incomplete", "", 4)],
            Unstated,
        ),
        expect(
            "9: Responses, the end marker of the older routes",
            vec![&start, &completed, DONE],
            Stop,
        ),
        expect(
            "14: Responses, types in the event's name only",
            vec![
                &[&*start, &completed]
                    .concat()
                    .replace("\"type\":\"response.", "\"kind\":\"response."),
            ],
            Stop,
        ),
    ]
}

fn channels() -> Vec<Case> {
    let with_logprobs = |text: &str, n: usize| {
        let entries = vec!["{}"; n].join(",");
        self::text(text).replace(r#""logprobs":[]"#, &format!(r#""logprobs":[{entries}]"#))
    };
    vec![
        case(
            "2: Responses, all channels",
            [
                delta("reasoning_text", "hm"),
                delta("reasoning_summary_text", "ah"),
                delta("refusal", "no"),
                event(
                    "response.output_item.added",
                    r#","item":{"type":"function_call","name":"f","arguments":""}"#,
                ),
                delta("function_call_arguments", "{}"),
                event("response.audio.delta", r#","delta":{"bytes":1}"#),
                event("response.unheard_of.delta", r#","delta":"x""#),
                text("Ga"),
                end("completed", "", 6),
            ]
            .concat(),
            &[(1, Reasoning), (1, Reasoning), (1, Refusal), (1, ToolCall), (1, ToolCall), V],
            FinalUsageSpread,
            (Ok(ToolCalls), "hmahnof{}Ga"),
        ),
        case(
            "3: Responses, log-probabilities count",
            [with_logprobs("Ga bu", 3), with_logprobs(" zo", 1), end("completed", "", 4)].concat(),
            &[(3, Visible), (1, Visible)],
            Logprobs,
            (Ok(Stop), "Ga bu zo"),
        ),
    ]
}

fn failures() -> Vec<Case> {
    let start = [opening(), text("Ga")].concat();
    let failing = [
        (
            "11: Responses, failed",
            event(
                "response.failed",
                r#","response":{"status":"failed","error":{"code":"server_error","message":"no"}}"#,
            ),
        ),
        (
            "11: Responses, failed without words",
            event("response.failed", r#","response":{"error":null}"#),
        ),
        (
            "11: Responses, an error event",
            event("error", r#","code":"x","message":"no","param":null"#),
        ),
        (
            "11: Responses, an error without an event's name",
            "data: {\"type\":\"error\",\"message\":\"no\"}\n\n".to_owned(),
        ),
        (
            "11: Responses, a content filter",
            event(
                "response.incomplete",
                r#","response":{"incomplete_details":{"reason":"content_filter"}}"#,
            ),
        ),
    ];
    let failing = failing.map(|(name, bad)| {
        case(name, [&*start, &bad].concat(), &[V], Events, (Err(InStreamError), "Ga"))
    });
    let cut = [
        ("13: Responses, no end", start.clone()),
        ("13: Responses, the older end marker alone is no end", [&*start, DONE].concat()),
    ];
    let cut = cut.map(|(name, bytes)| case(name, bytes, &[V], Events, (Err(Truncated), "Ga")));
    failing.into_iter().chain(cut).collect()
}
