//! Errors in shapes of the server's own, and what only looks like one.

use fizeau_core::FailureClass::InStreamError;
use fizeau_core::Finish::Unstated;
use fizeau_core::TokenSource::Events;

use super::{Case, DONE, V, case, delta, event, finish};

/// Every case of this file.
pub(super) fn cases() -> Vec<Case> {
    [errors(), reasons(), none()].concat()
}

fn errors() -> Vec<Case> {
    let failing = [
        ("11: FastChat", r#"{"text":"busy","error_code":50004}"#),
        ("11: OpenRouter, in the choice", r#"{"choices":[{"delta":{},"error":{"code":502}}]}"#),
        (
            "11: OpenRouter, with a reason",
            r#"{"choices":[{"delta":{},"finish_reason":"error","error":{"code":502,"message":"no"}}]}"#,
        ),
        ("11: a code and words", r#"{"code":"InternalError","message":"no","request_id":"1"}"#),
        ("11: a detail alone", r#"{"detail":"no"}"#),
        ("11: Cloudflare", r#"{"errors":[{"message":"no"}],"success":false,"messages":[]}"#),
        ("11: a type", r#"{"type":"error","message":"no"}"#),
        ("11: MiniMax", r#"{"choices":null,"base_resp":{"status_code":1002,"status_msg":"no"}}"#),
    ];
    let failing = failing.map(|(name, bad)| (name, event(bad)));
    let named =
        ("11: llama.cpp, a field of the event", "error: {\"message\":\"no\"}\n\n".to_owned());
    let failing = failing.into_iter().chain([named]).map(|(name, bad)| {
        let bytes = [&*delta(r#""content":"a""#, "null", ""), &bad, DONE].concat();
        case(name, bytes, &[V], Events, (Err(InStreamError), "a"))
    });
    failing.collect()
}

/// By the documentation of each service, or as it was captured.
fn reasons() -> Vec<Case> {
    let reasons = [
        ("DeepSeek, out of resources", "insufficient_system_resource"),
        ("Z.ai, a fault", "network_error"),
        ("Z.ai, a filter", "sensitive"),
        ("Gemini's route of OpenAI's form, a filter", "content_filter: RECITATION"),
        ("Gemini's own, handed on", "SAFETY"),
    ];
    let failing = reasons.map(|(name, reason)| {
        let bytes = [&*delta(r#""content":"a""#, "null", ""), &finish(reason), DONE].concat();
        case(name, bytes, &[V], Events, (Err(InStreamError), "a"))
    });
    failing.into()
}

fn none() -> Vec<Case> {
    let none = [
        ("11: 0 is no error", r#","error":0"#),
        ("11: a code of 0 without words is none", r#","error":{"code":0,"message":""}"#),
        ("11: nulls are none", r#","error":{"code":null,"message":null,"more":[]}"#),
        ("a word of success beside output", r#","code":"ok","message":"fine""#),
    ];
    let mut cases = none.map(|(name, field)| {
        let bytes = [&*delta(r#""content":"a""#, "null", field), DONE].concat();
        case(name, bytes, &[V], Events, (Ok(Unstated), "a"))
    });
    let success = [
        &*delta(r#""content":"a""#, "null", ""),
        &event(r#"{"message":"loading"}"#),
        &event(r#"{"code":200,"message":"success","data":null}"#),
        &event(
            r#"{"choices":[],"code":0,"message":"success","base_resp":{"status_code":0,"status_msg":"success"}}"#,
        ),
        DONE,
    ];
    let success =
        case("a word of success alone", success.concat(), &[V], Events, (Ok(Unstated), "a"));
    let odd = [
        delta(r#""content":"a","refusal":false,"reasoning":{}"#, "null", ""),
        event(
            r#"{"choices":[{"delta":{"content":"b"},"logprobs":{"content":[{"logprob":-Infinity}]}}],"x":NaN}"#,
        ),
        DONE.into(),
    ];
    let odd = case(
        "17: odd values of what is not needed",
        odd.concat(),
        &[V, V],
        Events,
        (Ok(Unstated), "ab"),
    );
    cases.iter_mut().for_each(|case| case.route = fizeau_transport::Route::Chat);
    cases.into_iter().chain([success, odd]).collect()
}
