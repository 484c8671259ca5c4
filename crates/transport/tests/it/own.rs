//! What a request has of its own: a model, extra fields, a part of the run; and how its tape keeps them.

use std::sync::Arc;

use fizeau_core::{EosRule, Prompt, Release, Request, RequestPurpose, Stamp, Tape, Transport};
use fizeau_transport::{
    Backend, ExtraBody, ExtraBodyError, HttpTransport, HttpVersion, MonotonicClock, Proxy,
    RequestError, Target,
};
use serde_json::{Value, json};

use crate::bodies::request;
use crate::h2;
use crate::http::{good, target, transport};
use crate::server::{Server, stream};

fn for_model(model: &str) -> Request {
    let request = request(Prompt::Text("hi".into()), EosRule::Stop);
    Request { model: Some(model.into()), ..request }
}

fn with_extra(extra: &str) -> Request {
    let request = request(Prompt::Text("hi".into()), EosRule::Stop);
    Request { extra: Some(extra.into()), ..request }
}

async fn send(
    transport: &HttpTransport<MonotonicClock>,
    request: &Request,
) -> Result<Tape, RequestError> {
    transport.send(request, Release::at(Stamp::EPOCH)).await
}

/// Path and body of what `requests` come to against `backend` on `path`, its own if none.
async fn sent(backend: Backend, path: Option<&str>, requests: &[Request]) -> Vec<(String, Value)> {
    let server = Server::run(vec![stream(&good()); requests.len()]);
    let target = Target::new(&server.url(), backend, "own").unwrap();
    let target = match path {
        Some(path) => target.path(path).unwrap(),
        None => target,
    };
    let transport = transport(target);
    for request in requests {
        send(&transport, request).await.unwrap();
    }
    let read = |request: &String| {
        let (head, body) = request.split_once("\r\n\r\n").unwrap();
        let path = head.split(' ').nth(1).unwrap().to_owned();
        (path, serde_json::from_str(body).unwrap())
    };
    server.requests().iter().map(read).collect()
}

#[tokio::test]
async fn a_model_of_its_own_is_in_the_body_wherever_bodies_name_one() {
    let named = [
        Backend::Vllm,
        Backend::VllmChat,
        Backend::OpenAiResponses,
        Backend::OpenAiEmbeddings,
        Backend::Anthropic,
        Backend::Ollama,
        Backend::OllamaChat,
    ];
    for backend in named {
        let plain = request(Prompt::Text("hi".into()), EosRule::Stop);
        let sent = sent(backend, None, &[for_model("lora/1"), plain]).await;
        assert_eq!((&sent[0].1["model"], &sent[1].1["model"]), (&json!("lora/1"), &json!("own")));
        assert_eq!(sent[0].0, sent[1].0, "{backend}");
    }
}

#[tokio::test]
async fn a_model_of_its_own_is_in_the_path_wherever_the_path_names_one() {
    let azure = "/openai/deployments/own/chat/completions?api-version=9";
    let cases = [
        (Backend::Gemini, None, "/v1beta/models/a%2Fb:streamGenerateContent?alt=sse"),
        (Backend::Triton, None, "/v2/models/a%2Fb/generate_stream"),
        (Backend::Triton, Some("/x/models/own/generate_stream"), "/x/models/a%2Fb/generate_stream"),
        (Backend::Azure, Some(azure), "/openai/deployments/a%2Fb/chat/completions?api-version=9"),
    ];
    for (backend, path, expected) in cases {
        let plain = request(Prompt::Text("hi".into()), EosRule::Stop);
        let sent = sent(backend, path, &[for_model("a/b"), plain, for_model("own")]).await;
        assert_eq!(sent[0].0, expected);
        assert_eq!(sent[1].0, expected.replace("a%2Fb", "own"), "the target's own as before");
        assert_eq!(sent[2].0, sent[1].0);
    }
    let prefixed = sent(Backend::Gemini, None, &[for_model("models/a b")]).await;
    assert_eq!(prefixed[0].0, "/v1beta/models/a%20b:streamGenerateContent?alt=sse");
}

#[tokio::test]
async fn a_path_of_its_own_behind_a_prefix_through_a_proxy_and_over_http2() {
    let target = |base: &str| Target::new(base, Backend::Triton, "own").unwrap();
    let proxy = Server::run(vec![stream(&good())]);
    let through = |name: &str| (name == "all_proxy").then(|| proxy.url());
    let behind = target("http://llm.test/pre").proxy(Proxy::from_variables(through));
    send(&transport(behind), &for_model("lora")).await.unwrap();
    let line = "POST http://llm.test/pre/v2/models/lora/generate_stream HTTP/1.1\r\n";
    assert!(proxy.requests()[0].starts_with(line), "{:?}", proxy.requests());

    let server = h2::Server::run(1).await;
    let over = target(&format!("{}/pre", server.url())).http_version(HttpVersion::HTTP2);
    send(&transport(over), &for_model("lora")).await.unwrap();
    let line = format!("POST {}/pre/v2/models/lora/generate_stream ", server.url());
    assert!(server.requests()[0].starts_with(&line), "{:?}", server.requests());
}

#[tokio::test]
async fn where_nothing_names_the_model_another_one_is_refused() {
    let unnamed = [
        (Backend::Tgi, "/generate_stream"),
        (Backend::SglangNative, "/generate"),
        (Backend::LlamaCppNative, "/completion"),
        (Backend::Gemini, "/short:streamGenerateContent"),
        (Backend::Triton, "/v2/models/owner/generate_stream"),
    ];
    for (backend, path) in unnamed {
        let target = Target::new("http://127.0.0.1:1", backend, "own").unwrap();
        let transport = transport(target.path(path).unwrap());
        let error = send(&transport, &for_model("lora")).await.unwrap_err();
        assert_eq!(error, RequestError::ModelFixed("lora".into()), "{backend}");
        assert!(send(&transport, &for_model("own")).await.is_ok(), "{backend}");
    }
}

#[tokio::test]
async fn its_extra_fields_go_over_the_targets() {
    let server = Server::run(vec![stream(&good()); 2]);
    let extra = ExtraBody::parse(r#"{"temperature": 0, "seed": 1}"#).unwrap();
    let transport = transport(target(&server.url()).extra_body(extra));
    let tools = r#"{"temperature": 0.7, "response_format": {"type": "json_object"}}"#;
    send(&transport, &with_extra(tools)).await.unwrap();
    send(&transport, &request(Prompt::Text("hi".into()), EosRule::Stop)).await.unwrap();
    let bodies: Vec<Value> = server
        .requests()
        .iter()
        .map(|request| serde_json::from_str(request.split_once("\r\n\r\n").unwrap().1).unwrap())
        .collect();
    assert_eq!((&bodies[0]["temperature"], &bodies[0]["seed"]), (&json!(0.7), &json!(1)));
    assert_eq!(bodies[0]["response_format"], json!({"type": "json_object"}));
    assert_eq!((&bodies[1]["temperature"], &bodies[1].get("response_format")), (&json!(0), &None));
}

#[tokio::test]
async fn its_extra_fields_are_placed_as_the_targets_are() {
    let sampling = [with_extra(r#"{"top_p": 0.5, "options": {"num_ctx": 9}}"#)];
    let body = &sent(Backend::Ollama, None, &sampling).await[0].1;
    assert_eq!(body["options"], json!({"num_predict": 64, "top_p": 0.5, "num_ctx": 9}));
}

#[tokio::test]
async fn extra_fields_that_cannot_be_sent() {
    let refused = async |backend, extra: &str| {
        let transport = transport(Target::new("http://127.0.0.1:1", backend, "own").unwrap());
        send(&transport, &with_extra(extra)).await.unwrap_err()
    };
    let reserved = |name: &str| RequestError::Extra(ExtraBodyError::Reserved(name.into()));
    assert_eq!(refused(Backend::Vllm, r#"{"max_tokens": 1}"#).await, reserved("max_tokens"));
    let options = r#"{"options": {"num_predict": 1}}"#;
    assert_eq!(refused(Backend::Ollama, options).await, reserved("options.num_predict"));
    for broken in ["", "[]", "{"] {
        let error = refused(Backend::Vllm, broken).await;
        assert!(error.to_string().starts_with("the request's own field `extra`: "), "{error}");
    }
}

#[tokio::test]
async fn the_tape_keeps_model_and_part() {
    let server = Server::run(vec![stream(&good()); 2]);
    let transport = transport(target(&server.url()));
    let probe = Request { part: RequestPurpose::Probe, ..for_model("lora") };
    let tape = send(&transport, &probe).await.unwrap();
    assert_eq!((tape.part, tape.model), (RequestPurpose::Probe, Some(Arc::from("lora"))));
    let plain = request(Prompt::Text("hi".into()), EosRule::Stop);
    let tape = send(&transport, &plain).await.unwrap();
    assert_eq!((tape.part, tape.model), (RequestPurpose::Load, None));
}
