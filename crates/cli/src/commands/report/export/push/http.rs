//! One request over HTTP, and what came of it in plain words.

use std::time::{Duration, SystemTime};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use fizeau::core::Nanos;

/// Nobody waits longer for a figure to arrive.
const TIMEOUT: Duration = Duration::from_secs(20);

/// The wall clock.
pub(super) fn since_1970() -> Nanos {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Nanos::from_nanos(u64::try_from(since.as_nanos()).unwrap_or(u64::MAX))
}

/// Replaces what a Pushgateway has of the run.
pub(super) fn put(url: &str, body: &str) -> Result<(), String> {
    let (url, authority) = authorized(url);
    let request = agent().put(url).content_type("text/plain; version=0.0.4");
    judged(with(request, authority).send(body))
}

pub(super) fn post(url: &str, body: &str) -> Result<(), String> {
    let (url, authority) = authorized(url);
    let request = agent().post(url).content_type("application/json");
    judged(with(request, authority).send(body))
}

fn with<B>(request: ureq::RequestBuilder<B>, authority: Option<String>) -> ureq::RequestBuilder<B> {
    match authority {
        Some(authority) => request.header("Authorization", authority),
        None => request,
    }
}

/// An address without its user and password, and both as basic authentication (RFC 7617), without the escapes that an address
/// needs.
fn authorized(url: &str) -> (String, Option<String>) {
    let whole = || (url.to_owned(), None);
    let Some((scheme, rest)) = url.split_once("://") else { return whole() };
    let (host, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    let Some((user, host)) = host.rsplit_once('@') else { return whole() };
    let (user, password) = user.split_once(':').unwrap_or((user, ""));
    let mut pair = unescaped(user);
    pair.push(b':');
    pair.extend(unescaped(password));
    let authority = format!("Basic {}", BASE64_STANDARD.encode(pair));
    (format!("{scheme}://{host}{path}"), Some(authority))
}

/// `pa%20ss` as `pa ss`. What is no escape stays as it is.
fn unescaped(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let digit = |at: usize| char::from(*after.get(at)?).to_digit(16);
        match (byte == b'%').then(|| Some((digit(0)?, digit(1)?))).flatten() {
            Some((high, low)) => {
                bytes.push((16 * high + low) as u8);
                rest = after.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(byte);
                rest = after;
            }
        }
    }
    bytes
}

/// A redirection is not followed: what is sent may carry a password.
fn agent() -> ureq::Agent {
    let config = ureq::Agent::config_builder();
    let config = config.timeout_global(Some(TIMEOUT)).max_redirects(0);
    config.max_redirects_will_error(false).http_status_as_error(false).build().into()
}

fn judged(answer: Result<ureq::http::Response<ureq::Body>, ureq::Error>) -> Result<(), String> {
    let mut answer = answer.map_err(|error| reason(&error))?;
    let status = answer.status();
    if status.is_success() {
        return Ok(());
    }
    let body = answer.body_mut().with_config().limit(4096).read_to_string().unwrap_or_default();
    let first = body.lines().next().unwrap_or_default();
    let said: String = first.chars().filter(|char| !char.is_control()).take(200).collect();
    Err(format!("it answered {status}: {said}").trim_end_matches(": ").to_owned())
}

/// Why it could not be reached. Texts that quote the address are replaced: it may hold a password.
fn reason(error: &ureq::Error) -> String {
    match error {
        ureq::Error::Io(error) => error.to_string(),
        ureq::Error::Timeout(_) => format!("no answer within {} s", TIMEOUT.as_secs()),
        ureq::Error::HostNotFound => "there is no such host".to_owned(),
        ureq::Error::ConnectionFailed => "no connection could be made".to_owned(),
        ureq::Error::Rustls(error) => error.to_string(),
        _ => "it is no address that can be sent to, or no answer that is HTTP".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::authorized;

    #[test]
    fn user_and_password_are_sent_as_they_are_and_not_in_the_address() {
        for (url, sent, pair) in [
            ("http://me:pa%20ss@host:9091/a@b", "http://host:9091/a@b", Some("bWU6cGEgc3M=")),
            ("http://me:a%40b%3a%@host", "http://host", Some("bWU6YUBiOiU=")),
            ("http://me@host", "http://host", Some("bWU6")),
            ("http://host/x?y=a@b", "http://host/x?y=a@b", None),
        ] {
            let basic = pair.map(|pair| format!("Basic {pair}"));
            assert_eq!(authorized(url), (sent.to_owned(), basic));
        }
    }
}
