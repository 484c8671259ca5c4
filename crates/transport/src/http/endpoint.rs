//! One endpoint, as a transport has it: the way there, the connections that stand, and what its requests begin with.

use std::sync::Arc;

use bytes::Bytes;
use fizeau_core::{Clock, ConnectMarks, Failure, Nanos, Stamp};
use hyper::header::{CONNECTION, HOST, HeaderMap, HeaderValue, PROXY_AUTHORIZATION};
use hyper::{Method, Uri};

use super::connect::EndpointConnector;
use super::h1::RequestHead;
use super::h2::{H2, H2Connection, H2Connections, RequestTemplate, StreamSlot};
use super::remainder::OpenBodies;
use super::wire::{DrivenConnection, IdleConnections};
use crate::target::{BaseUrl, ConnectionUse, HttpVersion, KeepAliveRecord, StampChoice, Target};

#[derive(Debug)]
pub(super) struct Endpoint<C> {
    way: EndpointConnector,
    /// What stands before a request's path where the request is named.
    front: String,
    usage: ConnectionUse,
    speech: ProtocolState<C>,
    open_bodies: OpenBodies<C>,
    keep_alive: KeepAliveRecord,
}

/// What one request sends.
#[derive(Clone)]
pub(super) struct Payload {
    /// Path and query, where they are not those of all requests.
    pub(super) path: Option<Arc<str>>,
    pub(super) body: Bytes,
}

/// Which connection will do for a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ConnectionChoice {
    /// Any that stands or can be made.
    Any,
    /// One that did not stand before: another that did proved dead.
    New,
}

/// What each version of HTTP needs.
#[derive(Debug)]
enum ProtocolState<C> {
    Http11 { post: RequestHead, pool: IdleConnections<C> },
    Http2 { template: RequestTemplate, links: H2Connections },
}

impl<C: Clock + Clone + Send + 'static> Endpoint<C> {
    /// For the target's requests to `base`.
    pub(super) fn new(target: &Target, base: &BaseUrl) -> Self {
        Self::with_method(&Method::POST, target, base)
    }

    /// The same for requests of another method.
    pub(super) fn with_method(method: &Method, target: &Target, base: &BaseUrl) -> Self {
        let connections = target.connections();
        let way = EndpointConnector::new(target, base);
        let headers = headers(target, base, &way);
        let origin = format!("{}://{}", base.scheme.as_str(), base.host_header());
        let is_absolute = way.asked_instead().is_some();
        let front =
            if is_absolute { format!("{origin}{}", base.prefix) } else { base.prefix.clone() };
        let path = target.request_path();
        let speech = match connections.version {
            HttpVersion::Http11 => {
                let form = format!("{front}{path}");
                ProtocolState::Http11 {
                    post: RequestHead::new(method, &form, &headers),
                    pool: IdleConnections::new(base.keep_alive.clone()),
                }
            }
            HttpVersion::Http2 { streams } => {
                let streams = usize::try_from(streams.get()).unwrap_or(usize::MAX);
                // Its parts were looked at one by one.
                let uri: Uri = format!("{origin}{}{path}", base.prefix).parse().unwrap_or_default();
                let template = RequestTemplate::new(method.clone(), &uri, &headers);
                ProtocolState::Http2 { template, links: H2Connections::new(streams) }
            }
        };
        let open_bodies = OpenBodies::default();
        let keep_alive = base.keep_alive.clone();
        Self { way, front, usage: connections.usage, speech, open_bodies, keep_alive }
    }

    pub(super) const fn way(&self) -> &EndpointConnector {
        &self.way
    }

    /// A connection that stands and can take a request, as far as can be seen.
    pub(super) fn check_out(&self, scratch: &mut [u8], clock: &C) -> Option<DrivenConnection<C>> {
        match &self.speech {
            ProtocolState::Http11 { pool, .. } => {
                self.open_bodies.sweep(pool, scratch, clock);
                pool.check_out(clock)
            }
            ProtocolState::Http2 { links, .. } => {
                links.check_out().map(|seat| DrivenConnection::H2(Box::new(H2::new(seat))))
            }
        }
    }

    /// Keeps a connection for another request, if that is wanted and possible.
    pub(super) fn check_in(&self, wire: DrivenConnection<C>, clock: &C) {
        if let ProtocolState::Http11 { pool, .. } = &self.speech
            && self.usage == ConnectionUse::Reuse
        {
            pool.check_in(wire, clock);
        }
    }

    /// What is known of how the server keeps connections.
    pub(super) const fn keep_alive(&self) -> &KeepAliveRecord {
        &self.keep_alive
    }

    /// Whether connections are known to be kept between requests: some were, and none was closed early since. Those of HTTP/2 are made
    /// for many.
    pub(super) fn keeps_alive(&self) -> bool {
        match &self.speech {
            ProtocolState::Http11 { .. } => self.keep_alive.is_known(),
            ProtocolState::Http2 { .. } => true,
        }
    }

    /// How long a reply waits for the end of its body.
    pub(super) fn grace(&self) -> Nanos {
        self.open_bodies.grace()
    }

    /// Takes note that a reply's body ended in time.
    pub(super) fn body_ended(&self) {
        self.open_bodies.ended();
    }

    /// Keeps a connection whose reply was over when it `settled`, and its body not, until that ends, if that is wanted.
    pub(super) fn leave_open(&self, wire: DrivenConnection<C>, settled: Stamp) {
        if self.usage == ConnectionUse::Reuse {
            self.open_bodies.leave(wire, settled);
        }
    }

    /// A new connection, or with HTTP/2 a place on one that is being made, and when its parts were done.
    pub(super) async fn connect(
        &self,
        clock: &C,
        stamps: StampChoice,
        wanted: ConnectionChoice,
    ) -> Result<(DrivenConnection<C>, ConnectMarks), Failure> {
        let links = match &self.speech {
            ProtocolState::Http11 { .. } => {
                let (io, marks) = self.way.connect(clock, stamps).await?;
                return Ok((DrivenConnection::h1(io), marks));
            }
            ProtocolState::Http2 { links, .. } => links,
        };
        let booked = clock.now();
        loop {
            let seat = match (self.usage, wanted) {
                (ConnectionUse::PerRequest, _) => StreamSlot::alone(),
                (ConnectionUse::Reuse, ConnectionChoice::Any) => links.book(),
                (ConnectionUse::Reuse, ConnectionChoice::New) => links.book_new(),
            };
            let connecting = async {
                let (io, marks) = self.way.connect(clock, stamps).await?;
                H2Connection::open(io, marks, clock.clone())
                    .await
                    .map_err(|why| self.way.wordless(&why))
            };
            let marks = seat.ready(connecting).await?;
            // One that broke at once is handed on all the same: its request will say so.
            if links.holds(&seat) || !seat.is_alive() {
                return Ok((DrivenConnection::H2(Box::new(H2::new(seat))), since(booked, marks)));
            }
        }
    }

    /// Begins a request on one of its connections.
    pub(super) fn begin(&self, wire: &mut DrivenConnection<C>, payload: Payload) {
        let Payload { path, body } = payload;
        let form = path.map(|path| format!("{}{path}", self.front));
        match (&self.speech, wire) {
            (ProtocolState::Http11 { post, .. }, DrivenConnection::H1(h1)) => {
                h1.begin(post.with(form.as_deref(), body))
            }
            (ProtocolState::Http2 { template, .. }, DrivenConnection::H2(h2)) => {
                h2.begin(template, form.as_deref(), body)
            }
            // A connection comes from the endpoint that it goes to, which speaks one version.
            (ProtocolState::Http11 { .. }, DrivenConnection::H2(_))
            | (ProtocolState::Http2 { .. }, DrivenConnection::H1(_)) => {}
        }
    }
}

/// The marks of a connection as somebody sees them who has waited for it since `booked`.
fn since(booked: Stamp, marks: ConnectMarks) -> ConnectMarks {
    ConnectMarks {
        start: marks.start.max(booked),
        dns: marks.dns.map(|dns| dns.max(booked)),
        tcp: marks.tcp.max(booked),
        tls: marks.tls.map(|tls| tls.max(booked)),
    }
}

/// What every request to `base` carries.
fn headers(target: &Target, base: &BaseUrl, way: &EndpointConnector) -> HeaderMap {
    let connections = target.connections();
    let mut headers = target.headers().clone();
    if !headers.contains_key(HOST)
        && let Ok(host) = base.host_header().parse()
    {
        headers.insert(HOST, host);
    }
    if connections.usage == ConnectionUse::PerRequest {
        headers.insert(CONNECTION, HeaderValue::from_static("close"));
    }
    let authorization = way.asked_instead().and_then(|via| via.authorization.as_ref());
    if let Some(authorization) = authorization
        && let Ok(mut value) = HeaderValue::from_str(authorization.expose())
    {
        value.set_sensitive(true);
        headers.insert(PROXY_AUTHORIZATION, value);
    }
    headers
}
