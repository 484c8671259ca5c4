//! Metrics sent to a Pushgateway or to an OTLP endpoint.

#[cfg(feature = "push")]
mod http;

use fizeau::report::Exposition;

use crate::exit::Fail;

/// Where metrics are sent. Its text names no user and no password.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Target {
    protocol: Protocol,
    /// The address as it was given, without `otlp+`, with whatever credentials it has.
    url: String,
    /// The same for people.
    shown: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Protocol {
    Pushgateway,
    Otlp,
}

impl Target {
    /// The target that `--push` names.
    pub(super) fn of(given: &str) -> Result<Self, Fail> {
        let (protocol, url) = match given.strip_prefix("otlp+") {
            Some(url) => (Protocol::Otlp, url),
            None => (Protocol::Pushgateway, given),
        };
        let parts = url.split_once("://").filter(|(scheme, _)| ["http", "https"].contains(scheme));
        let Some((scheme, rest)) = parts.filter(|(_, rest)| !rest.is_empty()) else {
            return Err(Fail::usage(format!(
                "--push {}: give http://HOST:PORT of a Pushgateway, or otlp+http://HOST:PORT",
                shown(given)
            )));
        };
        if cfg!(not(feature = "push")) {
            return Err(Fail::usage(format!(
                "--push {}: this fizeau was built without it; build it with `--features push`, or take --prometheus",
                shown(given)
            )));
        }
        let url = format!("{scheme}://{}", rest.trim_end_matches('/'));
        Ok(Self { protocol, shown: shown(&url), url })
    }

    /// Sends the metrics of the run with that name.
    pub(super) fn send(&self, exposition: &Exposition, run: &str) -> Result<(), Fail> {
        let url = self.address(run);
        self.deliver(&url, exposition)?;
        tell!("sent to {}", shown(&url));
        Ok(())
    }

    /// The whole address. A path of one's own is kept.
    fn address(&self, run: &str) -> String {
        let Self { protocol, url, .. } = self;
        match protocol {
            Protocol::Pushgateway if url.contains("/metrics/job/") => url.clone(),
            Protocol::Pushgateway => format!("{url}/metrics/job/fizeau/instance/{}", encoded(run)),
            Protocol::Otlp if url.ends_with("/v1/metrics") => url.clone(),
            Protocol::Otlp => format!("{url}/v1/metrics"),
        }
    }

    #[cfg(feature = "push")]
    fn deliver(&self, url: &str, exposition: &Exposition) -> Result<(), Fail> {
        match self.protocol {
            Protocol::Pushgateway => http::put(url, &exposition.to_prometheus()),
            Protocol::Otlp => http::post(url, &exposition.to_otlp(http::since_1970())),
        }
        .map_err(|reason| Fail::broken(format!("--push {}: {reason}", self.shown)))
    }

    #[cfg(not(feature = "push"))]
    fn deliver(&self, _: &str, _: &Exposition) -> Result<(), Fail> {
        Err(Fail::broken(format!("--push {}: built without it", self.shown)))
    }
}

/// An address without what nobody else is to see: user, password, query.
fn shown(url: &str) -> String {
    let url = url.split(['?', '#']).next().unwrap_or_default();
    let Some((scheme, rest)) = url.split_once("://") else {
        return url.rsplit('@').next().unwrap_or_default().to_owned();
    };
    let host_begins = rest.find('/').unwrap_or(rest.len());
    let (authority, path) = rest.split_at(host_begins);
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
    use super::{encoded, shown};

    #[test]
    fn what_is_shown_has_no_secret() {
        let with = "https://user:pass@host:9091/a?token=secret";
        assert_eq!(shown(with), "https://host:9091/a");
        assert_eq!(shown("user:pass@host"), "host");
        assert_eq!(shown("http://host/@a"), "http://host/@a");
    }

    #[test]
    fn a_name_is_one_part_of_a_path() {
        assert_eq!(encoded("2026-11-21 a/b"), "2026-11-21%20a%2Fb");
    }
}
