//! HTTP/2 against hyper's server.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::pin::pin;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::sync::{Arc, Mutex};

use fizeau_core::{
    Connection, EosRule, FailureClass, Nanos, Prompt, Release, Stamp, Tape, Transport,
};
use fizeau_transport::{
    Backend, ConnectionUse, HttpTransport, HttpVersion, MonotonicClock, Target, Timeouts,
};
use futures_util::future::join_all;
use h2::Reason;
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::TcpListener;
use tokio::sync::{Barrier, Notify};

use crate::bodies::request;
use crate::failures::{NO_LIMITS, check_failure};
use crate::http::{ask, good, target, transport};

/// Answers each request with a good stream, once so many are there as it waits for.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    connections: Arc<AtomicU32>,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Server {
    pub(crate) async fn run(together: usize) -> Self {
        Self::allowing(together, 1_000).await
    }

    /// Allows so many streams a connection.
    async fn allowing(together: usize, streams: u32) -> Self {
        Self::leaving(together, streams, u32::MAX).await
    }

    /// Says GOAWAY on each connection at its request of that number, and answers what it has been asked there until then.
    async fn leaving(together: usize, streams: u32, last: u32) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (connections, requests) = (Arc::new(AtomicU32::new(0)), Arc::default());
        let (opened, seen) = (Arc::clone(&connections), Arc::clone(&requests));
        let barrier = Arc::new(Barrier::new(together));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                opened.fetch_add(1, SeqCst);
                let (barrier, seen) = (Arc::clone(&barrier), Arc::clone(&seen));
                let (asked, leaves) = (AtomicU32::new(0), Arc::new(Notify::new()));
                let leave = Arc::clone(&leaves);
                let service = service_fn(move |request| {
                    if asked.fetch_add(1, SeqCst) + 1 == last {
                        leave.notify_one();
                    }
                    answer(request, Arc::clone(&barrier), Arc::clone(&seen))
                });
                let mut builder = hyper::server::conn::http2::Builder::new(TokioExecutor::new());
                builder.max_concurrent_streams(streams);
                let connection = builder.serve_connection(TokioIo::new(stream), service);
                tokio::spawn(async move {
                    let mut connection = pin!(connection);
                    tokio::select! {
                        _ = connection.as_mut() => return,
                        () = leaves.notified() => connection.as_mut().graceful_shutdown(),
                    }
                    let _ = connection.await;
                });
            }
        });
        Self { address, connections, requests }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Of each request the method, the URI, the headers and the length of the body.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }

    fn connections(&self) -> u32 {
        self.connections.load(SeqCst)
    }
}

async fn answer(
    request: Request<Incoming>,
    barrier: Arc<Barrier>,
    seen: Arc<Mutex<Vec<String>>>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let (head, body) = request.into_parts();
    let length = body.collect().await.unwrap().to_bytes().len();
    seen.lock().unwrap().push(format!("{} {} {:?} {length}", head.method, head.uri, head.headers));
    barrier.wait().await;
    let response = Response::builder().header("content-type", "text/event-stream");
    Ok(response.body(Full::new(Bytes::from(good()))).unwrap())
}

const WITHIN: Timeouts = Timeouts { total: Some(Nanos::from_secs(60)), ..NO_LIMITS };

fn speaking(url: &str, streams: u32) -> HttpTransport<MonotonicClock> {
    let streams = NonZeroU32::new(streams).unwrap();
    let version = HttpVersion::Http2 { streams };
    transport(target(url).http_version(version).timeouts(WITHIN))
}

async fn ask_together(transport: &HttpTransport<MonotonicClock>, count: usize) -> Vec<Tape> {
    let tapes = join_all((0..count).map(|_| ask(transport))).await;
    for tape in &tapes {
        assert!(tape.is_success(), "{tape:?}");
    }
    tapes
}

#[tokio::test]
async fn three_hundred_requests_at_a_time_over_three_connections() {
    // The server answers none before it has all: a queue anywhere would never end.
    let server = Server::run(300).await;
    let transport = speaking(&server.url(), 100);
    for tape in ask_together(&transport, 300).await {
        assert_eq!(tape.connection, Connection::Fresh);
        let connect = tape.marks.connect.unwrap();
        assert!(Some(connect.tcp) <= tape.marks.send_start, "{:?}", tape.marks);
    }
    assert_eq!(server.connections(), 3);
    let again = ask_together(&transport, 300).await;
    assert!(again.iter().all(|tape| tape.connection == Connection::Reused));
    assert_eq!(server.connections(), 3);
}

#[tokio::test]
async fn connections_opened_ahead_have_a_place_for_each_request() {
    let server = Server::run(25).await;
    let transport = speaking(&server.url(), 10);
    transport.preconnect(25).await.unwrap();
    let tapes = ask_together(&transport, 25).await;
    assert!(tapes.iter().all(|tape| tape.connection == Connection::Reused));
    assert_eq!(server.connections(), 3);
}

#[tokio::test]
async fn a_server_that_allows_fewer_requests_gets_more_connections() {
    // A fifth one on a connection would be refused by the server, or wait.
    let server = Server::allowing(12, 4).await;
    ask_together(&speaking(&server.url(), 100), 12).await;
    assert_eq!(server.connections(), 3);
}

/// GOAWAY: RFC 9113, section 6.8.
#[tokio::test]
async fn a_server_that_says_goaway_again_and_again_gets_each_request_once() {
    let server = Server::leaving(1, 1_000, 7).await;
    let transport = speaking(&server.url(), 4);
    for _ in 0..25 {
        ask_together(&transport, 8).await;
    }
    assert_eq!(server.requests.lock().unwrap().len(), 200);
    assert!(server.connections() > 10, "{}", server.connections());
}

#[tokio::test]
async fn marks_are_in_order_and_the_request_is_whole() {
    let server = Server::run(1).await;
    let transport = speaking(&server.url(), 100);
    for tape in [ask(&transport).await, ask(&transport).await] {
        let marks = &tape.marks;
        let in_order = [
            marks.send_start,
            marks.first_byte,
            marks.headers,
            tape.first_token(),
            tape.last_token(),
            marks.end,
        ];
        assert!(in_order.iter().all(Option::is_some), "{marks:?}");
        assert!(in_order.is_sorted(), "{marks:?}");
        // Not held against the reply: the kernel may stamp that before the write call has returned.
        assert!(marks.send_start <= marks.send_end, "{marks:?}");
    }
    let requests = server.requests.lock().unwrap().clone();
    let line = format!("POST http://{}/v1/completions ", server.address);
    assert!(requests[0].starts_with(&line), "{requests:?}");
    assert!(requests[0].contains("\"accept-encoding\": \"identity\""), "{requests:?}");
}

/// Larger than the window of 64 KiB that a server grants at first (RFC 9113, section 6.9.2).
#[tokio::test]
async fn a_long_prompt_waits_for_the_servers_window_and_arrives_whole() {
    let server = Server::run(1).await;
    let transport = speaking(&server.url(), 100);
    let long = request(Prompt::Text("hi ".repeat(100_000)), EosRule::Ignore);
    let tape = transport.send(&long, Release::at(Stamp::EPOCH)).await.unwrap();
    assert!(tape.is_success(), "{tape:?}");
    let requests = server.requests.lock().unwrap().clone();
    let length: usize = requests[0].rsplit(' ').next().unwrap().parse().unwrap();
    assert!(length > 300_000, "{length}");
}

#[tokio::test]
async fn a_dropped_request_leaves_its_connection_to_the_others() {
    let server = Server::run(2).await;
    let transport = speaking(&server.url(), 100);
    let arrived = async {
        while server.requests.lock().unwrap().is_empty() {
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        biased;
        _ = ask(&transport) => unreachable!("the server waits for a second one"),
        () = arrived => {}
    }
    let tape = ask(&transport).await;
    assert!(tape.is_success(), "{tape:?}");
    assert_eq!((tape.connection, server.connections()), (Connection::Reused, 1));
}

#[tokio::test]
async fn a_connection_for_each_request() {
    let server = Server::run(2).await;
    let each = speaking(&server.url(), 100).target().clone();
    let transport = transport(each.connection_use(ConnectionUse::PerRequest));
    transport.preconnect(2).await.unwrap();
    assert_eq!(server.connections(), 0);
    ask_together(&transport, 2).await;
    assert_eq!(server.connections(), 2);
}

#[tokio::test]
async fn a_server_of_http_1_1_only_is_doubted() {
    let answer = crate::server::send("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
    let server = crate::server::Server::run(vec![vec![answer]]);
    let tape = ask(&speaking(&server.url(), 100)).await;
    check_failure(&tape, FailureClass::Connect, None, "does it support HTTP/2 without TLS?");
}

/// What the server says that it has not looked at may be sent again: RFC 9113, section 8.7.
#[tokio::test]
async fn a_request_that_the_server_refused_unseen_is_sent_again_once_and_another_reset_is_a_failure()
 {
    for (reason, refusals, is_success) in [
        (Reason::REFUSED_STREAM, 1, true),
        (Reason::REFUSED_STREAM, 2, false),
        (Reason::INTERNAL_ERROR, 1, false),
    ] {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let asked = Arc::new(AtomicU32::new(0));
        let seen = Arc::clone(&asked);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let seen = Arc::clone(&seen);
                let service = service_fn(move |_| {
                    // The first is answered, so that the next one has a connection at hand.
                    let number = seen.fetch_add(1, SeqCst);
                    let is_refused = (1..=refusals).contains(&number);
                    let response = Response::builder().header("content-type", "text/event-stream");
                    let reply = response.body(Full::new(Bytes::from(good()))).unwrap();
                    let answer = if is_refused { Err(h2::Error::from(reason)) } else { Ok(reply) };
                    std::future::ready(answer)
                });
                let builder = hyper::server::conn::http2::Builder::new(TokioExecutor::new());
                tokio::spawn(builder.serve_connection(TokioIo::new(stream), service));
            }
        });
        let transport = speaking(&format!("http://{address}"), 100);
        ask_together(&transport, 1).await;
        let tape = ask(&transport).await;
        assert_eq!(tape.is_success(), is_success, "{tape:?}");
        let is_again = reason == Reason::REFUSED_STREAM;
        if !is_success && is_again {
            check_failure(&tape, FailureClass::Connect, None, "reset the request's stream");
        } else if !is_success {
            check_failure(&tape, FailureClass::Truncated, None, "the server reset the reply's");
        }
        assert_eq!(tape.connection == Connection::ReplacedStale, is_again, "{tape:?}");
        assert_eq!(asked.load(SeqCst), if is_again { 3 } else { 2 });
    }
}

/// A gateway resets the stream of a reply that its upstream broke off, perhaps without an error (RFC 9113, section 8.1, means an early
/// reply by it). With one, its word is told.
#[tokio::test]
async fn a_reply_that_a_reset_cuts_is_not_whole() {
    let cases = [
        (Reason::NO_ERROR, "the connection broke"),
        (Reason::INTERNAL_ERROR, "the server reset the reply's stream: unexpected internal error"),
    ];
    for (reason, words) in cases {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move {
            let (stream, _) = listener.accept().await.unwrap();
            let mut connection = h2::server::handshake(stream).await.unwrap();
            while let Some(Ok((_, mut respond))) = connection.accept().await {
                let response = Response::builder().header("content-type", "text/event-stream");
                let mut body = respond.send_response(response.body(()).unwrap(), false).unwrap();
                let event = Bytes::from("data: {\"text_output\":\"a\"}\n\n");
                body.send_data(event, false).unwrap();
                // What was handed over goes out before the reset does.
                tokio::spawn(async move {
                    tokio::task::yield_now().await;
                    body.send_reset(reason);
                });
            }
        });
        let target = Target::new(&format!("http://{address}"), Backend::Triton, "m").unwrap();
        let streams = NonZeroU32::new(100).unwrap();
        let tape = ask(&transport(target.http_version(HttpVersion::Http2 { streams }))).await;
        check_failure(&tape, FailureClass::Truncated, Some(200), words);
    }
}

#[tokio::test]
async fn a_connection_that_broke_under_a_request_is_replaced_only_after_a_rest() {
    for rest in [Nanos::ZERO, Nanos::from_secs(3600)] {
        let server = Server::run(1).await;
        let front = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = front.local_addr().unwrap();
        let upstream = server.address;
        let (breaks, broken) = tokio::sync::oneshot::channel::<()>();
        let (stopped, stops) = tokio::sync::oneshot::channel::<()>();
        // The first connection takes what comes once it is told, and ends.
        tokio::spawn(async move {
            let (mut client, _) = front.accept().await.unwrap();
            let mut to = tokio::net::TcpStream::connect(upstream).await.unwrap();
            tokio::select! {
                _ = tokio::io::copy_bidirectional(&mut client, &mut to) => {}
                _ = broken => {}
            }
            drop(stopped);
            client.readable().await.unwrap();
            drop((client, to));
            let (mut client, _) = front.accept().await.unwrap();
            let mut to = tokio::net::TcpStream::connect(upstream).await.unwrap();
            let _ = tokio::io::copy_bidirectional(&mut client, &mut to).await;
        });
        let transport = speaking(&format!("http://{address}"), 100);
        let transport = transport.racing_keep_alive(rest, Nanos::from_secs(60));
        ask_together(&transport, 1).await;
        drop(breaks);
        assert!(stops.await.is_err(), "nothing is copied any more");
        let tape = ask(&transport).await;
        if rest == Nanos::ZERO {
            assert!(tape.is_success(), "{tape:?}");
            assert_eq!(tape.connection, Connection::ReplacedStale);
        } else {
            let detail = "closed the connection after the request was sent";
            check_failure(&tape, FailureClass::Connect, None, detail);
        }
    }
}

#[tokio::test]
async fn a_connection_that_died_idle_is_replaced_once() {
    let server = Server::run(1).await;
    let front = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = front.local_addr().unwrap();
    let upstream = server.address;
    // Serves one connection, ends it when told, and then serves another.
    let (end, ended) = tokio::sync::oneshot::channel::<()>();
    tokio::spawn(async move {
        let (mut client, _) = front.accept().await.unwrap();
        let mut to = tokio::net::TcpStream::connect(upstream).await.unwrap();
        tokio::select! {
            _ = tokio::io::copy_bidirectional(&mut client, &mut to) => {}
            _ = ended => {}
        }
        drop((client, to));
        let (mut client, _) = front.accept().await.unwrap();
        let mut to = tokio::net::TcpStream::connect(upstream).await.unwrap();
        let _ = tokio::io::copy_bidirectional(&mut client, &mut to).await;
    });
    let transport = speaking(&format!("http://{address}"), 100);
    let transport = transport.racing_keep_alive(Nanos::ZERO, Nanos::from_secs(60));
    ask_together(&transport, 1).await;
    end.send(()).unwrap();
    let after = ask_together(&transport, 1).await;
    // Whether its end was seen before the request or after is for the scheduler.
    assert_ne!(after[0].connection, Connection::Reused);
}
