//! `fizeau serve`, from its first line to its last.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::Stdio;

use crate::interrupt::interrupt;
use crate::stand::fizeau;

#[test]
fn the_end_tells_how_well_the_schedule_was_kept() {
    let words = ["serve", "--port", "0", "--ttft-ms", "1", "--itl-ms", "0.5"];
    let mut child = fizeau(&words).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let served = lines.find(|line| line.starts_with("serving model (any name) on ")).unwrap();
    lines.find(|line| line.starts_with("Ctrl-C ends it")).unwrap();
    let address = served.rsplit("http://").next().unwrap();

    let mut stream = TcpStream::connect(address).unwrap();
    let body = r#"{"prompt":"x","max_tokens":5,"stream":true}"#;
    let length = body.len();
    write!(
        stream,
        "POST /v1/completions HTTP/1.1\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{body}"
    )
    .unwrap();
    let mut reply = String::new();
    stream.read_to_string(&mut reply).unwrap();
    assert!(reply.contains("[DONE]"), "{reply}");

    interrupt(&child);
    let last = lines.last().unwrap();
    assert!(last.starts_with("5 tokens left late by p50 "), "{last}");
    assert!(child.wait().unwrap().success());
}
