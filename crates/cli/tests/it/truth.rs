//! The client's record against the server's own.

use std::io::{Read, Write};
use std::net::TcpStream;

use fizeau::core::{Nanos, Tape};
use fizeau::metrics::RequestMetrics;
use serde_json::Value;

use crate::stand::{HOWEVER_BUSY, Scratch, fixed, json, run};

/// A request is sent before the server has it, and a token is handed to the socket before it arrives. So the client's
/// TTFT is never under the server's, whatever the machine is doing, and neither is the way from first to last token
/// longer by more than the last token's own way. How *close* they are is measured by `cargo xtask bench`.
#[test]
fn no_token_arrives_before_it_was_sent() {
    let (ttft, itl) = (Nanos::from_millis(5), Nanos::from_millis(1));
    let server = fixed(ttft, itl);
    let scratch = Scratch::new("truth");
    let (url, out) = (server.base_url(), scratch.path("run"));
    let line = "bench --model m --random-input-len 16 --random-output-len 20 --num-prompts 12 --max-concurrency 1 \
                --num-warmups 0";
    let mut words: Vec<&str> = line.split_whitespace().collect();
    words.extend(["--base-url", &url, "--out", &out]);
    words.extend(HOWEVER_BUSY);
    let ended = run(&words);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let truth = truth(&url);
    let served = truth["requests"].as_array().unwrap();
    // The first is the one that checks the endpoint.
    assert_eq!(served.len(), 13);
    let tapes = std::fs::read_to_string(format!("{out}/tapes.jsonl")).unwrap();
    let tapes: Vec<Tape> = tapes.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for (tape, served) in tapes.iter().zip(&served[1..]) {
        let stamp = |name: &str| served[name].as_u64().unwrap();
        let server_ttft = stamp("first_token_ns") - stamp("arrived_ns");
        assert!(server_ttft >= ttft.as_nanos(), "the server keeps its schedule");
        let client_ttft = RequestMetrics::of(tape).ttft.unwrap();
        assert!(client_ttft.as_nanos() >= server_ttft, "{client_ttft} against {server_ttft} ns");
        assert_eq!(served["token_ns"].as_array().unwrap().len(), 20);
        assert_eq!(tape.output_tokens().get(), 20);
    }
    what_the_page_says_of_the_level_is_true(&out, &served[1..]);
}

/// The server's own page, read right before the level and right after it, says of it exactly what the server did.
fn what_the_page_says_of_the_level_is_true(out: &str, served: &[Value]) {
    let telemetry = &json(format!("{out}/summary.json"))["telemetry"];
    let said = &telemetry["server"];
    let number = |value: &Value| value.as_f64().unwrap();
    let sum = |of: fn(&Value) -> u64| served.iter().map(of).sum::<u64>() as f64;
    let prompts = sum(|one| one["prompt_tokens"].as_u64().unwrap());
    for (name, truth) in [
        ("prompt_tokens", prompts),
        ("generation_tokens", 12.0 * 20.0),
        ("requests", 12.0),
        ("preemptions", 0.0),
    ] {
        let told = &said[name];
        assert_eq!([&told["low"], &told["delta"], &told["high"]].map(number), [truth; 3], "{name}");
    }
    let left = |one: &Value, at: usize| {
        one["scheduled_ns"][at].as_u64().unwrap() - one["arrived_ns"].as_u64().unwrap()
    };
    let queue = |one: &Value| one["queue_ns"].as_u64().unwrap();
    let total = |of: &dyn Fn(&Value) -> u64| served.iter().map(of).sum::<u64>() as f64 / 1e6;
    for (name, truth) in [
        ("ttft_ms", total(&|one| left(one, 0))),
        ("e2el_ms", total(&|one| left(one, 19))),
        ("queue_ms", total(&queue)),
    ] {
        let sum = number(&said[name]["sum"]["delta"]);
        assert!((sum - truth).abs() < 1e-6, "{name}: {sum} against {truth}");
        assert_eq!(number(&said[name]["count"]["delta"]), 12.0, "{name}");
    }
    let findings = telemetry["findings"].as_array().unwrap();
    let kinds: Vec<_> = findings.iter().map(|finding| finding["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["tokens_equal", "tokens_equal"]);
    assert!(number(&telemetry["gaps"]["ttft"]["gap_ms"]) >= 0.0, "{telemetry}");
    let cost = &telemetry["sources"][0]["cost"];
    assert!(number(&cost["pages"]) >= 3.0 && cost["failed"] == 0, "{telemetry}");
    let pages = std::fs::read_to_string(format!("{out}/telemetry.jsonl")).unwrap();
    let kept = pages.lines().count() as f64;
    assert!(kept >= 2.0 && kept <= number(&cost["pages"]), "those since the warm-up: {kept}");
    // What is read again is what was written.
    let again = run(&["report", out, "--json"]);
    assert_eq!(again.out, std::fs::read_to_string(format!("{out}/summary.json")).unwrap());
}

fn truth(url: &str) -> Value {
    let address = url.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET /truth HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    let start = text.find('{').unwrap();
    let end = text.rfind('}').unwrap();
    serde_json::from_str(&text[start..=end]).unwrap()
}
