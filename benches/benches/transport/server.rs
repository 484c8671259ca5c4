//! The server as a process, and its own record of what it did.

use std::io::{BufRead, BufReader, Read, Write, copy, sink};
use std::net::TcpStream;
use std::path::Path;
use std::process::Stdio;
use std::thread::{self, ScopedJoinHandle};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use fizeau::core::{Arrival, Channel, Stamp, Tape};
use serde::Deserialize;

use crate::cores::{Core, Priority};
use crate::process::{Running, pinned};
use crate::shape::{Shape, TOKENS};

#[derive(Debug)]
pub(crate) struct Server {
    running: Running,
    /// Host and port.
    address: String,
}

/// What `GET /truth` says, as much of it as is used here.
#[derive(Debug, Deserialize)]
pub(crate) struct Truth {
    requests: Vec<Record>,
    /// How late the server was: handed over, less meant to leave.
    pub(crate) lateness_ms: Option<Lateness>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
pub(crate) struct Lateness {
    pub(crate) p50: f64,
    pub(crate) p99: f64,
    pub(crate) max: f64,
}

#[derive(Debug, Deserialize)]
struct Record {
    arrived_ns: Stamp,
    token_ns: Vec<Stamp>,
}

impl Truth {
    /// The record as tapes, so that its figures are computed as the client's are.
    pub(crate) fn tapes(&self) -> impl Iterator<Item = Tape> {
        self.requests.iter().map(|record| {
            let token = |at: &Stamp| Arrival::tokens(*at, 1, Channel::Visible);
            let arrivals = record.token_ns.iter().map(token).collect();
            Tape { arrivals, ..Tape::sent_at(record.arrived_ns) }
        })
    }
}

impl Server {
    /// With the exact timing of `shape`.
    pub(crate) fn start(
        fizeau: &Path,
        core: Core,
        priority: Priority,
        shape: &Shape,
    ) -> Result<Self> {
        let (ttft, itl) = (shape.ttft_ms.to_string(), shape.itl_ms.to_string());
        Self::with(fizeau, core, priority, &["--ttft-ms", &ttft, "--itl-ms", &itl])
    }

    /// With an engine as `flags` describe it.
    pub(crate) fn with(
        fizeau: &Path,
        core: Core,
        priority: Priority,
        flags: &[&str],
    ) -> Result<Self> {
        let mut command = pinned(core, priority, &fizeau.to_string_lossy());
        command.args(["serve", "--port", "0"]).args(flags);
        let mut running = Running::start(command.stderr(Stdio::inherit()))?;
        let mut lines = BufReader::new(running.stdout()?);
        let address = address(&mut lines)?;
        // It may print more, and must never wait for a reader.
        thread::spawn(move || copy(&mut lines, &mut sink()));
        Ok(Self { running, address })
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Host and port.
    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// User and system time so far.
    pub(crate) fn cpu(&self) -> Result<Duration> {
        self.running.cpu()
    }

    /// Begins a new record.
    pub(crate) fn forget(&self) -> Result<()> {
        self.ask("DELETE", "/truth", b"").map(drop)
    }

    pub(crate) fn truth(&self) -> Result<Truth> {
        let body = self.ask("GET", "/truth", b"")?;
        serde_json::from_slice(&body).context("cannot read the server's record")
    }

    /// Bytes of a reply to `body`, its head included, per token: the mean of a few.
    pub(crate) fn bytes_per_token(&self, body: &[u8]) -> Result<f64> {
        const REPLIES: usize = 16;
        let replies = thread::scope(|scope| {
            let ask = || self.exchange("POST", "/v1/completions", body);
            let asked: Vec<_> = (0..REPLIES).map(|_| scope.spawn(ask)).collect();
            let replies = asked.into_iter().map(ScopedJoinHandle::join);
            replies.filter_map(Result::ok).collect::<Result<Vec<_>>>()
        })?;
        let bytes: usize = replies.iter().map(Vec::len).sum();
        Ok(bytes as f64 / (replies.len() as f64 * TOKENS as f64))
    }

    /// The body of a reply.
    fn ask(&self, method: &str, path: &str, body: &[u8]) -> Result<Vec<u8>> {
        let mut reply = self.exchange(method, path, body)?;
        let end = reply.windows(4).position(|window| window == b"\r\n\r\n");
        let end = end.with_context(|| format!("{method} {path}: a reply without a head"))?;
        let head = String::from_utf8_lossy(&reply[..end]).to_ascii_lowercase();
        if !head.starts_with("http/1.1 2") || head.contains("chunked") {
            bail!("{method} {path} was answered by\n{head}");
        }
        Ok(reply.split_off(end + 4))
    }

    /// All bytes of a reply.
    fn exchange(&self, method: &str, path: &str, body: &[u8]) -> Result<Vec<u8>> {
        let Self { address, .. } = self;
        let mut stream = TcpStream::connect(address).context("the server is not there")?;
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        stream.write_all(&[head.as_bytes(), body].concat())?;
        let mut reply = Vec::new();
        stream.read_to_end(&mut reply)?;
        Ok(reply)
    }
}

/// Host and port, from the line in which the server tells its URL.
fn address(lines: &mut impl BufRead) -> Result<String> {
    let mut line = String::new();
    while lines.read_line(&mut line)? > 0 {
        if let Some((_, address)) = line.split_once("http://") {
            return Ok(address.trim().trim_end_matches('/').to_owned());
        }
        line.clear();
    }
    bail!("the server ended before it told its address");
}
