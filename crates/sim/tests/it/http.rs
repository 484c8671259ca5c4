//! The engine behind HTTP, by its bytes. No test looks at how long anything took.

mod client;
mod dialects;
mod errors;
mod extras;
mod faults;
mod lengths;
mod metrics;
mod prefix;
mod round_trip;
mod served;
mod wire;

use std::io::Read;

use fizeau_core::{Nanos, Tokens};
use fizeau_sim::http::{Server, ServerConfig, ServerHandle};
use fizeau_sim::{Engine, EngineConfig, FixedTiming, Serve, StepLoad};
use serde_json::{Value, json};

use client::{exchange, get, post, send};

fn serve(config: ServerConfig) -> ServerHandle {
    let server = Server::bind(([127, 0, 0, 1], 0).into(), config).unwrap();
    server.spawn().unwrap()
}

fn fixed() -> FixedTiming {
    FixedTiming::new(Nanos::from_millis(2), Nanos::from_millis(1))
}

fn one_slot(step: Nanos) -> impl Serve + Send + 'static {
    let config = EngineConfig::new(1, Tokens::new(1_600));
    Engine::new(config, move |_: &StepLoad| step).unwrap()
}

/// The text of each chunk that has one.
fn texts(objects: &[Value], pointer: &str) -> Vec<String> {
    let text = |object: &Value| Some(object.pointer(pointer)?.as_str()?.to_owned());
    objects.iter().filter_map(text).collect()
}

#[test]
fn completions_stream_as_vllm_does() {
    let server = serve(ServerConfig::new(fixed()));
    let body = json!({"model": "any/name", "prompt": [101, 202, 303], "max_tokens": 4, "stream": true,
        "ignore_eos": true, "temperature": 0, "min_tokens": 4});
    let reply = post(server.addr(), "/v1/completions", &body.to_string());
    let events = reply.events();
    assert_eq!(events.len(), 5, "{events:?}");
    let objects = reply.objects();
    let words = texts(&objects, "/choices/0/text");
    let created = objects[0]["created"].as_u64().unwrap();
    for (index, event) in events[..4].iter().enumerate() {
        let end = if index == 3 { r#""length""# } else { "null" };
        let expected = format!(
            r#"{{"id":"cmpl-0","object":"text_completion","created":{created},"model":"any/name","choices":[{{"index":0,"text":"{}","logprobs":null,"finish_reason":{end},"stop_reason":null}}],"usage":null}}"#,
            words[index]
        );
        assert_eq!(event, &expected);
    }
    assert!(words.iter().all(|word| word.starts_with(' ') && word.len() > 1), "{words:?}");
    assert_eq!(reply.chunks.len(), 5, "one chunk an event");
}

#[test]
fn chat_streams_as_vllm_does() {
    let server = serve(ServerConfig::new(fixed()));
    let body = json!({"model": "m", "max_completion_tokens": 3, "stream": true,
        "messages": [{"role": "system", "content": "be short"}, {"role": "user", "content": [{"type": "text", "text": "how fast is light"}]}],
        "stream_options": {"include_usage": true}});
    let objects = post(server.addr(), "/v1/chat/completions", &body.to_string()).objects();
    assert_eq!(objects.len(), 5);
    let first = &objects[0];
    assert_eq!(first["object"], "chat.completion.chunk");
    assert_eq!(first["choices"][0]["delta"], json!({"role": "assistant", "content": ""}));
    assert_eq!(first["choices"][0]["finish_reason"], Value::Null);
    assert!(first.get("usage").is_none());
    for object in &objects[1..4] {
        let delta = object["choices"][0]["delta"].as_object().unwrap();
        assert_eq!(delta.keys().collect::<Vec<_>>(), ["content"]);
        assert_ne!(delta["content"], "");
    }
    assert_eq!(objects[2]["choices"][0]["finish_reason"], Value::Null);
    assert_eq!(objects[3]["choices"][0]["finish_reason"], "length");
    assert_eq!(objects[4]["choices"], json!([]));
    let usage = json!({"prompt_tokens": 6, "total_tokens": 9, "completion_tokens": 3});
    assert_eq!(objects[4]["usage"], usage);
    assert!(objects.iter().all(|object| object["id"] == "chatcmpl-0"));
}

#[test]
fn continuous_usage_counts_up() {
    let server = serve(ServerConfig::new(fixed()));
    let options = json!({"include_usage": true, "continuous_usage_stats": true});
    let count = |objects: &[Value]| -> Vec<_> {
        let usage = objects.iter().map(|object| &object["usage"]);
        usage
            .map(|u| {
                (u["prompt_tokens"].as_u64().unwrap(), u["completion_tokens"].as_u64().unwrap())
            })
            .collect()
    };
    let body = json!({"prompt": "the speed of light", "max_tokens": 3, "stream": true, "stream_options": options});
    let objects = post(server.addr(), "/v1/completions", &body.to_string()).objects();
    assert_eq!(count(&objects), [(4, 1), (4, 2), (4, 3), (4, 3)]);

    let body = json!({"messages": [{"role": "user", "content": "hello"}], "max_tokens": 2, "stream": true,
        "stream_options": options});
    let objects = post(server.addr(), "/v1/chat/completions", &body.to_string()).objects();
    assert_eq!(count(&objects), [(1, 0), (1, 1), (1, 2), (1, 2)], "the role chunk counts none");

    // Continuous usage alone is no usage, as with vLLM.
    let body = json!({"prompt": "x", "max_tokens": 1, "stream": true,
        "stream_options": {"continuous_usage_stats": true}});
    let objects = post(server.addr(), "/v1/completions", &body.to_string()).objects();
    assert_eq!((objects.len(), &objects[0]["usage"]), (1, &Value::Null));
}

#[test]
fn token_ids_come_where_asked_for() {
    let server = serve(ServerConfig::new(fixed()));
    let body = json!({"prompt": [5, 6], "max_tokens": 3, "stream": true, "return_token_ids": true});
    let objects = post(server.addr(), "/v1/completions", &body.to_string()).objects();
    for object in &objects {
        assert_eq!(object["choices"][0]["token_ids"].as_array().unwrap().len(), 1);
    }
    assert_eq!(objects[0]["choices"][0]["prompt_token_ids"], json!([5, 6]));
    assert!(objects[1]["choices"][0].get("prompt_token_ids").is_none());
}

#[test]
fn a_whole_reply_has_the_defaults() {
    let server = serve(ServerConfig::new(FixedTiming::new(Nanos::ZERO, Nanos::ZERO)));
    let reply = post(server.addr(), "/v1/completions", r#"{"prompt":"two words"}"#);
    assert_eq!(reply.status, 200);
    let json = reply.json();
    assert_eq!(json["object"], "text_completion");
    assert_eq!(json["model"], "simulated");
    assert_eq!(json["choices"][0]["finish_reason"], "length");
    let text = json["choices"][0]["text"].as_str().unwrap();
    assert_eq!(text.split_whitespace().count(), 16);
    let usage = json!({"prompt_tokens": 2, "total_tokens": 18, "completion_tokens": 16});
    assert_eq!(json["usage"], usage);

    let chat = r#"{"messages":[{"role":"user","content":"hi"}]}"#;
    let json = post(server.addr(), "/v1/chat/completions", chat).json();
    assert_eq!(json["object"], "chat.completion");
    assert_eq!(json["choices"][0]["message"]["role"], "assistant");
    let text = json["choices"][0]["message"]["content"].as_str().unwrap();
    assert_eq!(text.split_whitespace().count(), 128);
}

#[test]
fn models_and_health_answer() {
    let server = serve(ServerConfig::new(one_slot(Nanos::from_millis(1))).with_model("llama"));
    assert_eq!(get(server.addr(), "/health").status, 200);
    let models = get(server.addr(), "/v1/models").json();
    assert_eq!(models["data"][0]["id"], "llama");
    assert_eq!(models["data"][0]["max_model_len"], 1_600);
    assert_eq!(server.base_url(), format!("http://{}", server.addr()));
}

#[test]
fn the_truth_is_kept_and_cleared() {
    let config = ServerConfig::new(fixed()).with_truth_limit(2);
    let server = serve(config);
    let body = r#"{"prompt":"x","max_tokens":5,"stream":true}"#;
    for _ in 0..3 {
        post(server.addr(), "/v1/completions", body);
    }
    let truth = get(server.addr(), "/truth").json();
    assert_eq!(truth["schema"], "fizeau.truth/1");
    let epoch = truth["epoch"].as_str().unwrap();
    assert!(epoch.ends_with('Z') && epoch.len() == 20, "{epoch}");
    let requests = truth["requests"].as_array().unwrap();
    assert_eq!((requests.len(), &truth["forgotten"]), (2, &json!(1)));
    for (request, id) in requests.iter().zip(["cmpl-1", "cmpl-2"]) {
        assert_eq!(request["id"], id);
        let stamps = |field: &str| -> Vec<_> {
            let stamps = request[field].as_array().unwrap().iter();
            stamps.map(|stamp| stamp.as_u64().unwrap()).collect()
        };
        let arrived = request["arrived_ns"].as_u64().unwrap();
        let (handed, scheduled) = (stamps("token_ns"), stamps("scheduled_ns"));
        let timetable: Vec<_> = (0..5).map(|k| arrived + 2_000_000 + k * 1_000_000).collect();
        assert_eq!(scheduled, timetable, "the schedule counts from the arrival");
        assert!(handed.iter().zip(&scheduled).all(|(handed, due)| handed >= due), "none is early");
        assert_eq!(request["first_token_ns"], handed[0]);
    }
    assert_eq!(truth["itl_ms"]["n"], 8);
    assert!(truth["ttft_ms"]["p50"].as_f64().unwrap() >= 2.0);

    assert_eq!(exchange(server.addr(), "DELETE", "/truth", "").status, 200);
    let truth = get(server.addr(), "/truth").json();
    assert_eq!((&truth["requests"], &truth["ttft_ms"]), (&json!([]), &Value::Null));
}

/// The first request would hold the only slot for an hour; gone, it must not.
#[test]
fn a_client_that_goes_away_frees_its_slot() {
    let step = Nanos::from_millis(4);
    let config = EngineConfig::new(1, Tokens::new(2_000_000));
    let server = serve(ServerConfig::new(Engine::new(config, move |_: &StepLoad| step).unwrap()));
    let endless = r#"{"prompt":"x","max_tokens":1000000,"stream":true}"#;
    let mut stream = send(server.addr(), "POST", "/v1/completions", endless);
    stream.read_exact(&mut [0; 200]).unwrap();
    drop(stream);
    let unstreamed = r#"{"prompt":"x","max_tokens":1000000}"#;
    drop(send(server.addr(), "POST", "/v1/completions", unstreamed));

    let reply =
        post(server.addr(), "/v1/completions", r#"{"prompt":"x","max_tokens":2,"stream":true}"#);
    assert_eq!(reply.objects().len(), 2);
    let truth = get(server.addr(), "/truth").json();
    assert_eq!(truth["requests"].as_array().unwrap().len(), 1);
    assert!(truth["cancelled"].as_u64().unwrap() >= 1);
}

/// A stream cut by the server's end must not look complete.
#[test]
fn a_shutdown_breaks_streams_off() {
    let server = serve(ServerConfig::new(one_slot(Nanos::from_millis(5))));
    let body = r#"{"prompt":"x","max_tokens":900,"stream":true}"#;
    let mut stream = send(server.addr(), "POST", "/v1/completions", body);
    stream.read_exact(&mut [0; 200]).unwrap();
    server.shutdown();
    let mut rest = Vec::new();
    // A reset is as good as an end here.
    stream.read_to_end(&mut rest).ok();
    assert!(!String::from_utf8_lossy(&rest).contains("[DONE]"));
}

#[test]
fn many_clients_at_once_are_all_served() {
    let config = EngineConfig::new(8, Tokens::new(10_000));
    let engine = Engine::new(config, |_: &StepLoad| Nanos::from_micros(300)).unwrap();
    let server = serve(ServerConfig::new(engine));
    let address = server.addr();
    let clients: Vec<_> = (0..16)
        .map(|_| {
            std::thread::spawn(move || {
                let body = r#"{"prompt":[1,2,3],"max_tokens":20,"stream":true}"#;
                post(address, "/v1/completions", body).objects().len()
            })
        })
        .collect();
    for client in clients {
        assert_eq!(client.join().unwrap(), 20);
    }
    let truth = get(address, "/truth").json();
    assert_eq!(truth["requests"].as_array().unwrap().len(), 16);
}
