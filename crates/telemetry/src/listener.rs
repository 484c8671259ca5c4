//! A page of metrics of one's own, for a Prometheus to scrape.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use fizeau_core::{Clock, Nanos};

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
    #[error("the system refused a thread to serve metrics with")]
    Thread(#[source] std::io::Error),
}

/// `/metrics` at an address: the text that was set last. One thread answers one connection after the other, each at once or never, for
/// as long as the process lives.
#[derive(Debug)]
pub struct MetricsListener {
    address: SocketAddr,
    text: Text,
}

/// What is answered; none before it was set.
type Text = Arc<Mutex<Option<Arc<str>>>>;

/// Nobody who asks for a page has more to say.
const HEAD: usize = 8 << 10;
/// How long one may take to say it and to read the answer, all together.
const PATIENCE: Nanos = Nanos::from_secs(2);
/// How long nobody is listened to after a connection could not be had, as when the process has too many files open.
const REST: Duration = Duration::from_millis(100);

impl MetricsListener {
    /// Listens on `address`, a host and a port; port 0 for any that is free. By `clock` it knows when who asks has taken too long.
    ///
    /// # Errors
    /// If the address is none, or not free, or the system has no thread to give.
    pub fn start<C>(address: &str, clock: C) -> Result<Self, ListenError>
    where
        C: Clock + Send + 'static,
    {
        let bind = |why: std::io::Error| ListenError::Bind {
            address: address.to_owned(),
            why: why.to_string(),
        };
        let listener = TcpListener::bind(address).map_err(bind)?;
        let own = listener.local_addr().map_err(bind)?;
        let text = Text::default();
        let shared = Arc::clone(&text);
        let thread = std::thread::Builder::new().name("metrics".to_owned());
        let serve = move || {
            for stream in listener.incoming() {
                let Ok(stream) = stream else {
                    std::thread::sleep(REST);
                    continue;
                };
                let text = locked(&shared).clone();
                // Whoever does not read the answer asks again.
                answer(stream, text.as_deref(), &clock).ok();
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

    /// Answers with `text` from now on; before that whoever asks is told to ask again.
    pub fn set(&self, text: &str) {
        *locked(&self.text) = Some(text.into());
    }
}

/// A panic elsewhere leaves a whole text behind.
fn locked(text: &Mutex<Option<Arc<str>>>) -> MutexGuard<'_, Option<Arc<str>>> {
    text.lock().unwrap_or_else(PoisonError::into_inner)
}

fn answer(mut stream: TcpStream, text: Option<&str>, clock: &impl Clock) -> std::io::Result<()> {
    let ends = clock.now() + PATIENCE;
    let left = || {
        let left = Duration::from(ends.saturating_since(clock.now()));
        if left.is_zero() { Err(std::io::ErrorKind::TimedOut) } else { Ok(left) }
    };
    let mut head = Vec::new();
    let mut piece = [0; 1 << 10];
    while !head.windows(4).any(|end| end == b"\r\n\r\n") && head.len() < HEAD {
        stream.set_read_timeout(Some(left()?))?;
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
        (Some(b"GET"), Some(target)) if path(target) => match text {
            Some(text) => ("200 OK", text),
            None => ("503 Service Unavailable", "there are no figures yet\n"),
        },
        (Some(b"GET"), Some(_)) => ("404 Not Found", "the metrics are at /metrics\n"),
        _ => ("405 Method Not Allowed", "GET /metrics\n"),
    };
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n\
         Content-Length: {length}\r\nConnection: close\r\n\r\n"
    );
    let mut rest = [head.as_bytes(), body.as_bytes()].concat();
    while !rest.is_empty() {
        stream.set_write_timeout(Some(left()?))?;
        match stream.write(&rest)? {
            0 => break,
            written => drop(rest.drain(..written)),
        }
    }
    Ok(())
}
