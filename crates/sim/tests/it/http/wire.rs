//! How requests may come and replies be taken.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use fizeau_core::Nanos;
use fizeau_sim::FixedTiming;
use fizeau_sim::http::ServerConfig;

use super::client::{get, post, send};
use super::{fixed, serve};

const BODY: &str = r#"{"prompt":"x","max_tokens":3,"stream":true}"#;

fn connect(to: std::net::SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(to).unwrap();
    // Only so that a fault ends the test rather than hangs it.
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    stream
}

fn all(mut stream: TcpStream) -> String {
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    text
}

/// Reads up to and with `end`.
fn until(stream: &mut TcpStream, end: &str) -> String {
    let mut text = Vec::new();
    let mut byte = [0];
    while !text.ends_with(end.as_bytes()) {
        stream.read_exact(&mut byte).unwrap();
        text.extend(byte);
    }
    String::from_utf8(text).unwrap()
}

fn request(body: &str, extra: &str) -> String {
    let length = body.len();
    format!(
        "POST /v1/completions HTTP/1.1\r\nHost: a\r\n{extra}Content-Length: {length}\r\n\r\n{body}"
    )
}

#[test]
fn pipelined_requests_are_answered_in_turn() {
    let server = serve(ServerConfig::new(fixed()));
    let mut stream = connect(server.addr());
    let requests = [
        request(BODY, ""),
        "GET /health HTTP/1.1\r\n\r\n".into(),
        request(BODY, "Connection: close\r\n"),
    ];
    stream.write_all(requests.concat().as_bytes()).unwrap();
    let text = all(stream);
    assert_eq!(text.matches("HTTP/1.1 200 OK").count(), 3, "{text}");
    assert_eq!(text.matches("data: [DONE]").count(), 2, "{text}");
    let (first, second) = (text.find("cmpl-0").unwrap(), text.find("cmpl-1").unwrap());
    let health = text.find("content-length: 0").unwrap();
    assert!(first < health && health < second, "{text}");
    let truth = get(server.addr(), "/truth").json();
    let [first, second] = [0, 1].map(|k| truth["requests"][k].clone());
    assert!(first["token_ns"][2].as_u64() <= second["arrived_ns"].as_u64(), "one after another");
}

#[test]
fn a_connection_serves_again() {
    let server = serve(ServerConfig::new(fixed()));
    let mut stream = connect(server.addr());
    for k in 0..3 {
        stream.write_all(request(BODY, "").as_bytes()).unwrap();
        let reply = until(&mut stream, "\r\n0\r\n\r\n");
        assert!(reply.contains(&format!("cmpl-{k}")), "{reply}");
        assert!(!reply.contains("connection: close"), "{reply}");
    }
}

#[test]
fn chunked_bodies_and_clients_that_wait_are_served() {
    let server = serve(ServerConfig::new(fixed()));
    let mut stream = connect(server.addr());
    let head = "POST /v1/completions HTTP/1.1\r\nExpect: 100-continue\r\nConnection: close\r\n\
                Transfer-Encoding: chunked\r\n\r\n";
    stream.write_all(head.as_bytes()).unwrap();
    assert_eq!(until(&mut stream, "\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
    let (first, second) = BODY.split_at(10);
    for part in [first, second, ""] {
        write!(stream, "{:x}\r\n{part}\r\n", part.len()).unwrap();
    }
    let reply = all(stream);
    assert!(reply.starts_with("HTTP/1.1 200 OK") && reply.contains("[DONE]"), "{reply}");
}

#[test]
fn old_clients_get_a_stream_without_chunks() {
    let server = serve(ServerConfig::new(fixed()));
    let mut stream = connect(server.addr());
    stream.write_all(request(BODY, "").replace("HTTP/1.1", "HTTP/1.0").as_bytes()).unwrap();
    let reply = all(stream);
    assert!(!reply.contains("chunked"), "{reply}");
    assert!(reply.ends_with("\n\ndata: [DONE]\n\n"), "{reply}");
}

#[test]
fn what_is_no_request_is_told_so_and_cut_off() {
    let server = serve(ServerConfig::new(fixed()).with_body_limit(100));
    for (bytes, status) in
        [("hello\r\n\r\n".to_owned(), 400), (request(&"x".repeat(1 << 20), ""), 413)]
    {
        let mut stream = connect(server.addr());
        // The server may have closed its side meanwhile, but must not have reset the connection.
        stream.write_all(bytes.as_bytes()).unwrap();
        let reply = all(stream);
        assert!(reply.starts_with(&format!("HTTP/1.1 {status} ")), "{reply}");
        assert!(reply.contains("connection: close"), "{reply}");
    }
}

const CHUNKED: &str = "POST /c HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n\
                       3;name=value\r\nhel\r\n02\r\nlo\r\n0\r\nTrailer: x\r\n\r\n";

#[test]
fn each_fault_of_a_request_has_its_status_and_words() {
    let server = serve(ServerConfig::new(fixed()).with_body_limit(40));
    let long = "x".repeat(64 << 10);
    let post = |lines: &str| format!("POST / HTTP/1.1\r\n{lines}\r\n\r\n");
    let cases = [
        ("hello\r\n\r\n".to_owned(), 400, "no HTTP/1.1 request"),
        (format!("GET /{long} HTTP/1.1\r\n\r\n"), 431, "longer than the 65536 bytes"),
        (format!("GET / HTTP/1.1\r\n{}\r\n", "a: b\r\n".repeat(101)), 431, "100 header lines"),
        (post("Content-Length: 41"), 413, "larger than the 40 bytes"),
        (post("Content-Length: 1x"), 400, "content-length"),
        (post("Content-Length: +1"), 400, "content-length"),
        (post("Content-Length: 1\r\nContent-Length: 2"), 400, "content-length"),
        (post("Content-Length: 1\r\nTransfer-Encoding: chunked"), 400, "both"),
        (post("Transfer-Encoding: gzip"), 501, "chunked"),
        (CHUNKED.replace("3;", "z;"), 400, "chunk"),
        (CHUNKED.replace("3;", "2;"), 400, "chunk"),
        (CHUNKED.replace("3;", "ffffffffffffffff;"), 413, "larger than the 40 bytes"),
        (CHUNKED.replace("3;", "29;"), 413, "larger than the 40 bytes"),
        (CHUNKED.replace("name", &long), 400, "chunk"),
    ];
    for (text, status, words) in cases {
        let mut stream = connect(server.addr());
        stream.write_all(text.as_bytes()).unwrap();
        let reply = all(stream);
        let shown: String = text.chars().take(80).collect();
        assert!(reply.starts_with(&format!("HTTP/1.1 {status} ")), "{shown}: {reply}");
        assert!(reply.contains(words) && reply.contains("connection: close"), "{shown}: {reply}");
    }
}

/// Whether the connection stays open is the client's to say: what it asks for after is answered, or is not.
#[test]
fn the_connection_ends_as_the_client_wishes() {
    let server = serve(ServerConfig::new(fixed()));
    let cases = [
        ("GET /health HTTP/1.1\r\nConnection: foo, Close", 1),
        ("GET /health HTTP/1.1\r\nConnection: closed", 2),
        ("GET /health HTTP/1.0", 1),
        ("GET http://host:80/health HTTP/1.0\r\nConnection: Keep-Alive", 2),
        ("GET /health HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\nab", 2),
    ];
    for (first, answers) in cases {
        let mut stream = connect(server.addr());
        let blank = if first.ends_with("ab") { "" } else { "\r\n\r\n" };
        let last = "GET /health HTTP/1.1\r\nConnection: close\r\n\r\n";
        stream.write_all(format!("{first}{blank}{last}").as_bytes()).unwrap();
        let reply = all(stream);
        assert_eq!(reply.matches(" 200 OK").count(), answers, "{first}: {reply}");
        assert!(!reply.contains("100 Continue"), "nothing is left to wait for: {reply}");
    }
}

#[test]
fn other_methods_are_refused() {
    let server = serve(ServerConfig::new(fixed()));
    for (method, path, status) in
        [("OPTIONS", "/health", 405), ("HEAD", "/health", 405), ("OPTIONS", "*", 404)]
    {
        let reply = all(send(server.addr(), method, path, ""));
        assert!(reply.starts_with(&format!("HTTP/1.1 {status} ")), "{reply}");
        let (_, body) = reply.split_once("\r\n\r\n").unwrap();
        assert_eq!(body.is_empty(), method == "HEAD", "{reply}");
    }
}

/// A client that reads nothing of a hundred thousand tokens, far more than the kernel holds for it, and then all of
/// them.
#[test]
fn a_slow_reader_delays_nobody_and_loses_nothing() {
    let server = serve(ServerConfig::new(FixedTiming::new(Nanos::ZERO, Nanos::ZERO)));
    let long = r#"{"prompt":"x","max_tokens":100000,"stream":true}"#;
    let mut slow = send(server.addr(), "POST", "/v1/completions", long);
    until(&mut slow, "\r\n\r\n");
    for _ in 0..20 {
        assert_eq!(post(server.addr(), "/v1/completions", BODY).objects().len(), 3);
    }
    let served = |summary: &str| get(server.addr(), &format!("/truth{summary}")).json();
    assert_eq!(served("?summary")["remembered"], 20, "the slow one is not done");
    let text = all(slow);
    assert_eq!(text.matches("data: {").count(), 100_000);
    assert!(text.ends_with("data: [DONE]\n\n\r\n0\r\n\r\n"));
    let truth = served("");
    assert_eq!(truth["requests"][20]["token_ns"].as_array().unwrap().len(), 100_000);
}

#[test]
fn a_summary_leaves_the_requests_out() {
    let server = serve(ServerConfig::new(fixed()));
    post(server.addr(), "/v1/completions", BODY);
    let summary = get(server.addr(), "/truth?summary").json();
    assert!(summary.get("requests").is_none());
    let mut whole = get(server.addr(), "/truth?other=1").json();
    assert_eq!(whole["lateness_ms"]["n"], 3);
    assert!(whole.as_object_mut().unwrap().remove("requests").is_some());
    assert_eq!(summary, whole);
    let kept = server.shutdown().unwrap();
    assert_eq!(kept.n, 3);
}
