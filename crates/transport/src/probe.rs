//! Finding out what an endpoint speaks, and how: a few GETs that cost it nothing, then two tiny requests on each route
//! that it may have.
//!
//! [`Identity`] asks, [`candidates`] says what to try, [`probe`] tries it, [`Findings`] judges the tapes. Only the first
//! and the third do I/O, and [`context_limit`], which asks for one figure alone.

mod findings;
mod identity;
mod server;

use std::fmt;
use std::ops::ControlFlow;
use std::time::Duration;

use bytes::Bytes;
use fizeau_core::{
    EosRule, Failure, FailureClass, Nanos, Outcome, Prompt, Release, Request, RequestId, Stamp,
    Tape, Tokens, Transport,
};
use tokio::time::timeout;

pub use findings::{EventDelivery, Findings, ForcedLength, ServerTimed};
pub use identity::{Identity, ModelNameError, context_limit, listed_model};
pub use server::{BackendCandidate, CandidateReason, ServerKind, candidates};

use crate::backend::{Backend, LengthForcing};
use crate::clock::MonotonicClock;
use crate::dialect::{Dialect, RequestError, WireEvent};
use crate::event::ReadMark;
use crate::framing::EventDecoder;
use crate::http::HttpTransport;
use crate::route::Route;
use crate::target::{Target, Timeouts};

/// An endpoint that was found out.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ProbedEndpoint {
    /// The backend that fits.
    pub backend: Backend,
    /// What is spoken there.
    pub route: Route,
    /// How it streams.
    pub findings: Findings,
}

/// A candidate that did not fit.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RejectedBackend {
    /// The backend.
    pub backend: Backend,
    /// Where it was asked.
    pub url: String,
    /// Why it does not fit, in a line.
    pub why: String,
}

impl fmt::Display for RejectedBackend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {}: {}", self.backend, self.url, self.why)
    }
}

/// Why an endpoint was not found out.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProbeError<E: std::error::Error> {
    /// Nothing fits.
    #[error("this endpoint answers to no known kind of server:{}", lines(.0))]
    NothingFits(Vec<RejectedBackend>),
    /// A candidate cannot be made into a target.
    #[error(transparent)]
    Target(E),
}

/// Each with its reason; where all are refused alike, as without a key, that once. Of paths that are not there each says which.
fn lines(tried: &[RejectedBackend]) -> String {
    let is_alike = |of: &RejectedBackend, why: &str| of.why == why && !why.contains("404");
    match tried {
        [first, others @ ..]
            if others.len() > 1 && others.iter().all(|of| is_alike(of, &first.why)) =>
        {
            format!(" {} kinds were tried, and each time: {}", tried.len(), first.why)
        }
        _ => tried.iter().map(|tried| format!("\n  {tried}")).collect(),
    }
}

/// How many tokens a tiny request asks for: the least that OpenAI's Responses take.
const TINY: Tokens = Tokens::new(16);

/// A tiny request is given up when its first token takes longer, unless the target is less patient. A model may have to be
/// loaded for it.
const FIRST_TOKEN: Nanos = Nanos::from_secs(120);

/// Asks for more than is given, so that the cap ends it.
const LONG: &str = "Count from one to one hundred in words: one, two, three,";

/// Asks for one word, so that a model that is not told to go on stops.
const SHORT: &str = "Reply with the single word: yes";

/// Tries `candidates` in order, with two tiny requests each, until one fits: both succeed by the strict rule. The one that
/// fits gets a third, given up at its first token, to count the events before that. What is only
/// guessed to be a server with a running count must give one, since a plainer backend would fit as well.
///
/// `target` makes the target of a backend, with the endpoint's model, key and headers. Where a request that asks to
/// generate past the model's own end is refused, it is sent again without.
///
/// # Errors
/// If none fits, with what was tried; or if `target` fails.
pub async fn probe<E: std::error::Error>(
    candidates: &[BackendCandidate],
    target: impl Fn(Backend) -> Result<Target, E>,
) -> Result<ProbedEndpoint, ProbeError<E>> {
    let mut tried: Vec<RejectedBackend> = Vec::new();
    let mut missing: Vec<String> = Vec::new();
    for candidate in candidates {
        let target = patient(target(candidate.backend).map_err(ProbeError::Target)?);
        let url = target.url();
        if missing.contains(&url) {
            continue;
        }
        let misfit = match fit(&target, candidate.ground).await {
            Ok(findings) => {
                let (backend, route) = (candidate.backend, target.route());
                return Ok(ProbedEndpoint { backend, route, findings });
            }
            Err(misfit) => misfit,
        };
        tried.push(RejectedBackend {
            backend: candidate.backend,
            url: url.clone(),
            why: misfit.why,
        });
        match misfit.hope {
            NextAttempt::Elsewhere => missing.push(url),
            NextAttempt::None => break,
            NextAttempt::Otherwise => {}
        }
    }
    Err(ProbeError::NothingFits(tried))
}

/// Why a candidate does not fit, and what may.
struct Misfit {
    why: String,
    hope: NextAttempt,
}

/// What may still fit.
enum NextAttempt {
    /// Another path: this one is not there.
    Elsewhere,
    /// Nothing: nobody answers.
    None,
    /// Another backend.
    Otherwise,
}

fn patient(target: Target) -> Target {
    let limits = *target.limits();
    let first_token = limits.first_token.map_or(FIRST_TOKEN, |limit| limit.min(FIRST_TOKEN));
    target.timeouts(Timeouts { first_token: Some(first_token), ..limits })
}

async fn fit(target: &Target, ground: CandidateReason) -> Result<Findings, Misfit> {
    let transport = HttpTransport::new(target.clone(), MonotonicClock::new());
    let first = ask(&transport, LONG, EosRule::Stop).await?;
    let (second, refused) = match target.forcing() {
        LengthForcing::CapOnly => (ask(&transport, LONG, EosRule::Stop).await?, None),
        LengthForcing::Exact => match ask(&transport, SHORT, EosRule::Ignore).await {
            Ok(tape) => (tape, None),
            Err(Misfit { hope: NextAttempt::Otherwise, .. }) => {
                (ask(&transport, SHORT, EosRule::Stop).await?, Some(ForcedLength::Refused))
            }
            Err(misfit) => return Err(misfit),
        },
    };
    let mut findings = Findings::of(&[first, second]);
    if let Some(refused) = refused {
        findings.forced_length = refused;
    }
    let claims_more = target.backend().takes().continuous_usage
        && matches!(target.route(), Route::Chat | Route::Completions);
    if ground == CandidateReason::Guess && claims_more && !findings.token_source.is_exact() {
        let why = "it answers, but without the requested running count".to_owned();
        return Err(Misfit { why, hope: NextAttempt::Otherwise });
    }
    findings.events_before_first_token = quiet_events(&transport, &tiny(LONG, EosRule::Stop)).await;
    Ok(findings)
}

async fn ask(
    transport: &HttpTransport<MonotonicClock>,
    prompt: &str,
    eos: EosRule,
) -> Result<Tape, Misfit> {
    let sent = transport.send(&tiny(prompt, eos), Release::at(Stamp::EPOCH)).await;
    let unsendable =
        |error: RequestError| Misfit { why: error.to_string(), hope: NextAttempt::Otherwise };
    let tape = sent.map_err(unsendable)?;
    match &tape.outcome {
        Outcome::Complete(_) => Ok(tape),
        Outcome::Failed(failure) => {
            Err(Misfit { why: failure.to_string(), hope: hope(&tape, failure) })
        }
    }
}

fn tiny(prompt: &str, eos: EosRule) -> Request {
    let prompt = Prompt::Text(prompt.to_owned());
    Request { eos, ..Request::new(RequestId::default(), prompt, TINY) }
}

fn hope(tape: &Tape, failure: &Failure) -> NextAttempt {
    match (failure.class, failure.status) {
        (FailureClass::Status, Some(404 | 405 | 501)) => NextAttempt::Elsewhere,
        _ if tape.marks.send_start.is_none() => NextAttempt::None,
        _ => NextAttempt::Otherwise,
    }
}

// How a reply starts: with a token, or with events that hold none.

/// How long it may take: the same request has been answered before.
const PATIENCE: Duration = Duration::from_secs(60);

/// How many events of the reply to `ask` come before the first that holds a token. None if that cannot be had: a tape does
/// not tell, because it keeps only what counts.
async fn quiet_events(transport: &HttpTransport<MonotonicClock>, ask: &Request) -> Option<u32> {
    let target = transport.target();
    let dialect = target.spoken();
    let body = target.body(ask).ok()?;
    let mut start = ProbeStart::of(&*dialect);
    let reading = transport.post(Bytes::from(body), |bytes| start.feed(bytes));
    timeout(PATIENCE, reading).await.ok()?.ok()?;
    start.has_token.then_some(start.quiet)
}

struct ProbeStart<'d> {
    dialect: &'d dyn Dialect,
    decoder: EventDecoder,
    quiet: u32,
    has_token: bool,
}

impl<'d> ProbeStart<'d> {
    fn of(dialect: &'d dyn Dialect) -> Self {
        let decoder = EventDecoder::of(dialect.framing());
        Self { dialect, decoder, quiet: 0, has_token: false }
    }

    /// Looks at the events that `bytes` complete, until one holds a token.
    fn feed(&mut self, bytes: &[u8]) -> ControlFlow<()> {
        let mut events = self.decoder.feed(bytes, ReadMark::user(Stamp::EPOCH, 0));
        while let Some(event) = events.next_event() {
            let Ok(event) = event else {
                return ControlFlow::Break(());
            };
            let Ok(event) = self.dialect.read(&event) else {
                return ControlFlow::Break(());
            };
            if holds_token(&event) {
                self.has_token = true;
                return ControlFlow::Break(());
            }
            self.quiet = self.quiet.saturating_add(1);
        }
        ControlFlow::Continue(())
    }
}

fn holds_token(event: &WireEvent<'_>) -> bool {
    let counted = event.running.is_some_and(|running| running > 0);
    event.channel().is_some() || event.token_ids > 0 || event.logprobs > 0 || counted
}
