//! What a fault does to others than the one that it befalls, and what the server says of it.

use std::net::{SocketAddr, TcpStream};

use fizeau_core::Nanos;
use fizeau_sim::FixedTiming;
use fizeau_sim::http::{FaultKind, Faults, ServerConfig, ServerHandle};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::client::{Reply, get, post, send, send_with, take};
use super::{fixed, serve};

fn with(faults: &str) -> ServerHandle {
    serve(ServerConfig::new(fixed()).with_faults(faults.parse().unwrap()))
}

fn body(tokens: u64) -> String {
    json!({"prompt": "a few words", "max_tokens": tokens, "stream": true}).to_string()
}

/// A request that chooses `fault`.
fn under(to: SocketAddr, path: &str, fault: &str, body: &str) -> TcpStream {
    send_with(to, "POST", path, &format!("x-fizeau-fault: {fault}\r\n"), body)
}

/// The records, once there are so many.
fn truth(to: SocketAddr, count: usize) -> Value {
    loop {
        let truth = get(to, "/truth").json();
        if truth["requests"].as_array().unwrap().len() >= count {
            return truth;
        }
        std::thread::yield_now();
    }
}

/// Whoever leaves without a reply takes nobody else's with it.
#[test]
fn a_fault_leaves_other_streams_alone() {
    let engine = FixedTiming::new(Nanos::from_millis(300), Nanos::ZERO);
    for fault in ["no-reply", "stall@0", "reset-at-once"] {
        let config = ServerConfig::new(engine.clone()).with_faults("allow".parse().unwrap());
        let server = serve(config);
        // Number 0, on connection 0.
        let bystander = send(server.addr(), "POST", "/v1/completions", &body(4));
        let unlucky = under(server.addr(), "/v1/completions", fault, &body(4));
        drop(unlucky);
        let truth = truth(server.addr(), 1);
        let stalled = u64::from(fault == "stall@0");
        assert_eq!(truth["cancelled"], stalled, "{fault}: only what the engine works at");
        assert_eq!(take(bystander).objects().len(), 4, "{fault}");
    }
}

/// A reply that could write for ever gives way.
#[test]
fn drips_leave_other_streams_alone() {
    let server = with("allow");
    let huge = under(server.addr(), "/v1/completions", "drip:0ms+huge:4194304", &body(64));
    assert_eq!(post(server.addr(), "/v1/completions", &body(4)).objects().len(), 4);
    drop(huge);
}

#[test]
fn a_request_without_leave_to_choose_is_told_so() {
    let server = serve(ServerConfig::new(fixed()));
    let reply = take(under(server.addr(), "/v1/completions", "crlf", &body(2)));
    assert_eq!(reply.status, 400);
    assert!(reply.body.contains("it was not started to allow them"), "{}", reply.body);
    let reply = take(under(server.addr(), "/v1/completions", "none", &body(2)));
    assert_eq!(reply.status, 200);
}

#[test]
fn all_that_was_chosen_befalls_the_reply() {
    let server = with("allow");
    for lines in [
        "x-fizeau-fault: bundle:2, usage-off\r\n",
        "x-fizeau-fault: bundle:2\r\nx-fizeau-fault: usage-off\r\n",
    ] {
        let body = json!({"prompt": "x", "max_tokens": 4, "stream": true,
            "stream_options": {"include_usage": true}});
        let to = server.addr();
        let reply = take(send_with(to, "POST", "/v1/completions", lines, &body.to_string()));
        let objects = reply.objects();
        assert_eq!(objects.len(), 3, "{objects:?}");
        assert_eq!(objects[2]["usage"]["completion_tokens"], 7);
    }
    let requests = truth(server.addr(), 2)["requests"].clone();
    assert_eq!(requests[1]["fault"], "bundle:2+usage-off");
}

/// What cannot be done is no fault that was met.
#[test]
fn what_cannot_befall_a_reply_is_refused_or_left_out() {
    let whole = json!({"prompt": "x", "max_tokens": 2}).to_string();
    let message = json!({"model": "m", "max_tokens": 2, "stream": true,
        "messages": [{"role": "user", "content": "x"}]});
    let message = message.to_string();
    let ids =
        json!({"input_ids": [1, 2], "stream": true, "sampling_params": {"max_new_tokens": 2}});
    let cases = [
        ("/v1/completions", "reset@1", &whole),
        ("/v1/completions", "crlf", &whole),
        ("/v1/completions", "unstreamed", &whole),
        ("/v1/completions", "reasoning", &body(2)),
        ("/v1/completions", "usage-with-choices", &body(2)),
        ("/v1/completions", "unstreamed+crlf", &body(2)),
        ("/v1/messages", "bundle", &message),
        ("/v1/messages", "zero-usage", &message),
        ("/v1/messages", "abort", &message),
        ("/generate", "cumulative", &ids.to_string()),
    ];
    for (path, fault, body) in cases {
        let server = with("allow");
        let reply = take(under(server.addr(), path, fault, body));
        assert_eq!(reply.status, 400, "{path} {fault}");
        assert!(reply.body.contains("cannot affect this reply"), "{}", reply.body);
        assert_eq!(reply.json()["type"] == "error", path == "/v1/messages");

        if fault.contains('+') {
            continue;
        }
        let server = with(fault);
        assert_eq!(post(server.addr(), path, body).status, 200, "{path} {fault}");
        let record = truth(server.addr(), 1)["requests"][0].clone();
        assert_eq!(record["fault"], Value::Null, "{path} {fault}");
    }
}

/// A status that is a fault looks as one that is none.
#[test]
fn refusals_have_the_form_of_their_route() {
    let chat =
        json!({"model": "m", "max_tokens": 2, "messages": [{"role": "user", "content": "x"}]});
    for (fault, status, openai, anthropic) in [
        ("429:1500ms", 429, "TooManyRequestsError", "rate_limit_error"),
        ("503", 503, "ServiceUnavailableError", "overloaded_error"),
        ("500", 500, "InternalServerError", "api_error"),
    ] {
        let server = with(fault);
        let ask = |path: &str| -> Reply {
            let id = "X-Request-Id: mine\r\n";
            take(send_with(server.addr(), "POST", path, id, &chat.to_string()))
        };
        let reply = ask("/v1/chat/completions");
        assert_eq!((reply.status, &reply.json()["error"]["type"]), (status, &json!(openai)));
        assert!(reply.head.contains("x-request-id: mine"), "{}", reply.head);
        assert!(reply.head.contains("connection: close"), "{}", reply.head);
        assert_eq!(reply.head.contains("retry-after: 2"), status == 429, "{}", reply.head);
        let reply = ask("/v1/messages");
        assert_eq!((reply.status, &reply.json()["error"]["type"]), (status, &json!(anthropic)));
        let record = truth(server.addr(), 2)["requests"][0].clone();
        assert_eq!(record.get("finish_reason"), None, "{record}");
    }
}

/// What ended badly is no success.
#[test]
fn bad_ends_are_counted_as_such() {
    for (fault, reason) in [("error@1", "error"), ("content-filter@1", "error"), ("fin@1", "abort")]
    {
        let server = with(fault);
        post_any(server.addr());
        let record = truth(server.addr(), 1)["requests"][0].clone();
        assert_eq!(record["finish_reason"], reason, "{fault}");
        let metrics = get(server.addr(), "/metrics").body;
        for other in ["stop", "length", "abort", "error"] {
            let count = u64::from(other == reason);
            let line = metrics
                .lines()
                .find(|line| {
                    line.starts_with("vllm:request_success_total")
                        && line.contains(&format!("finished_reason=\"{other}\""))
                })
                .unwrap();
            let value: f64 = line.rsplit(' ').next().unwrap().parse().unwrap();
            assert_eq!(value, count as f64, "{fault}: {line}");
        }
    }
}

/// Reads a reply of which there may be no end.
fn post_any(to: SocketAddr) {
    let mut stream = send(to, "POST", "/v1/completions", &body(4));
    std::io::copy(&mut stream, &mut std::io::sink()).unwrap();
}

/// Whatever a client calls its request, the server remembers little of it.
#[test]
fn long_names_are_cut_in_the_record() {
    let server = serve(ServerConfig::new(fixed()));
    let id = format!("X-Request-Id: {}\r\n", "n".repeat(5_000));
    take(send_with(server.addr(), "POST", "/v1/completions", &id, &body(2)));
    let record = truth(server.addr(), 1)["requests"][0].clone();
    assert_eq!(record["id"].as_str().unwrap().len(), 256);
}

/// Each dialect has its own words for a bad end.
#[test]
fn bad_ends_are_in_the_words_of_their_dialect() {
    let server = with("allow");
    let message = json!({"model": "m", "max_tokens": 4, "stream": true,
        "messages": [{"role": "user", "content": "x"}]});
    let response = json!({"model": "m", "input": "x", "max_output_tokens": 4, "stream": true});
    let ids =
        json!({"input_ids": [1, 2], "stream": true, "sampling_params": {"max_new_tokens": 4}});
    let last = |path: &str, fault: &str, body: &Value| -> Value {
        let reply = take(under(server.addr(), path, fault, &body.to_string()));
        assert_eq!(reply.status, 200, "{path} {fault}: {}", reply.body);
        let data = |line: &str| serde_json::from_str(line.strip_prefix("data: ")?).ok();
        reply.body.lines().filter_map(data).next_back().unwrap()
    };
    let error = last("/v1/messages", "error@2", &message);
    assert_eq!((&error["type"], &error["error"]["type"]), (&json!("error"), &json!("api_error")));
    let stop = last("/v1/messages", "content-filter@2", &message);
    assert_eq!(stop["type"], "message_stop");

    let error = last("/v1/responses", "error@2", &response);
    assert_eq!((&error["type"], &error["sequence_number"]), (&json!("error"), &json!(6)));
    let failed = last("/v1/responses", "abort@2", &response);
    assert_eq!(
        (&failed["type"], &failed["sequence_number"]),
        (&json!("response.failed"), &json!(6))
    );
    assert_eq!(failed["response"]["status"], "failed");
    assert_eq!(failed["response"]["usage"]["output_tokens"], 2);
    let filtered = last("/v1/responses", "content-filter@2", &response);
    assert_eq!(filtered["response"]["incomplete_details"]["reason"], "content_filter");

    for made in [2, 4] {
        let aborted = last("/generate", &format!("abort@{made}"), &ids);
        assert_eq!(aborted["meta_info"]["finish_reason"]["type"], "abort");
        assert_eq!(aborted["meta_info"]["completion_tokens"], made);
    }
}

/// An end with a reason of its own is the only one, wherever it comes.
#[test]
fn a_filtered_reply_ends_once() {
    let server = with("allow");
    for (fault, tokens) in [("content-filter@2", 2), ("content-filter@9", 4), ("abort@4", 4)] {
        let body = json!({"prompt": "x", "max_tokens": 4, "stream": true,
            "stream_options": {"include_usage": true, "continuous_usage_stats": true}});
        let reply =
            take(under(server.addr(), "/v1/completions", fault, &body.to_string())).objects();
        let reasons: Vec<_> = reply
            .iter()
            .filter_map(|object| object.pointer("/choices/0/finish_reason")?.as_str())
            .collect();
        assert_eq!(reasons, [fault.split('@').next().unwrap().replace('-', "_")], "{fault}");
        for object in &reply[tokens..] {
            assert_eq!(object["usage"]["completion_tokens"], tokens, "{fault}: {object}");
        }
    }
}

/// Each choice has its tokens and its end, and the usage counts those that were shown.
#[test]
fn choices_are_counted_as_they_are_shown() {
    let server = with("allow");
    for (fault, shown) in [
        ("choices:3", vec![1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]),
        ("choices:3+first-bundle:2", vec![2, 4, 6, 7, 8, 9, 10, 11, 12]),
        ("choices:3+finish-chunk", vec![1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 12, 12, 12]),
    ] {
        let body = json!({"prompt": "x", "max_tokens": 4, "stream": true,
            "stream_options": {"include_usage": true, "continuous_usage_stats": true}});
        let reply =
            take(under(server.addr(), "/v1/completions", fault, &body.to_string())).objects();
        let counts: Vec<_> = reply
            .iter()
            .filter(|object| object["choices"][0].is_object())
            .map(|object| object["usage"]["completion_tokens"].as_u64().unwrap())
            .collect();
        assert_eq!(counts, shown, "{fault}");
        let ended: Vec<_> = reply
            .iter()
            .filter(|object| object["choices"][0]["finish_reason"].is_string())
            .map(|object| object["choices"][0]["index"].as_u64().unwrap())
            .collect();
        assert_eq!(ended, [0, 1, 2], "{fault}");
    }
}

/// `kind` as it is written, with these numbers where it has any.
fn written(kind: &FaultKind, after: Option<u64>, value: Option<u64>) -> String {
    let (mut form, mut value) = (kind.form(), value.map(|value| value.to_string()));
    if form.ends_with("TIME") {
        value = value.map(|millis| format!("{millis}ms"));
    }
    form = match after {
        Some(after) => form.replace("TOKENS", &after.to_string()),
        None => form.replace("@TOKENS", ""),
    };
    let part = if form.ends_with("TIME") { "TIME" } else { "COUNT" };
    match value {
        Some(value) => form.replace(part, &value),
        None => form.replace(&format!(":{part}"), ""),
    }
}

/// Faults that can befall a reply together.
fn mix() -> impl Strategy<Value = String> {
    let numbers =
        (0..Faults::all().len(), prop::option::of(0u64..100), prop::option::of(1u64..5_000));
    let fault =
        numbers.prop_map(|(kind, after, value)| written(&Faults::all()[kind], after, value));
    prop::collection::vec(fault, 1..4).prop_filter_map("not together", |faults| {
        let text = faults.join("+");
        let read = format!("1*{text}").parse::<Faults>().ok()?.to_string();
        Some(read.trim_start_matches("1*").to_owned())
    })
}

proptest! {
    #[test]
    fn what_is_written_is_read_again(
        faults in prop::collection::vec((mix(), 1u32..20), 1..5),
    ) {
        let mixes = faults.iter().map(|(mix, share)| {
            format!("{}*{mix}", f64::from(*share) / 100.0)
        });
        let text = mixes.collect::<Vec<_>>().join(",");
        let read: Faults = text.parse().unwrap();
        prop_assert_eq!(read.to_string(), text.clone());
        prop_assert_eq!(read.to_string().parse::<Faults>().unwrap(), read);
    }

    #[test]
    fn no_text_panics(text in "[-a-z0-9@:.*+, ]{0,40}") {
        if let Ok(faults) = text.parse::<Faults>() {
            prop_assert_eq!(faults.to_string().parse::<Faults>(), Ok(faults));
        }
    }
}

#[test]
fn names_are_distinct_and_forms_are_read() {
    let kinds = Faults::all();
    for (index, kind) in kinds.iter().enumerate() {
        assert!(kinds[..index].iter().all(|other| other.name() != kind.name()), "{kind}");
        assert!(!kind.about().is_empty() && kind.about().len() < 90, "{kind}");
        let text = written(kind, Some(3), Some(4));
        assert_eq!(text.parse::<Faults>().unwrap().to_string(), text);
    }
}

#[test]
fn what_is_wrong_is_said() {
    let words = |text: &str| text.parse::<Faults>().unwrap_err().to_string();
    assert!(words("stal").contains("did you mean `stall`?"), "{}", words("stal"));
    for (text, part) in [
        ("", "no fault is named"),
        ("crlf,", "no fault is named"),
        ("crlf@3", "write crlf"),
        ("stall@x", "write stall@TOKENS:TIME"),
        ("stall:300", "write stall@TOKENS:TIME"),
        ("bundle:0", "write bundle:COUNT"),
        ("keep-alive:0ms", "out of bounds: at least"),
        ("choices:200000", "out of bounds: at most 128"),
        ("huge:99999999999", "out of bounds: at most 16777216"),
        ("choices:128+huge", "more than 16777216 bytes"),
        ("0.5*connections:1", "affects the whole server"),
        ("crlf+cr", "cannot affect the same reply"),
        ("stall@1:1ms+stall@2:1ms", "cannot affect the same reply"),
        ("error@1+reset@3", "cannot affect the same reply"),
        ("429+crlf", "cannot affect the same reply"),
        ("0*crlf", "over 0"),
        ("2*crlf", "over 0"),
        ("nan*crlf", "over 0"),
        ("0.6*crlf,0.6*cr", "more than 1"),
        ("crlf,cr", "more than 1"),
    ] {
        assert!(words(text).contains(part), "{text}: {}", words(text));
    }
}

/// The page on faults has all of them and no other, and a fault or a reason for each trap.
#[test]
fn the_page_has_every_fault() {
    let page = include_str!("../../../../../docs/faults.md");
    let (before, traps) = page.split_once("## What makes clients measure wrongly").unwrap();
    let names: Vec<_> = Faults::all().iter().map(FaultKind::name).collect();
    for (index, name) in names.iter().enumerate() {
        assert!(traps.contains(&format!("`{name}`")), "{index}: {name}");
    }
    let rows: Vec<_> = traps.lines().filter(|line| line.starts_with("| ")).skip(1).collect();
    assert_eq!(rows.len(), 35);
    for (index, row) in rows.iter().enumerate() {
        let cells: Vec<_> = row.trim_matches('|').split('|').map(str::trim).collect();
        assert_eq!(cells[0], (index + 1).to_string());
        let quoted = cells[2].split('`').skip(1).step_by(2).collect::<Vec<_>>();
        let (flags, faults): (Vec<_>, Vec<_>) =
            quoted.iter().partition(|name| name.starts_with(['-', '/']));
        assert!(faults.iter().all(|name| names.contains(name)), "{row}");
        assert!(!faults.is_empty() || cells[2].starts_with("none: "), "{row} {flags:?}");
    }
    let shown = before.lines().filter_map(|line| line.strip_prefix("fizeau serve --fault "));
    for line in shown {
        line.split_whitespace().next().unwrap().parse::<Faults>().unwrap();
    }
}
