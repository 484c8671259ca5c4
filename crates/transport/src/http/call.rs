//! The life of one request.

use std::future::poll_fn;
use std::pin::pin;
use std::rc::Rc;
use std::task::Poll;

use bytes::Bytes;
use fizeau_core::{Clock, Connection, Failure, FailureClass, Marks, Nanos, Stamp};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderName, RETRY_AFTER};
use hyper::{Method, Request, Response, StatusCode};

use super::HttpTransport;
use super::connect::connect;
use super::socket::IoLog;
use super::watchdog::{Alarm, Phase, Watchdog};
use super::wire::{Wire, cause};
use crate::dialect::chunk;
use crate::event::ReadMark;
use crate::framing::Framing;
use crate::reply::{BodyEnd, Progress, Reply, ReplyReader};

/// The most that is read of a body that is not a stream.
const PLAIN_BODY_LIMIT: usize = 64 << 10;

/// One request under way.
pub(super) struct Call<'t, C: Clock> {
    transport: &'t HttpTransport<C>,
    marks: Marks,
    connection: Connection,
    watchdog: Watchdog<C>,
    /// The socket's account of the request, once there is a connection.
    log: Option<Rc<IoLog>>,
}

/// A reply whose head is there.
struct Answer<C: Clock> {
    wire: Wire<C>,
    response: Response<Incoming>,
}

/// Why no head of a reply came.
enum Unanswered {
    /// The connection was dead before a byte of the reply.
    Dead(String),
    Failed(Failure),
}

/// What came of waiting for more of a body.
enum Next {
    Data(Bytes),
    End(BodyEnd),
}

impl<'t, C: Clock> Call<'t, C> {
    pub(super) fn new(transport: &'t HttpTransport<C>, intended: Stamp, released: Stamp) -> Self {
        Self {
            transport,
            marks: Marks::released(intended, released),
            connection: Connection::Fresh,
            watchdog: Watchdog::new(Rc::clone(&transport.clock), *transport.target.limits()),
            log: None,
        }
    }

    pub(super) async fn run(&mut self, body: Bytes) -> Reply {
        let reply = match self.ask(body).await {
            Ok(answer) => self.take(answer).await,
            Err(failure) => Reply::failed(failure),
        };
        self.note_io();
        if self.marks.end.is_none() {
            self.marks.end = Some(self.transport.clock.now());
        }
        reply
    }

    /// The marks of the finished request.
    pub(super) const fn marks(&self) -> Marks {
        self.marks
    }

    pub(super) const fn connection(&self) -> Connection {
        self.connection
    }

    /// Sends the request, on an idle connection if there is one, and waits for the head of the reply.
    async fn ask(&mut self, body: Bytes) -> Result<Answer<C>, Failure> {
        if let Some(wire) = self.transport.pool.check_out().await {
            self.connection = Connection::Reused;
            match self.exchange(wire, body.clone()).await {
                Ok(answer) => return Ok(answer),
                Err(Unanswered::Failed(failure)) => return Err(failure),
                Err(Unanswered::Dead(why)) => {
                    tracing::debug!(why, "an idle connection was dead and is replaced");
                    self.connection = Connection::ReplacedStale;
                    self.log = None;
                }
            }
        }
        let wire = self.connect().await?;
        self.exchange(wire, body).await.map_err(|unanswered| match unanswered {
            Unanswered::Failed(failure) => failure,
            Unanswered::Dead(why) => {
                let whom = self.transport.target.authority();
                let detail =
                    format!("the connection to {whom} broke before the reply began: {why}");
                Failure::new(FailureClass::Connect, detail)
            }
        })
    }

    async fn connect(&mut self) -> Result<Wire<C>, Failure> {
        let transport = self.transport;
        self.watchdog.enter(Phase::Connection, transport.clock.now());
        let connecting = connect(transport.target.authority(), &transport.clock);
        let (wire, marks) = self.watched(connecting).await??;
        self.marks.connect = Some(marks);
        Ok(wire)
    }

    async fn exchange(&mut self, mut wire: Wire<C>, body: Bytes) -> Result<Answer<C>, Unanswered> {
        let log = Rc::clone(wire.log());
        self.log = Some(Rc::clone(&log));
        self.watchdog.enter(Phase::FirstToken, self.transport.clock.now());
        let mut response = pin!(wire.start(self.post(body)));
        let answered = poll_fn(|cx| {
            wire.drive(cx);
            response.as_mut().poll(cx)
        });
        let answered = self.watched(answered).await.map_err(Unanswered::Failed)?;
        match answered {
            Ok(response) => {
                // hyper may have read once more by now, for the body, but in the same breath: microseconds at
                // most.
                self.marks.headers = log.last_read();
                Ok(Answer { wire, response })
            }
            Err(error) if log.first_read().is_none() => Err(Unanswered::Dead(cause(&error))),
            Err(error) => Err(Unanswered::Failed(headless(&error))),
        }
    }

    fn post(&self, body: Bytes) -> Request<Full<Bytes>> {
        let target = &self.transport.target;
        let mut request = Request::new(Full::new(body));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = target.uri().unwrap_or_default();
        *request.headers_mut() = target.headers().clone();
        request
    }

    /// Gives the connection back for another request, whose stamps will then overwrite ours.
    async fn check_in(&mut self, wire: Wire<C>) {
        self.note_io();
        self.transport.pool.check_in(wire).await;
    }

    /// Takes the marks over from the socket.
    fn note_io(&mut self) {
        if let Some(log) = self.log.take() {
            self.marks.send_start = log.first_write();
            self.marks.send_end = log.last_write();
            self.marks.first_byte = log.first_read();
        }
    }

    /// `future`, unless a limit is reached first.
    async fn watched<F: Future>(&mut self, future: F) -> Result<F::Output, Failure> {
        let mut future = pin!(future);
        let watchdog = &mut self.watchdog;
        let alarm = poll_fn(|cx| match future.as_mut().poll(cx) {
            Poll::Ready(output) => Poll::Ready(Ok(output)),
            Poll::Pending => watchdog.poll(cx).map(Err),
        });
        alarm.await.map_err(|alarm| self.give_up(alarm))
    }

    fn give_up(&self, alarm: Alarm) -> Failure {
        match alarm {
            Alarm::Timeout(class) => self.transport.timed_out(class),
            Alarm::Grace => self.transport.timed_out(FailureClass::TimeoutTotal),
        }
    }

    /// Reads the reply, whatever it is.
    async fn take(&mut self, answer: Answer<C>) -> Reply {
        let status = answer.response.status();
        let headers = answer.response.headers();
        let asked = self.transport.target.route().dialect().framing();
        let mut reply = match framing(headers, asked) {
            _ if status != StatusCode::OK => Reply::failed(self.refusal(answer).await),
            Ok(framing) => self.stream(answer, framing).await,
            Err(Unstreamed::Json) => Reply::failed(self.unstreamed(answer).await),
            Err(Unstreamed::Other(detail)) => {
                Reply::failed(Failure::new(FailureClass::Malformed, detail))
            }
        };
        if let fizeau_core::Outcome::Failed(failure) = &mut reply.outcome {
            failure.status = Some(status.as_u16());
        }
        reply
    }

    /// Reads the events. Their JSON is read here, between reads: it takes one to two microseconds an event,
    /// no more than the read call itself, and the stamps were taken in the socket before it.
    async fn stream(&mut self, answer: Answer<C>, framing: Option<Framing>) -> Reply {
        let Answer { mut wire, response } = answer;
        let target = &self.transport.target;
        let mut body = response.into_body();
        let dialect = target.route().dialect();
        let framing = framing.unwrap_or_else(|| dialect.framing());
        let mut reader = ReplyReader::framed(dialect, framing, target.text());
        let log = Rc::clone(wire.log());
        let end = loop {
            let data = match self.next(&mut wire, &mut body).await {
                Next::Data(data) => data,
                Next::End(end) => break end,
            };
            let (at, read) = log.last();
            match reader.feed(&data, ReadMark::user(at, read)) {
                Progress::Broken => break BodyEnd::Cut,
                Progress::Quiet => {}
                Progress::Settled if self.watchdog.phase() == Phase::BodyEnd => {}
                Progress::Settled => self.watchdog.enter(Phase::BodyEnd, at),
                Progress::Tokens => self.watchdog.enter(Phase::NextToken, at),
            }
        };
        if end == BodyEnd::Whole {
            self.marks.end = log.last_read();
            self.check_in(wire).await;
        }
        reader.finish_without(end, target.secrets())
    }

    /// Waits for more of `body`, within the limits.
    async fn next(&mut self, wire: &mut Wire<C>, body: &mut Incoming) -> Next {
        let watchdog = &mut self.watchdog;
        let waited = poll_fn(|cx| match wire.poll_data(body, cx) {
            Poll::Ready(data) => Poll::Ready(Ok(data)),
            Poll::Pending => watchdog.poll(cx).map(Err),
        });
        match waited.await {
            Ok(Some(Ok(data))) => Next::Data(data),
            Ok(Some(Err(_))) | Err(Alarm::Grace) => Next::End(BodyEnd::Cut),
            Ok(None) => Next::End(BodyEnd::Whole),
            Err(alarm) => Next::End(BodyEnd::Stopped(self.give_up(alarm))),
        }
    }

    /// The start of a body that is not a stream.
    async fn plain_body(&mut self, wire: Wire<C>, mut body: Incoming) -> Vec<u8> {
        let mut wire = wire;
        let mut bytes = Vec::new();
        self.watchdog.enter(Phase::BodyEnd, self.transport.clock.now());
        loop {
            match self.next(&mut wire, &mut body).await {
                Next::Data(data) if bytes.len() < PLAIN_BODY_LIMIT => {
                    bytes.extend_from_slice(&data);
                }
                Next::Data(_) => break,
                Next::End(BodyEnd::Whole) => {
                    self.check_in(wire).await;
                    break;
                }
                Next::End(_) => break,
            }
        }
        bytes.truncate(PLAIN_BODY_LIMIT);
        bytes
    }

    /// The failure of a reply with another status than 200.
    async fn refusal(&mut self, answer: Answer<C>) -> Failure {
        let (head, body) = answer.response.into_parts();
        let bytes = self.plain_body(answer.wire, body).await;
        let words = chunk::message(bytes.trim_ascii());
        let words = if words.is_empty() { "no message" } else { &words };
        let detail = format!("{}: {words}", head.status);
        Failure {
            retry_after: retry_after(&head.headers),
            ..Failure::new(FailureClass::Status, self.transport.target.secrets().detail(&detail))
        }
    }

    /// The failure of a reply with status 200 that is one JSON body.
    async fn unstreamed(&mut self, answer: Answer<C>) -> Failure {
        let body = answer.response.into_body();
        let bytes = self.plain_body(answer.wire, body).await;
        let secrets = self.transport.target.secrets();
        match chunk::error_in(&bytes) {
            Some(words) => Failure::new(FailureClass::InStreamError, secrets.detail(&words)),
            None => Failure::new(
                FailureClass::Malformed,
                "the server answered with one JSON body in place of a stream of events: it ignored `stream`",
            ),
        }
    }
}

/// What a reply is if it is not a stream of events.
enum Unstreamed {
    Json,
    Other(String),
}

/// How the events are framed, judged by the content type and never by what was asked for. A reply without one
/// gets the benefit of the doubt.
fn framing(headers: &HeaderMap, asked: Framing) -> Result<Option<Framing>, Unstreamed> {
    let encoding = text(headers, &CONTENT_ENCODING).filter(|name| *name != "identity");
    if let Some(encoding) = encoding {
        let detail =
            format!("the reply is compressed ({encoding:.40}) although it was asked not to be");
        return Err(Unstreamed::Other(detail));
    }
    let Some(media) = text(headers, &CONTENT_TYPE).and_then(|of| of.split(';').next()) else {
        return Ok(None);
    };
    let media = media.trim().to_ascii_lowercase();
    match asked.answered(&media) {
        Some(framing) => Ok(Some(framing)),
        None if media == "application/json" => Err(Unstreamed::Json),
        None => Err(Unstreamed::Other(format!(
            "the reply is of type `{media:.80}`, not what was asked for ({})",
            asked.media()
        ))),
    }
}

fn text<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    headers.get(name)?.to_str().ok()
}

/// `Retry-After` in seconds. A date is not taken: it would need the wall clock.
fn retry_after(headers: &HeaderMap) -> Option<Nanos> {
    let secs = text(headers, &RETRY_AFTER)?.trim().parse().ok()?;
    Nanos::from_secs_f64(secs).ok()
}

/// The failure of a reply that began and whose head never became whole.
fn headless(error: &hyper::Error) -> Failure {
    let class = if error.is_parse() { FailureClass::Malformed } else { FailureClass::Truncated };
    let detail = format!("the reply's head is not whole: {}", cause(error));
    Failure::new(class, detail)
}
