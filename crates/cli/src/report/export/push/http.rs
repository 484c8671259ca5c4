//! One request over HTTP, and what came of it in plain words.

use std::time::{Duration, SystemTime};

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
    judged(agent().put(url).content_type("text/plain; version=0.0.4").send(body))
}

pub(super) fn post(url: &str, body: &str) -> Result<(), String> {
    judged(agent().post(url).content_type("application/json").send(body))
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
