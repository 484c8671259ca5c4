//! The routes that are not OpenAI's completions or chat: what is asked, what is told beside the text, and that no
//! part of a reply passes for a whole one.

use fizeau_core::{EosRule, Message, Nanos, Outcome, Prompt, Role, Stamp, Tokens};
use fizeau_transport::{
    Backend, BodyEnd, BodyInput, EndRule, ExtraBody, Framing, KeepText, PromptKind, ReadMark,
    Reply, ReplyReader, RequestError, Route,
};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::bodies::request;
use crate::streams::{all_cases, good_replies};

fn read(route: Route, bytes: &[u8], end: BodyEnd) -> Reply {
    let mut reader = ReplyReader::new(route.dialect(), KeepText::No);
    reader.feed(bytes, ReadMark::user(Stamp::EPOCH, 0));
    reader.finish(end)
}

/// The body that `backend` is sent, on its own route.
fn body(backend: Backend, prompt: Prompt, eos: EosRule, extra: &str) -> Value {
    try_body(backend, prompt, eos, extra).unwrap()
}

fn try_body(
    backend: Backend,
    prompt: Prompt,
    eos: EosRule,
    extra: &str,
) -> Result<Value, RequestError> {
    let request = request(prompt, eos);
    let extra = ExtraBody::parse(extra).unwrap();
    let ask = BodyInput { model: "m", request: &request, backend, extra: &extra };
    let body = backend.route().dialect().body(&ask)?;
    Ok(serde_json::from_slice(&body).unwrap())
}

#[test]
fn embeddings() {
    let ids = || Prompt::TokenIds(vec![1, 2]);
    let expected =
        json!({"model": "m", "input": [1, 2], "encoding_format": "base64", "dimensions": 64});
    let extra = r#"{"encoding_format": "base64", "dimensions": 64}"#;
    assert_eq!(body(Backend::OpenAiEmbeddings, ids(), EosRule::Ignore, extra), expected);
    let expected = json!({"model": "m", "input": "hi \"you\"", "encoding_format": "float"});
    assert_eq!(body(Backend::VllmPooling, text(), EosRule::Stop, "{}"), expected);
    let error = try_body(Backend::InfinityEmbeddings, ids(), EosRule::Stop, "{}").unwrap_err();
    assert_eq!(error, RequestError::TokenIdsNotTaken(Backend::InfinityEmbeddings));
}

fn text() -> Prompt {
    Prompt::Text("hi \"you\"".into())
}

fn ids() -> Prompt {
    Prompt::TokenIds(vec![5, 6])
}

fn conversation() -> Prompt {
    let message = |role, content: &str| Message { role, content: content.into() };
    Prompt::Chat(vec![
        message(Role::System, "s"),
        message(Role::User, "u"),
        message(Role::Assistant, "a"),
        message(Role::User, "v"),
    ])
}

#[test]
fn bodies_of_text() {
    let hi = "hi \"you\"";
    let expected = [
        (
            Backend::SglangNative,
            json!({"text": hi, "sampling_params": {"max_new_tokens": 64, "ignore_eos": true}, "stream": true}),
        ),
        (
            Backend::Tgi,
            json!({"inputs": hi, "parameters": {"max_new_tokens": 64, "details": true}}),
        ),
        (
            Backend::Triton,
            json!({"text_input": hi, "max_tokens": 64, "min_length": 64, "stream": true}),
        ),
        (
            Backend::LlamaCppNative,
            json!({"prompt": hi, "n_predict": 64, "ignore_eos": true, "stream": true}),
        ),
        (
            Backend::Ollama,
            json!({"model": "m", "prompt": hi, "raw": true, "options": {"num_predict": 64}, "stream": true}),
        ),
        (
            Backend::OpenAiResponses,
            json!({"model": "m", "input": hi, "max_output_tokens": 64, "stream": true}),
        ),
        (
            Backend::OllamaChat,
            json!({
                "model": "m", "messages": [{"role": "user", "content": hi}], "options": {"num_predict": 64},
                "stream": true,
            }),
        ),
        (
            Backend::Anthropic,
            json!({"model": "m", "messages": [{"role": "user", "content": hi}], "max_tokens": 64, "stream": true}),
        ),
        (
            Backend::Gemini,
            json!({
                "contents": [{"role": "user", "parts": [{"text": hi}]}],
                "generationConfig": {"maxOutputTokens": 64},
            }),
        ),
        (
            Backend::Mistral,
            json!({"model": "m", "messages": [{"role": "user", "content": hi}], "max_tokens": 64, "stream": true}),
        ),
    ];
    for (backend, expected) in expected {
        assert_eq!(body(backend, text(), EosRule::Ignore, "{}"), expected, "{backend}");
    }
}

#[test]
fn a_length_is_forced_only_when_asked() {
    let forcing = ["ignore_eos", "min_length"];
    for backend in Backend::all() {
        let body = body(backend, text(), EosRule::Stop, "{}").to_string();
        assert!(forcing.iter().all(|field| !body.contains(field)), "{backend}");
    }
}

#[test]
fn llama_cpp_ignores_the_end_on_responses() {
    let request = request(text(), EosRule::Ignore);
    let ignores = |backend| {
        let extra = ExtraBody::default();
        let ask = BodyInput { model: "m", request: &request, backend, extra: &extra };
        let body = Route::Responses.dialect().body(&ask).unwrap();
        String::from_utf8(body).unwrap().contains(r#""ignore_eos":true"#)
    };
    assert!(ignores(Backend::LlamaCpp) && !ignores(Backend::OpenAi));
}

#[test]
fn bodies_of_ids() {
    let body = |backend| body(backend, ids(), EosRule::Stop, "{}");
    assert_eq!(body(Backend::SglangNative)["input_ids"], json!([5, 6]));
    assert_eq!(body(Backend::LlamaCppNative)["prompt"], json!([5, 6]));
    assert_eq!(body(Backend::Trtllm)["prompt"], json!([5, 6]));
}

#[test]
fn bodies_of_conversations() {
    let body = |backend| body(backend, conversation(), EosRule::Stop, "{}");
    let plain = |role: &str, content: &str| json!({"role": role, "content": content});
    let all = json!([
        plain("system", "s"),
        plain("user", "u"),
        plain("assistant", "a"),
        plain("user", "v")
    ]);
    assert_eq!(body(Backend::OllamaChat)["messages"], all);
    assert_eq!(body(Backend::OpenAiResponses)["input"], all);
    let anthropic = body(Backend::Anthropic);
    assert_eq!(anthropic["system"], "s");
    assert_eq!(anthropic["messages"].as_array().unwrap()[..], all.as_array().unwrap()[1..]);
    let gemini = body(Backend::Gemini);
    let content = |role: &str, text: &str| json!({"role": role, "parts": [{"text": text}]});
    assert_eq!(gemini["systemInstruction"], json!({"parts": [{"text": "s"}]}));
    assert_eq!(
        gemini["contents"],
        json!([content("user", "u"), content("model", "a"), content("user", "v")])
    );
}

/// Every backend can be given text and a conversation of one message; longer ones and ids only where its route
/// says so.
#[test]
fn prompts_by_route() {
    for backend in Backend::all() {
        let send = |prompt| try_body(backend, prompt, EosRule::Stop, "{}").is_ok();
        let one = Prompt::Chat(vec![Message { role: Role::User, content: "u".into() }]);
        let route = backend.route();
        assert!(send(text()) && send(one), "{backend}");
        assert_eq!(send(conversation()), route.takes(PromptKind::Chat), "{backend}");
        assert!(!send(ids()) || route.takes(PromptKind::TokenIds), "{backend}");
    }
    let error = |backend| try_body(backend, ids(), EosRule::Stop, "{}").unwrap_err();
    assert_eq!(error(Backend::Tgi), RequestError::TokenIdsNotTaken(Backend::Tgi));
    assert_eq!(error(Backend::Gemini), RequestError::TokenIdsForChat);
}

#[test]
fn sampling_parameters_go_where_the_server_looks_for_them() {
    let extra = r#"{"temperature": 0.5, "top_p": 0.9, "repetition_penalty": 1.1, "other": 1}"#;
    let body = |backend| body(backend, text(), EosRule::Stop, extra);
    let nested = [
        (Backend::SglangNative, "/sampling_params/top_p"),
        (Backend::Tgi, "/parameters/top_p"),
        (Backend::Ollama, "/options/top_p"),
        (Backend::Ollama, "/options/repeat_penalty"),
        (Backend::Gemini, "/generationConfig/topP"),
        (Backend::Triton, "/top_p"),
        (Backend::Anthropic, "/top_p"),
    ];
    for (backend, pointer) in nested {
        let body = body(backend);
        assert!(body.pointer(pointer).is_some(), "{backend}: {body}");
        assert_eq!(body["other"], 1, "{backend}");
        let top = pointer.matches('/').count() == 1;
        assert_eq!(body.get("top_p").is_some(), top, "{backend}: {body}");
    }
}

#[test]
fn the_users_object_is_laid_over_ours() {
    let extra =
        r#"{"temperature": 0.5, "options": {"temperature": 0.7, "num_ctx": 9}, "raw": false}"#;
    let body = body(Backend::Ollama, text(), EosRule::Stop, extra);
    assert_eq!(body["options"], json!({"num_predict": 64, "temperature": 0.7, "num_ctx": 9}));
    assert_eq!(body["raw"], false);
}

#[test]
fn what_makes_a_request_is_not_for_the_extra_body() {
    let cases = [
        (Backend::SglangNative, "sampling_params.max_new_tokens"),
        (Backend::SglangNative, "input_ids"),
        (Backend::Tgi, "inputs"),
        (Backend::Tgi, "parameters.details"),
        (Backend::Triton, "text_input"),
        (Backend::LlamaCppNative, "n_predict"),
        (Backend::Ollama, "options.num_predict"),
        (Backend::OpenAiResponses, "max_output_tokens"),
        (Backend::Gemini, "generationConfig.maxOutputTokens"),
        (Backend::OpenAiEmbeddings, "input"),
    ];
    for (backend, name) in cases {
        let extra = match name.split_once('.') {
            Some((outer, inner)) => json!({ outer: { inner: 1 } }),
            None => json!({ name: 1 }),
        };
        let extra = extra.to_string();
        let error = try_body(backend, text(), EosRule::Stop, &extra).unwrap_err();
        assert_eq!(error, RequestError::Reserved(name), "{backend}");
        let parsed = ExtraBody::parse(&extra).unwrap();
        assert!(parsed.check(backend.route()).is_err(), "{backend}");
        assert!(parsed.check(Route::Chat).is_ok(), "{backend}");
    }
}

/// Usage (prompt, output, cached, reasoning) and the server's own times (queue, prefill, decode) of the good
/// replies.
#[test]
fn usage_and_timing_beside_the_text() {
    let none = [None; 3];
    let expected = |route| match route {
        Route::Messages => ([Some(9), Some(4), Some(2), None], none),
        Route::Embeddings => ([Some(5), None, None, None], none),
        Route::Gemini => ([Some(3), Some(5), None, Some(0)], none),
        Route::LlamaCppCompletion => {
            ([Some(3), Some(3), Some(1), None], [None, Some(10_000), Some(90_500)])
        }
        Route::OllamaChat | Route::OllamaGenerate => {
            ([Some(3), Some(4), None, None], [None, Some(20_000), Some(900_000)])
        }
        Route::Responses => ([Some(3), Some(4), Some(2), Some(1)], none),
        Route::SglangGenerate => ([Some(3), Some(4), Some(0), None], none),
        Route::TgiGenerate => ([Some(3), Some(3), None, None], none),
        _ => ([None; 4], none),
    };
    for (route, bytes) in good_replies() {
        let reply = read(route, bytes.as_bytes(), BodyEnd::Whole);
        let usage = reply.usage.unwrap_or_default();
        let timing = reply.server_timing.unwrap_or_default();
        let counts = [
            usage.prompt_tokens,
            usage.completion_tokens,
            usage.cached_tokens,
            usage.reasoning_tokens,
        ];
        let micros = |time: Option<Nanos>| time.map(|time| time.as_nanos() / 1000);
        let times = [timing.queue, timing.prefill, timing.decode];
        let seen = (counts.map(|count| count.map(Tokens::get)), times.map(micros));
        assert_eq!(seen, expected(route), "{route:?}");
    }
}

#[test]
fn times_of_other_servers() {
    let chunk = br#"data: {"text":"a","meta_info":{"completion_tokens":1,"queue_time":0.5}}"#;
    let timing = read(Route::SglangGenerate, chunk, BodyEnd::Cut).server_timing;
    assert_eq!(timing.unwrap().queue, Some(Nanos::from_millis(500)));
    let groq = br#"data: {"choices":[],"x_groq":{"usage":{"queue_time":0.5,"prompt_time":0.25,"prompt_tokens":3,"completion_tokens":4,"completion_time":2}}}"#;
    let timing = read(Route::Chat, groq, BodyEnd::Cut).server_timing.unwrap();
    let times = [timing.queue, timing.prefill, timing.decode];
    let millis = [500, 250, 2000].map(|ms| Some(Nanos::from_millis(ms)));
    assert_eq!(times, millis);
    let deepseek = br#"data: {"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":4,"prompt_cache_hit_tokens":6}}"#;
    let usage = read(Route::Chat, deepseek, BodyEnd::Cut).usage.unwrap();
    assert_eq!(usage.cached_tokens, Some(Tokens::new(6)));
}

proptest! {
    /// A reply of which anything is missing is never a success: not if HTTP says that it broke off, and not if
    /// HTTP sees nothing wrong, unless the protocol itself has no sign of its end (Triton).
    #[test]
    fn a_part_of_a_reply_is_no_reply(
        number in 0..good_replies().len(),
        at in any::<prop::sample::Index>(),
    ) {
        let (route, bytes) = &good_replies()[number];
        // All but the last event; the one after it may lack its line end and still be whole.
        let events = bytes.trim_end();
        let last = events.rfind("data:").or_else(|| events.rfind('\n')).unwrap();
        let part = &bytes.as_bytes()[..at.index(last + 1)];
        let ends = [BodyEnd::Cut, BodyEnd::Whole];
        let unmarked = route.dialect().end() == EndRule::Body;
        for end in ends.into_iter().take(if unmarked { 1 } else { 2 }) {
            let outcome = read(*route, part, end).outcome;
            prop_assert!(matches!(outcome, Outcome::Failed(_)), "{:?}: {:?}", route, outcome);
        }
    }
}

#[test]
fn good_replies_are_good() {
    for (route, bytes) in good_replies() {
        let reply = read(route, bytes.as_bytes(), BodyEnd::Whole);
        assert!(matches!(reply.outcome, Outcome::Complete(_)), "{route:?}: {:?}", reply.outcome);
        // A proxy may change the framing: events of one line each, or lines as events.
        if route.dialect().framing() == Framing::Ndjson {
            let events: String = bytes.lines().map(|line| format!("data: {line}\n\n")).collect();
            let mut reader = ReplyReader::framed(route.dialect(), Framing::Sse, KeepText::No);
            reader.feed(events.as_bytes(), ReadMark::user(Stamp::EPOCH, 0));
            assert_eq!(reader.finish(BodyEnd::Whole), reply);
        }
    }
}

#[test]
fn every_route_has_good_and_bad_cases() {
    let cases = all_cases();
    for route in Route::ALL {
        let ends: Vec<_> = cases
            .iter()
            .filter(|case| case.route == route)
            .map(|case| case.expected.end.is_ok())
            .collect();
        assert!(ends.contains(&true) && ends.contains(&false), "{route:?}");
    }
}
