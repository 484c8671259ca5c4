//! Which requests go through a proxy: the environment's variables, read as curl reads them.

use std::fmt;
use std::net::IpAddr;

use super::url::{BaseUrl, UrlAuthority, UrlHost, UrlScheme, host_and_port};
use crate::secret::{Secret, Secrets, base64, percent_decoded};

/// The proxies that requests go through, if any.
///
/// A plaintext endpoint is asked through its proxy in absolute form (`POST http://host/...`), one behind TLS or
/// with HTTP/2 through a tunnel (`CONNECT host:port`). An endpoint on loopback is never reached through a proxy:
/// what is local to this machine is not local to the proxy. (Go's net/http does the same; curl does not.)
///
/// ```
/// use fizeau_transport::Proxy;
/// let environment = [("http_proxy", "http://me:pw@proxy.lan:3128"), ("NO_PROXY", ".lan, 10.0.0.7")];
/// let proxy = Proxy::from_variables(|name| {
///     let found = environment.iter().find(|(known, _)| *known == name);
///     found.map(|(_, value)| (*value).to_owned())
/// });
/// assert_eq!(proxy.of("http://api.example.com")?, Some("http://***@proxy.lan:3128".to_owned()));
/// assert_eq!(proxy.of("http://llm.lan")?, None);
/// assert_eq!(proxy.of("http://localhost:8000")?, None);
/// # Ok::<(), fizeau_transport::ProxyError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Proxy {
    http: Option<Result<ProxyRoute, ProxyError>>,
    https: Option<Result<ProxyRoute, ProxyError>>,
    exempt: Vec<ProxyExemption>,
}

/// Why a proxy cannot be used. No user or password is repeated.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the proxy of {variable} {why}")]
pub struct ProxyError {
    /// The variable that names it.
    pub variable: String,
    /// What is wrong, and what would be right.
    pub why: &'static str,
}

/// One proxy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ProxyRoute {
    pub(crate) authority: UrlAuthority,
    /// The value of `Proxy-Authorization`.
    pub(crate) authorization: Option<Secret>,
    password: Option<Secret>,
}

/// An entry of `NO_PROXY`.
#[derive(Debug, Clone, PartialEq, Eq)]
enum ProxyExemption {
    All,
    /// A host and all names below it, at one port or at any.
    Host {
        host: String,
        port: Option<u16>,
    },
    /// The addresses that agree with this one in their first bits.
    Network {
        address: IpAddr,
        bits: u32,
    },
}

impl Proxy {
    /// No proxy at all.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// The proxies that variables name, as curl reads them: `http_proxy` (in lower case only, because a CGI server
    /// sets the other one from a header), `https_proxy` or `HTTPS_PROXY`, for both `all_proxy` or `ALL_PROXY`, and
    /// the exceptions of `no_proxy` or `NO_PROXY`; lower case comes first, and empty is absent.
    ///
    /// A proxy is given as `[http://][user:password@]host:port`. The port must be there, because clients differ in
    /// the one they assume. The exceptions are separated by commas or spaces: `*` for all, a host or domain with all
    /// names below it, each with a port or without; or a network of addresses as `10.0.0.0/8`.
    ///
    /// One that cannot be used is an error of the requests that would go through it alone, of which there may be none: [`Proxy::of`]
    /// tells.
    #[must_use]
    pub fn from_variables(lookup: impl Fn(&str) -> Option<String>) -> Self {
        let first = |names: &[&str]| {
            let mut set = names.iter().filter_map(|name| Some((name.to_string(), lookup(name)?)));
            set.find(|(_, value)| !value.trim().is_empty())
        };
        let via = |names: &[&str]| {
            first(names).map(|(variable, url)| {
                ProxyRoute::parse(url.trim()).map_err(|why| ProxyError { variable, why })
            })
        };
        let exempt =
            first(&["no_proxy", "NO_PROXY"]).map(|(_, list)| ProxyExemption::parse_all(&list));
        Self {
            http: via(&["http_proxy", "all_proxy", "ALL_PROXY"]),
            https: via(&["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]),
            exempt: exempt.unwrap_or_default(),
        }
    }

    /// The proxy that requests to `base_url` go through, without its user and password; none if they go straight, or
    /// if that is no base URL.
    ///
    /// # Errors
    /// If it cannot be used: another scheme than `http://`, no port, no such host.
    pub fn of(&self, base_url: &str) -> Result<Option<String>, ProxyError> {
        let Ok(base) = BaseUrl::parse(base_url) else { return Ok(None) };
        Ok(self.via(&base)?.map(ToString::to_string))
    }

    pub(crate) fn via(&self, base: &BaseUrl) -> Result<Option<&ProxyRoute>, ProxyError> {
        let host = &base.authority.host;
        if host.is_loopback() || self.exempt.iter().any(|exempt| exempt.covers(&base.authority)) {
            return Ok(None);
        }
        let via = match base.scheme {
            UrlScheme::Http => &self.http,
            UrlScheme::Https => &self.https,
        };
        via.as_ref().map(Result::as_ref).transpose().map_err(ProxyError::clone)
    }

    /// Adds what a proxy might repeat.
    pub(crate) fn hide_in(&self, secrets: &mut Secrets) {
        for via in self.http.iter().chain(&self.https).flatten() {
            for secret in via.authorization.iter().chain(&via.password) {
                for word in secret.expose().split_ascii_whitespace().filter(|word| *word != "Basic")
                {
                    secrets.add(Secret::new(word));
                }
            }
        }
    }
}

impl ProxyRoute {
    fn parse(url: &str) -> Result<Self, &'static str> {
        let rest = match url.split_once("://") {
            None => url,
            Some((scheme, rest)) if scheme.eq_ignore_ascii_case("http") => rest,
            Some(_) => {
                return Err("is not an HTTP proxy: write it as http://HOST:PORT");
            }
        };
        let rest = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let (user, authority) = match rest.rsplit_once('@') {
            Some((user, authority)) => (Some(user), authority),
            None => (None, rest),
        };
        let authority = UrlAuthority::parse(authority, None)?;
        let Some(user) = user else {
            return Ok(Self { authority, authorization: None, password: None });
        };
        let (user, password) = user.split_once(':').unwrap_or((user, ""));
        let (user, password) = (percent_decoded(user), percent_decoded(password));
        let credentials = base64(&[&user, b":".as_slice(), &password].concat());
        Ok(Self {
            authority,
            authorization: Some(Secret::new(format!("Basic {credentials}"))),
            password: String::from_utf8(password).ok().map(Secret::new),
        })
    }
}

/// Without user and password.
impl fmt::Display for ProxyRoute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let user = if self.authorization.is_some() { "***@" } else { "" };
        write!(f, "http://{user}{}", self.authority)
    }
}

impl ProxyExemption {
    fn parse_all(list: &str) -> Vec<Self> {
        let words = list.split(|c: char| c == ',' || c.is_whitespace());
        words.filter(|word| !word.is_empty()).map(Self::parse).collect()
    }

    /// An entry that is none matches nothing, as with curl.
    fn parse(word: &str) -> Self {
        if word == "*" {
            return Self::All;
        }
        let word = word.strip_prefix("*.").unwrap_or(word).trim_start_matches('.');
        if let Ok(address) = word.parse() {
            return Self::Host { host: UrlHost::Address(address).to_string(), port: None };
        }
        if let Some(network) = Self::network(word) {
            return network;
        }
        match host_and_port(word) {
            Ok((host, port)) => Self::Host { host: normal(&host), port },
            Err(_) => Self::Host { host: word.to_owned(), port: None },
        }
    }

    /// `ADDRESS/BITS` (RFC 4632, section 3.1, and RFC 4291, section 2.3).
    fn network(word: &str) -> Option<Self> {
        let (address, bits) = word.split_once('/')?;
        let address: IpAddr = address.parse().ok()?;
        let bits = bits.parse().ok().filter(|bits| *bits <= width(address))?;
        Some(Self::Network { address, bits })
    }

    fn covers(&self, whom: &UrlAuthority) -> bool {
        let (host, port) = match self {
            Self::All => return true,
            Self::Network { address, bits } => {
                return match whom.host {
                    UrlHost::Address(asked) => agree(*address, asked.to_canonical(), *bits),
                    UrlHost::Name(_) => false,
                };
            }
            Self::Host { host, port } => (host, port),
        };
        let asked = normal(&whom.host);
        let below = || match whom.host {
            UrlHost::Name(_) => {
                asked.strip_suffix(host.as_str()).is_some_and(|rest| rest.ends_with('.'))
            }
            UrlHost::Address(_) => false,
        };
        port.is_none_or(|port| port == whom.port) && (asked == *host || below())
    }
}

const fn width(address: IpAddr) -> u32 {
    match address {
        IpAddr::V4(_) => 32,
        IpAddr::V6(_) => 128,
    }
}

/// Whether two addresses of one kind have their first `bits` in common.
fn agree(one: IpAddr, other: IpAddr, bits: u32) -> bool {
    let differing = match (one, other) {
        (IpAddr::V4(one), IpAddr::V4(other)) => u128::from(one.to_bits() ^ other.to_bits()),
        (IpAddr::V6(one), IpAddr::V6(other)) => one.to_bits() ^ other.to_bits(),
        _ => return false,
    };
    // Without any bits to compare, the shift is by all there are, and leaves none.
    differing.checked_shr(width(one) - bits).unwrap_or_default() == 0
}

fn normal(host: &UrlHost) -> String {
    host.to_string().trim_end_matches('.').to_ascii_lowercase()
}
