//! The engine behind a real HTTP server, in wall time. Feature `http`.
//!
//! [`Server::spawn`] starts one thread, which serves all connections over HTTP/1.1 and lets each token go in a write
//! of its own at its own instant, to some microseconds where it has a core to itself. Each dialect streams as its best
//! known server does. OpenAI's completions and chat are vLLM's: a role chunk first on chat, one event for the tokens
//! that leave together, the finish reason on the last of them, a usage chunk with `choices: []` where it was asked for,
//! then `[DONE]`.
//!
//! | route | what it does |
//! |---|---|
//! | `POST /v1/completions` | one prompt, text or token ids; streamed or whole |
//! | `POST /v1/chat/completions` | the same for a conversation |
//! | `POST /v1/responses` | OpenAI's typed events, numbered; `response.incomplete` at the cap, `response.completed` else |
//! | `POST /v1/messages` | Anthropic's events; errors in its form too |
//! | `POST /v1/messages/count_tokens` | how long such a prompt is |
//! | `POST /generate` | SGLang's own: text or token ids; each event repeats the text so far ([`SglangText`]) |
//! | `POST /tokenize`, `/detokenize` | vLLM's: a text or a conversation to token ids, and back; under `/v1` too |
//! | `GET /v1/models` | the model's name and its longest context |
//! | `GET /health`, `/health_generate` | 200 while the server runs |
//! | `GET /get_model_info` | SGLang's; 404 unless [`ServerConfig::with_sglang`] |
//! | `GET /metrics` | counters, gauges and histograms for Prometheus, under vLLM's names |
//! | `GET /truth` | the server's own record of the requests that it finished |
//! | `GET /truth?summary` | the same without the single requests, which may be many |
//! | `DELETE /truth` | forgets that record |
//!
//! Of vLLM's extras on OpenAI's routes it knows `ignore_eos`, `min_tokens`, `continuous_usage_stats`, prompts that are
//! token ids, `return_token_ids`, `echo`, `logprobs`, `priority` and `cache_salt`. Header `X-Request-Id` names the reply
//! and comes back.
//!
//! What differs from a real server:
//!
//! - There is no tokenizer. A text counts one token a word (split at white space), a conversation the words
//!   of all its messages, earlier replies included, with no template around them. Send token ids where the length
//!   matters.
//! - The model never stops by itself unless it is told when ([`ServerConfig::with_natural_length`]): it generates
//!   `max_tokens` whether or not `ignore_eos` is set. The default is 16 tokens for a completion and 128 elsewhere;
//!   Anthropic's route has none. A reply that the model ends has a last token without text, which counts.
//! - Fields that do not change lengths or the form of the stream (`temperature`, `stop`, `tools`, `response_format`,
//!   `include_reasoning`, ...) are accepted and ignored. Several prompts or several samples (`n`) in one request are
//!   refused. All log-probabilities are the same number.
//! - Responses have an event a token, also of tokens that leave together.
//! - A reply in one piece is put together at once when its last token is there, and nothing else happens meanwhile: one of
//!   many thousand tokens with log-probabilities holds the others' tokens up.
//!
//! With an engine that keeps prefixes ([`Serve::prefix_block`]), what a prompt shares with an earlier one is not read again. The
//! usage says how much that was (`prompt_tokens_details.cached_tokens`), and so does the record (`cached_tokens`). Requests
//! for different models share nothing, nor do those with different `cache_salt`, nor a text and token ids.
//!
//! Tokens that the engine lets go together, as a draft that was accepted is, leave as one event. A [`TimeScale`] makes the
//! engine's time run faster or slower than life: 3 seconds of it take 0.3 at a scale of 10.
//!
//! # Faults
//!
//! With [`Faults`] replies go wrong as told: late, cut, misspelt, with errors in their midst, or not at all. A
//! request can choose its own by the header `x-fizeau-fault`; where there are none, it is told so. `GET /truth` keeps what befell each request (`fault`), and
//! leaves those out of the figures on lateness. With feature `tls` the whole server can stand behind TLS.
//!
//! # The truth
//!
//! `GET /truth` gives, for each of the last requests that ended well or met a fault, when its last byte had been read
//! (`arrived_ns`), when each token was handed to the kernel (`token_ns`) and when the engine meant it to leave
//! (`scheduled_ns`), all in nanoseconds on the server's monotonic clock. `token_ns` is the instant just before the
//! write call that takes the token's last byte. On loopback the kernel delivers within that call, so a token arrives
//! a few microseconds after its stamp and never before. A request that came while its connection was busy with an
//! earlier one arrives when that one is done.
//!
//! Each says besides how much of its prompt was cached (`cached_tokens`), how long it waited for its place in the engine
//! (`queue_ns`), how often it lost that (`preemptions`), which engine gave its last token (`rank`), why it ended (`finish_reason`) and from which
//! address it came (`client`). Before them stand the engine's own
//! figures (`engine`, by the names of [`Gauges`](crate::Gauges)) and `time_scale`; all times are of real time, whatever that is.
//!
//! `ttft_ms`, `itl_ms` and `lateness_ms` (handed over less scheduled) sum the streamed requests up: how well the server
//! kept its own schedule. A client's report can be held against all of this. Ask for it when the load is over: no token
//! leaves while the answer is put together.
//!
//! A batch's step ends for all of its sequences at one instant, and one thread writes to one socket after another, some
//! microseconds each: the last of a thousand is some milliseconds late, by the record as on the wire. Real servers are no
//! different. Streams that begin apart under [`FixedTiming`](crate::FixedTiming) have instants of their own.
//!
//! # Metrics
//!
//! `GET /metrics` has `vllm:num_requests_running`, `_waiting`, `vllm:kv_cache_usage_perc`, prefix cache queries and hits,
//! preemptions, tokens of prompts (by source) and replies, those of each iteration, ended requests by reason, and histograms of
//! times to the first token, between tokens, in the queue, for prompt and reply and in all, with vLLM's edges. Times are of the
//! engine's schedule in real time: what a client sees is that and the server's lateness. `vllm:cache_config_info` says how large
//! the cache is, and an engine that drafts counts drafts and accepted tokens, by position too. What steps asked of each device is
//! there as vLLM has it with `--enable-mfu-metrics`: `vllm:estimated_flops_per_gpu_total` and its like.
//!
//! Replicas, groups of attention, and engines that only read or only decode have a series each, by the label `engine`: 0, 1 and so
//! on. A request that nobody has taken yet waits in the first of those that may, and one that is given up before its first token
//! counts as the first engine's.
//!
//! ```no_run
//! use fizeau_core::Nanos;
//! use fizeau_sim::FixedTiming;
//! use fizeau_sim::http::{Server, ServerConfig};
//!
//! let engine = FixedTiming::new(Nanos::from_millis(20), Nanos::from_millis(5));
//! let address = ([127, 0, 0, 1], 0).into();
//! let server = Server::bind(address, ServerConfig::new(engine))?.spawn()?;
//! println!("curl {}/v1/models", server.base_url());
//! server.shutdown();
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod alarm;
mod app;
mod conn;
mod dialect;
mod fault;
mod frames;
mod length;
mod metrics;
mod parsed_request;
mod prompt;
mod reactor;
mod request;
mod response;
mod routes;
mod slots;
mod stream;
mod time_scale;
#[cfg(feature = "tls")]
mod tls;
mod truth;
mod wire;

use std::io;
use std::net::SocketAddr;
use std::thread::JoinHandle;

use fizeau_core::Tokens;
use mio::net::TcpListener;

pub use dialect::SglangText;
pub use fault::{FaultKind, Faults, ParseFaultsError};
pub use length::{NaturalLength, NaturalLengthError};
pub use time_scale::{TimeScale, TimeScaleError};
#[cfg(feature = "tls")]
pub use tls::{Tls, TlsError};
pub use truth::TimeSummary;

use crate::pass::EnginePass;
use crate::serve::Serve;
use app::{App, WallClock};
use fault::FaultAssigner;
use metrics::Metrics;
use reactor::{Reactor, Stop};
use truth::Truth;
use wire::SocketWires;

/// The largest request taken, unless said otherwise: 16 MiB, some two million token ids.
const DEFAULT_BODY_LIMIT: usize = 16 << 20;
/// How many connections may wait to be accepted; the usual 128 are few for a client that opens a thousand at once.
#[cfg(target_os = "linux")]
const BACKLOG: i32 = 4_096;
/// Requests remembered for `/truth`, unless said otherwise.
const DEFAULT_TRUTH_LIMIT: usize = 10_000;

/// Who hears of each step.
type PassSink = Box<dyn FnMut(EnginePass) + Send>;

/// The model that a [`Server`] serves, and its limits.
pub struct ServerConfig {
    engine: Box<dyn Serve + Send>,
    passes: Option<PassSink>,
    model: Option<String>,
    body_limit: usize,
    truth_limit: usize,
    max_model_len: Option<Tokens>,
    scale: TimeScale,
    faults: Option<Faults>,
    wires: SocketWires,
    natural_length: Option<NaturalLength>,
    sglang: Option<SglangText>,
    refuses_ids: bool,
}

impl ServerConfig {
    /// Serves `engine` under whatever model name a client asks for.
    #[must_use]
    pub fn new(engine: impl Serve + Send + 'static) -> Self {
        Self {
            engine: Box::new(engine),
            passes: None,
            model: None,
            body_limit: DEFAULT_BODY_LIMIT,
            truth_limit: DEFAULT_TRUTH_LIMIT,
            max_model_len: None,
            scale: TimeScale::default(),
            faults: None,
            wires: SocketWires::default(),
            natural_length: None,
            sglang: None,
            refuses_ids: false,
        }
    }

    /// The same under the name `model` alone; requests for any other get status 404.
    #[must_use]
    pub fn with_model(self, model: impl Into<String>) -> Self {
        Self { model: Some(model.into()), ..self }
    }

    /// The same with at most `tokens` for prompt and output of one request together, if the engine does not take less
    /// anyway; longer ones get status 400, in vLLM's words. `GET /v1/models` says which it is.
    #[must_use]
    pub fn with_max_model_len(self, tokens: Tokens) -> Self {
        Self { max_model_len: Some(tokens), ..self }
    }

    /// The same with the engine's time running faster or slower than life. Stamps and reported times stay those of real time.
    #[must_use]
    pub fn with_time_scale(self, scale: TimeScale) -> Self {
        Self { scale, ..self }
    }

    /// The same telling `sink` each step of the engine as it ends, in real time: to be published as an engine's forward-pass records.
    /// The thread that serves calls it, which it must not hold up.
    #[must_use]
    pub fn with_passes(self, sink: impl FnMut(EnginePass) + Send + 'static) -> Self {
        Self { passes: Some(Box::new(sink)), ..self }
    }

    /// The same with replies that go wrong as told.
    #[must_use]
    pub fn with_faults(self, faults: Faults) -> Self {
        Self { faults: Some(faults), ..self }
    }

    /// The same behind TLS: clients reach it by `https://`.
    #[cfg(feature = "tls")]
    #[must_use]
    pub fn with_tls(self, tls: Tls) -> Self {
        Self { wires: SocketWires { tls: Some(tls) }, ..self }
    }

    /// The same with a model that ends its replies by itself where a request lets it; by default it never does.
    #[must_use]
    pub fn with_natural_length(self, length: NaturalLength) -> Self {
        Self { natural_length: Some(length), ..self }
    }

    /// The same as a server that passes for SGLang: it says so at `GET /v1/models` and `GET /get_model_info`, and its
    /// `/generate` shows `text`.
    #[must_use]
    pub fn with_sglang(self, text: SglangText) -> Self {
        Self { sglang: Some(text), ..self }
    }

    /// The same as a server whose `/v1/completions` takes text alone, as that of mlx-lm and of many gateways.
    #[must_use]
    pub fn with_text_prompts(self) -> Self {
        Self { refuses_ids: true, ..self }
    }

    /// The same with requests of at most `bytes` bytes (default 16 MiB); larger ones get status 413.
    #[must_use]
    pub fn with_body_limit(self, bytes: usize) -> Self {
        Self { body_limit: bytes, ..self }
    }

    /// The same with the last `requests` requests remembered for `/truth` (default 10,000).
    #[must_use]
    pub fn with_truth_limit(self, requests: usize) -> Self {
        Self { truth_limit: requests, ..self }
    }
}

fizeau_core::debug_in_part!(ServerConfig {
    model,
    body_limit,
    truth_limit,
    max_model_len,
    scale,
    faults,
    natural_length,
    sglang,
});

/// A server that has its address and does not serve yet.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    config: ServerConfig,
}

/// An address could not be listened on.
#[derive(Debug, thiserror::Error)]
#[error(
    "cannot listen on {address}: {source}; choose a free address of this machine, or port 0 for any free port"
)]
#[non_exhaustive]
pub struct BindError {
    /// The address asked for.
    pub address: SocketAddr,
    /// What the system said.
    pub source: io::Error,
}

/// The server's thread could not be started.
#[derive(Debug, thiserror::Error)]
#[error("cannot start the thread of the simulated server")]
pub struct SpawnError(#[from] io::Error);

impl Server {
    /// Listens on `address`; port 0 takes any free port. Connections wait until [`Server::spawn`].
    ///
    /// # Errors
    /// If the address is taken or is not one of this machine's.
    pub fn bind(address: SocketAddr, config: ServerConfig) -> Result<Self, BindError> {
        let listen = || {
            let listener = TcpListener::bind(address)?;
            #[cfg(target_os = "linux")]
            rustix::net::listen(&listener, BACKLOG)?;
            let address = listener.local_addr()?;
            Ok((listener, address))
        };
        match listen() {
            Ok((listener, address)) => Ok(Self { listener, address, config }),
            Err(source) => Err(BindError { address, source }),
        }
    }

    /// The address that it listens on, with the port that was found for port 0.
    #[must_use]
    pub const fn local_addr(&self) -> SocketAddr {
        self.address
    }

    /// Serves on a thread of its own until the handle is dropped or shut down.
    ///
    /// # Errors
    /// If the system gives no thread or no event queue.
    pub fn spawn(self) -> Result<ServerHandle, SpawnError> {
        let ServerConfig { mut engine, passes, model, body_limit, .. } = self.config;
        engine.record_passes();
        let scheme = self.config.wires.scheme();
        let clock = WallClock::start();
        let longest_job = engine.longest_job().into_iter().chain(self.config.max_model_len).min();
        let app = App {
            clock,
            longest_job,
            model,
            scale: self.config.scale,
            truth: Truth::new(clock.started_rfc3339(), self.config.truth_limit),
            faults: FaultAssigner::new(self.config.faults),
            wires: self.config.wires,
            gauges: engine.gauges(),
            metrics: Metrics::new(engine.gauges_by_rank().len(), longest_job),
            ranks: engine.gauges_by_rank(),
            prefix_block: engine.prefix_block(),
            natural: self.config.natural_length,
            sglang: self.config.sglang,
            refuses_ids: self.config.refuses_ids,
            numbered: 0,
        };
        let (reactor, stop) = Reactor::new(self.listener, (engine, passes), app, body_limit)?;
        let thread = std::thread::Builder::new().name("fizeau-sim".to_owned());
        let thread = thread.spawn(move || reactor.run())?;
        Ok(ServerHandle { address: self.address, scheme, stop, thread: Some(thread) })
    }
}

/// A server that is serving. Dropping it stops the server.
#[derive(Debug)]
pub struct ServerHandle {
    address: SocketAddr,
    scheme: &'static str,
    stop: Stop,
    thread: Option<JoinHandle<Option<TimeSummary>>>,
}

impl ServerHandle {
    /// The address that it serves on.
    #[must_use]
    pub const fn addr(&self) -> SocketAddr {
        self.address
    }

    /// The same as a URL, `http://127.0.0.1:8000` say.
    #[must_use]
    pub fn base_url(&self) -> String {
        format!("{}://{}", self.scheme, self.address)
    }

    /// Breaks off every connection, ends the thread and waits for it. How late streamed tokens were handed to the
    /// kernel, of the requests remembered; none if there were none.
    pub fn shutdown(mut self) -> Option<TimeSummary> {
        self.end()
    }

    fn end(&mut self) -> Option<TimeSummary> {
        let thread = self.thread.take()?;
        self.stop.stop();
        thread.join().unwrap_or_else(|_| {
            tracing::error!("the thread of the simulated server panicked");
            None
        })
    }
}

impl Drop for ServerHandle {
    fn drop(&mut self) {
        self.end();
    }
}
