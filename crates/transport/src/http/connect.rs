//! The making of connections.

use std::cell::Cell;
use std::io;
use std::net::SocketAddr;

use fizeau_core::{Clock, ConnectMarks, Failure, FailureClass, Nanos};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::io::Io;
use super::socket::Stamped;
#[cfg(feature = "tls")]
use super::tls::{Handshakes, handshake};
use crate::target::{
    BaseUrl, HttpVersion, ProxyError, ProxyRoute, StampChoice, Target, UrlAuthority, UrlHost,
    UrlScheme,
};

/// How one endpoint is reached.
#[derive(Debug)]
pub(super) struct EndpointConnector {
    whom: UrlAuthority,
    via: Option<ProxyRoute>,
    /// Why it cannot be reached: it would be through a proxy that cannot be used.
    closed: Option<ProxyError>,
    version: HttpVersion,
    #[cfg(feature = "tls")]
    tls: Option<Handshakes>,
    scheme: UrlScheme,
    /// How long all of it may take; whoever waits for it sees to that.
    limit: Option<Nanos>,
    /// How many addresses the name had that was looked up last.
    addresses: Cell<usize>,
}

impl EndpointConnector {
    pub(super) fn new(target: &Target, base: &BaseUrl) -> Self {
        let connections = target.connections();
        let (via, closed) = match connections.proxy.via(base) {
            Ok(via) => (via.cloned(), None),
            Err(error) => (None, Some(error)),
        };
        Self {
            whom: base.authority.clone(),
            via,
            closed,
            version: connections.version,
            #[cfg(feature = "tls")]
            tls: (base.scheme == UrlScheme::Https)
                .then(|| Handshakes::new(&connections.tls, connections.version, connections.usage)),
            scheme: base.scheme,
            limit: target.limits().connect,
            addresses: Cell::new(0),
        }
    }

    /// The endpoint, in whatever way it is reached.
    pub(super) const fn whom(&self) -> &UrlAuthority {
        &self.whom
    }

    /// The proxy that is asked in the endpoint's place, if one is. What a proxy cannot read goes through a tunnel.
    pub(super) fn asked_instead(&self) -> Option<&ProxyRoute> {
        self.via.as_ref().filter(|_| !self.is_tunnelled())
    }

    fn is_tunnelled(&self) -> bool {
        self.scheme == UrlScheme::Https || self.version != HttpVersion::Http11
    }

    /// Who is at the other end of the TCP connection.
    fn peer(&self) -> &UrlAuthority {
        self.via.as_ref().map_or(&self.whom, |via| &via.authority)
    }

    /// What a reader of the run ought to know of it.
    pub(super) fn note(&self) -> Option<String> {
        let (count, peer) = (self.addresses.get(), &self.peer().host);
        (count > 1).then(|| {
            format!(
                "{peer} has {count} addresses; they are tried in order, so that all requests go to the first that \
                 answers"
            )
        })
    }

    /// A connection, and when its parts were done. Through a tunnel, TCP is done when the tunnel stands.
    pub(super) async fn connect<C: Clock + Clone>(
        &self,
        clock: &C,
        stamps: StampChoice,
    ) -> Result<(Io<C>, ConnectMarks), Failure> {
        if let Some(error) = &self.closed {
            return Err(Failure::new(FailureClass::Connect, error.to_string()));
        }
        let start = clock.now();
        let peer = self.peer();
        let (addresses, dns) = match &peer.host {
            UrlHost::Address(address) => (vec![SocketAddr::new(*address, peer.port)], None),
            UrlHost::Name(name) => {
                let found = tokio::net::lookup_host((name.as_str(), peer.port)).await;
                let dns = clock.now();
                let found = found.map_err(|error| self.refused("resolve", &error))?;
                (found.collect(), Some(dns))
            }
        };
        self.addresses.set(addresses.len());
        let deadline = self.limit.map(|limit| start + limit);
        let left = || deadline.map(|deadline| deadline.saturating_since(clock.now()));
        let mut stream = self.first_that_answers(&addresses, left).await?;
        if let Some(via) = &self.via
            && self.is_tunnelled()
        {
            open(&mut stream, via, &self.whom).await?;
        }
        let marks = ConnectMarks { start, dns, tcp: clock.now(), tls: None };
        let socket = Stamped::new(stream, clock.clone(), stamps);
        #[cfg(feature = "tls")]
        if let Some(handshakes) = &self.tls {
            let stream = handshake(handshakes, &self.whom, socket.enciphered()).await?;
            let marks = ConnectMarks { tls: Some(clock.now()), ..marks };
            return Ok((Io::Tls(Box::new(stream)), marks));
        }
        Ok((Io::Plain(socket), marks))
    }

    /// A connection to the first of `addresses` that answers. Each may take its fair share of the time that is `left`,
    /// so that one that drops packets does not use up all of it.
    async fn first_that_answers(
        &self,
        addresses: &[SocketAddr],
        left: impl Fn() -> Option<Nanos>,
    ) -> Result<TcpStream, Failure> {
        let mut last = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
        for (address, sharing) in addresses.iter().zip((1..=addresses.len() as u64).rev()) {
            let connecting = TcpStream::connect(address);
            let connected = match left().filter(|_| sharing > 1) {
                Some(left) => tokio::time::timeout((left / sharing).into(), connecting)
                    .await
                    .unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into())),
                None => connecting.await,
            };
            // Requests are small and must leave at once: no waiting for more to send.
            match connected.and_then(|stream| stream.set_nodelay(true).map(|()| stream)) {
                Ok(stream) => return Ok(stream),
                Err(error) => last = error,
            }
        }
        Err(self.refused("connect to", &last))
    }

    /// The failure of a connection that stands and does not speak HTTP/2.
    pub(super) fn wordless(&self, why: &str) -> Failure {
        let whom = &self.whom;
        let doubt = match self.scheme {
            UrlScheme::Http => " (does it support HTTP/2 without TLS?)",
            UrlScheme::Https => "",
        };
        let detail = format!("no HTTP/2 connection to {whom}: {why}{doubt}");
        Failure::new(FailureClass::Connect, detail)
    }

    /// The failure of what could not be done with the connection: `resolve`, `connect to`.
    pub(super) fn refused(&self, what: &str, error: &io::Error) -> Failure {
        let the_proxy = if self.via.is_some() { "the proxy " } else { "" };
        let detail = format!("could not {what} {the_proxy}{}: {}", self.peer(), why(error));
        Failure::new(FailureClass::Connect, detail)
    }
}

/// What `error` means in words: the system's, without its number.
pub(super) fn why(error: &io::Error) -> String {
    let words = error.to_string();
    let words = words.split(" (os error").next().unwrap_or(&words);
    let mut chars = words.chars();
    let first = chars.next().map(|first| first.to_ascii_lowercase());
    first.into_iter().chain(chars).collect()
}

// A tunnel through a proxy.

/// The most that a proxy may say before the tunnel stands.
const ANSWER_LIMIT: usize = 16 << 10;

/// Asks the proxy `via` at the other end of `stream` for a tunnel to `whom` (RFC 9110, section 9.3.6).
pub(super) async fn open(
    stream: &mut TcpStream,
    via: &ProxyRoute,
    whom: &UrlAuthority,
) -> Result<(), Failure> {
    let broken = |error: &io::Error| {
        refused(via, whom, &format!("broke off before the tunnel was set up: {}", why(error)))
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

fn refused(via: &ProxyRoute, whom: &UrlAuthority, what: &str) -> Failure {
    let proxy = &via.authority;
    Failure::new(FailureClass::Connect, format!("cannot reach {whom}: the proxy {proxy} {what}"))
}
