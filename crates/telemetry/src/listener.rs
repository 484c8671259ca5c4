//! A page of metrics of one's own, for a Prometheus to scrape.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Why nobody can be served.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ListenError {
    /// The address cannot be had.
    #[error(
        "{address} cannot be listened on: {why}; give a host and a port that are free here, such as 127.0.0.1:9109"
    )]
    Bind {
        /// What was asked for.
        address: String,
        /// Why not.
        why: String,
    },
    /// The system has no thread to give.
    #[error("no thread to serve metrics with: the system refused one")]
    Thread(#[source] std::io::Error),
}

/// `/metrics` at an address: the text that was set last. One thread answers one connection after the other, each at once or never, for
/// as long as the process lives.
#[derive(Debug)]
pub struct MetricsListener {
    address: SocketAddr,
    text: Arc<Mutex<Arc<str>>>,
}

/// Nobody who asks for a page has more to say.
const HEAD: usize = 8 << 10;
/// How long one may take to say it, and to read the answer.
const PATIENCE: Duration = Duration::from_secs(1);

impl MetricsListener {
    /// Listens on `address`, a host and a port; port 0 for any that is free.
    ///
    /// # Errors
    /// If the address is none, or not free, or the system has no thread to give.
    pub fn start(address: &str) -> Result<Self, ListenError> {
        let bind = |why: std::io::Error| ListenError::Bind {
            address: address.to_owned(),
            why: why.to_string(),
        };
        let listener = TcpListener::bind(address).map_err(bind)?;
        let own = listener.local_addr().map_err(bind)?;
        let text: Arc<Mutex<Arc<str>>> = Arc::new(Mutex::new("".into()));
        let shared = Arc::clone(&text);
        let thread = std::thread::Builder::new().name("metrics".to_owned());
        let serve = move || {
            for stream in listener.incoming().flatten() {
                let text = Arc::clone(&locked(&shared));
                // Whoever does not read the answer asks again.
                answer(stream, &text).ok();
            }
        };
        thread.spawn(serve).map_err(ListenError::Thread)?;
        Ok(Self { address: own, text })
    }

    /// Where it listens.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers with `text` from now on.
    pub fn set(&self, text: &str) {
        *locked(&self.text) = text.into();
    }
}

/// A panic elsewhere leaves a whole text behind.
fn locked(text: &Mutex<Arc<str>>) -> MutexGuard<'_, Arc<str>> {
    text.lock().unwrap_or_else(PoisonError::into_inner)
}

fn answer(mut stream: TcpStream, text: &str) -> std::io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let mut head = Vec::new();
    let mut piece = [0; 1 << 10];
    while !head.windows(4).any(|end| end == b"\r\n\r\n") && head.len() < HEAD {
        match stream.read(&mut piece)? {
            0 => return Ok(()),
            length => head.extend_from_slice(piece.get(..length).unwrap_or_default()),
        }
    }
    let line = head.split(|byte| *byte == b'\r').next().unwrap_or_default();
    let mut words = line.split(|byte| *byte == b' ');
    let path =
        |target: &[u8]| target.split(|byte| *byte == b'?').next() == Some(b"/metrics".as_slice());
    let (status, body) = match (words.next(), words.next()) {
        (Some(b"GET"), Some(target)) if path(target) => ("200 OK", text),
        (Some(b"GET"), Some(_)) => ("404 Not Found", "the metrics are at /metrics\n"),
        _ => ("405 Method Not Allowed", "GET /metrics\n"),
    };
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n\
         Content-Length: {length}\r\nConnection: close\r\n\r\n"
    );
    stream.write_all(head.as_bytes())?;
    stream.write_all(body.as_bytes())
}
