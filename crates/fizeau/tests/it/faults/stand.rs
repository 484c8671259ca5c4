//! A server with faults, and one request to it.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

use fizeau::core::{
    EosRule, Nanos, Prompt, Release, Request, RequestId, Stamp, Tape, Tokens, Transport,
};
use fizeau::sim::FixedTiming;
use fizeau::sim::http::{Faults, Server, ServerConfig, ServerHandle};
use fizeau::transport::{Backend, HttpTransport, KeepText, MonotonicClock, Target, Timeouts};
use serde_json::Value;

/// Tokens asked for.
pub(crate) const TOKENS: u64 = 16;
/// Words of the prompt.
pub(crate) const WORDS: u64 = 5;
/// When the first token leaves; the others come with it.
pub(crate) const TTFT: Nanos = Nanos::from_millis(3);
/// Long enough for a busy machine, where none is meant to be reached.
const PATIENCE: Nanos = Nanos::from_secs(20);

/// No limit is reached by a server that answers at all.
pub(crate) const PATIENT: Timeouts =
    Timeouts { connect: None, first_token: None, idle: None, total: Some(PATIENCE) };

pub(crate) fn serve(faults: &str, ttft: Nanos) -> ServerHandle {
    serve_with(faults.parse().unwrap(), ttft)
}

pub(crate) fn serve_with(faults: Faults, ttft: Nanos) -> ServerHandle {
    let engine = FixedTiming::new(ttft, Nanos::ZERO);
    let config = ServerConfig::new(engine).with_faults(faults);
    Server::bind(([127, 0, 0, 1], 0).into(), config).unwrap().spawn().unwrap()
}

pub(crate) fn target(server: &ServerHandle, backend: Backend, timeouts: Timeouts) -> Target {
    let target = Target::new(&server.base_url(), backend, "m").unwrap();
    target.keep_text(KeepText::Yes).timeouts(timeouts)
}

/// One request on a connection of its own.
pub(crate) async fn ask(target: Target) -> Tape {
    ask_about("a prompt of five words", target).await
}

pub(crate) async fn ask_about(prompt: &str, target: Target) -> Tape {
    let prompt = Prompt::Text(prompt.into());
    let request = Request::new(RequestId(0), prompt, Tokens::new(TOKENS));
    let request = Request { eos: EosRule::Ignore, ..request };
    let transport = HttpTransport::new(target, MonotonicClock::new());
    transport.send(&request, Release::at(Stamp::EPOCH)).await.unwrap()
}

/// What the server knows of its requests. Of one that ended with its connection it may know a moment later.
pub(crate) fn truth(server: SocketAddr) -> Vec<Value> {
    loop {
        let mut stream = TcpStream::connect(server).unwrap();
        write!(stream, "GET /truth HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        let (_, body) = text.split_once("\r\n\r\n").unwrap();
        let truth: Value = serde_json::from_str(body).unwrap();
        let requests = truth["requests"].as_array().unwrap();
        if !requests.is_empty() {
            return requests.clone();
        }
        std::thread::yield_now();
    }
}
