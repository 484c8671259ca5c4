//! vLLM's extras on OpenAI's routes, and what else a server of its kind has.

use fizeau_core::Nanos;
use fizeau_sim::http::ServerConfig;
use fizeau_sim::{Emission, EngineJob, FixedTiming, Gauges, JobId, Serve, SubmitError};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::client::{exchange, post, send_with, stream_of, take};
use super::{fixed, serve};

#[test]
fn an_echo_comes_with_the_first_token() {
    let server = serve(ServerConfig::new(fixed()));
    let mut body = json!({"model": "m", "prompt": "how \"fast\"", "max_tokens": 2, "stream": true, "echo": true});
    let chunk = |text: &str, end: &str| {
        format!(
            "data: {{\"id\":\"cmpl-0\",\"object\":\"text_completion\",\"created\":1,\"model\":\"m\",\"choices\":\
             [{{\"index\":0,\"text\":\"{text}\",\"logprobs\":null,\"finish_reason\":{end},\"stop_reason\":null}}],\
             \"usage\":null}}\n\n"
        )
    };
    let expected =
        chunk(r#"how \"fast\" a"#, "null") + &chunk(" line", r#""length""#) + "data: [DONE]\n\n";
    assert_eq!(stream_of(server.addr(), "/v1/completions", &body), expected);

    body["stream"] = false.into();
    body["prompt"] = json!([1_047, 7]);
    let text = post(server.addr(), "/v1/completions", &body.to_string()).json();
    let text = text["choices"][0]["text"].as_str().unwrap().to_owned();
    assert!(text.starts_with(" other t7 "), "{text}");
}

#[test]
fn log_probabilities_come_where_asked_for() {
    let server = serve(ServerConfig::new(fixed()));
    let body = json!({"prompt": "abc", "max_tokens": 2, "logprobs": 1, "echo": true});
    let whole = post(server.addr(), "/v1/completions", &body.to_string()).json();
    let expected = json!({"text_offset": [3, 5], "tokens": [" a", " line"], "token_logprobs": [-0.5, -0.5],
        "top_logprobs": [{" a": -0.5}, {" line": -0.5}]});
    assert_eq!(whole["choices"][0]["logprobs"], expected);

    let body = json!({"messages": [{"role": "user", "content": "x"}], "max_tokens": 2, "logprobs": true,
        "stream": true});
    let objects = post(server.addr(), "/v1/chat/completions", &body.to_string()).objects();
    let entries: Vec<_> =
        objects.iter().map(|object| &object["choices"][0]["logprobs"]["content"]).collect();
    assert_eq!(entries[0], &Value::Null, "the role chunk has none");
    for entry in &entries[1..] {
        let token = entry[0]["token"].as_str().unwrap();
        assert_eq!(entry[0]["bytes"], json!(token.as_bytes()));
    }
}

#[test]
fn the_prompts_ids_stand_where_vllm_has_them() {
    let server = serve(ServerConfig::new(fixed()));
    let body = json!({"messages": [{"role": "user", "content": "how far"}], "max_tokens": 2, "stream": true,
        "return_token_ids": true});
    let objects = post(server.addr(), "/v1/chat/completions", &body.to_string()).objects();
    assert_eq!(objects[0]["prompt_token_ids"], json!([1_030, 1_022]), "on the role chunk");
    assert!(objects[0]["choices"][0].get("token_ids").is_none());
    for object in &objects[1..] {
        assert!(object.get("prompt_token_ids").is_none());
        assert!(object["choices"][0].get("prompt_token_ids").is_none());
        assert_eq!(object["choices"][0]["token_ids"].as_array().unwrap().len(), 1);
    }
    let body = json!({"prompt": "how far", "max_tokens": 2, "return_token_ids": true});
    let choice = &post(server.addr(), "/v1/completions", &body.to_string()).json()["choices"][0];
    assert_eq!(choice["prompt_token_ids"], json!([1_030, 1_022]));
}

#[test]
fn a_requests_name_comes_back() {
    let server = serve(ServerConfig::new(fixed()));
    let extra = "X-Request-Id: run-7/3\r\n";
    let cases = [
        ("/v1/completions", r#"{"prompt":"x","max_tokens":1}"#, r#""id":"cmpl-run-7/3""#),
        (
            "/v1/completions",
            r#"{"prompt":"x","max_tokens":1,"stream":true}"#,
            r#""id":"cmpl-run-7/3""#,
        ),
        ("/v1/completions", r#"{"prompt":7}"#, "error"),
    ];
    for (path, body, within) in cases {
        let reply = take(send_with(server.addr(), "POST", path, extra, body));
        assert!(reply.head.contains("\r\nx-request-id: run-7/3"), "{}", reply.head);
        assert!(reply.body.contains(within), "{}", reply.body);
    }
    // A name that no header can hold is in the body alone.
    let body = json!({"prompt": "x", "max_tokens": 1, "request_id": "a\r\nb: c"});
    let reply = post(server.addr(), "/v1/completions", &body.to_string());
    assert_eq!(reply.json()["id"], "cmpl-a\r\nb: c");
    assert!(!reply.head.contains("b: c"), "{}", reply.head);
}

#[test]
fn a_salt_keeps_prompts_apart() {
    let server = serve(ServerConfig::new(fixed().with_prefixes(None)));
    let ids: Vec<u32> = (0..40).collect();
    let cached = |salt: Value| {
        let body = json!({"prompt": ids, "max_tokens": 1, "cache_salt": salt});
        let usage =
            post(server.addr(), "/v1/completions", &body.to_string()).json()["usage"].clone();
        usage["prompt_tokens_details"]["cached_tokens"].as_u64().unwrap()
    };
    let salts = [json!(null), json!("a"), json!("b"), json!("a"), json!(null)];
    assert_eq!(salts.map(cached), [0, 0, 0, 32, 32]);
}

#[test]
fn texts_become_ids_and_ids_texts() {
    let server = serve(ServerConfig::new(fixed()));
    let ask = |path: &str, body: Value| post(server.addr(), path, &body.to_string()).json();
    let found = ask("/tokenize", json!({"prompt": "how far", "return_token_strs": true}));
    let expected = json!({"count": 2, "max_model_len": 1_048_576, "tokens": [1_030, 1_022],
        "token_strs": [" how", " far"]});
    assert_eq!(found, expected);
    let messages =
        json!([{"role": "user", "content": "how far"}, {"role": "assistant", "content": "far"}]);
    assert_eq!(ask("/tokenize", json!({ "messages": messages }))["count"], 3);
    let back = ask("/detokenize", json!({"tokens": [1_030, 1_022, 77]}));
    assert_eq!(back, json!({"prompt": " how far t77"}));
}

/// An engine whose queue is always full, and which notes the priority of whoever comes.
struct Full(FixedTiming, std::sync::mpsc::Sender<i64>);

impl Serve for Full {
    fn submit(&mut self, job: EngineJob) -> Result<(), SubmitError> {
        self.1.send(job.priority.0).unwrap();
        Err(SubmitError::QueueFull { waiting: 3 })
    }

    fn cancel(&mut self, id: JobId) {
        self.0.cancel(id);
    }

    fn next_event(&self) -> Option<fizeau_core::Stamp> {
        self.0.next_event()
    }

    fn advance(&mut self, to: fizeau_core::Stamp, emit: &mut dyn FnMut(Emission)) {
        self.0.advance(to, emit);
    }

    fn longest_job(&self) -> Option<fizeau_core::Tokens> {
        None
    }

    fn gauges(&self) -> Gauges {
        self.0.gauges()
    }
}

#[test]
fn a_full_queue_sends_clients_away_and_priorities_reach_the_engine() {
    let (priorities, came) = std::sync::mpsc::channel();
    let server =
        serve(ServerConfig::new(Full(FixedTiming::new(Nanos::ZERO, Nanos::ZERO), priorities)));
    let openai = r#"{"prompt":"x","stream":true,"priority":-5}"#;
    let anthropic = r#"{"messages":[{"role":"user","content":"x"}],"max_tokens":1}"#;
    let cases =
        [("/v1/completions", openai, "type"), ("/v1/messages", anthropic, "rate_limit_error")];
    for (path, body, named) in cases {
        let reply = post(server.addr(), path, body);
        assert!(reply.body.contains(named), "{}", reply.body);
        assert_eq!(reply.status, 429, "{}", reply.body);
        assert!(reply.head.contains("\r\nretry-after: 1"), "{}", reply.head);
        let message = reply.json()["error"]["message"].as_str().unwrap().to_owned();
        assert!(message.contains("3 requests are waiting already"), "{message}");
    }
    assert_eq!(came.try_iter().collect::<Vec<_>>(), [-5, 0]);
}

#[test]
fn each_dialect_names_its_faults() {
    let server = serve(ServerConfig::new(fixed()).with_model("llama"));
    let message = r#""messages":[{"role":"user","content":"x"}]"#;
    let cases = [
        ("/v1/messages", format!("{{{message}}}"), 400, "max_tokens: Field required"),
        ("/v1/messages", r#"{"max_tokens":1}"#.into(), 400, "at least one message"),
        (
            "/v1/messages",
            format!(r#"{{{message},"max_tokens":1,"model":"o"}}"#),
            404,
            "The model `o`",
        ),
        ("/v1/messages/count_tokens", "{".into(), 400, "the body is not a request"),
        ("/v1/responses", "{}".into(), 400, "`input` is missing"),
        (
            "/v1/responses",
            r#"{"input":"x","max_output_tokens":0}"#.into(),
            400,
            "`max_output_tokens` must",
        ),
        ("/generate", "{}".into(), 400, "Either text or input_ids"),
        ("/generate", r#"{"text":"a","input_ids":[1]}"#.into(), 400, "not both"),
        ("/generate", r#"{"text":["a","b"]}"#.into(), 400, "`text` is a list of prompts"),
        ("/generate", r#"{"text":"a","sampling_params":{"n":2}}"#.into(), 400, "`n` must be 1"),
        ("/tokenize", "{}".into(), 400, "`prompt` or `messages`"),
        ("/detokenize", r#"{"tokens":"a"}"#.into(), 400, "list of token ids"),
        ("/v1/completions", r#"{"prompt":"x","cache_salt":""}"#.into(), 400, "non-empty string"),
        (
            "/v1/completions",
            r#"{"prompt":"x","stream_options":{}}"#.into(),
            400,
            "when `stream=True`",
        ),
        (
            "/v1/completions",
            r#"{"prompt":"x","max_tokens":2,"min_tokens":3}"#.into(),
            400,
            "max_tokens=2, got 3",
        ),
    ];
    for (path, body, status, words) in cases {
        let reply = post(server.addr(), path, &body);
        let json = reply.json();
        assert_eq!(reply.status, status, "{path} {body}: {json}");
        assert!(
            json["error"]["message"].as_str().unwrap().contains(words),
            "{path} {body}: {json}"
        );
        assert_eq!(json["type"] == "error", path.starts_with("/v1/messages"), "{path}: {json}");
    }
    let reply = exchange(server.addr(), "GET", "/v1/messages", "");
    assert_eq!(
        (reply.status, &reply.json()["error"]["type"]),
        (405, &json!("invalid_request_error"))
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Whatever the body is, there is an answer in each dialect.
    #[test]
    fn no_body_breaks_a_dialect(
        path in prop::sample::select(vec!["/v1/responses", "/v1/messages", "/generate", "/tokenize", "/detokenize"]),
        field in prop::sample::select(vec!["input", "messages", "text", "tokens", "prompt", "system"]),
        value in prop::sample::select(vec!["null", "7", "[]", "[[]]", "{}", "[{}]", "[null]", "\"\"", "[{\"role\":7}]"]),
    ) {
        let server = serve(ServerConfig::new(FixedTiming::new(Nanos::ZERO, Nanos::ZERO)));
        let reply = post(server.addr(), path, &format!(r#"{{"max_tokens":1,"{field}":{value}}}"#));
        prop_assert!([200, 400].contains(&reply.status), "{} {}", reply.status, reply.body);
    }
}
