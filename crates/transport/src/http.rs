//! Requests over HTTP on connections of our own.

mod answer;
mod call;
mod connect;
mod endpoint;
mod h1;
mod h2;
mod ingest;
mod io;
mod kernel;
mod log;
mod look;
mod reading;
mod remainder;
mod resend;
mod socket;
#[cfg(feature = "tls")]
mod tls;
mod watchdog;
mod wire;

#[doc(hidden)]
pub use h1::read_http1;
pub(crate) use kernel::wall_clock_error;

use std::cell::RefCell;
use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use fizeau_core::{
    CallOff, Clock, Failure, FailureClass, Nanos, Release, Request, RequestMarks, RequestedTokens,
    Tape, Transport,
};
use futures_util::{StreamExt, stream};
use tokio::task::coop;

use crate::dialect::RequestError;
use crate::target::{ConnectionUse, StampChoice, Target, UrlAuthority};
use call::HttpCall;
use endpoint::{ConnectionChoice, Endpoint, Payload};
use ingest::IngestLoop;
use resend::KeepAliveRace;
use wire::DrivenConnection;

pub(crate) use look::NoReply;

/// **Not [`Send`]: it stays on the thread that made it, and so does each future that awaits it.** Carries out requests over
/// HTTP, each to a [`Tape`]; how its endpoints are reached is the target's to say. In a runtime that moves its tasks between
/// threads use `fizeau_harness::WorkerPool`, which makes one on each of its threads, or `fizeau_harness::on_own_thread`.
///
/// Connections are kept and reused, the one used last first, without a limit on their number: a limit would
/// be a hidden queue. A request is sent again, once and on a fresh connection, only where the server cannot have taken it: it
/// had closed the idle connection before the request came to it (the kernel tells by what was acknowledged), it says so (HTTP/2), or
/// the break looks like its keep-alive timer, that is, it came after a second or more of rest and within two round trips; or like that of a
/// server that closes its connections after their replies: one is not known to keep them, had answered on this one, and closed it
/// within a second.
/// Latencies then count from the first try, and the tape says so
/// ([`Connection::ReplacedStale`](fizeau_core::Connection::ReplacedStale)). Whatever else breaks is a failure.
///
/// Arrivals carry the kernel's own receive stamps where there are any (Linux; see [`StampChoice`]), so that they are
/// true even where this process comes late to read them. A tape says [`StampSource::Kernel`] only if the kernel
/// stamped every read of its reply; one on which some are our own says [`StampSource::User`] and keeps the others
/// as they are.
///
/// Needs a tokio runtime with I/O and time. Requests are exempt from tokio's budget of a task (they would come to a halt after 128 reads), so
/// that hundreds can share one.
///
/// [`StampSource::Kernel`]: fizeau_core::StampSource::Kernel
/// [`StampSource::User`]: fizeau_core::StampSource::User
///
/// ```
/// use fizeau_core::{Prompt, Release, Request, RequestId, Stamp, Tokens, Transport};
/// use fizeau_transport::{Backend, HttpTransport, MonotonicClock, Target};
/// # let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
/// # runtime.block_on(async {
/// let target = Target::new("http://127.0.0.1:1", Backend::Vllm, "m")?;
/// let transport = HttpTransport::new(target, MonotonicClock::new());
/// let request = Request::new(RequestId(0), Prompt::Text("Once".to_owned()), Tokens::new(16));
/// let tape = transport.send(&request, Release::at(Stamp::EPOCH)).await?;
/// assert!(!tape.is_success(), "nothing listens there");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct HttpTransport<C> {
    target: Target,
    clock: C,
    first: Endpoint<C>,
    others: Vec<Endpoint<C>>,
    /// What all connections read into: what a read brings is looked at before the next one.
    scratch: RefCell<Box<[u8]>>,
    /// What reads the bodies of replies.
    ingest: IngestLoop<C>,
    readiness: Readiness,
    race: KeepAliveRace,
}

/// Who hears when a connection has something to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Readiness {
    /// The transport's own loop, where it can.
    OwnLoop,
    /// The runtime.
    Runtime,
}

/// The longest single read: what a server that outruns us sends in a few milliseconds.
const SCRATCH: usize = 64 << 10;

/// Why connections could not be opened ahead of a run, or a server not be looked at.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", .0.detail)]
pub struct PreconnectError(Failure);

impl PreconnectError {
    /// The failure as a tape would carry it.
    #[must_use]
    pub const fn failure(&self) -> &Failure {
        &self.0
    }
}

/// How many connections are opened at a time ahead of a run: enough to be quick, too few to overrun a
/// server's backlog.
const OPEN_AT_ONCE: usize = 64;

impl<C: Clock + Clone + Send + 'static> HttpTransport<C> {
    /// A transport to `target` that stamps with `clock`. Copies of the clock must share its epoch.
    #[must_use]
    pub fn new(target: Target, clock: C) -> Self {
        let first = Endpoint::new(&target, target.base());
        let others = target.other_bases().iter().map(|base| Endpoint::new(&target, base)).collect();
        let scratch = RefCell::new(vec![0; SCRATCH].into_boxed_slice());
        let (ingest, readiness) = (IngestLoop::new(), Readiness::OwnLoop);
        let race = KeepAliveRace::USUAL;
        Self { target, clock, first, others, scratch, ingest, readiness, race }
    }

    /// The same, with every connection heard of by the runtime, as those are that its own loop cannot take: for tests, which hold
    /// one way against the other.
    #[doc(hidden)]
    #[must_use]
    pub fn heard_by_runtime(self) -> Self {
        Self { readiness: Readiness::Runtime, ..self }
    }

    /// The same, with a connection taken for idle after `rest`, and for closed as a request was sent where that shows `within` so
    /// long: for tests, which need not wait then.
    #[doc(hidden)]
    #[must_use]
    pub fn racing_keep_alive(self, rest: Nanos, within: Nanos) -> Self {
        Self { race: KeepAliveRace { rest, within }, ..self }
    }

    /// Has the transport's loop hear of a connection to `endpoint`, where it can.
    fn adopt(
        &self,
        wire: DrivenConnection<C>,
        endpoint: &Endpoint<C>,
    ) -> Result<DrivenConnection<C>, Failure> {
        match self.readiness {
            Readiness::Runtime => Ok(wire),
            Readiness::OwnLoop => {
                wire.adopt(&self.ingest).map_err(|error| endpoint.way().refused("keep", &error))
            }
        }
    }

    /// The clock that should stamp arrivals.
    const fn stamps(&self) -> StampChoice {
        self.target.connections().stamps
    }

    /// What requests are sent to.
    #[must_use]
    pub const fn target(&self) -> &Target {
        &self.target
    }

    /// Opens connections until `count` requests at a time need not wait for one, wherever they go: of several endpoints,
    /// each gets `count`, because the requests of one transport may all have their turn at the same one. Where each
    /// request makes its own connection, nothing is done.
    ///
    /// # Errors
    /// If one of them cannot be made, within the target's connect timeout. Those that could stay.
    pub async fn preconnect(&self, count: usize) -> Result<(), PreconnectError> {
        if self.target.connections().usage == ConnectionUse::PerRequest {
            return Ok(());
        }
        let places = self.endpoints().flat_map(|endpoint| std::iter::repeat_n(endpoint, count));
        let open = |endpoint| async move { (endpoint, self.open(endpoint).await) };
        let mut opening = stream::iter(places).map(open).buffer_unordered(OPEN_AT_ONCE);
        // All are held until the last is there, or the same one would be counted twice.
        let (mut held, mut outcome) = (Vec::new(), Ok(()));
        while let Some((endpoint, opened)) = opening.next().await {
            match opened {
                Ok(wire) => held.push((endpoint, wire)),
                Err(failure) => {
                    outcome = Err(PreconnectError(failure));
                    break;
                }
            }
        }
        for (endpoint, wire) in held {
            endpoint.check_in(wire, &self.clock);
        }
        outcome
    }

    /// A connection to `endpoint`, an idle one or a new one, within the limit.
    async fn open(&self, endpoint: &Endpoint<C>) -> Result<DrivenConnection<C>, Failure> {
        let idle = endpoint.check_out(&mut self.scratch.borrow_mut(), &self.clock);
        if let Some(wire) = idle {
            return Ok(wire);
        }
        let connecting = endpoint.connect(&self.clock, self.stamps(), ConnectionChoice::Any);
        let connected = match self.target.limits().connect {
            None => connecting.await,
            Some(limit) => {
                let timed_out =
                    || self.timed_out(FailureClass::TimeoutConnect, endpoint.way().whom());
                let connected = tokio::time::timeout(limit.into(), connecting).await;
                connected.unwrap_or_else(|_| Err(timed_out()))
            }
        };
        connected.and_then(|(wire, _)| self.adopt(wire, endpoint))
    }

    /// What a reader of the run ought to know of how the endpoints were reached; known once connections stand.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        self.endpoints().filter_map(|endpoint| endpoint.way().note()).collect()
    }

    fn endpoints(&self) -> impl Iterator<Item = &Endpoint<C>> {
        std::iter::once(&self.first).chain(&self.others)
    }

    fn endpoint(&self, number: usize) -> &Endpoint<C> {
        let other = number.checked_sub(1).and_then(|number| self.others.get(number));
        other.unwrap_or(&self.first)
    }

    /// A failure that names the limit that was reached.
    fn timed_out(&self, class: FailureClass, whom: &UrlAuthority) -> Failure {
        let limits = self.target.limits();
        let (what, limit) = match class {
            FailureClass::TimeoutConnect => (format!("no connection to {whom}"), limits.connect),
            FailureClass::TimeoutFirstToken => ("no first token".to_owned(), limits.first_token),
            FailureClass::TimeoutIdle => ("no further token".to_owned(), limits.idle),
            _ => ("the request was not over".to_owned(), limits.total),
        };
        let limit = limit.map(|limit| limit.to_string()).unwrap_or_default();
        Failure::new(class, format!("{what} within {limit}"))
    }
}

impl<C: Clock + Clone + Send + 'static> Transport for HttpTransport<C> {
    type Error = RequestError;

    async fn send(&self, request: &Request, release: Release) -> Result<Tape, RequestError> {
        self.send_until(request, release, &CallOff::default()).await
    }

    async fn send_until(
        &self,
        request: &Request,
        release: Release,
        off: &CallOff,
    ) -> Result<Tape, RequestError> {
        let path = self.target.path_for(request)?.map(Arc::from);
        let payload = Payload { path, body: Bytes::from(self.target.body(request)?) };
        let place = self.target.balancer().choose(request.id);
        let endpoint = self.endpoint(place.endpoint);
        let marks = RequestMarks::released(release);
        let mut call = HttpCall::new(self, endpoint, request.max_output_tokens, marks, off);
        let reply = coop::unconstrained(call.run(payload)).await;
        Ok(Tape {
            request: request.id,
            session: request.session,
            turn: request.turn,
            endpoint: u32::try_from(place.endpoint).unwrap_or(u32::MAX),
            part: request.part,
            model: request.model.clone(),
            requested: RequestedTokens {
                input_tokens: request.input_tokens,
                output_tokens: request.max_output_tokens,
                eos: self.target.told_end(request.eos),
            },
            marks: call.marks(),
            stamps: call.stamps(),
            arrivals: reply.arrivals,
            token_source: reply.token_source,
            usage: reply.usage,
            server_timing: reply.server_timing,
            connection: call.connection(),
            round_trip: call.round_trip(),
            left_open: call.left_open(),
            outcome: reply.outcome,
            text: reply.text,
        })
    }
}

impl<C: fmt::Debug> fmt::Debug for HttpTransport<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpTransport")
            .field("target", &self.target)
            .field("stamps", &self.target.connections().stamps)
            .field("first", &self.first)
            .field("others", &self.others)
            .finish_non_exhaustive()
    }
}
