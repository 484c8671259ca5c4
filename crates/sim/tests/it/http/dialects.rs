//! Whole streams of the dialects that are not OpenAI's completions and chat, to the byte, and their replies in one
//! piece.

use fizeau_core::Tokens;
use fizeau_sim::http::{NaturalLength, ServerConfig, SglangText};
use serde_json::{Value, json};

use super::client::{get, post, stream_of};
use super::{fixed, serve};

/// A server whose model ends its replies with the third token.
fn ending() -> ServerConfig {
    ServerConfig::new(fixed()).with_natural_length(NaturalLength::Fixed(Tokens::new(3)))
}

/// A stream of events that have names.
fn named(events: &[(&str, Value)]) -> Vec<(String, Value)> {
    let typed = |(name, data): &(&str, Value)| {
        let mut data = data.clone();
        data["type"] = (*name).into();
        ((*name).to_owned(), data)
    };
    events.iter().map(typed).collect()
}

/// The same read from its bytes, in which each event must have its name and its type first.
fn read_named(stream: &str) -> Vec<(String, Value)> {
    let whole = stream.strip_suffix("\n\n").expect("ends with an empty line");
    let event = |text: &str| {
        let (name, data) = text.split_once('\n').unwrap();
        let name = name.strip_prefix("event: ").unwrap();
        let data = data.strip_prefix("data: ").unwrap();
        assert!(data.starts_with(&format!(r#"{{"type":"{name}""#)), "{data}");
        (name.to_owned(), serde_json::from_str(data).unwrap())
    };
    whole.split("\n\n").map(event).collect()
}

fn message_of(text: &str, status: &str) -> Value {
    let part = json!({"type": "output_text", "text": text, "annotations": []});
    json!({"id": "msg_0", "type": "message", "status": status, "role": "assistant", "content": [part]})
}

/// The response with that of it that is its own at a time.
fn response(own: &Value) -> Value {
    let mut response = json!({"id": "resp_0", "object": "response", "created_at": 1, "model": "m",
        "background": false, "error": null, "incomplete_details": null, "instructions": null,
        "parallel_tool_calls": true, "previous_response_id": null, "tool_choice": "auto", "tools": []});
    response.as_object_mut().unwrap().extend(own.as_object().unwrap().clone());
    response
}

/// The events of a response whose tokens are `words`, of a prompt of 4 tokens.
fn response_events(words: &[&str], status: &str, details: &Value) -> Vec<(String, Value)> {
    let (text, tokens) = (words.concat(), words.len() as u64);
    let place = |number: u64, field: &str, value: Value| {
        let mut place = json!({"sequence_number": number, "item_id": "msg_0", "output_index": 0, "content_index": 0});
        place[field] = value;
        place
    };
    let begun = response(&json!({"status": "in_progress", "output": [], "usage": null}));
    let mut empty = message_of("", "in_progress");
    empty["content"] = json!([]);
    let part = |text: &str| json!({"type": "output_text", "text": text, "annotations": []});
    let mut events = vec![
        ("response.created", json!({"sequence_number": 0, "response": begun})),
        ("response.in_progress", json!({"sequence_number": 1, "response": begun})),
        (
            "response.output_item.added",
            json!({"sequence_number": 2, "output_index": 0, "item": empty}),
        ),
        ("response.content_part.added", place(3, "part", part(""))),
    ];
    for (index, word) in (0..).zip(words) {
        let mut delta = place(4 + index, "delta", (*word).into());
        delta["logprobs"] = json!([]);
        events.push(("response.output_text.delta", delta));
    }
    let mut done = place(4 + tokens, "text", text.as_str().into());
    done["logprobs"] = json!([]);
    events.push(("response.output_text.done", done));
    events.push(("response.content_part.done", place(5 + tokens, "part", part(&text))));
    let item = message_of(&text, status);
    let done = json!({"sequence_number": 6 + tokens, "output_index": 0, "item": item});
    events.push(("response.output_item.done", done));
    let usage = json!({"input_tokens": 4, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": tokens,
        "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 4 + tokens});
    let own =
        json!({"status": status, "incomplete_details": details, "output": [item], "usage": usage});
    let last = format!("response.{status}");
    events.push((&last, json!({"sequence_number": 7 + tokens, "response": response(&own)})));
    named(&events)
}

#[test]
fn a_capped_response_ends_incomplete() {
    let server = serve(ending());
    let body =
        json!({"model": "m", "input": "how fast is light", "max_output_tokens": 2, "stream": true});
    let stream = stream_of(server.addr(), "/v1/responses", &body);
    let details = json!({"reason": "max_output_tokens"});
    let expected = response_events(&[" a", " line"], "incomplete", &details);
    assert_eq!(read_named(&stream), expected);
}

#[test]
fn a_response_that_the_model_ends_is_completed() {
    let server = serve(ending());
    let input =
        json!([{"role": "user", "content": [{"type": "input_text", "text": "fast is light"}]}]);
    let mut body = json!({"model": "m", "instructions": "how", "input": input, "stream": true});
    let stream = stream_of(server.addr(), "/v1/responses", &body);
    let expected = response_events(&[" a", " line", ""], "completed", &Value::Null);
    assert_eq!(read_named(&stream), expected);

    body["stream"] = false.into();
    let whole = post(server.addr(), "/v1/responses", &body.to_string()).json();
    assert_eq!((&whole["id"], &whole["status"]), (&json!("resp_1"), &json!("completed")));
    let text = whole["output"][0]["content"][0]["text"].as_str().unwrap();
    assert_eq!(text.split_whitespace().count(), 2);
    assert_eq!(whole["usage"]["output_tokens"], 3);
}

const QUESTION: &str = r#"{"role":"user","content":"how fast is light"}"#;

fn messages(max_tokens: u64) -> Value {
    let question: Value = serde_json::from_str(QUESTION).unwrap();
    json!({"model": "m", "max_tokens": max_tokens, "messages": [question], "stream": true})
}

fn message_events(words: &[&str], reason: &str, tokens: u64) -> Vec<(String, Value)> {
    let message = json!({"id": "msg_0", "type": "message", "role": "assistant", "model": "m", "content": [],
        "stop_reason": null, "stop_sequence": null, "usage": {"input_tokens": 4, "output_tokens": 1}});
    let mut events = vec![
        ("message_start", json!({"message": message})),
        ("ping", json!({})),
        ("content_block_start", json!({"index": 0, "content_block": {"type": "text", "text": ""}})),
    ];
    for word in words {
        let delta = json!({"type": "text_delta", "text": word});
        events.push(("content_block_delta", json!({"index": 0, "delta": delta})));
    }
    events.push(("content_block_stop", json!({"index": 0})));
    let delta = json!({"stop_reason": reason, "stop_sequence": null});
    let usage = json!({"input_tokens": 4, "output_tokens": tokens});
    events.push(("message_delta", json!({"delta": delta, "usage": usage})));
    events.push(("message_stop", json!({})));
    named(&events)
}

#[test]
fn messages_stream_as_anthropic_does() {
    for (max_tokens, reason, tokens) in [(2, "max_tokens", 2), (9, "end_turn", 3)] {
        let server = serve(ending());
        let stream = stream_of(server.addr(), "/v1/messages", &messages(max_tokens));
        let expected = message_events(&[" a", " line"], reason, tokens);
        assert_eq!(read_named(&stream), expected, "{reason}");
    }
}

#[test]
fn a_message_comes_in_one_piece_and_counts_its_cache_apart() {
    let server = serve(ServerConfig::new(fixed().with_prefixes(None)));
    let body = json!({"model": "m", "max_tokens": 2, "system": [{"type": "text", "text": "word ".repeat(16)}],
        "messages": [{"role": "user", "content": "hi"}]});
    let usage = |cached: u64| {
        let reply = post(server.addr(), "/v1/messages", &body.to_string()).json();
        assert_eq!(
            (&reply["type"], &reply["stop_reason"]),
            (&json!("message"), &json!("max_tokens"))
        );
        assert_eq!(reply["content"][0]["type"], "text");
        let expected = json!({"input_tokens": 17 - cached, "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": cached, "output_tokens": 2});
        assert_eq!(reply["usage"], expected);
    };
    usage(0);
    usage(16);
}

#[test]
fn input_is_counted_without_a_reply() {
    let server = serve(ServerConfig::new(fixed()));
    let body = json!({"model": "m", "system": "be short", "messages": [{"role": "user", "content": "how fast"}]});
    let reply = post(server.addr(), "/v1/messages/count_tokens", &body.to_string());
    assert_eq!(reply.json(), json!({"input_tokens": 4}));
}

#[test]
fn sglang_repeats_the_text_or_does_not() {
    let event = |text: &str, ids: &str, end: &str, tokens: u64| {
        format!(
            "data: {{\"text\":\"{text}\",\"output_ids\":[{ids}],\"meta_info\":{{\"id\":\"r0\",\"finish_reason\":{end},\
             \"prompt_tokens\":3,\"completion_tokens\":{tokens},\"cached_tokens\":0}}}}\n\n"
        )
    };
    let stopped = r#"{"matched":2,"type":"stop"}"#;
    let cumulative = [
        event(" a", "1000", "null", 1),
        event(" a line", "1000,1037", "null", 2),
        event(" a line", "1000,1037,2", stopped, 3),
    ];
    let incremental = [
        event(" a", "1000", "null", 1),
        event(" line", "1037", "null", 2),
        event("", "2", stopped, 3),
    ];
    let body =
        json!({"input_ids": [5, 6, 7], "sampling_params": {"max_new_tokens": 9}, "stream": true});
    let cases = [
        (ending(), cumulative.clone()),
        (ending().with_sglang(SglangText::Cumulative), cumulative),
        (ending().with_sglang(SglangText::Incremental), incremental),
    ];
    for (config, events) in cases {
        let stream = stream_of(serve(config).addr(), "/generate", &body);
        assert_eq!(stream, events.concat() + "data: [DONE]\n\n");
    }
}

#[test]
fn sglang_in_one_piece() {
    let server = serve(ServerConfig::new(fixed()));
    let body = json!({"text": "how fast is light", "sampling_params": {"max_new_tokens": 2}, "rid": "mine"});
    let reply = post(server.addr(), "/generate", &body.to_string()).json();
    let meta = json!({"id": "mine", "finish_reason": {"type": "length", "length": 2}, "prompt_tokens": 4,
        "completion_tokens": 2, "cached_tokens": 0});
    assert_eq!(reply, json!({"text": " a line", "output_ids": [1000, 1037], "meta_info": meta}));
}

/// Other clients tell SGLang by this.
#[test]
fn a_server_passes_for_sglang_only_if_told_to() {
    let plain = serve(ServerConfig::new(fixed()));
    assert_eq!(get(plain.addr(), "/get_model_info").status, 404);
    let config = ServerConfig::new(fixed()).with_model("llama");
    let sglang = serve(config.with_sglang(SglangText::Cumulative));
    assert_eq!(get(sglang.addr(), "/get_model_info").json()["model_path"], "llama");
    assert_eq!(get(sglang.addr(), "/v1/models").json()["data"][0]["owned_by"], "sglang");
    assert_eq!(get(sglang.addr(), "/health_generate").status, 200);
}
