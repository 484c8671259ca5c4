//! One LLM request over the wire to a [`Tape`](fizeau_core::Tape): every arrival, stamped by the kernel as it
//! received it (Linux), or else as the read call returned.
//!
//! The parts, from the wire up: [`HttpTransport`] makes and reuses connections and stamps what passes through
//! their sockets; [`sse`] and [`ndjson`] cut bytes into events; a [`Dialect`] says what an event means, once for
//! all that are alike; [`ReplyReader`] keeps account of tokens and decides how the reply ended. All but the first are pure and work on
//! bytes from anywhere.
//!
//! A recorded stream, read as if it came from a socket in two reads:
//!
//! ```
//! use fizeau_core::{Finish, Nanos, Outcome, Stamp};
//! use fizeau_transport::{BodyEnd, KeepText, ReadMark, ReplyReader, Route};
//!
//! let stream = "data: {\"choices\": [{\"text\": \"Once\", \"index\": 0, \"finish_reason\": null}]}\n\n\
//!     data: {\"choices\": [{\"text\": \" upon\", \"index\": 0, \"finish_reason\": \"length\"}]}\n\n\
//!     data: [DONE]\n\n";
//! let (first, rest) = stream.as_bytes().split_at(100);
//! let at = |ms| Stamp::EPOCH + Nanos::from_millis(ms);
//!
//! let mut reader = ReplyReader::new(Route::Completions.dialect(), KeepText::Yes);
//! reader.feed(first, ReadMark::user(at(20), 0));
//! reader.feed(rest, ReadMark::user(at(30), 1));
//! let reply = reader.finish(BodyEnd::Whole);
//!
//! assert_eq!(reply.outcome, Outcome::Complete(Finish::Length));
//! assert_eq!(reply.text.as_deref(), Some("Once upon"));
//! assert_eq!(reply.arrivals.iter().map(|arrival| arrival.at).collect::<Vec<_>>(), [at(20), at(30)]);
//! ```
//!
//! **Use this crate** to measure an endpoint in a harness of your own, or to read a recorded stream as Fizeau
//! would. **Use `fizeau-harness`** to have load driven for you, and another client to *talk* to a model: this
//! one keeps stamps and throws text away.
//!
//! # Invariants
//!
//! - A stamp is the kernel's receive stamp where it gives one, else taken as the socket's read returns, before
//!   anything looks at the bytes; how late the read was is kept beside it. All events that a read completed share
//!   its stamp and its number.
//! - Success is strict: status 200, a stream of events, no error at any time, at least one token, the
//!   protocol's own end; or one body with an embedding. Everything else is a failure with a class.
//! - Tokens are counted from the reply, by the best evidence that covers it, never from what was asked.
//! - Nothing is retried but a reused connection that was dead before a byte of the reply, once, and the tape
//!   says so.
//! - No byte from a server can panic or grow memory without bound; no secret reaches a tape, a log or an error.
//! - One thread: no lock that anybody waits for, and no tasks of its own but one for each HTTP/2 connection.
//!
#![doc = include_str!("../place.md")]

mod backend;
mod clock;
mod cumulative;
mod dialect;
mod event;
mod event_template;
mod framing;
mod http;
mod lenient_json;
pub mod ndjson;
#[cfg(target_os = "linux")]
mod prefetch;
mod probe;
mod profiler;
mod push;
mod reply;
mod reset_cache;
mod route;
mod secret;
pub mod sse;
mod target;
mod tokens;

pub use backend::{Backend, BackendError, LengthForcing};
pub use clock::{MonotonicClock, wall_clock_error};
pub use dialect::{
    BodyInput, CumulativeEvents, Dialect, EndRule, EventError, ExtraBody, ExtraBodyError,
    RequestError, WireEvent,
};
pub use event::{DEFAULT_EVENT_LIMIT, RawEvent, ReadMark};
pub use framing::Framing;
#[doc(hidden)]
pub use http::read_http1;
pub use http::{HttpTransport, PreconnectError};
pub use probe::{
    BackendCandidate, CandidateReason, EventDelivery, Findings, ForcedLength, Identity,
    ModelNameError, ProbeError, ProbedEndpoint, RejectedBackend, ServerKind, ServerTimed,
    candidates, context_limit, listed_model, probe,
};
pub use profiler::{ProfilerError, ProfilerOrder, order_profiler};
pub use push::{PushError, PushProtocol, PushTarget};
pub use reply::{BodyEnd, FeedProgress, KeepText, Reply, ReplyReader};
pub use reset_cache::{ResetCacheError, reset_cache};
pub use route::{PromptKind, Route};
pub use secret::Secret;
pub use target::{
    ConnectionUse, HttpVersion, LoadBalancing, Proxy, ProxyError, StampChoice, Target, TargetError,
    Timeouts,
};
#[cfg(feature = "tls")]
pub use target::{Trust, TrustError};

/// Compiles the example of the README with the tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
