//! Base URLs.

use std::fmt;
use std::net::{IpAddr, Ipv6Addr};

/// Host and port of a plaintext endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Authority {
    pub(crate) host: Host,
    pub(crate) port: u16,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Host {
    Address(IpAddr),
    Name(String),
}

impl Authority {
    /// The `Host` header: the port is left out where it is the scheme's own.
    pub(crate) fn header(&self) -> String {
        match self.port {
            80 => self.host.to_string(),
            _ => self.to_string(),
        }
    }
}

impl fmt::Display for Authority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.host, self.port)
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address(IpAddr::V6(address)) => write!(f, "[{address}]"),
            Self::Address(address) => write!(f, "{address}"),
            Self::Name(name) => f.write_str(name),
        }
    }
}

/// The parts of `http://host[:port][/prefix]`: authority, and prefix without a slash at its end. The error
/// says what is wrong with the URL.
pub(crate) fn parse(url: &str) -> Result<(Authority, String), &'static str> {
    let (scheme, rest) =
        url.trim().split_once("://").ok_or("has no scheme: write it as http://HOST:PORT")?;
    if scheme.eq_ignore_ascii_case("https") {
        return Err("asks for TLS, which this transport does not speak: use an http:// endpoint");
    }
    if !scheme.eq_ignore_ascii_case("http") {
        return Err("has an unknown scheme: write it as http://HOST:PORT");
    }
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
    let authority = parse_authority(authority)?;
    Ok((authority, prefix.trim_end_matches('/').to_owned()))
}

/// `url` with whatever stands before an `@` taken out, for an error text.
pub(crate) fn without_password(url: &str) -> String {
    let (url, query) = match url.split_once('?') {
        Some((url, _)) => (url, "?***"),
        None => (url, ""),
    };
    let Some((before, after)) = url.rsplit_once('@') else {
        return format!("{url}{query}");
    };
    let scheme = before.split_once("://").map_or("", |(scheme, _)| scheme);
    format!("{scheme}://***@{after}{query}")
}

fn parse_authority(text: &str) -> Result<Authority, &'static str> {
    const PORT: &str = "has a port that is not a number from 1 to 65535";
    let (host, port) = if let Some(rest) = text.strip_prefix('[') {
        let (address, rest) =
            rest.split_once(']').ok_or("has an IPv6 address without its closing bracket")?;
        let address: Ipv6Addr = address.parse().map_err(|_| "has an IPv6 address that is none")?;
        let port = match rest.strip_prefix(':') {
            Some(port) => Some(port),
            None if rest.is_empty() => None,
            None => return Err(PORT),
        };
        (Host::Address(address.into()), port)
    } else {
        let (host, port) = match text.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (text, None),
        };
        if port.is_some_and(|port| port.contains(':')) {
            return Err("has an IPv6 address without brackets: write it as http://[::1]:8000");
        }
        (parse_host(host)?, port)
    };
    let port = match port {
        None => 80,
        Some(port) => port.parse().map_err(|_| PORT)?,
    };
    if port == 0 {
        return Err(PORT);
    }
    Ok(Authority { host, port })
}

fn parse_host(text: &str) -> Result<Host, &'static str> {
    if text.is_empty() {
        return Err("has no host: write it as http://HOST:PORT");
    }
    if let Ok(address) = text.parse() {
        return Ok(Host::Address(address));
    }
    let allowed = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
    if text.chars().all(allowed) {
        Ok(Host::Name(text.to_owned()))
    } else {
        Err("has a host name with characters that none may have")
    }
}

#[cfg(test)]
mod tests {
    use super::{parse, without_password};

    #[track_caller]
    fn check(url: &str, expected: Result<(&str, &str), &str>) {
        let parsed = parse(url).map(|(authority, prefix)| (authority.to_string(), prefix));
        match (&parsed, expected) {
            (Ok((authority, prefix)), Ok(expected)) => {
                assert_eq!((authority.as_str(), prefix.as_str()), expected);
            }
            (Err(why), Err(part)) => assert!(why.contains(part), "{why}"),
            _ => panic!("{url}: {parsed:?}, expected {expected:?}"),
        }
    }

    #[test]
    fn base_urls() {
        check("http://localhost:8000", Ok(("localhost:8000", "")));
        check("HTTP://10.0.0.1/", Ok(("10.0.0.1:80", "")));
        check("http://h/a/b/", Ok(("h:80", "/a/b")));
        check("http://[::1]:9/v1", Ok(("[::1]:9", "/v1")));
        check("http://[fe80::1]", Ok(("[fe80::1]:80", "")));
        check("localhost:8000", Err("no scheme"));
        check("https://h", Err("TLS"));
        check("ftp://h", Err("unknown scheme"));
        check("http://", Err("no host"));
        check("http://:80", Err("no host"));
        check("http://h:0", Err("port"));
        check("http://h:65536", Err("port"));
        check("http://[::1]8", Err("port"));
        check("http://::1", Err("brackets"));
        check("http://[::1", Err("closing bracket"));
        check("http://h?x=1", Err("query"));
        check("http://u:p@h", Err("password"));
        check("http://a b", Err("characters"));
    }

    #[test]
    fn a_password_is_not_repeated() {
        assert_eq!(without_password("http://u:pw@h/"), "http://***@h/");
        assert_eq!(without_password("http://h/"), "http://h/");
    }
}
