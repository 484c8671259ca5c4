//! How an endpoint is reached: to a target, and to words for the record.

use std::path::PathBuf;

use fizeau_record::ConnectionRecord;
use fizeau_telemetry::PageTrust;
use fizeau_transport::{ConnectionUse, HttpVersion, LoadBalancing, Proxy, StampChoice, Target};

use super::split_url;
use crate::client::ConnectionNeeds;
use crate::input::{Blame, InputError, InputField};

/// How an endpoint is reached.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct ConnectionSpec {
    /// How several servers share the requests.
    pub balance: LoadBalancing,
    /// Which certificates are trusted.
    pub trust: TrustSpec,
    /// What becomes of a connection when its request is over.
    pub connection_use: ConnectionUse,
    /// The version of HTTP.
    pub http_version: HttpVersion,
    /// Who stamps arrivals.
    pub stamps: StampChoice,
    /// The proxies that stand between.
    pub proxy: Proxy,
}

/// Which certificates are trusted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum TrustSpec {
    /// Those of the authorities that browsers trust.
    #[default]
    WebPki,
    /// Those too that are in this PEM file, or signed by one of them.
    File(PathBuf),
    /// Any: whoever sits on the way can read and change everything, the API key among it.
    Unchecked,
}

impl TrustSpec {
    #[cfg(feature = "tls")]
    fn apply(&self, target: Target) -> Result<Target, InputError> {
        use crate::input::unreadable;
        use fizeau_transport::Trust;
        match self {
            Self::WebPki => Ok(target),
            Self::Unchecked => target.trust(&Trust::Insecure).blame(InputField::Insecure),
            Self::File(path) => {
                let pem = std::fs::read(path);
                let pem = pem.map_err(|error| unreadable(InputField::CaCert, path, &error))?;
                let trusted = target.trust(&Trust::Pem(pem));
                trusted.blame_given(InputField::CaCert, path.display())
            }
        }
    }

    #[cfg(not(feature = "tls"))]
    fn apply(&self, target: Target) -> Result<Target, InputError> {
        let without = |field| InputError::new(field, "this build has no TLS");
        match self {
            Self::WebPki => Ok(target),
            Self::Unchecked => Err(without(InputField::Insecure)),
            Self::File(_) => Err(without(InputField::CaCert)),
        }
    }
}

impl TrustSpec {
    /// What pages of metrics are asked with, in the order in which it is tried.
    #[cfg(feature = "tls")]
    pub(crate) fn of_pages(&self) -> Result<Vec<PageTrust>, InputError> {
        use crate::input::unreadable;
        Ok(match self {
            Self::WebPki => vec![PageTrust::default()],
            Self::Unchecked => vec![PageTrust::unchecked()],
            Self::File(path) => {
                let pem = std::fs::read(path);
                let pem = pem.map_err(|error| unreadable(InputField::CaCert, path, &error))?;
                let given = PageTrust::pem(&pem);
                let given = given.blame_given(InputField::CaCert, path.display())?;
                vec![PageTrust::default(), given]
            }
        })
    }

    /// What pages of metrics are asked with.
    #[cfg(not(feature = "tls"))]
    pub(crate) fn of_pages(&self) -> Result<Vec<PageTrust>, InputError> {
        Ok(vec![PageTrust::default()])
    }
}

impl ConnectionSpec {
    /// `target`, reached so.
    pub(super) fn apply(&self, target: Target) -> Result<Target, InputError> {
        let target = self
            .apply_plain(target)
            .proxy(self.proxy.clone())
            .balance(self.balance)
            .http_version(self.http_version);
        target.proxies().blame(InputField::Connections)?;
        self.trust.apply(target)
    }

    /// `target` with what of this a server on loopback can follow: how arrivals are stamped, and how long a connection lasts.
    pub(crate) fn apply_plain(&self, target: Target) -> Target {
        target.connection_use(self.connection_use).stamps(self.stamps)
    }

    /// Whether requests to `urls` go over TLS and nobody checks whose certificate it is.
    pub(crate) fn is_unchecked(&self, urls: &[String]) -> bool {
        self.trust == TrustSpec::Unchecked && urls.iter().any(|url| is_tls(url))
    }

    /// The proxy between here and `url`; none where it cannot be used, which was refused before.
    fn through(&self, url: &str) -> Option<String> {
        self.proxy.of(url).ok().flatten()
    }

    /// The proxies between here and `urls`, each once.
    pub(crate) fn proxies(&self, urls: &[String]) -> Vec<String> {
        let mut proxies: Vec<String> = urls.iter().filter_map(|url| self.through(url)).collect();
        proxies.sort_unstable();
        proxies.dedup();
        proxies
    }

    /// What a run with `in_flight` requests at `urls` wants of connections.
    pub(crate) fn needs(&self, urls: &[String], in_flight: u64) -> ConnectionNeeds {
        // Several servers behind one proxy are one address.
        let address = |url: &String| self.through(url).unwrap_or_else(|| url.clone());
        let mut addresses: Vec<String> = urls.iter().map(address).collect();
        addresses.sort_unstable();
        addresses.dedup();
        let streams = match (self.connection_use, self.http_version) {
            (ConnectionUse::Reuse, HttpVersion::Http2 { streams }) => Some(streams),
            _ => None,
        };
        ConnectionNeeds { in_flight, addresses: addresses.len().max(1) as u64, streams }
    }

    /// For the record.
    pub(super) fn describe(&self, target: &Target) -> ConnectionRecord {
        let also_at: Vec<String> =
            target.urls().skip(1).map(|url| split_url(&url).0.to_owned()).collect();
        let balance = match self.balance {
            LoadBalancing::RoundRobin => "round_robin",
            LoadBalancing::LeastInFlight => "least_in_flight",
        };
        let streams = match self.http_version {
            HttpVersion::Http11 => None,
            HttpVersion::Http2 { streams } => Some(streams.get()),
        };
        let lifetime = match self.connection_use {
            ConnectionUse::PerRequest => "one request",
            ConnectionUse::Reuse => "kept",
        };
        let stamps = match self.stamps {
            StampChoice::User => "user",
            StampChoice::KernelIfAvailable => "kernel if available",
        };
        let certificates = || match &self.trust {
            TrustSpec::Unchecked => "NOT checked".to_owned(),
            TrustSpec::WebPki => "checked".to_owned(),
            TrustSpec::File(path) => format!("checked, also by {}", path.display()),
        };
        ConnectionRecord {
            balance: (!also_at.is_empty()).then(|| balance.to_owned()),
            also_at,
            headers: Vec::new(),
            http_version: streams.map_or("1.1", |_| "2").to_owned(),
            http2_streams: streams,
            lifetime: lifetime.to_owned(),
            certificates: target.urls().any(|url| is_tls(&url)).then(certificates),
            // Those that cannot be used were refused.
            proxies: target.proxies().unwrap_or_default(),
            stamps: stamps.to_owned(),
        }
    }
}

fn is_tls(url: &str) -> bool {
    url.split_once("://").is_some_and(|(scheme, _)| scheme.trim().eq_ignore_ascii_case("https"))
}
