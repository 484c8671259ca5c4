//! A server that misbehaves on demand.
//!
//! A fault changes what becomes of a reply after the engine: which events there are, how they are encoded, when their
//! bytes leave, what becomes of the connection. Replies without a fault do not pass through here.

mod assigner;
mod content;
mod encoding;
mod ending;
mod event;
mod kind;
mod parse;
mod pieces;
mod play;
mod reply;

use std::io;

use fizeau_core::Nanos;
use mio::net::TcpStream;

use super::parsed_request::ParsedRequest;
use crate::chance::{self, DrawnFor};
use kind::{FaultValue, Kind};

pub(super) use assigner::{FaultAssigner, HEADER};
pub(super) use play::{FaultedEnd, ReplyState};
pub(super) use reply::{FaultyReply, RequestIdentity};

pub use kind::FaultKind;
pub use parse::ParseFaultsError;

/// The faults that a server's replies have.
///
/// Written as faults joined by `+`, which all befall one reply: `role-at-once+crlf`. A fault is a name, for
/// some with `@TOKENS`, the tokens before it happens (half of the reply unless given), and `:COUNT` or `:TIME`:
/// `reset@5`, `bundle:8`, `stall@3:300ms`. Several of these, each with its share of the requests, are
/// separated by commas: `0.1*reset@5,0.02*error-then-usage`; one without a share gets all that the others leave. Which
/// request meets which follows from the order in which they come and the seed.
///
/// Where a server has any faults, a request can choose for itself by the header `x-fizeau-fault: crlf+stall`. The
/// text `allow` permits that and nothing more. Fault `none` is the way out: `x-fizeau-fault: none`.
///
/// [`Faults::all`] lists them. They befall the routes that generate, and of replies that are not streamed only those
/// that come before the body; what a fault changes within events, it does to those of OpenAI's chunks. Where one cannot befall
/// a reply, a request that chose it is refused, and one that drew it goes without.
///
/// ```
/// use fizeau_sim::http::Faults;
///
/// let faults: Faults = "0.1*reset@5, crlf+stall@3:300ms".parse()?;
/// assert_eq!(faults.to_string(), "0.1*reset@5,crlf+stall@3:300ms");
/// assert!("tomfoolery".parse::<Faults>().is_err());
/// # Ok::<(), fizeau_sim::http::ParseFaultsError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Faults {
    mixes: Vec<FaultMix>,
    seed: u64,
}

/// Faults of one reply, and which share of requests they befall.
#[derive(Debug, Clone, PartialEq)]
struct FaultMix {
    /// In (0, 1]; none is whatever the others leave.
    share: Option<f64>,
    faults: AssignedFaults,
}

/// The faults that befall one request; not empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct AssignedFaults(Vec<ChosenFault>);

/// One fault with its particulars.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ChosenFault {
    kind: &'static FaultKind,
    /// How many tokens come before it.
    after: Option<u64>,
    /// A count, or nanoseconds.
    value: Option<u64>,
}

impl Faults {
    /// None by itself, but requests may choose.
    #[must_use]
    pub const fn allowed() -> Self {
        Self { mixes: Vec::new(), seed: 0 }
    }

    /// The same with another seed than 0, which changes the requests that a share falls on.
    #[must_use]
    pub fn with_seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// Every fault there is.
    #[must_use]
    pub fn all() -> &'static [FaultKind] {
        kind::KINDS
    }

    /// What befalls the request of that number.
    pub(super) fn of(&self, request: u64) -> Option<&AssignedFaults> {
        let mut left = chance::share(chance::drawn(DrawnFor::Faults.stream(self.seed), request));
        let drawn = self.mixes.iter().find(|mix| {
            let Some(share) = mix.share else {
                return false;
            };
            let hit = left < share;
            left -= share;
            hit
        });
        let mix = drawn.or_else(|| self.mixes.iter().find(|mix| mix.share.is_none()))?;
        Some(&mix.faults)
    }

    /// The value of the first fault of a kind that is about the whole server.
    fn of_server(&self, kind: Kind) -> Option<ChosenFault> {
        let mut all = self.mixes.iter().flat_map(|mix| &mix.faults.0);
        all.find(|fault| fault.kind.kind == kind).copied()
    }
}

impl AssignedFaults {
    fn get(&self, kind: Kind) -> Option<ChosenFault> {
        self.0.iter().find(|fault| fault.kind.kind == kind).copied()
    }

    /// Those that can befall the reply to `ask`, and the first that cannot.
    fn fit(&self, ask: &ParsedRequest) -> (Option<Self>, Option<&ChosenFault>) {
        let unstreamed = self.has(Kind::Unstreamed);
        let fits = |fault: &&ChosenFault| fault.kind.kind.fits(ask, unstreamed);
        let fitting: Vec<_> = self.0.iter().filter(fits).copied().collect();
        let other = self.0.iter().find(|fault| !fits(fault));
        ((!fitting.is_empty()).then_some(Self(fitting)), other)
    }

    fn has(&self, kind: Kind) -> bool {
        self.get(kind).is_some()
    }
}

impl ChosenFault {
    /// After how many of `tokens` tokens it happens.
    fn after(&self, tokens: u64) -> u64 {
        self.after.unwrap_or(tokens / 2).min(tokens)
    }

    /// Its count, at least 1.
    fn count(&self) -> u64 {
        match (self.value, self.kind.value) {
            (Some(count), _) | (None, FaultValue::Count(count)) => count.max(1),
            _ => 1,
        }
    }

    /// How long it lasts; none is for ever.
    fn time(&self) -> Option<Nanos> {
        match (self.value, self.kind.value) {
            (Some(nanos), _) => Some(Nanos::from_nanos(nanos)),
            (None, FaultValue::Time(time)) => Some(time),
            _ => None,
        }
    }
}

/// Makes the end of a connection a reset, where the system has a way to.
pub(super) fn reset_on_close(socket: &TcpStream) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    rustix::net::sockopt::set_socket_linger(socket, Some(std::time::Duration::ZERO))?;
    #[cfg(not(target_os = "linux"))]
    let _ = socket;
    Ok(())
}
