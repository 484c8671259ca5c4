//! One request outside the measured path: for looking at a server, not for timing it.

use std::ops::ControlFlow;
use std::pin::pin;
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::{Either, select};
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1;
use hyper::header::{ACCEPT, CONTENT_TYPE, HeaderValue};
use hyper::{Method, Request, Uri};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::target::{Host, Target};

/// How long a GET may take in all: it is answered from memory or not at all.
const PATIENCE: Duration = Duration::from_secs(5);

/// The most of a body that is looked at.
const MOST: usize = 4 << 20;

/// Why a request had no reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lost {
    /// No connection can be made.
    Unreachable,
    /// There is no such request, or something went wrong with it.
    Other,
}

/// The reply to a GET of `path` behind the base URL: status and body, which may be cut.
pub(super) async fn get(target: &Target, path: &str) -> Result<(u16, Vec<u8>), Lost> {
    let uri = target.clone().path(path).ok().and_then(|target| target.uri()).ok_or(Lost::Other)?;
    let mut request = request(target, Method::GET, uri, Bytes::new());
    request.headers_mut().remove(CONTENT_TYPE);
    request.headers_mut().insert(ACCEPT, HeaderValue::from_static("application/json"));
    let mut body = Vec::new();
    let keep = |bytes: &[u8]| {
        body.extend_from_slice(bytes);
        if body.len() < MOST { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    let asked = timeout(PATIENCE, exchange(target, request, keep)).await;
    let status = asked.map_err(|_| Lost::Other)??;
    Ok((status, body))
}

/// A request of the target's with `body`.
pub(super) fn request(
    target: &Target,
    method: Method,
    uri: Uri,
    body: Bytes,
) -> Request<Full<Bytes>> {
    let mut request = Request::new(Full::new(body));
    *request.method_mut() = method;
    *request.uri_mut() = uri;
    target.headers().clone_into(request.headers_mut());
    request
}

/// Sends `request` on a connection of its own and hands the reply's body to `sink` piece by piece, until it is over or
/// the sink has seen enough. Gives the status.
pub(super) async fn exchange(
    target: &Target,
    request: Request<Full<Bytes>>,
    mut sink: impl FnMut(&[u8]) -> ControlFlow<()>,
) -> Result<u16, Lost> {
    let io = TokioIo::new(connect(target).await?);
    let (mut sender, connection) = http1::handshake(io).await.map_err(|_| Lost::Other)?;
    let reading = async move {
        let response = sender.send_request(request).await?;
        let status = response.status().as_u16();
        let mut body = response.into_body();
        while let Some(frame) = body.frame().await {
            if let Some(data) = frame?.data_ref()
                && sink(data).is_break()
            {
                break;
            }
        }
        Ok::<u16, hyper::Error>(status)
    };
    // A connection that is over has handed on all that it read.
    let read = match select(pin!(reading), pin!(connection)).await {
        Either::Left((read, _)) => read,
        Either::Right((_, reading)) => reading.await,
    };
    read.map_err(|_| Lost::Other)
}

/// A plaintext connection; under TLS a server is told by its requests alone.
async fn connect(target: &Target) -> Result<TcpStream, Lost> {
    if !target.url().starts_with("http://") {
        return Err(Lost::Other);
    }
    let authority = target.authority();
    let connecting = async {
        match &authority.host {
            Host::Address(address) => TcpStream::connect((*address, authority.port)).await,
            Host::Name(name) => TcpStream::connect((name.as_str(), authority.port)).await,
        }
    };
    match timeout(PATIENCE, connecting).await {
        Ok(connected) => connected.map_err(|_| Lost::Unreachable),
        Err(_) => Err(Lost::Unreachable),
    }
}
