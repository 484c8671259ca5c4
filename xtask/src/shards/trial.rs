//! What runs of several processes are tried with: a simulated server with a log of its own, a command line, and what became of it.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use super::free_port;
use crate::cargo;

/// The command line, but for the server, the folder and the number of requests: sixty a second, whatever the machine is busy with.
pub(crate) const BENCH: &str = "bench --model m --num-warmups 8 --request-rate 60 --isl 32 --osl 16 --salt 5 --threads 1 \
                                --threshold lateness-invalid=600s,cpu-invalid=1";

/// How many warm-up requests that line sends.
pub(crate) const WARM_UPS: u64 = 8;

/// What a server is asked for its log by.
pub(crate) const LOG: &str = "GET /truth HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n";

/// How many tokens its replies have. What is asked of a server before a run has fewer.
pub(crate) const REPLY_TOKENS: usize = 16;

/// How long anything may take: a cut link is noticed after half a minute.
const LONGEST: Duration = Duration::from_secs(180);

/// How long a server may take to come up.
const COMING_UP: Duration = Duration::from_secs(20);

/// The command line with all that it can: the one that is given, or as the tests of everything build it.
pub(crate) fn given_or_built(given: Option<PathBuf>) -> Result<PathBuf> {
    if let Some(path) = given {
        return Ok(std::path::absolute(path)?);
    }
    let everything = ["--workspace", "--exclude", "fizeau-benches", "--all-features"];
    let built = cargo::build(&[&everything[..], &["--bin", "fizeau"]].concat())?;
    let fizeau = built.into_iter().find(|program| program.name == "fizeau");
    Ok(fizeau.context("cargo built no program named fizeau")?.path)
}

/// A simulated server on the loopback, ended with this.
pub(crate) struct Server {
    _running: Running,
    port: u16,
}

impl Server {
    /// Starts it, and waits until it listens. What it says goes to a file in `home`.
    pub(crate) fn start(fizeau: &Path, home: &Path) -> Result<Self> {
        let port = free_port()?;
        let mut command = Command::new(fizeau);
        command.args(["serve", "--ttft-ms", "20", "--itl-ms", "2", "--port", &port.to_string()]);
        let running = Running::start("server", command, home)?;
        let until = Instant::now() + COMING_UP;
        while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
            ensure!(Instant::now() < until, "the server does not listen: {}", running.said()?);
            thread::sleep(Duration::from_millis(20));
        }
        Ok(Self { _running: running, port })
    }

    /// Where it is.
    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// How many requests of [`BENCH`] it answered by its own log, warm-ups among them.
    pub(crate) fn answered(&self) -> Result<u64> {
        Ok(answered_in(&self.log()?)?.len() as u64)
    }

    /// How late it handed over tokens by its own log, 99th percentile in milliseconds.
    pub(crate) fn lateness_p99_ms(&self) -> Result<f64> {
        let log = body(&self.log()?)?;
        let late = log.pointer("/lateness_ms/p99").and_then(Value::as_f64);
        late.context("the server's log does not say how late it was")
    }

    fn log(&self) -> Result<String> {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port))?;
        stream.set_read_timeout(Some(COMING_UP))?;
        stream.write_all(LOG.as_bytes())?;
        let mut reply = String::new();
        stream.read_to_string(&mut reply)?;
        Ok(reply)
    }
}

fn body(reply: &str) -> Result<Value> {
    let (_, body) = reply.split_once("\r\n\r\n").context("the server's log has no body")?;
    serde_json::from_str(body).context("the server's log")
}

/// The requests of [`BENCH`] in what a server replies that is asked for its log.
pub(crate) fn answered_in(reply: &str) -> Result<Vec<Value>> {
    let log = body(reply)?;
    let requests = log.get("requests").and_then(Value::as_array);
    let requests = requests.context("the server's log has no requests")?;
    let tokens = |one: &Value| one.get("token_ns")?.as_array().map(Vec::len);
    Ok(requests.iter().filter(|one| tokens(one) == Some(REPLY_TOKENS)).cloned().collect())
}

/// A process, ended with this.
pub(crate) struct Running {
    child: Child,
    pub(crate) name: String,
    said: PathBuf,
}

impl Running {
    /// Starts `command`, whose errors go to a file of this name in `home`.
    pub(crate) fn start(name: &str, mut command: Command, home: &Path) -> Result<Self> {
        let said = home.join(format!("{name}.txt"));
        let file = File::create(&said).with_context(|| said.display().to_string())?;
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(file);
        let child = command.spawn().with_context(|| format!("cannot start {name}"))?;
        Ok(Self { child, name: name.to_owned(), said })
    }

    /// Waits for the exit code.
    pub(crate) fn ends(&mut self) -> Result<Option<i32>> {
        let begun = Instant::now();
        while begun.elapsed() < LONGEST {
            if let Some(ended) = self.child.try_wait()? {
                return Ok(ended.code());
            }
            thread::sleep(Duration::from_millis(50));
        }
        bail!("{} did not end within {} s: {}", self.name, LONGEST.as_secs(), self.said()?)
    }

    /// Its number, as the system has it.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Whether it has not ended yet.
    pub(crate) fn is_running(&mut self) -> Result<bool> {
        Ok(self.child.try_wait()?.is_none())
    }

    /// Ends it at once, as nothing but the system may, and waits until it is gone.
    pub(crate) fn kill(&mut self) -> Result<()> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }

    /// What it said on its standard error.
    pub(crate) fn said(&self) -> Result<String> {
        fs::read_to_string(&self.said).with_context(|| self.said.display().to_string())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // What has ended already need not be ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The summary that a run left in `out`.
pub(crate) fn summary(out: &Path) -> Result<Summary> {
    let path = out.join("summary.json");
    let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    Ok(Summary(serde_json::from_str(&text)?))
}

/// Each `n` under `path`, whose value this is.
fn sample_sizes(path: &str, value: &Value, found: &mut BTreeMap<String, Value>) {
    for (name, value) in value.as_object().into_iter().flatten() {
        let path = format!("{path}/{name}");
        match &**name {
            "n" => drop(found.insert(path, value.clone())),
            _ => sample_sizes(&path, value, found),
        }
    }
}

/// `summary.json`, by its fields.
pub(crate) struct Summary(Value);

impl Summary {
    /// The number there; 0 where there is none.
    pub(crate) fn count(&self, pointer: &str) -> u64 {
        self.0.pointer(pointer).and_then(Value::as_u64).unwrap_or(0)
    }

    /// The number there; not a number where there is none.
    pub(crate) fn figure(&self, pointer: &str) -> f64 {
        self.0.pointer(pointer).and_then(Value::as_f64).unwrap_or(f64::NAN)
    }

    /// All that the load sets, and how many requests each figure is of. What a host does to connections and stamps is left out, and where the
    /// steady part lies.
    pub(crate) fn counts(&self) -> BTreeMap<String, Value> {
        let of = |name: &str| self.0.get(name).cloned().unwrap_or_default();
        let whole = ["load", "requested", "requests", "tokens", "warm_up", "status"];
        let mut counts: BTreeMap<String, Value> =
            whole.map(|name| (format!("/{name}"), of(name))).into();
        // Whether a short reply is read at once depends on how busy the host is.
        let requests = counts.get_mut("/requests").and_then(Value::as_object_mut);
        requests.map(|requests| requests.remove("at_once"));
        for name in ["visible_tokens", "reasoning_tokens", "by_channel", "tokens_per_event"] {
            counts.insert(format!("/output/{name}"), of("output")[name].clone());
        }
        for name in ["metrics", "lengths"] {
            sample_sizes(&format!("/{name}"), &of(name), &mut counts);
        }
        // Of events that are read together the gaps are no figures, and a pace neither.
        let of_host = ["connect", "dns", "tcp", "tls", "network", "read_lag", "itl", "tpot"];
        counts.retain(|path, _| !of_host.iter().any(|name| path.contains(&format!("/{name}_ms/"))));
        counts
    }

    /// How many requests were sent, and by how many processes.
    pub(crate) fn sent_by(&self) -> (u64, u64) {
        (self.count("/requests/sent"), self.count("/shards/count"))
    }

    /// How far apart the processes began, in milliseconds, and by how much that may be wrong.
    pub(crate) fn skew(&self) -> String {
        let (skew, uncertainty) = (
            self.figure("/shards/start_skew_ms"),
            self.figure("/shards/start_skew_uncertainty_ms"),
        );
        format!("{skew:.2} ± {uncertainty:.2} ms")
    }
}
