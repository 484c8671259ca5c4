//! A server on loopback that follows a script, one list of steps a connection.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::thread;

/// What the server does next on a connection. At the end of its steps the connection is closed.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    /// Waits until the client goes away.
    Hold,
    /// Reads one request.
    Request,
    /// Writes these bytes at once.
    Send(Vec<u8>),
}

pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    requests: Arc<Mutex<Vec<String>>>,
    closed: Arc<AtomicUsize>,
}

impl Server {
    /// Serves as many connections as there are scripts, in order; any further one is refused.
    pub(crate) fn run(scripts: Vec<Vec<Step>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (seen, closed) = (Arc::clone(&requests), Arc::new(AtomicUsize::new(0)));
        let ended = Arc::clone(&closed);
        thread::spawn(move || {
            for script in scripts {
                let (stream, _) = listener.accept().unwrap();
                let (seen, ended) = (Arc::clone(&seen), Arc::clone(&ended));
                thread::spawn(move || {
                    follow(&script, &stream, &seen);
                    drop(stream);
                    ended.fetch_add(1, SeqCst);
                });
            }
        });
        Self { address, requests, closed }
    }

    /// The requests read so far, head and body.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }

    /// Waits until so many connections are closed from this side. Whatever is sent on them after that comes too late.
    pub(crate) fn has_closed(&self, count: usize) {
        while self.closed.load(SeqCst) < count {
            thread::yield_now();
        }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }
}

/// Runs `script`; a client that is gone ends it.
pub(crate) fn follow(script: &[Step], stream: &TcpStream, seen: &Mutex<Vec<String>>) {
    stream.set_nodelay(true).unwrap();
    let mut input = BufReader::new(stream);
    for step in script {
        match step {
            Step::Hold => {
                let _ = input.read_to_end(&mut Vec::new());
            }
            Step::Request => match read_request(&mut input) {
                Some(request) => seen.lock().unwrap().push(request),
                None => return,
            },
            Step::Send(bytes) => {
                let mut output = stream;
                if output.write_all(bytes).is_err() {
                    return;
                }
            }
        }
    }
}

fn read_request(input: &mut impl BufRead) -> Option<String> {
    let mut request = String::new();
    let mut length = 0;
    loop {
        let mut line = String::new();
        if input.read_line(&mut line).ok()? == 0 {
            return None;
        }
        request.push_str(&line);
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        if line == "\r\n" {
            break;
        }
    }
    let mut body = vec![0; length];
    input.read_exact(&mut body).ok()?;
    Some(request + &String::from_utf8(body).unwrap())
}

/// The head of a chunked stream of events.
pub(crate) const STREAM: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nTransfer-Encoding: chunked\r\n\r\n";

/// The chunk that ends a chunked body.
pub(crate) const LAST: &str = "0\r\n\r\n";

pub(crate) fn send(bytes: impl AsRef<[u8]>) -> Step {
    Step::Send(bytes.as_ref().to_vec())
}

/// One HTTP chunk.
pub(crate) fn chunk(data: impl AsRef<[u8]>) -> Vec<u8> {
    let data = data.as_ref();
    [format!("{:x}\r\n", data.len()).as_bytes(), data, b"\r\n"].concat()
}

/// A whole streamed reply to one request, in one chunk.
pub(crate) fn stream(body: &str) -> Vec<Step> {
    let reply = [STREAM.as_bytes(), &chunk(body), LAST.as_bytes()].concat();
    vec![Step::Request, Step::Send(reply)]
}

/// A whole reply with a length to one request.
pub(crate) fn plain(status: &str, headers: &str, body: &str) -> Vec<Step> {
    let length = body.len();
    let reply = format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\n{headers}\r\n{body}");
    vec![Step::Request, send(reply)]
}
