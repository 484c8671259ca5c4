//! Requests over HTTP/1.1 on connections of our own.

mod answer;
mod call;
mod connect;
mod date;
mod h1;
mod io;
mod kernel;
mod log;
mod look;
mod pool;
mod socket;
mod watchdog;
mod wire;

use std::cell::RefCell;
use std::fmt;

use bytes::Bytes;
use fizeau_core::{Asked, Clock, Failure, FailureClass, Request, Stamp, Tape, Transport};
use futures_util::StreamExt;
use futures_util::stream;
use tokio::task::coop;

use crate::dialect::RequestError;
use crate::target::Target;
use call::Call;
use h1::Post;
use pool::Pool;
use wire::Wire;

pub(crate) use look::Lost;

/// Carries out requests over HTTP/1.1 without TLS, each to a [`Tape`].
///
/// Connections are kept and reused, the one used last first, without a limit on their number: a limit would
/// be a hidden queue. Nothing is ever retried, but for one case: an idle connection that turns out dead
/// before a byte of the reply came is replaced by a fresh one, once, and the tape says so
/// ([`Connection::ReplacedStale`](fizeau_core::Connection::ReplacedStale)).
///
/// Arrivals carry the kernel's own receive stamps where there are any (Linux; see [`StampChoice`]), so that they are
/// true even where this process comes late to read them. A tape says [`StampSource::Kernel`] only if the kernel
/// stamped every read of its reply; one on which some are our own says [`StampSource::User`] and keeps the others
/// as they are.
///
/// Needs a tokio runtime with I/O and time, and stays on one thread: give each worker thread a transport of
/// its own. Requests are exempt from tokio's budget of a task (they would come to a halt after 128 reads), so
/// that hundreds can share one.
///
/// [`StampSource::Kernel`]: fizeau_core::StampSource::Kernel
/// [`StampSource::User`]: fizeau_core::StampSource::User
///
/// ```
/// use fizeau_core::{EosRule, Prompt, Request, RequestId, SessionId, Stamp, Tokens, Transport};
/// use fizeau_transport::{Backend, HttpTransport, MonotonicClock, Target};
/// # let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
/// # runtime.block_on(async {
/// let target = Target::new("http://127.0.0.1:1", Backend::Vllm, "m")?;
/// let transport = HttpTransport::new(target, MonotonicClock::new());
/// let request = Request {
///     id: RequestId(0),
///     session: SessionId(0),
///     turn: 0,
///     prompt: Prompt::Text("Once".to_owned()),
///     input_tokens: None,
///     max_output_tokens: Tokens::new(16),
///     eos: EosRule::Ignore,
/// };
/// let tape = transport.send(&request, Stamp::EPOCH, Stamp::EPOCH).await?;
/// assert!(!tape.is_success(), "nothing listens there");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct HttpTransport<C> {
    target: Target,
    clock: C,
    stamps: StampChoice,
    post: Post,
    pool: Pool<C>,
    /// What all connections read into: what a read brings is looked at before the next one.
    scratch: RefCell<Box<[u8]>>,
}

/// Who is to stamp arrivals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum StampChoice {
    /// The kernel, as it takes packets from the device; this process where the kernel does not.
    #[default]
    KernelIfAvailable,
    /// This process, as the read call returns. What a run would see without the kernel's help.
    User,
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
        let uri = target.uri().unwrap_or_default();
        let post = Post::new(&uri.to_string(), target.headers());
        let scratch = RefCell::new(vec![0; SCRATCH].into_boxed_slice());
        Self { target, clock, stamps: StampChoice::default(), post, pool: Pool::default(), scratch }
    }

    /// Has arrivals stamped by `choice`, on connections made from now on.
    #[must_use]
    pub const fn stamps(mut self, choice: StampChoice) -> Self {
        self.stamps = choice;
        self
    }

    /// What requests are sent to.
    #[must_use]
    pub const fn target(&self) -> &Target {
        &self.target
    }

    /// Opens connections until `count` are idle, so that no request of a run has to wait for one.
    ///
    /// # Errors
    /// If one of them cannot be made, within the target's connect timeout. Those that could stay.
    pub async fn preconnect(&self, count: usize) -> Result<(), PreconnectError> {
        let missing = count.saturating_sub(self.pool.idle());
        let limit = self.target.limits().connect;
        let open = |_| async {
            let connecting = connect::connect(self.target.authority(), &self.clock, self.stamps);
            let Some(limit) = limit else {
                return connecting.await;
            };
            match tokio::time::timeout(limit.into(), connecting).await {
                Ok(connected) => connected,
                Err(_) => Err(self.timed_out(FailureClass::TimeoutConnect)),
            }
        };
        let mut opening = stream::iter(0..missing).map(open).buffer_unordered(OPEN_AT_ONCE);
        while let Some(opened) = opening.next().await {
            let (io, _) = opened.map_err(PreconnectError)?;
            self.pool.check_in(Wire::h1(io));
        }
        Ok(())
    }

    /// A failure that names the limit that was reached.
    fn timed_out(&self, class: FailureClass) -> Failure {
        let limits = self.target.limits();
        let (what, limit) = match class {
            FailureClass::TimeoutConnect => {
                let whom = self.target.authority();
                (format!("no connection to {whom}"), limits.connect)
            }
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

    async fn send(
        &self,
        request: &Request,
        intended: Stamp,
        released: Stamp,
    ) -> Result<Tape, RequestError> {
        let dialect = self.target.route().dialect();
        let body = Bytes::from(dialect.body(&self.target.ask(request))?);
        let mut call = Call::new(self, intended, released);
        let reply = coop::unconstrained(call.run(body)).await;
        Ok(Tape {
            request: request.id,
            session: request.session,
            turn: request.turn,
            endpoint: 0,
            asked: Asked {
                input_tokens: request.input_tokens,
                output_tokens: request.max_output_tokens,
                eos: request.eos,
            },
            marks: call.marks(),
            stamps: call.stamps(),
            arrivals: reply.arrivals,
            token_source: reply.token_source,
            usage: reply.usage,
            server_timing: reply.server_timing,
            connection: call.connection(),
            outcome: reply.outcome,
            text: reply.text,
        })
    }
}

impl<C> fmt::Debug for HttpTransport<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpTransport")
            .field("target", &self.target)
            .field("stamps", &self.stamps)
            .field("pool", &self.pool)
            .finish_non_exhaustive()
    }
}
