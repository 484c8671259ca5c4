//! Base URLs.

use std::fmt;
use std::net::{IpAddr, Ipv6Addr};

use super::KeepAliveRecord;

/// What stands before a request's path: scheme, host and port, and the path of the base URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BaseUrl {
    pub(crate) scheme: UrlScheme,
    pub(crate) authority: UrlAuthority,
    /// Without a slash at its end.
    pub(crate) prefix: String,
    /// What is known of the server there.
    pub(crate) keep_alive: KeepAliveRecord,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UrlScheme {
    Http,
    Https,
}

/// Host and port of an endpoint or a proxy.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct UrlAuthority {
    pub(crate) host: UrlHost,
    pub(crate) port: u16,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum UrlHost {
    Address(IpAddr),
    Name(String),
}

impl BaseUrl {
    /// The parts of `http[s]://host[:port][/prefix]`. The error says what is wrong with the URL.
    pub(crate) fn parse(url: &str) -> Result<Self, &'static str> {
        let (scheme, rest) =
            url.trim().split_once("://").ok_or("has no scheme: write it as http://HOST:PORT")?;
        let scheme = UrlScheme::parse(scheme)?;
        if rest.contains(['?', '#']) {
            return Err("has a query or a fragment: put a query behind the endpoint path");
        }
        let (authority, prefix) = match rest.find('/') {
            Some(slash) => rest.split_at(slash),
            None => (rest, ""),
        };
        if authority.contains('@') {
            return Err("holds a user or password: give an API key or a header instead");
        }
        let authority = UrlAuthority::parse(authority, Some(scheme.port()))?;
        let prefix = prefix.trim_end_matches('/').to_owned();
        Ok(Self { scheme, authority, prefix, keep_alive: KeepAliveRecord::default() })
    }

    /// Host and port as the `Host` header has them: without the port where it is the scheme's own.
    pub(crate) fn host_header(&self) -> String {
        if self.authority.port == self.scheme.port() {
            self.authority.host.to_string()
        } else {
            self.authority.to_string()
        }
    }
}

impl fmt::Display for BaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}{}", self.scheme.as_str(), self.authority, self.prefix)
    }
}

impl UrlScheme {
    fn parse(text: &str) -> Result<Self, &'static str> {
        if text.eq_ignore_ascii_case("http") {
            Ok(Self::Http)
        } else if !text.eq_ignore_ascii_case("https") {
            Err("has an unknown scheme: write it as http://HOST:PORT or https://HOST")
        } else if cfg!(feature = "tls") {
            Ok(Self::Https)
        } else {
            Err("needs TLS, which this build does not have: build with the feature `tls`")
        }
    }

    const fn port(self) -> u16 {
        match self {
            Self::Http => 80,
            Self::Https => 443,
        }
    }
}

fizeau_core::words! {
    pub(crate) UrlScheme::as_str {
        Http = "http", Https = "https",
    }
}

impl UrlAuthority {
    /// `host[:port]`; without a default the port must be there. The error says what is wrong.
    pub(crate) fn parse(text: &str, default: Option<u16>) -> Result<Self, &'static str> {
        let (host, port) = host_and_port(text)?;
        let port = port.or(default).ok_or("has no port: write it as HOST:PORT")?;
        Ok(Self { host, port })
    }
}

impl UrlHost {
    /// Whether it is this machine, whatever the network.
    pub(crate) fn is_loopback(&self) -> bool {
        match self {
            Self::Address(address) => address.to_canonical().is_loopback(),
            Self::Name(name) => {
                let name = name.trim_end_matches('.').to_ascii_lowercase();
                name == "localhost" || name.ends_with(".localhost")
            }
        }
    }
}

impl fmt::Display for UrlAuthority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.host, self.port)
    }
}

impl fmt::Display for UrlHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address(IpAddr::V6(address)) => write!(f, "[{address}]"),
            Self::Address(address) => write!(f, "{address}"),
            Self::Name(name) => f.write_str(name),
        }
    }
}

/// `url` with whatever stands before an `@` taken out, and the query, for an error text.
pub(crate) fn without_password(url: &str) -> String {
    let hide_query = |text: &str| match text.split_once('?') {
        Some((before, _)) => format!("{before}?***"),
        None => text.to_owned(),
    };
    let Some((before, after)) = url.rsplit_once('@') else {
        return hide_query(url);
    };
    let scheme = before.split_once("://").map_or("", |(scheme, _)| scheme);
    // A `?` before it may be part of a password, or begin a query that holds the `@`.
    if before.contains('?') {
        return format!("{scheme}://***");
    }
    format!("{scheme}://***@{}", hide_query(after))
}

/// The parts of `host[:port]`; an IPv6 address stands in brackets.
pub(crate) fn host_and_port(text: &str) -> Result<(UrlHost, Option<u16>), &'static str> {
    const PORT: &str = "has a port that is not a number from 1 to 65535";
    let (host, port) = split_port(text)?;
    let port = port.map(|port| port.parse().ok().filter(|port| *port != 0).ok_or(PORT));
    Ok((host, port.transpose()?))
}

fn split_port(text: &str) -> Result<(UrlHost, Option<&str>), &'static str> {
    if let Some(rest) = text.strip_prefix('[') {
        let (address, rest) =
            rest.split_once(']').ok_or("has an IPv6 address without its closing bracket")?;
        let address: Ipv6Addr = address.parse().map_err(|_| "has an invalid IPv6 address")?;
        let port = match rest.strip_prefix(':') {
            Some(port) => Some(port),
            None if rest.is_empty() => None,
            None => return Err("has something other than a port behind its IPv6 address"),
        };
        return Ok((UrlHost::Address(address.into()), port));
    }
    let (host, port) = match text.split_once(':') {
        Some((host, port)) => (host, Some(port)),
        None => (text, None),
    };
    if port.is_some_and(|port| port.contains(':')) {
        return Err("has an IPv6 address without brackets: write it as http://[::1]:8000");
    }
    Ok((parse_host(host)?, port))
}

fn parse_host(text: &str) -> Result<UrlHost, &'static str> {
    if text.is_empty() {
        return Err("has no host: write it as http://HOST:PORT");
    }
    if let Ok(address) = text.parse() {
        return Ok(UrlHost::Address(address));
    }
    let allowed = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
    if text.chars().all(allowed) {
        Ok(UrlHost::Name(text.to_owned()))
    } else {
        Err("has a host name with characters that none may have")
    }
}
