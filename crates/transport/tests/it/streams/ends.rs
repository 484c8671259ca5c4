//! Errors, framing, and ends.

use fizeau_core::FailureClass::{Empty, InStreamError, Malformed, Truncated};
use fizeau_core::Finish::{Length, Other, Unstated};
use fizeau_core::TokenSource::{Events, FinalUsageSpread};

use super::{Case, DONE, V, case, event, finish, text, usage};

/// Every case of this file.
pub(super) fn cases() -> Vec<Case> {
    [errors(), garbage(), framing(), cut_streams(), endings()].concat()
}

fn errors() -> Vec<Case> {
    let failing = [
        ("11: an error object", event(r#"{"error":{"message":"no","type":"x","code":500}}"#)),
        ("11: an error text", event(r#"{"error":"no"}"#)),
        ("11: an old error", event(r#"{"object":"error","message":"no","code":400}"#)),
        ("11: a wrapped error", event(r#"{"choices":[],"x_groq":{"error":"no"}}"#)),
        ("11: an error by name", "event: error\ndata: no\n\n".to_owned()),
        ("11: content filter", finish("content_filter")),
        ("11: abort", finish("abort")),
        ("11: error as a reason", finish("error")),
        ("11: parse error", finish("parse_error")),
        ("11: TensorRT-LLM, cut off by its executor", finish("timeout")),
        ("11: an error after the end", [DONE, &event(r#"{"error":"late"}"#)].concat()),
    ];
    let failing = failing.map(|(name, bad)| {
        let bytes = [&*text("a", "", ""), &bad, DONE].concat();
        case(name, bytes, &[V], Events, (Err(InStreamError), "a"))
    });
    failing.into_iter().chain(errors_and_what_follows()).collect()
}

fn errors_and_what_follows() -> Vec<Case> {
    vec![
        case(
            "12: errors are sticky",
            [
                text("a", "", ""),
                event(r#"{"error":{"message":"no"}}"#),
                text("b", "", ""),
                finish("stop"),
                usage(3, 2),
                DONE.into(),
            ]
            .concat(),
            &[V, V],
            FinalUsageSpread,
            (Err(InStreamError), "ab"),
        ),
        case(
            "11: an empty error is none",
            [text("a", "", r#","error":null"#), text("b", "", r#","error":{}"#), DONE.into()]
                .concat(),
            &[V, V],
            Events,
            (Ok(Unstated), "ab"),
        ),
    ]
}

fn garbage() -> Vec<Case> {
    let garbage = [
        ("garbage: broken JSON", "{\"choices\":[{]}"),
        ("garbage: not an object", "[1]"),
        ("garbage: text", "<html>"),
        ("garbage: text of the wrong type", "{\"choices\":[{\"text\":5}]}"),
    ];
    let garbage = garbage.map(|(name, data)| {
        let bytes = [&*text("a", "", ""), &event(data), DONE].concat();
        case(name, bytes, &[V], Events, (Err(Malformed), "a"))
    });
    garbage.into()
}

fn framing() -> Vec<Case> {
    let plain =
        [text("a", "", ""), text(" é\\n\\\"", "", ""), text("字", "", ""), DONE.into()].concat();
    let expect =
        |name, bytes: String| case(name, bytes, &[V, V, V], Events, (Ok(Unstated), "a é\n\"字"));
    vec![
        expect(
            "14: comments, alone and glued",
            format!(
                ":\n\n: ping\n\n: glued\n{}: end\n\n",
                plain.replace("\n\ndata: [", "\n\n:\ndata: [")
            ),
        ),
        expect("15: CRLF", plain.replace('\n', "\r\n")),
        expect("15: CR", plain.replace('\n', "\r")),
        expect(
            "16: no space after the colon, stray ones after the JSON",
            plain.replace("data: ", "data:").replace("}\n", "}  \n"),
        ),
        expect("17: escapes and wide characters", plain.clone()),
        expect(
            "18: a byte order mark, ids, retries",
            format!("\u{feff}retry: 5\n\n{}", plain.replace("data:", "id: 1\ndata:")),
        ),
        expect(
            "18: data over several lines",
            plain.replace(r#","choices""#, "\ndata: ,\"choices\""),
        ),
    ]
}

fn cut_streams() -> Vec<Case> {
    let (a, b) = (text("a", "", ""), text("b", "", ""));
    vec![
        case(
            "13: no end marker",
            [&*a, &*b, &*finish("stop")].concat(),
            &[V, V],
            Events,
            (Err(Truncated), "ab"),
        ),
        case(
            "13: cut within an event",
            [&*a, &b[..b.len() / 2]].concat(),
            &[V],
            Events,
            (Err(Truncated), "a"),
        ),
        case(
            "13: cut before the blank line",
            [&*a, b.trim_end()].concat(),
            &[V, V],
            Events,
            (Err(Truncated), "ab"),
        ),
        case(
            "13: the end marker without its blank line is one",
            [&*a, DONE.trim_end()].concat(),
            &[V],
            Events,
            (Ok(Unstated), "a"),
        ),
        case(
            "13: half an end marker is none",
            [&*a, "data: [DON"].concat(),
            &[V],
            Events,
            (Err(Truncated), "a"),
        ),
        case("13: nothing at all", "", &[], Events, (Err(Truncated), "")),
    ]
}

fn endings() -> Vec<Case> {
    let (a, b) = (text("a", "", ""), text("b", "", ""));
    vec![
        case(
            "9: usage and end marker behind the last token",
            [&*a, &*b, &*usage(1, 2), DONE].concat(),
            &[V, V],
            FinalUsageSpread,
            (Ok(Unstated), "ab"),
        ),
        case(
            "an end without a token",
            [&*finish("stop"), DONE].concat(),
            &[],
            Events,
            (Err(Empty), ""),
        ),
        case("an end alone", DONE, &[], Events, (Err(Empty), "")),
        case(
            "28: the cap under another name",
            [&*a, &*finish("max_tokens"), DONE].concat(),
            &[V],
            Events,
            (Ok(Length), "a"),
        ),
        case(
            "28: a reason of the server's own",
            [&*a, &*finish("bored"), DONE].concat(),
            &[V],
            Events,
            (Ok(Other), "a"),
        ),
    ]
}
