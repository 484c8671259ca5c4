//! A simulated server of the soak, and what its own log says.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use crate::process;
use crate::shards::free_port;
use crate::shards::trial::Running;

/// How long a server may take to come up.
const COMING_UP: Duration = Duration::from_secs(20);

/// How many tokens the request asks for that is sent before a sweep, to see whether there is a server at all.
const CHECK_TOKENS: usize = 4;

/// How the server is spoken to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scheme {
    Http,
    Https,
    /// Through a front: the server itself speaks HTTP/1.1.
    Http2,
}

impl Scheme {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Https => "https",
            Self::Http2 => "http2",
        }
    }

    /// What the server's own address begins with.
    const fn protocol(self) -> &'static str {
        match self {
            Self::Http | Self::Http2 => "http",
            Self::Https => "https",
        }
    }
}

/// A server, ended with this.
pub(super) struct Server {
    running: Running,
    scheme: Scheme,
    port: u16,
    certificate: PathBuf,
    log: Log,
}

/// What a server's log said until now.
#[derive(Debug, Default)]
pub(super) struct Log {
    /// By the names of the requests that ended, what befell them; nothing is the empty text.
    pub(super) faults: HashMap<String, String>,
    /// The names of the checks of the server before a run.
    pub(super) checks: HashSet<String>,
    /// How many records there ever were, by the server's own count.
    pub(super) recorded: u64,
    /// How many requests their clients gave up.
    pub(super) cancelled: u64,
    /// Whether it lets earlier records go for later ones.
    pub(super) is_full: bool,
}

impl Server {
    /// Starts it, and waits until it answers. What it says goes to a file in `home`.
    pub(super) fn start(fizeau: &Path, home: &Path, scheme: Scheme, more: &[&str]) -> Result<Self> {
        let (port, certificate) = (free_port()?, home.join("server.pem"));
        let mut command = Command::new(fizeau);
        command.args(["serve", "--ttft-ms", "20", "--itl-ms", "2", "--port", &port.to_string()]);
        if scheme == Scheme::Https {
            // A client that starts later shall not trust the certificate of an earlier server.
            let _ = fs::remove_file(&certificate);
            command.arg("--tls-self-signed").arg(&certificate);
        }
        let name = format!("server-{}", scheme.name());
        let running = Running::start(
            &name,
            {
                command.args(more);
                command
            },
            home,
        )?;
        let server = Self { running, scheme, port, certificate, log: Log::default() };
        let until = Instant::now() + COMING_UP;
        while server.get("/health").is_err() {
            ensure!(
                Instant::now() < until,
                "{name} does not answer `curl`, which this takes: {}",
                server.running.said()?
            );
            thread::sleep(Duration::from_millis(50));
        }
        Ok(server)
    }

    pub(super) fn id(&self) -> u32 {
        self.running.id()
    }

    pub(super) fn url(&self) -> String {
        format!("{}://localhost:{}", self.scheme.protocol(), self.port)
    }

    pub(super) const fn port(&self) -> u16 {
        self.port
    }

    /// What a client must be told to trust it.
    pub(super) fn trusted(&self) -> Vec<PathBuf> {
        match self.scheme {
            Scheme::Http | Scheme::Http2 => Vec::new(),
            Scheme::Https => vec!["--ca-cert".into(), self.certificate.clone()],
        }
    }

    pub(super) const fn log(&self) -> &Log {
        &self.log
    }

    /// Adds what is new in its log.
    pub(super) fn read_log(&mut self) -> Result<()> {
        let text = self.get("/truth")?;
        self.log.add(serde_json::from_str(&text).context("the server's log")?);
        Ok(())
    }

    fn get(&self, path: &str) -> Result<String> {
        let mut curl = Command::new("curl");
        curl.args(["--silent", "--fail", "--max-time", "20"]);
        if self.scheme == Scheme::Https {
            curl.arg("--cacert").arg(&self.certificate);
        }
        let said = process::output_of(curl.arg(format!("{}{path}", self.url())));
        said.with_context(|| format!("{} did not answer {path}", self.running.name))
    }
}

/// The part of the server's log that is counted.
#[derive(Debug, Deserialize)]
struct Truth {
    cancelled: u64,
    forgotten: u64,
    requests: Vec<Record>,
}

#[derive(Debug, Deserialize)]
struct Record {
    id: String,
    fault: Option<String>,
    token_ns: Vec<u64>,
    finish_reason: Option<String>,
}

impl Log {
    fn add(&mut self, truth: Truth) {
        self.cancelled = truth.cancelled;
        self.is_full = truth.forgotten > 0;
        self.recorded = truth.forgotten + truth.requests.len() as u64;
        for Record { id, fault, token_ns, finish_reason } in truth.requests {
            // What a client or a front calls a request stands behind a prefix of the server's own.
            let name = id.split_once('-').map_or(&*id, |(_, name)| name).to_owned();
            let is_whole = finish_reason.as_deref() == Some("length");
            if is_whole && token_ns.len() == CHECK_TOKENS {
                self.checks.insert(name);
            } else {
                self.faults.insert(name, fault.unwrap_or_default());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_that_is_read_twice_counts_once() {
        let read = |log: &mut Log| {
            let one =
                r#"{"id": "cmpl-a", "fault": "eof", "token_ns": [1], "finish_reason": "abort"}"#;
            let check = r#"{"id": "b", "token_ns": [1, 2, 3, 4], "finish_reason": "length"}"#;
            let text =
                format!(r#"{{"cancelled": 1, "forgotten": 3, "requests": [{one}, {check}]}}"#);
            log.add(serde_json::from_str(&text).unwrap());
        };
        let mut log = Log::default();
        read(&mut log);
        read(&mut log);
        assert_eq!((log.recorded, log.cancelled, log.is_full), (5, 1, true));
        assert_eq!(log.checks, HashSet::from(["b".to_owned()]));
        assert_eq!(log.faults, HashMap::from([("a".to_owned(), "eof".to_owned())]));
    }
}
