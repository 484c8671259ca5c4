//! A tunnel through a proxy.

use std::io;

use fizeau_core::{Failure, FailureClass};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::connect::why;
use crate::target::{Authority, Via};

/// The most that a proxy may say before the tunnel stands.
const ANSWER_LIMIT: usize = 16 << 10;

/// Asks the proxy `via` at the other end of `stream` for a tunnel to `whom` (RFC 9110, section 9.3.6).
pub(super) async fn open(
    stream: &mut TcpStream,
    via: &Via,
    whom: &Authority,
) -> Result<(), Failure> {
    let broken = |error: &io::Error| {
        refused(via, whom, &format!("broke off before the tunnel stood: {}", why(error)))
    };
    let mut request = format!("CONNECT {whom} HTTP/1.1\r\nHost: {whom}\r\n");
    if let Some(authorization) = &via.authorization {
        request.push_str("Proxy-Authorization: ");
        request.push_str(authorization.expose());
        request.push_str("\r\n");
    }
    request.push_str("\r\n");
    stream.write_all(request.as_bytes()).await.map_err(|error| broken(&error))?;
    let answer = answer(stream).await.map_err(|error| broken(&error))?;
    let mut headers = [httparse::EMPTY_HEADER; 64];
    let mut head = httparse::Response::new(&mut headers);
    match (head.parse(&answer), head.code) {
        (Ok(httparse::Status::Complete(_)), Some(200..=299)) => Ok(()),
        (Ok(_), Some(407)) => Err(refused(
            via,
            whom,
            "wants another user and password: give them as http://USER:PASSWORD@HOST:PORT",
        )),
        (Ok(_), Some(status)) => {
            Err(refused(via, whom, &format!("refused the tunnel with status {status}")))
        }
        _ => Err(refused(via, whom, "answered with something other than HTTP")),
    }
}

/// The head of the proxy's answer, and not a byte of what comes behind it: that is the server's already. Hence the
/// look at the bytes before they are taken.
async fn answer(stream: &mut TcpStream) -> io::Result<Vec<u8>> {
    const END: &[u8] = b"\r\n\r\n";
    let mut head = Vec::new();
    let mut seen = [0; 2048];
    loop {
        let peeked = stream.peek(&mut seen).await?;
        if peeked == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let known = head.len();
        head.extend_from_slice(seen.get(..peeked).unwrap_or_default());
        // The end may have begun with what was taken earlier.
        let from = known.saturating_sub(END.len() - 1);
        let end = memchr::memmem::find(head.get(from..).unwrap_or_default(), END)
            .map(|at| from + at + END.len());
        head.truncate(end.unwrap_or(head.len()));
        // What was seen is there: this does not wait.
        let taken = head.len() - known;
        stream.read_exact(seen.get_mut(..taken).unwrap_or_default()).await?;
        if end.is_some() {
            return Ok(head);
        }
        if head.len() > ANSWER_LIMIT {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "its answer has no end"));
        }
    }
}

fn refused(via: &Via, whom: &Authority, what: &str) -> Failure {
    let proxy = &via.authority;
    Failure::new(FailureClass::Connect, format!("no way to {whom}: the proxy {proxy} {what}"))
}
