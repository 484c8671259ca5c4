//! Metrics sent to a Pushgateway or to an OTLP endpoint.

use std::fmt;
use std::time::Duration;

use bytes::Bytes;
use hyper::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use hyper::{Method, StatusCode};
use tokio::time::timeout;

use crate::http::NoReply;
use crate::secret::{base64, percent_decoded};
use crate::{Backend, HttpTransport, MonotonicClock, Proxy, Secret, Target, TargetError};

/// Nobody waits longer for figures to arrive.
const PATIENCE: Duration = Duration::from_secs(20);

/// Where the metrics of runs are sent. Its text names no user and no password.
///
/// ```
/// use fizeau_transport::{PushProtocol, PushTarget};
///
/// let target = PushTarget::parse("http://me:secret@gateway:9091")?;
/// assert_eq!(target.to_string(), "http://gateway:9091");
/// assert_eq!(target.protocol(), PushProtocol::Pushgateway);
/// assert_eq!(target.address("a run"), "http://gateway:9091/metrics/job/fizeau/instance/a%20run");
/// # Ok::<(), fizeau_transport::PushError>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct PushTarget {
    protocol: PushProtocol,
    /// Scheme, host and port.
    base: String,
    /// The value of `Authorization`, where the address has a user.
    authorization: Option<String>,
    /// The password in it, which a gateway may repeat.
    password: Option<Secret>,
    /// What follows in the address, without a slash at its end, and its query.
    path: String,
    query: String,
}

/// The protocol by which metrics are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PushProtocol {
    /// Prometheus' text format, which replaces what a Pushgateway has of the run.
    Pushgateway,
    /// OTLP over HTTP in JSON.
    Otlp,
}

/// Why metrics did not arrive. No user and no password is repeated.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PushError {
    /// The address is none.
    #[error("{shown}: give http://HOST:PORT of a Pushgateway, or otlp+http://HOST:PORT")]
    Address {
        /// The address as it was given.
        shown: String,
    },
    /// No request can be sent there.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// It was not reached.
    #[error("{0}")]
    Unreachable(String),
    /// It did not answer in time, or broke off.
    #[error("it gave no HTTP answer within {} s", PATIENCE.as_secs())]
    NoAnswer,
    /// It answered, but not with success.
    #[error("it answered {status}: {said}")]
    Refused {
        /// Its status: `401 Unauthorized`.
        status: String,
        /// The first line of what it said.
        said: String,
    },
}

impl PushTarget {
    /// `http[s]://[USER:PASSWORD@]HOST[:PORT][/PATH]` of a Pushgateway, or with `otlp+` before it of an OTLP endpoint. A user and a
    /// password, escaped as an address needs them, are sent as basic authentication (RFC 7617).
    ///
    /// # Errors
    /// If it is no such address.
    pub fn parse(given: &str) -> Result<Self, PushError> {
        let (protocol, url) = match given.strip_prefix("otlp+") {
            Some(url) => (PushProtocol::Otlp, url),
            None => (PushProtocol::Pushgateway, given),
        };
        let parts = url.split_once("://").filter(|(scheme, _)| ["http", "https"].contains(scheme));
        let Some((scheme, rest)) = parts.filter(|(_, rest)| !rest.is_empty()) else {
            return Err(PushError::Address { shown: shown(given) });
        };
        let rest = rest.trim_end_matches('/');
        let (host, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
        let (user, host) = match host.rsplit_once('@') {
            Some((user, host)) => (Some(user), host),
            None => (None, host),
        };
        let pair = user.map(|user| user.split_once(':').unwrap_or((user, "")));
        let pair = pair.map(|(user, password)| [user, password].map(percent_decoded));
        let basic = |[user, password]: &[Vec<u8>; 2]| base64(&[user, &b":"[..], password].concat());
        let authorization = pair.as_ref().map(|pair| format!("Basic {}", basic(pair)));
        let password = pair.map(|[_, password]| Secret::new(String::from_utf8_lossy(&password)));
        let path = path.split('#').next().unwrap_or_default();
        let (path, query) = path.split_at(path.find('?').unwrap_or(path.len()));
        let (path, query) = (path.to_owned(), query.to_owned());
        Ok(Self {
            protocol,
            base: format!("{scheme}://{host}"),
            authorization,
            password,
            path,
            query,
        })
    }

    /// What is spoken with it.
    #[must_use]
    pub const fn protocol(&self) -> PushProtocol {
        self.protocol
    }

    /// Where the metrics of the run of that name go. A path of one's own is kept.
    #[must_use]
    pub fn address(&self, run: &str) -> String {
        format!("{}{}", self.base, self.path_of(run))
    }

    fn path_of(&self, run: &str) -> String {
        let path = &self.path;
        match self.protocol {
            PushProtocol::Pushgateway if path.contains("/metrics/job/") => path.clone(),
            PushProtocol::Pushgateway => {
                format!("{path}/metrics/job/fizeau/instance/{}", encoded(run))
            }
            PushProtocol::Otlp if path.ends_with("/v1/metrics") => path.clone(),
            PushProtocol::Otlp => format!("{path}/v1/metrics"),
        }
    }

    /// Sends `body`, the metrics of the run of that name in the [protocol's](Self::protocol) own form, through `proxy`. A redirection
    /// is not followed: what is sent may carry a password.
    ///
    /// # Errors
    /// If it does not arrive, or is not answered with success.
    pub async fn send(&self, run: &str, body: String, proxy: Proxy) -> Result<(), PushError> {
        let (method, media) = match self.protocol {
            PushProtocol::Pushgateway => (Method::PUT, "text/plain; version=0.0.4"),
            PushProtocol::Otlp => (Method::POST, "application/json"),
        };
        let target = Target::new(&self.base, Backend::Vllm, "")?.proxy(proxy);
        let target = target.path(&format!("{}{}", self.path_of(run), self.query))?;
        let target = target.header(CONTENT_TYPE.as_str(), media)?.header(ACCEPT.as_str(), "*/*")?;
        let target = match &self.authorization {
            Some(value) => target.header(AUTHORIZATION.as_str(), value)?,
            None => target,
        };
        let transport = HttpTransport::new(target, MonotonicClock::new());
        let answer = timeout(PATIENCE, transport.submit(&method, Bytes::from(body))).await;
        let (status, said) = match answer {
            Ok(Ok(answer)) => answer,
            Ok(Err(NoReply::Unreachable(error))) => {
                return Err(PushError::Unreachable(error.to_string()));
            }
            Ok(Err(NoReply::Other)) | Err(_) => return Err(PushError::NoAnswer),
        };
        let status = StatusCode::from_u16(status).map_err(|_| PushError::NoAnswer)?;
        if status.is_success() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&said);
        let mut secrets = transport.target().secrets().clone();
        self.password.iter().for_each(|password| secrets.add(password.clone()));
        let said = secrets.detail(said.lines().next().unwrap_or_default());
        Err(PushError::Refused { status: status.to_string(), said })
    }
}

/// Without user, password and query.
impl fmt::Display for PushTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.base, self.path)
    }
}

/// As [`Display`](fmt::Display) has it.
impl fmt::Debug for PushTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PushTarget({self}, {:?})", self.protocol)
    }
}

/// An address without what nobody else is to see: user, password, query.
fn shown(url: &str) -> String {
    let url = url.split(['?', '#']).next().unwrap_or_default();
    let Some((scheme, rest)) = url.split_once("://") else {
        return url.rsplit('@').next().unwrap_or_default().to_owned();
    };
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host = authority.rsplit('@').next().unwrap_or_default();
    format!("{scheme}://{host}{path}")
}

/// A name as a part of a path (RFC 3986).
fn encoded(name: &str) -> String {
    let byte = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
            char::from(byte).to_string()
        }
        _ => format!("%{byte:02X}"),
    };
    name.bytes().map(byte).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "an unwrap that panics is a test that fails")]

    use super::PushTarget;

    #[test]
    fn user_and_password_are_sent_as_they_are_and_not_in_the_address() {
        for (url, sent, pair) in [
            ("http://me:pa%20ss@host:9091/a@b", "http://host:9091/a@b", Some("bWU6cGEgc3M=")),
            ("http://me:a%40b%3a%@host", "http://host", Some("bWU6YUBiOiU=")),
            ("http://me@host", "http://host", Some("bWU6")),
            ("http://host/x?y=a@b", "http://host/x", None),
        ] {
            let target = PushTarget::parse(url).unwrap();
            let basic = pair.map(|pair| format!("Basic {pair}"));
            assert_eq!((target.to_string(), target.authorization), (sent.to_owned(), basic));
        }
    }

    #[test]
    fn what_is_refused_has_no_secret() {
        for (given, shown) in [
            ("me:secret@host", "host: give"),
            ("ftp://me:secret@host:9091/a?token=secret", "ftp://host:9091/a: give"),
        ] {
            let error = PushTarget::parse(given).unwrap_err().to_string();
            assert!(error.starts_with(shown), "{error}");
        }
    }
}
