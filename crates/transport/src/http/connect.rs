//! The making of connections.

use std::io;
use std::net::SocketAddr;

use fizeau_core::{Clock, ConnectMarks, Failure, FailureClass};
use tokio::net::TcpStream;

use super::StampChoice;
use super::io::Io;
use super::socket::Stamped;
use crate::target::{Authority, Host};

/// A connection to `whom`, and when its parts were done.
pub(super) async fn connect<C: Clock + Clone>(
    whom: &Authority,
    clock: &C,
    stamps: StampChoice,
) -> Result<(Io<C>, ConnectMarks), Failure> {
    let start = clock.now();
    let (addresses, dns) = match &whom.host {
        Host::Address(address) => (vec![SocketAddr::new(*address, whom.port)], None),
        Host::Name(name) => {
            let found = tokio::net::lookup_host((name.as_str(), whom.port)).await;
            let dns = clock.now();
            let found = found.map_err(|error| refused(whom, "resolve", &error))?;
            (found.collect(), Some(dns))
        }
    };
    let stream = first_that_answers(whom, &addresses).await?;
    let tcp = clock.now();
    let marks = ConnectMarks { start, dns, tcp, tls: None };
    Ok((Io::Plain(Stamped::new(stream, clock.clone(), stamps)), marks))
}

async fn first_that_answers(
    whom: &Authority,
    addresses: &[SocketAddr],
) -> Result<TcpStream, Failure> {
    let mut last = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
    for address in addresses {
        let connected = TcpStream::connect(address).await;
        // Requests are small and must leave at once: no waiting for more to send.
        match connected.and_then(|stream| stream.set_nodelay(true).map(|()| stream)) {
            Ok(stream) => return Ok(stream),
            Err(error) => last = error,
        }
    }
    Err(refused(whom, "connect to", &last))
}

fn refused(whom: &Authority, what: &str, error: &io::Error) -> Failure {
    let detail = format!("could not {what} {whom}: {}", why(error));
    Failure::new(FailureClass::Connect, detail)
}

/// What `error` means in words: the system's, without its number.
pub(super) fn why(error: &io::Error) -> String {
    let words = error.to_string();
    let words = words.split(" (os error").next().unwrap_or(&words);
    let mut chars = words.chars();
    let first = chars.next().map(|first| first.to_ascii_lowercase());
    first.into_iter().chain(chars).collect()
}
