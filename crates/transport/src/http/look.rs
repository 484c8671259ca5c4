//! Requests outside the measured path: for looking at a server, not for timing it.

use std::future::poll_fn;
use std::ops::ControlFlow;
use std::time::Duration;

use bytes::Bytes;
use fizeau_core::{Clock, Failure, FailureClass, Nanos};
use hyper::Method;
use hyper::header::ACCEPT;
use tokio::time::timeout;

use super::endpoint::{ConnectionChoice, Endpoint, Payload};
use super::log::IoLog;
use super::{HttpTransport, PreconnectError};

/// How long a connection, and then a reply to a GET, may take, unless the target is less patient: it is answered from
/// memory or not at all.
const PATIENCE: Duration = Duration::from_secs(5);

/// The most of a reply to a GET that is kept.
const MOST: usize = 4 << 20;

/// Why a request had no reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NoReply {
    /// There is no such request, or something went wrong with it.
    Other,
    /// No connection can be made.
    Unreachable(PreconnectError),
}

impl<C: Clock + Clone + Send + 'static> HttpTransport<C> {
    /// The reply to a GET of `path` behind the first base URL: status and body, which may be cut.
    pub(crate) async fn get(&self, path: &str) -> Result<(u16, Vec<u8>), NoReply> {
        let target = self.target.clone().path(path).map_err(|_| NoReply::Other)?;
        let target = target.header(ACCEPT.as_str(), "application/json");
        let target = target.map_err(|_| NoReply::Other)?;
        let endpoint = Endpoint::with_method(&Method::GET, &target, target.base());
        let asked = self.whole(&endpoint, Bytes::new());
        timeout(patience(self.target.limits().total), asked).await.map_err(|_| NoReply::Other)?
    }

    /// The status of the reply to an empty POST of `path` behind the base URL of that number.
    pub(crate) async fn post_to(&self, number: usize, path: &str) -> Result<u16, NoReply> {
        let target = self.target.clone().path(path).map_err(|_| NoReply::Other)?;
        let base = target.bases().nth(number).ok_or(NoReply::Other)?;
        let endpoint = Endpoint::with_method(&Method::POST, &target, base);
        let asked = self.whole(&endpoint, Bytes::new());
        let reply = timeout(patience(self.target.limits().total), asked).await;
        reply.map_err(|_| NoReply::Other)?.map(|(status, _)| status)
    }

    /// Sends `body` to the first base URL: status and body of the reply, which may be cut.
    pub(crate) async fn submit(
        &self,
        method: &Method,
        body: Bytes,
    ) -> Result<(u16, Vec<u8>), NoReply> {
        let endpoint = Endpoint::with_method(method, &self.target, self.target.base());
        self.whole(&endpoint, body).await
    }

    async fn whole(&self, endpoint: &Endpoint<C>, body: Bytes) -> Result<(u16, Vec<u8>), NoReply> {
        let mut kept = Vec::new();
        let keep = |bytes: &[u8]| {
            kept.extend_from_slice(bytes);
            if kept.len() < MOST { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        let status = self.exchange(endpoint, body, keep).await?;
        Ok((status, kept))
    }

    /// Posts `body` to the first endpoint and hands the reply's, whatever it is, to `sink`.
    pub(crate) async fn post(
        &self,
        body: Bytes,
        sink: impl FnMut(&[u8]) -> ControlFlow<()>,
    ) -> Result<u16, NoReply> {
        self.exchange(&self.first, body, sink).await
    }

    /// Sends a request on a connection of its own and hands the reply's body to `sink` piece by piece, until it is over
    /// or the sink has seen enough. Gives the status.
    async fn exchange(
        &self,
        endpoint: &Endpoint<C>,
        body: Bytes,
        mut sink: impl FnMut(&[u8]) -> ControlFlow<()>,
    ) -> Result<u16, NoReply> {
        let patience = patience(self.target.limits().connect);
        let connecting =
            timeout(patience, endpoint.connect(&self.clock, self.stamps(), ConnectionChoice::Any));
        let connected = connecting.await.unwrap_or_else(|_| {
            let whom = endpoint.way().whom();
            let detail = format!("no connection to {whom} within {patience:?}");
            Err(Failure::new(FailureClass::TimeoutConnect, detail))
        });
        let (mut wire, _) =
            connected.map_err(|failure| NoReply::Unreachable(PreconnectError(failure)))?;
        endpoint.begin(&mut wire, Payload { path: None, body });
        let head = poll_fn(|cx| wire.poll_head(cx, &mut self.scratch.borrow_mut())).await;
        let status = head.map_err(|_| NoReply::Other)?.status.as_u16();
        let sink = &mut |_: &IoLog, bytes: &[u8], _| sink(bytes);
        poll_fn(|cx| wire.poll_body(cx, &mut self.scratch.borrow_mut(), sink)).await;
        Ok(status)
    }
}

fn patience(limit: Option<Nanos>) -> Duration {
    limit.map_or(PATIENCE, |limit| PATIENCE.min(limit.into()))
}
