//! A front that speaks HTTP/2 before a server that does not, and parts from its clients at random: by GOAWAY, or in the midst of a reply.
//!
//! Each request goes to the server on a connection of its own and comes back piece by piece. What is cut there is cut here: its stream is
//! reset (RST_STREAM).

use std::collections::HashSet;
use std::fmt;
use std::future::poll_fn;
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, Result};
use hyper::body::{Body, Bytes, Frame, Incoming};
use hyper::client::conn::http1;
use hyper::header::{HOST, HeaderName, HeaderValue};
use hyper::server::conn::http2;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode, Uri, Version};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::runtime::{Builder, Handle};
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio::time::{Sleep, sleep};

use super::draws::Draws;

/// How many requests a connection has at the least before it is parted from, so that what a client asks before its run is answered.
const LEAST: f64 = 10.0;

/// How many it may have besides.
const SPREAD: f64 = 40.0;

/// Of how many connections a reply is cut.
const CUT: f64 = 0.2;

/// How long a reply that is cut has lasted beyond its first piece: all that is ready to be written before it is written meanwhile.
const FLUSH: Duration = Duration::from_millis(5);

/// What the server calls the reply to a request, behind a prefix of its own.
const NAME: HeaderName = HeaderName::from_static("x-request-id");

/// The front, which lasts as long as this process.
pub(super) struct Front {
    port: u16,
    partings: Arc<Partings>,
}

/// How it parted from its clients.
struct Partings {
    draws: Mutex<Draws>,
    /// How many requests there were: the last one's name.
    asked: AtomicU64,
    goaways: AtomicU64,
    cut: Mutex<HashSet<String>>,
}

/// How it is to part from one client, at its first request of that number or a later one.
struct Parting {
    at: u64,
    is_cut: bool,
}

impl Front {
    /// One that passes all requests to the server at `upstream` on this machine.
    pub(super) fn start(upstream: u16) -> Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("no port is free")?;
        listener.set_nonblocking(true)?;
        let port = listener.local_addr()?.port();
        let partings = Arc::new(Partings {
            draws: Mutex::new(Draws::of(9113)),
            asked: AtomicU64::new(0),
            goaways: AtomicU64::new(0),
            cut: Mutex::default(),
        });
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let shared = Arc::clone(&partings);
        thread::spawn(move || runtime.block_on(serve(listener, upstream, shared)));
        Ok(Self { port, partings })
    }

    pub(super) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// The names of the requests whose replies it cut.
    pub(super) fn cut(&self) -> HashSet<String> {
        locked(&self.partings.cut).clone()
    }
}

impl Partings {
    fn draw(&self) -> Parting {
        let mut draws = locked(&self.draws);
        let at = (LEAST + SPREAD * draws.share()) as u64;
        Parting { at, is_cut: draws.share() < CUT }
    }
}

async fn serve(listener: TcpListener, upstream: u16, partings: Arc<Partings>) -> Result<()> {
    let listener = tokio::net::TcpListener::from_std(listener)?;
    loop {
        // A client that is gone before it is accepted is no fault of the front's.
        let Ok((stream, _)) = listener.accept().await else { continue };
        let stream = stream.into_std()?;
        tokio::spawn(attend(stream, upstream, Arc::clone(&partings)));
    }
}

/// Answers a client until it goes, or is parted from.
async fn attend(stream: TcpStream, upstream: u16, partings: Arc<Partings>) -> Result<()> {
    let parting = partings.draw();
    let (asked, leaves) = (AtomicU64::new(0), Notify::new());
    let own = Arc::new(stream.try_clone()?);
    let service = service_fn(|request| {
        let is_time = asked.fetch_add(1, Relaxed) + 1 >= parting.at;
        if is_time && !parting.is_cut {
            leaves.notify_one();
        }
        let name = (partings.asked.fetch_add(1, Relaxed) + 1).to_string();
        let cut = (is_time && parting.is_cut).then(|| Cut {
            stream: Arc::clone(&own),
            partings: Arc::clone(&partings),
            name: name.clone(),
            after: None,
        });
        pass(request, upstream, name, cut)
    });
    let mut builder = http2::Builder::new(TokioExecutor::new());
    if parting.is_cut {
        // What is cut is one reply then, and no other that is under way.
        builder.max_concurrent_streams(1);
    }
    let io = TokioIo::new(tokio::net::TcpStream::from_std(stream)?);
    let mut connection = pin!(builder.serve_connection(io, service));
    let mut leaving = pin!(leaves.notified());
    let mut is_leaving = false;
    poll_fn(|cx| {
        if !is_leaving && leaving.as_mut().poll(cx).is_ready() {
            is_leaving = true;
            partings.goaways.fetch_add(1, Relaxed);
            connection.as_mut().graceful_shutdown();
        }
        connection.as_mut().poll(cx)
    })
    .await?;
    Ok(())
}

/// Has the server answer a request, under this name.
async fn pass(
    mut request: Request<Incoming>,
    upstream: u16,
    name: String,
    cut: Option<Cut>,
) -> Result<Response<Passed>> {
    let stream = tokio::net::TcpStream::connect((Ipv4Addr::LOCALHOST, upstream)).await?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    let mut link = JoinSet::new();
    link.spawn(connection);
    let path = request.uri().path_and_query().map_or("/", |path| path.as_str());
    *request.uri_mut() = path.parse::<Uri>()?;
    *request.version_mut() = Version::HTTP_11;
    request.headers_mut().insert(HOST, HeaderValue::from_static("localhost"));
    request.headers_mut().insert(NAME, name.parse()?);
    let reply = sender.send_request(request).await?;
    let cut = cut.filter(|_| reply.status() == StatusCode::OK);
    Ok(reply.map(|body| Passed { from: Some((body, link)), cut }))
}

/// A reply, as it comes from the server.
struct Passed {
    from: Option<(Incoming, Link)>,
    cut: Option<Cut>,
}

/// What drives the connection to the server.
type Link = JoinSet<hyper::Result<()>>;

/// That a reply is to be cut behind its first piece.
struct Cut {
    stream: Arc<TcpStream>,
    partings: Arc<Partings>,
    name: String,
    /// When its first piece is through.
    after: Option<Pin<Box<Sleep>>>,
}

impl Passed {
    /// Waits until the reply is to be cut, and ends the connection to the client, who goes then.
    fn poll_cut(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Some(Cut { stream, partings, name, after: Some(after) }) = &mut self.cut else {
            return Poll::Ready(());
        };
        ready!(after.as_mut().poll(cx));
        locked(&partings.cut).insert(name.clone());
        // A client that is gone has it cut already.
        let _ = stream.shutdown(Shutdown::Write);
        Poll::Pending
    }
}

/// The server gets rid of all of it, as if nobody had gone: a client may go before the last byte, once it has all that it asked for.
impl Drop for Passed {
    fn drop(&mut self) {
        if let (Some((mut body, link)), Ok(runtime)) = (self.from.take(), Handle::try_current()) {
            runtime.spawn(async move {
                let _link = link;
                while let Some(Ok(_)) = poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await {}
            });
        }
    }
}

impl Body for Passed {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<hyper::Result<Frame<Bytes>>>> {
        ready!(self.poll_cut(cx));
        let Some((body, _)) = &mut self.from else { return Poll::Ready(None) };
        let frame = ready!(Pin::new(body).poll_frame(cx));
        if let Some(cut) = &mut self.cut {
            cut.after = Some(Box::pin(sleep(FLUSH)));
        }
        Poll::Ready(frame)
    }
}

impl fmt::Display for Front {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Partings { asked, goaways, cut, .. } = &*self.partings;
        let (asked, goaways) = (asked.load(Relaxed), goaways.load(Relaxed));
        write!(f, "{asked} requests, {goaways} GOAWAYs, {} replies cut", locked(cut).len())
    }
}

fn locked<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
