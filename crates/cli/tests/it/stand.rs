//! The stand: the program, a scratch folder, and servers that behave as told.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Arc;

use fizeau::core::Nanos;
use fizeau::sim::http::{Server, ServerConfig, ServerHandle};
use fizeau::sim::{FixedTiming, Scenario};
use serde_json::Value;

/// The program under test, with a clean environment of its own variables.
pub(crate) fn fizeau(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fizeau"));
    command.args(arguments);
    for name in ["BACKEND", "BASE_URL", "MODEL", "LEVELS", "ENGINE", "API_KEY", "LOG"] {
        command.env_remove(format!("FIZEAU_{name}"));
    }
    command.env_remove("OPENAI_API_KEY");
    let launchers = fizeau::experiment::SHARD_VARIABLES.iter();
    for (name, _) in launchers.chain(fizeau::experiment::MEETING_VARIABLES) {
        command.env_remove(name);
    }
    for name in ["http_proxy", "https_proxy", "all_proxy", "no_proxy"] {
        command.env_remove(name).env_remove(name.to_ascii_uppercase());
    }
    command
}

/// Flags of a run that is to be believed however busy the machine is.
pub(crate) const HOWEVER_BUSY: [&str; 2] = ["--threshold", "lateness-invalid=600s,cpu-invalid=1"];

/// How the program ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl From<Output> for Ended {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

/// Runs the program to its end.
pub(crate) fn run(arguments: &[&str]) -> Ended {
    fizeau(arguments).output().unwrap().into()
}

/// A folder of one test's own, removed when it is over.
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    pub(crate) fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("fizeau-cli-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    pub(crate) fn path(&self, name: &str) -> String {
        self.0.join(name).to_str().unwrap().to_owned()
    }

    pub(crate) fn files(&self) -> Vec<String> {
        let entries = std::fs::read_dir(&self.0).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A JSON file.
pub(crate) fn json(path: impl AsRef<Path>) -> Value {
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// The simulated engine behind HTTP, in this process.
pub(crate) fn simulated() -> ServerHandle {
    serve(ServerConfig::new(Scenario::llama_3_1_8b_h100().unwrap().engine()))
}

/// A server with exact timing, in this process.
pub(crate) fn fixed(ttft: Nanos, itl: Nanos) -> ServerHandle {
    serve(ServerConfig::new(FixedTiming::new(ttft, itl)))
}

pub(crate) fn serve(config: ServerConfig) -> ServerHandle {
    let loopback = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    Server::bind(loopback, config).unwrap().spawn().unwrap()
}

/// A server that knows no GET, and answers the `n`-th POST (from 0) with whatever bytes `reply` gives; none holds the connection open
/// without a word until the client goes. Connections are closed after a reply.
pub(crate) fn scripted(reply: impl Fn(u64) -> Option<String> + Send + Sync + 'static) -> String {
    listening(Gets::Unknown, reply)
}

/// The same for a server that answers GETs as well, and counts them.
pub(crate) fn scripted_gets(
    reply: impl Fn(u64) -> Option<String> + Send + Sync + 'static,
) -> String {
    listening(Gets::Scripted, reply)
}

/// What becomes of a GET.
#[derive(Clone, Copy, PartialEq)]
enum Gets {
    Unknown,
    Scripted,
}

fn listening(gets: Gets, reply: impl Fn(u64) -> Option<String> + Send + Sync + 'static) -> String {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let reply = Arc::new(reply);
    let count = Arc::new(std::sync::atomic::AtomicU64::new(0));
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let (reply, count) = (Arc::clone(&reply), Arc::clone(&count));
            std::thread::spawn(move || answer(stream.unwrap(), gets, &*reply, &count));
        }
    });
    url
}

fn answer(
    stream: TcpStream,
    gets: Gets,
    script: &dyn Fn(u64) -> Option<String>,
    count: &std::sync::atomic::AtomicU64,
) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut length = 0;
    let mut line = String::new();
    let mut is_get = false;
    loop {
        line.clear();
        // A connection that was opened ahead and never used.
        if reader.read_line(&mut line).unwrap_or(0) == 0 {
            return;
        }
        is_get |= line.starts_with("GET ");
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        if line == "\r\n" {
            break;
        }
    }
    reader.read_exact(&mut vec![0; length]).unwrap();
    if is_get && gets == Gets::Unknown {
        let mut stream = stream;
        return drop(stream.write_all(reply("404 Not Found", "text/plain", "").as_bytes()));
    }
    let number = count.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
    let mut stream = stream;
    match script(number) {
        // The client may have gone by now; that is its right.
        Some(bytes) => drop(stream.write_all(bytes.as_bytes())),
        None => drop(reader.read(&mut [0])),
    }
}

/// A whole reply with a body of known length.
pub(crate) fn reply(status: &str, kind: &str, body: &str) -> String {
    format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )
}

/// A good stream of `tokens` tokens.
pub(crate) fn stream_of(tokens: u64) -> String {
    let mut body = String::new();
    for k in 1..=tokens {
        let finish = if k == tokens { "\"length\"" } else { "null" };
        body += &format!(
            "data: {{\"choices\":[{{\"index\":0,\"text\":\" ha\",\"finish_reason\":{finish}}}],\"usage\":{{\
             \"prompt_tokens\":4,\"completion_tokens\":{k},\"total_tokens\":{}}}}}\n\n",
            k + 4
        );
    }
    reply("200 OK", "text/event-stream", &format!("{body}data: [DONE]\n\n"))
}
