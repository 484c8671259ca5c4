//! A client of a few lines, so that the bytes are seen as they are.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::Value;

/// A whole reply.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
    /// The chunks of the transfer coding, where it was chunked.
    pub(crate) chunks: Vec<String>,
}

impl Reply {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }

    /// The payloads of the event stream, each of which must be one `data:` line and an empty one.
    pub(crate) fn events(&self) -> Vec<String> {
        assert_eq!(self.status, 200, "{}", self.body);
        assert!(self.head.contains("content-type: text/event-stream"), "{}", self.head);
        let whole = self.body.strip_suffix("\n\n").expect("ends with an empty line");
        let payload = |event: &str| {
            let data = event.strip_prefix("data: ").expect("only data lines");
            assert!(!data.contains('\n'), "{data}");
            data.to_owned()
        };
        whole.split("\n\n").map(payload).collect()
    }

    /// The JSON objects of the stream, which must end with `[DONE]`.
    pub(crate) fn objects(&self) -> Vec<Value> {
        let events = self.events();
        let (last, objects) = events.split_last().unwrap();
        assert_eq!(last, "[DONE]");
        objects.iter().map(|object| serde_json::from_str(object).unwrap()).collect()
    }
}

pub(crate) fn post(to: SocketAddr, path: &str, body: &str) -> Reply {
    exchange(to, "POST", path, body)
}

pub(crate) fn get(to: SocketAddr, path: &str) -> Reply {
    exchange(to, "GET", path, "")
}

pub(crate) fn exchange(to: SocketAddr, method: &str, path: &str, body: &str) -> Reply {
    take(send(to, method, path, body))
}

/// All of a reply.
pub(crate) fn take(mut stream: TcpStream) -> Reply {
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).unwrap();
    let text = String::from_utf8(bytes).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").expect("a head");
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    let chunks = match head.contains("transfer-encoding: chunked") {
        true => dechunk(body),
        false => Vec::new(),
    };
    Reply {
        status,
        head: head.to_owned(),
        body: match chunks.is_empty() {
            true => body.to_owned(),
            false => chunks.concat(),
        },
        chunks,
    }
}

/// A stream as it came, but for the second in which it was made: that is 1.
pub(crate) fn stream_of(to: SocketAddr, path: &str, body: &Value) -> String {
    let reply = post(to, path, &body.to_string());
    assert_eq!(reply.status, 200, "{}", reply.body);
    assert!(reply.head.contains("content-type: text/event-stream"), "{}", reply.head);
    let mut text = reply.body;
    for field in [r#""created":"#, r#""created_at":"#] {
        let parts: Vec<_> = text.split(field).collect();
        let rest = |part: &str| part.trim_start_matches(|c: char| c.is_ascii_digit()).to_owned();
        let (first, others) = parts.split_first().unwrap();
        let others: String = others.iter().map(|part| format!("{field}1{}", rest(part))).collect();
        text = format!("{first}{others}");
    }
    text
}

/// Sends a request and leaves the reply on the connection.
pub(crate) fn send(to: SocketAddr, method: &str, path: &str, body: &str) -> TcpStream {
    send_with(to, method, path, "", body)
}

/// The same with header lines of its own, each with its end.
pub(crate) fn send_with(
    to: SocketAddr,
    method: &str,
    path: &str,
    extra: &str,
    body: &str,
) -> TcpStream {
    let mut stream = TcpStream::connect(to).unwrap();
    // Only so that a fault ends the test rather than hangs it.
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let request = format!(
        "{method} {path} HTTP/1.1\r\nHost: test\r\nConnection: close\r\nContent-Type: application/json\r\n\
         {extra}Content-Length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).unwrap();
    stream
}

fn dechunk(mut rest: &str) -> Vec<String> {
    let mut chunks = Vec::new();
    loop {
        let (size, after) = rest.split_once("\r\n").expect("a chunk size");
        let size = usize::from_str_radix(size, 16).unwrap();
        if size == 0 {
            return chunks;
        }
        let (chunk, after) = after.split_at(size);
        chunks.push(chunk.to_owned());
        rest = after.strip_prefix("\r\n").expect("the end of a chunk");
    }
}
