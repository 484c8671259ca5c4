//! Where replies end.

use fizeau_core::{Nanos, Tokens};
use fizeau_sim::FixedTiming;
use fizeau_sim::http::{NaturalLength, ServerConfig, ServerHandle};
use serde_json::{Value, json};

use super::client::{get, post};
use super::serve;

fn server(length: NaturalLength) -> ServerHandle {
    let engine = FixedTiming::new(Nanos::ZERO, Nanos::ZERO);
    serve(ServerConfig::new(engine).with_natural_length(length))
}

fn fixed(tokens: u64) -> ServerHandle {
    server(NaturalLength::Fixed(Tokens::new(tokens)))
}

/// How many tokens a reply counts and why it ended; its words must be those that count, less the end's own.
fn ends(server: &ServerHandle, mut body: Value) -> (u64, String) {
    body["prompt"] = "x".into();
    let reply = post(server.addr(), "/v1/completions", &body.to_string()).json();
    let (choice, tokens) = (&reply["choices"][0], reply["usage"]["completion_tokens"].as_u64());
    let (tokens, reason) = (tokens.unwrap(), choice["finish_reason"].as_str().unwrap().to_owned());
    let words = choice["text"].as_str().unwrap().split_whitespace().count() as u64;
    assert_eq!(words + u64::from(reason == "stop"), tokens, "{reply}");
    (tokens, reason)
}

#[test]
fn a_model_ends_where_it_may() {
    let cases = [
        (json!({"max_tokens": 9}), 5, "stop"),
        (json!({"max_tokens": 5}), 5, "stop"),
        (json!({"max_tokens": 4}), 4, "length"),
        (json!({"max_tokens": 9, "ignore_eos": true}), 9, "length"),
        (json!({"max_tokens": 9, "ignore_eos": false}), 5, "stop"),
        // The end is a token of its own and none of those that are asked for at the least.
        (json!({"max_tokens": 9, "min_tokens": 4}), 5, "stop"),
        (json!({"max_tokens": 9, "min_tokens": 6}), 7, "stop"),
        (json!({"max_tokens": 9, "min_tokens": 9}), 9, "length"),
    ];
    let server = fixed(5);
    for (body, tokens, reason) in cases {
        assert_eq!(ends(&server, body.clone()), (tokens, reason.to_owned()), "{body}");
    }
    assert_eq!(ends(&fixed(1), json!({})), (1, "stop".into()), "a reply of nothing but its end");
}

#[test]
fn the_truth_has_the_length_that_it_became() {
    let server = fixed(3);
    let body = json!({"prompt": "x", "max_tokens": 9, "stream": true, "return_token_ids": true});
    let objects = post(server.addr(), "/v1/completions", &body.to_string()).objects();
    let last = &objects[2]["choices"][0];
    assert_eq!((&last["text"], &last["finish_reason"]), (&json!(""), &json!("stop")));
    assert_eq!((objects.len(), &last["token_ids"]), (3, &json!([2])));
    let truth = get(server.addr(), "/truth").json();
    assert_eq!(truth["requests"][0]["token_ns"].as_array().unwrap().len(), 3);
}

#[test]
fn drawn_lengths_repeat_with_their_seed() {
    let lengths = |seed: u64| -> Vec<u64> {
        let server = server(NaturalLength::Geometric { mean: Tokens::new(20), seed });
        (0..30).map(|_| ends(&server, json!({"max_tokens": 10_000})).0).collect()
    };
    let first = lengths(1);
    assert_eq!(first, lengths(1));
    assert_ne!(first, lengths(2));
    assert!(first.iter().any(|length| length != &first[0]), "{first:?}");
}
