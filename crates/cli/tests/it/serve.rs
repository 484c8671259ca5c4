//! `fizeau serve`, from its first line to its last.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::Stdio;

use crate::interrupt::interrupt;
use crate::stand::fizeau;

#[test]
fn a_limit_and_a_prefix_cache_are_there_where_asked_for() {
    let words = "serve --port 0 --ttft-ms 0 --itl-ms 0 --max-model-len 64 --prefix-cache 9 --until-stdin-ends";
    let words: Vec<_> = words.split(' ').collect();
    let mut child = fizeau(&words).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let served = lines.find(|line| line.starts_with("serving model ")).unwrap();
    assert_eq!(lines.next().unwrap(), "prefix cache: blocks of 16 tokens, at most 9");
    let address = served.rsplit("http://").next().unwrap();
    let prompt = "word ".repeat(40);
    let replies = [2, 2, 30].map(|tokens| {
        complete(address, &format!(r#"{{"prompt":"{prompt}","max_tokens":{tokens}}}"#))
    });
    assert!(replies[0].contains(r#""cached_tokens":0"#), "{}", replies[0]);
    assert!(replies[1].contains(r#""cached_tokens":32"#), "{}", replies[1]);
    assert!(replies[2].contains("maximum context length is 64 tokens"), "{}", replies[2]);
    drop(child.stdin.take());
    assert!(child.wait().unwrap().success());
}

#[test]
fn the_end_tells_how_well_the_schedule_was_kept() {
    let words = ["serve", "--port", "0", "--ttft-ms", "1", "--itl-ms", "0.5"];
    let mut child = fizeau(&words).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let served = lines.find(|line| line.starts_with("serving model (any name) on ")).unwrap();
    lines.find(|line| line.starts_with("Ctrl-C ends it")).unwrap();
    let address = served.rsplit("http://").next().unwrap();

    let reply = complete(address, r#"{"prompt":"x","max_tokens":5,"stream":true}"#);
    assert!(reply.contains("[DONE]"), "{reply}");

    interrupt(&child);
    let last = lines.last().unwrap();
    assert!(last.starts_with("5 tokens left late by p50 "), "{last}");
    assert!(child.wait().unwrap().success());
}

/// The reply to a completion, head and body.
fn complete(address: &str, body: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    let length = body.len();
    write!(
        stream,
        "POST /v1/completions HTTP/1.1\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{body}"
    )
    .unwrap();
    let mut reply = String::new();
    stream.read_to_string(&mut reply).unwrap();
    reply
}
