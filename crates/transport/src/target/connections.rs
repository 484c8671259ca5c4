//! How endpoints are reached.

use std::num::NonZeroU32;

use fizeau_core::Nanos;

use super::Target;
use super::balance::{Balancer, LoadBalancing};
use super::proxy::{Proxy, ProxyError};
#[cfg(feature = "tls")]
use super::trust::{TlsSettings, Trust, TrustError};

/// What happens to a connection when its request is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ConnectionUse {
    /// It is kept for another request: the making of connections is in no latency, and mostly in no request.
    #[default]
    Reuse,
    /// It is closed, and each request makes its own; none are opened ahead. The making is in the tape's marks
    /// ([`RequestMarks::connect`](fizeau_core::RequestMarks::connect)), apart from the time to the first token.
    PerRequest,
}

/// The version of HTTP that is spoken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum HttpVersion {
    /// One request at a time on a connection.
    #[default]
    Http11,
    /// Many requests at a time on a connection: agreed upon in the handshake under TLS (ALPN), taken for granted
    /// without. An endpoint that does not speak it fails; there is no going back to HTTP/1.1 unasked.
    Http2 {
        /// The most requests at a time on one connection. Where all connections are full, or as full as the server
        /// lets them be, another one is made: no request waits for a place.
        streams: NonZeroU32,
    },
}

impl HttpVersion {
    /// HTTP/2 with at most 100 requests at a time on a connection, the least that RFC 9113 (section 6.5.2) would
    /// have servers allow.
    pub const HTTP2: Self = Self::Http2 { streams: NonZeroU32::new(100).unwrap() };

    /// The number of the version: `1.1` or `2`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Http11 => "1.1",
            Self::Http2 { .. } => "2",
        }
    }
}

/// The clock that should stamp arrivals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum StampChoice {
    /// The kernel, as it takes packets from the device; this process where the kernel does not.
    #[default]
    KernelIfAvailable,
    /// This process, as the read call returns. What a run would see without the kernel's help.
    User,
}

/// How the endpoints of a target are reached.
#[derive(Debug, Clone, Default)]
pub(crate) struct ConnectionSettings {
    pub(crate) usage: ConnectionUse,
    pub(crate) version: HttpVersion,
    pub(crate) proxy: Proxy,
    pub(crate) stamps: StampChoice,
    #[cfg(feature = "tls")]
    pub(crate) tls: TlsSettings,
}

impl Target {
    /// Shares requests out among the endpoints so. Clones of a target made after this count together.
    #[must_use]
    pub fn balance(mut self, balance: LoadBalancing) -> Self {
        self.balancer = Balancer::new(balance, self.bases().count());
        self
    }

    /// Keeps connections or does not.
    #[must_use]
    pub fn connection_use(mut self, usage: ConnectionUse) -> Self {
        self.connections.usage = usage;
        self
    }

    /// Speaks that version of HTTP.
    #[must_use]
    pub fn http_version(mut self, version: HttpVersion) -> Self {
        self.connections.version = version;
        self
    }

    /// Goes through those proxies.
    #[must_use]
    pub fn proxy(mut self, proxy: Proxy) -> Self {
        proxy.hide_in(&mut self.secrets);
        self.connections.proxy = proxy;
        self
    }

    /// Has arrivals stamped so.
    #[must_use]
    pub fn stamps(mut self, stamps: StampChoice) -> Self {
        self.connections.stamps = stamps;
        self
    }

    /// Trusts those certificates of endpoints behind `https://`.
    ///
    /// # Errors
    /// If it holds no certificate, or one that cannot be read.
    #[cfg(feature = "tls")]
    pub fn trust(mut self, trust: &Trust) -> Result<Self, TrustError> {
        self.connections.tls = TlsSettings::new(trust)?;
        Ok(self)
    }

    /// The proxies that requests go through, each once and without user and password.
    ///
    /// # Errors
    /// If one of them cannot be used. Requests that would go through it then fail.
    pub fn proxies(&self) -> Result<Vec<String>, ProxyError> {
        let through = self.bases().filter_map(|base| self.connections.proxy.via(base).transpose());
        let names = through.map(|via| via.map(ToString::to_string));
        let mut names: Vec<String> = names.collect::<Result<_, ProxyError>>()?;
        names.sort_unstable();
        names.dedup();
        Ok(names)
    }

    pub(crate) const fn connections(&self) -> &ConnectionSettings {
        &self.connections
    }

    pub(crate) const fn balancer(&self) -> &Balancer {
        &self.balancer
    }
}

// How long a request may take.

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
