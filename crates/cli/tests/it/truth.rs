//! The client's record against the server's own.

use std::io::{Read, Write};
use std::net::TcpStream;

use fizeau::core::{Nanos, Tape};
use fizeau::metrics::RequestMetrics;
use serde_json::Value;

use crate::stand::{HOWEVER_BUSY, Scratch, fixed, run};

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
