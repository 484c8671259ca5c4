//! How long a request may take.

use fizeau_core::Nanos;

/// The longest that the parts of a request may take; absent is without limit. Each has a failure class of its
/// own.
///
/// They are kept to a millisecond or two, the tick of the runtime's timer, and never fire early.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// To resolve the name and make the connection, with a proxy's tunnel, TLS and the beginning of HTTP/2. 10 s by default: a server that runs answers in a round trip.
    pub connect: Option<Nanos>,
    /// From sending to the first token. No limit by default: under load a request may queue for as long as it
    /// likes, and cutting it off would hide just that.
    pub first_token: Option<Nanos>,
    /// From one token to the next, and from the last one to the end. Comments and other events without a
    /// token do not count as life. No limit by default.
    pub idle: Option<Nanos>,
    /// From taking the request up to its end. 6 h by default, the limit of vLLM's own benchmark client: a run
    /// ends even if a server never answers.
    pub total: Option<Nanos>,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect: Some(Nanos::from_secs(10)),
            first_token: None,
            idle: None,
            total: Some(Nanos::from_secs(6 * 3600)),
        }
    }
}
