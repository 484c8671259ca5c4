//! Requests that cannot be answered.

use fizeau_core::{Nanos, Tokens};
use fizeau_sim::http::{Server, ServerConfig};
use proptest::prelude::*;

use super::client::{exchange, get, post};
use super::{fixed, one_slot, serve};

const COMPLETIONS: &str = "/v1/completions";
const CHAT: &str = "/v1/chat/completions";

#[test]
fn each_fault_is_named() {
    let server = serve(ServerConfig::new(one_slot(Nanos::from_millis(1))).with_model("llama"));
    let cases = [
        (COMPLETIONS, "{not json", 400, "the body is not a request"),
        (COMPLETIONS, "[]", 400, "the body is not a request"),
        (COMPLETIONS, "{}", 400, "`prompt` is missing"),
        (CHAT, "{}", 400, "`messages` is missing"),
        (CHAT, r#"{"messages":[]}"#, 400, "`messages` is missing or empty"),
        (COMPLETIONS, r#"{"prompt":["a","b"]}"#, 400, "list of prompts"),
        (COMPLETIONS, r#"{"prompt":[[1],[2]]}"#, 400, "list of prompts"),
        (COMPLETIONS, r#"{"prompt":[]}"#, 400, "empty list"),
        (COMPLETIONS, r#"{"prompt":[1,-2]}"#, 400, "no token id"),
        (COMPLETIONS, r#"{"prompt":7}"#, 400, "must be a text"),
        (COMPLETIONS, r#"{"prompt":"x","max_tokens":0}"#, 400, "at least 1"),
        (COMPLETIONS, r#"{"prompt":"x","max_tokens":-1}"#, 400, "the body is not a request"),
        (COMPLETIONS, r#"{"prompt":"x","n":2}"#, 400, "`n` must be 1"),
        (
            COMPLETIONS,
            r#"{"prompt":"x","max_tokens":1600,"stream":true}"#,
            400,
            "'max_tokens' or 'max_completion_tokens' is too large: 1600. This model's maximum context length is 1600 \
             tokens and your request has 1 input tokens (1600 > 1600 - 1).",
        ),
        (
            COMPLETIONS,
            r#"{"prompt":"x","model":"other"}"#,
            404,
            "The model `other` does not exist.",
        ),
        ("/v1/nothing", "{}", 404, "/v1/nothing is not served here"),
        ("/v1/models", "{}", 405, "does not take POST: use GET"),
    ];
    for (path, body, status, message) in cases {
        let reply = post(server.addr(), path, body);
        assert_eq!(reply.status, status, "{body}");
        let error = &reply.json()["error"];
        assert_eq!(error["code"], status, "{body}");
        assert!(error["type"].is_string(), "{body}");
        let found = error["message"].as_str().unwrap();
        assert!(found.contains(message), "{body}: {found}");
    }
    let reply = exchange(server.addr(), "DELETE", "/v1/completions", "");
    assert_eq!(reply.status, 405);
    assert!(reply.head.contains("allow: POST"), "{}", reply.head);
    assert_eq!(get(server.addr(), "/health").status, 200, "the server lives on");
}

#[test]
fn a_limit_below_the_engines_is_kept_and_told() {
    let limit = |tokens| {
        ServerConfig::new(one_slot(Nanos::from_nanos(1))).with_max_model_len(Tokens::new(tokens))
    };
    let server = serve(limit(8));
    assert_eq!(get(server.addr(), "/v1/models").json()["data"][0]["max_model_len"], 8);
    let ask = |body: &str| post(server.addr(), COMPLETIONS, body);
    let whole = ask(r#"{"prompt":"a b c","max_tokens":5}"#);
    assert_eq!((whole.status, &whole.json()["usage"]["total_tokens"]), (200, &8.into()));
    let longer = ask(r#"{"prompt":"a b c","max_tokens":6}"#);
    assert_eq!((longer.status, &longer.json()["error"]["param"]), (400, &"max_tokens".into()));
    let full = ask(r#"{"prompt":"a b c d e f g h"}"#);
    assert_eq!(full.status, 400);
    assert!(full.body.contains("your request has 8 input tokens. Please reduce"), "{}", full.body);
    let unsaid = ask(r#"{"prompt":"a b c"}"#);
    assert_eq!(unsaid.json()["usage"]["completion_tokens"], 5, "as many as there is room for");

    let server = serve(limit(5_000));
    assert_eq!(get(server.addr(), "/v1/models").json()["data"][0]["max_model_len"], 1_600);
}

#[test]
fn a_body_may_be_too_large() {
    let server = serve(ServerConfig::new(fixed()).with_body_limit(100));
    let body = format!(r#"{{"prompt":"{}"}}"#, "x".repeat(200));
    let reply = post(server.addr(), COMPLETIONS, &body);
    assert_eq!(reply.status, 413);
    assert!(reply.body.contains("larger than the 100 bytes"), "{}", reply.body);
}

#[test]
fn a_taken_address_is_named() {
    let server = serve(ServerConfig::new(fixed()));
    let error = Server::bind(server.addr(), ServerConfig::new(fixed())).unwrap_err();
    assert_eq!(error.address, server.addr());
    assert!(error.to_string().contains(&server.addr().to_string()), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// Whatever the body is, there is an answer and the server lives on.
    #[test]
    fn no_body_breaks_the_server(body in r#"[\{\}\[\]":,a-z0-9 \\]{0,80}"#) {
        let server = serve(ServerConfig::new(one_slot(Nanos::from_nanos(1))));
        let reply = post(server.addr(), COMPLETIONS, &body);
        prop_assert_eq!(reply.status, 400);
        prop_assert_eq!(get(server.addr(), "/health").status, 200);
    }
}
