//! Servers of a few lines each, which answer as the real ones do.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::{Value, json};

/// One request.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) method: String,
    pub(crate) path: String,
    /// Null where there is none.
    pub(crate) body: Value,
}

impl Asked {
    /// How many tokens a model gives: all that are allowed if it is told to go on or has a lot to say, else two.
    fn tokens(&self, limit: &Value) -> u64 {
        let text = self.body.to_string();
        let goes_on = text.contains("\"ignore_eos\":true") || text.contains("Count");
        if goes_on { limit.as_u64().unwrap() } else { 2 }
    }
}

/// How a body is written.
#[derive(Debug, Clone, Copy)]
enum Cuts {
    /// One write an event.
    Events,
    /// All in one write.
    None,
}

pub(crate) struct Answer {
    status: &'static str,
    media: &'static str,
    events: Vec<String>,
    cuts: Cuts,
}

impl Answer {
    fn events(events: Vec<String>) -> Self {
        let media = "text/event-stream";
        Self { status: "200 OK", media, events, cuts: Cuts::Events }
    }

    pub(crate) fn in_one_write(self) -> Self {
        Self { cuts: Cuts::None, ..self }
    }

    pub(crate) fn json(body: &str) -> Self {
        Self { media: "application/json", ..Self::events(vec![body.to_owned()]) }
    }

    pub(crate) fn missing() -> Self {
        Self { status: "404 Not Found", ..Self::json(r#"{"detail":"Not Found"}"#) }
    }

    pub(crate) fn secret() -> Self {
        Self { status: "401 Unauthorized", ..Self::missing() }
    }

    pub(crate) fn refused(why: &str) -> Self {
        Self { status: "400 Bad Request", ..Self::json(&json!({"error": why}).to_string()) }
    }
}

pub(crate) struct Fake {
    address: SocketAddr,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Fake {
    pub(crate) fn run(answer: impl Fn(&Asked) -> Answer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (seen, answer) = (Arc::clone(&asked), Arc::new(answer));
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (seen, answer) = (Arc::clone(&seen), Arc::clone(&answer));
                thread::spawn(move || serve(&stream.unwrap(), &seen, &*answer));
            }
        });
        Self { address, asked }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Method and path of all requests so far.
    pub(crate) fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

/// Answers on one connection until the client has gone.
fn serve(stream: &TcpStream, seen: &Mutex<Vec<String>>, answer: &dyn Fn(&Asked) -> Answer) {
    stream.set_nodelay(true).unwrap();
    let mut input = BufReader::new(stream);
    while let Some(asked) = read(&mut input) {
        seen.lock().unwrap().push(format!("{} {}", asked.method, asked.path));
        if write(stream, &answer(&asked)).is_err() {
            return;
        }
    }
}

fn read(input: &mut impl BufRead) -> Option<Asked> {
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        if input.read_line(&mut line).ok()? == 0 {
            return None;
        }
        if line == "\r\n" {
            break;
        }
        lines.push(line);
    }
    let mut words = lines[0].split(' ').map(str::to_owned);
    let lengths = lines.iter().filter_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().unwrap())
    });
    let mut body = vec![0; lengths.sum()];
    input.read_exact(&mut body).ok()?;
    let body = serde_json::from_slice(&body).unwrap_or_default();
    Some(Asked { method: words.next()?, path: words.next()?, body })
}

fn write(mut stream: &TcpStream, answer: &Answer) -> std::io::Result<()> {
    let Answer { status, media, events, cuts } = answer;
    let head =
        format!("HTTP/1.1 {status}\r\nContent-Type: {media}\r\nTransfer-Encoding: chunked\r\n\r\n");
    let chunks = events.iter().filter(|event| !event.is_empty());
    let chunks = chunks.map(|event| format!("{:x}\r\n{event}\r\n", event.len()));
    let pieces: Vec<String> =
        [head].into_iter().chain(chunks).chain(["0\r\n\r\n".to_owned()]).collect();
    match cuts {
        Cuts::Events => pieces.iter().try_for_each(|piece| stream.write_all(piece.as_bytes())),
        Cuts::None => stream.write_all(pieces.concat().as_bytes()),
    }
}

fn event(data: &Value) -> String {
    format!("data: {data}\n\n")
}

fn done() -> String {
    "data: [DONE]\n\n".to_owned()
}

/// A list of models as the OpenAI routes have it.
pub(crate) fn models(ids: &[&str], owner: &str) -> String {
    let models: Vec<Value> = ids.iter().map(|id| json!({"id": id, "owned_by": owner})).collect();
    json!({"object": "list", "data": models}).to_string()
}

pub(crate) fn vllm(asked: &Asked) -> Answer {
    bundling(asked, 1)
}

/// vLLM with `each` tokens an event.
pub(crate) fn bundling(asked: &Asked, each: u64) -> Answer {
    let tokens = match &*asked.path {
        "/v1/completions" => asked.tokens(&asked.body["max_tokens"]),
        "/v1/models" => return Answer::json(&models(&["m"], "vllm")),
        _ => return Answer::missing(),
    };
    let chunk = |count: u64| {
        let reason = if count == tokens { json!("length") } else { Value::Null };
        event(&json!({
            "choices": [{"index": 0, "text": " bu", "finish_reason": reason}],
            "usage": {"prompt_tokens": 3, "completion_tokens": count, "total_tokens": 3 + count},
        }))
    };
    let counts = (1..=tokens).filter(|count| count % each == 0 || *count == tokens);
    Answer::events(counts.map(chunk).chain([done()]).collect())
}

/// A server of OpenAI's completions that knows the usage at the end and no way to force a length.
pub(crate) fn plain(asked: &Asked) -> Answer {
    if asked.path != "/v1/completions" {
        return Answer::missing();
    }
    let goes_on = asked.body["prompt"].as_str().unwrap().contains("Count");
    let tokens = if goes_on { asked.body["max_tokens"].as_u64().unwrap() } else { 2 };
    let reason = if goes_on { "length" } else { "stop" };
    let chunk = event(&json!({"choices": [{"index": 0, "text": " bu", "finish_reason": null}]}));
    let end = json!({"choices": [{"index": 0, "text": "", "finish_reason": reason}]});
    let usage = json!({"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": tokens}});
    let chunks = (0..tokens).map(|_| chunk.clone());
    Answer::events(chunks.chain([event(&end), event(&usage), done()]).collect())
}

pub(crate) const CHAT: &str = "/v1/chat/completions";

/// The same for chat.
pub(crate) fn chat(asked: &Asked) -> Answer {
    if asked.path != CHAT {
        return Answer::missing();
    }
    let limit = [&asked.body["max_tokens"], &asked.body["max_completion_tokens"]];
    let tokens = asked.tokens(limit.into_iter().find(|limit| !limit.is_null()).unwrap());
    let chunk = |delta: Value, reason: Value| {
        event(&json!({"choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}))
    };
    let role = chunk(json!({"role": "assistant", "content": ""}), Value::Null);
    let words = (0..tokens).map(|_| chunk(json!({"content": " bu"}), Value::Null));
    let usage = json!({"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": tokens}});
    let end = [chunk(json!({}), json!("length")), event(&usage), done()];
    Answer::events([role].into_iter().chain(words).chain(end).collect())
}

/// SGLang's own route, cumulative.
pub(crate) fn sglang(asked: &Asked) -> Answer {
    let tokens = match &*asked.path {
        "/generate" => asked.tokens(&asked.body["sampling_params"]["max_new_tokens"]),
        "/get_model_info" => return Answer::json(r#"{"model_path":"m","is_generation":true}"#),
        _ => return Answer::missing(),
    };
    let chunk = |count: u64| {
        let reason = (count == tokens).then(|| json!({"type": "length", "length": tokens}));
        let ids: Vec<u64> = (1..=count).collect();
        event(&json!({
            "text": " bu".repeat(usize::try_from(count).unwrap()),
            "output_ids": ids,
            "meta_info": {"finish_reason": reason, "prompt_tokens": 3, "completion_tokens": count},
        }))
    };
    Answer::events((1..=tokens).map(chunk).chain([done()]).collect())
}

pub(crate) fn llama_cpp(asked: &Asked) -> Answer {
    let tokens = match &*asked.path {
        "/completion" => asked.tokens(&asked.body["n_predict"]),
        "/props" => return Answer::json(r#"{"default_generation_settings":{},"total_slots":1}"#),
        _ => return Answer::missing(),
    };
    let chunk = |count: u64| {
        event(&json!({
            "index": 0, "content": " bu", "tokens": [count], "stop": false,
            "tokens_predicted": count, "tokens_evaluated": 3,
        }))
    };
    let end = json!({
        "index": 0, "content": "", "tokens": [], "stop": true, "stop_type": "limit",
        "tokens_predicted": tokens, "tokens_evaluated": 3,
        "timings": {"prompt_n": 3, "prompt_ms": 1.0, "predicted_n": tokens, "predicted_ms": 2.0},
    });
    Answer::events((1..=tokens).map(chunk).chain([event(&end)]).collect())
}

pub(crate) fn ollama(asked: &Asked) -> Answer {
    let tokens = match &*asked.path {
        "/api/generate" => asked.tokens(&asked.body["options"]["num_predict"]),
        "/api/tags" => return Answer::json(r#"{"models":[{"name":"m:latest"}]}"#),
        _ => return Answer::missing(),
    };
    let word = format!("{}\n", json!({"model": "m", "response": " bu", "done": false}));
    let end = json!({
        "model": "m", "response": "", "done": true, "done_reason": "length",
        "prompt_eval_count": 3, "eval_count": tokens,
    });
    let lines = (0..tokens).map(|_| word.clone()).chain([format!("{end}\n")]);
    Answer { media: "application/x-ndjson", ..Answer::events(lines.collect()) }
}

pub(crate) fn tgi(asked: &Asked) -> Answer {
    let tokens = match &*asked.path {
        "/generate_stream" => asked.tokens(&asked.body["parameters"]["max_new_tokens"]),
        "/info" => return Answer::json(r#"{"model_id":"m","max_total_tokens":4096}"#),
        _ => return Answer::missing(),
    };
    let chunk = |count: u64| {
        let details =
            json!({"finish_reason": "length", "generated_tokens": tokens, "input_length": 3});
        let is_last = count == tokens;
        event(&json!({
            "index": count, "token": {"id": 11, "text": " bu", "logprob": -0.1, "special": false},
            "generated_text": is_last.then_some("all"), "details": is_last.then_some(details),
        }))
    };
    Answer::events((1..=tokens).map(chunk).collect())
}

pub(crate) fn anthropic(asked: &Asked) -> Answer {
    if asked.path != "/v1/messages" {
        return Answer::missing();
    }
    let tokens = asked.tokens(&asked.body["max_tokens"]);
    let named =
        |data: Value| format!("event: {}\ndata: {data}\n\n", data["type"].as_str().unwrap());
    let usage = json!({"input_tokens": 9, "output_tokens": 1});
    let text = json!({"type": "text_delta", "text": " bu"});
    let start = [
        json!({"type": "message_start", "message": {"id": "msg_1", "usage": usage}}),
        json!({"type": "ping"}),
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
    ];
    let words =
        (0..tokens).map(|_| json!({"type": "content_block_delta", "index": 0, "delta": text}));
    let end = [
        json!({"type": "content_block_stop", "index": 0}),
        json!({
            "type": "message_delta", "delta": {"stop_reason": "max_tokens"},
            "usage": {"output_tokens": tokens},
        }),
        json!({"type": "message_stop"}),
    ];
    Answer::events(start.into_iter().chain(words).chain(end).map(named).collect())
}
