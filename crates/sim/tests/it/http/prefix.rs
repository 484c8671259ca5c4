//! What the prefix cache spares, as the server says it.

use std::net::SocketAddr;
use std::num::NonZeroUsize;

use fizeau_core::{Nanos, Tokens};
use fizeau_sim::http::{ServerConfig, ServerHandle};
use fizeau_sim::{Engine, EngineConfig, PrefixCaching, StepLoad};
use serde_json::{Value, json};

use super::client::{get, post};
use super::{fixed, serve};

fn cached() -> ServerHandle {
    serve(ServerConfig::new(fixed().with_prefixes(None)))
}

/// What the reply to `body` says of the cache.
fn told(to: SocketAddr, path: &str, mut body: Value) -> Value {
    body["max_tokens"] = 2.into();
    let usage = post(to, path, &body.to_string()).json()["usage"].clone();
    usage["prompt_tokens_details"]["cached_tokens"].clone()
}

fn completion(to: SocketAddr, prompt: impl Into<Value>) -> Value {
    told(to, "/v1/completions", json!({"prompt": prompt.into()}))
}

fn ids(from: u32, count: u32) -> Vec<u32> {
    (from..from + count).collect()
}

#[test]
fn equal_starts_are_cached_and_others_are_not() {
    let server = cached();
    let to = server.addr();
    assert_eq!(completion(to, ids(0, 40)), 0);
    assert_eq!(completion(to, ids(0, 40)), 32, "whole blocks of 16");
    assert_eq!(completion(to, ids(0, 32)), 16, "the last token is always read");
    assert_eq!(completion(to, [ids(0, 20), ids(500, 20)].concat()), 16);
    assert_eq!(completion(to, ids(1, 40)), 0, "the same tokens at another place");
    let text = |end: &str| format!("{} {end}", "word ".repeat(20));
    assert_eq!(completion(to, text("a")), 0);
    assert_eq!(completion(to, text("b")), 16);
    let salted = told(to, "/v1/completions", json!({"prompt": ids(0, 40), "cache_salt": "a"}));
    assert_eq!(salted, 0, "another salt");
    let other = told(to, "/v1/completions", json!({"prompt": ids(0, 40), "model": "adapter"}));
    assert_eq!(other, 0, "another model");
}

#[test]
fn the_next_turn_finds_the_history_and_the_real_reply() {
    let server = cached();
    let chat = |messages: &Value, tokens: u32| {
        let body = json!({"messages": messages, "max_tokens": tokens});
        post(server.addr(), "/v1/chat/completions", &body.to_string()).json()
    };
    let mut messages = json!([
        {"role": "system", "content": "be short"},
        {"role": "user", "content": "how fast is light"},
    ]);
    let first = chat(&messages, 60);
    assert_eq!(first["usage"]["prompt_tokens"], 6);
    let reply = first["choices"][0]["message"].clone();
    messages.as_array_mut().unwrap().push(reply);
    messages.as_array_mut().unwrap().push(json!({"role": "user", "content": "and sound"}));
    let second = chat(&messages, 1);
    let usage = json!({
        "prompt_tokens": 68, "total_tokens": 69, "completion_tokens": 1,
        "prompt_tokens_details": {"cached_tokens": 64},
    });
    assert_eq!(second["usage"], usage, "66 tokens of history, of which the last was never read");
}

#[test]
fn streams_say_it_at_their_end_and_the_truth_says_it_too() {
    let server = cached();
    let options = json!({"include_usage": true, "continuous_usage_stats": true});
    let body =
        json!({"prompt": ids(0, 40), "max_tokens": 3, "stream": true, "stream_options": options});
    for cached in [0, 32] {
        let objects = post(server.addr(), "/v1/completions", &body.to_string()).objects();
        let (last, others) = objects.split_last().unwrap();
        assert_eq!(last["usage"]["prompt_tokens_details"], json!({"cached_tokens": cached}));
        assert!(others.iter().all(|chunk| chunk["usage"].get("prompt_tokens_details").is_none()));
    }
    let truth = get(server.addr(), "/truth").json();
    assert_eq!(truth["requests"][0]["cached_tokens"], 0);
    assert_eq!(truth["requests"][1]["cached_tokens"], 32);
}

#[test]
fn without_a_cache_nothing_is_said_of_one() {
    let server = serve(ServerConfig::new(fixed()));
    for _ in 0..2 {
        assert_eq!(completion(server.addr(), ids(0, 40)), Value::Null);
    }
    assert!(get(server.addr(), "/truth").json()["requests"][1].get("cached_tokens").is_none());
}

#[test]
fn a_small_cache_forgets() {
    let server = serve(ServerConfig::new(fixed().with_prefixes(NonZeroUsize::new(2))));
    let to = server.addr();
    for (from, expected) in [(0, 0), (0, 32), (500, 0), (0, 0)] {
        assert_eq!(completion(to, ids(from, 40)), expected, "{from}");
    }
}

/// The engine meant the second first token to leave after the time of a prompt of 8 tokens.
#[test]
fn what_is_cached_takes_no_time() {
    let config = EngineConfig {
        prefix_caching: PrefixCaching::On,
        ..EngineConfig::new(1, Tokens::new(1_000))
    };
    let step = |load: &StepLoad| Nanos::from_micros(load.prefill_tokens.get());
    let server = serve(ServerConfig::new(Engine::new(config, step).unwrap()));
    for _ in 0..2 {
        completion(server.addr(), ids(0, 40));
    }
    let truth = get(server.addr(), "/truth").json();
    let first_token = |request: &Value| {
        request["scheduled_ns"][0].as_u64().unwrap() - request["arrived_ns"].as_u64().unwrap()
    };
    let requests = truth["requests"].as_array().unwrap();
    let times: Vec<_> = requests.iter().map(first_token).collect();
    assert_eq!(times, [40_000, 8_000]);
}

/// Fields that tell a model what to do, on bodies as clients send them.
#[test]
fn tools_formats_and_calls_are_taken_and_count_nothing() {
    let server = cached();
    let body = json!({
        "model": "lora-7", "max_tokens": null, "max_completion_tokens": 2, "n": 1,
        "tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}],
        "tool_choice": "auto", "response_format": {"type": "json_schema", "json_schema": {"name": "s", "schema": {}}},
        "messages": [
            {"role": "user", "content": "two words"},
            {"role": "assistant", "content": null, "tool_calls": [
                {"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}},
            ]},
            {"role": "tool", "tool_call_id": "1", "content": "three more words"},
        ],
    });
    let reply = post(server.addr(), "/v1/chat/completions", &body.to_string()).json();
    assert_eq!((&reply["model"], &reply["usage"]["prompt_tokens"]), (&json!("lora-7"), &json!(5)));
}
