//! The life of one request.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll};

use fizeau_core::{
    CallOff, Clock, Connection, Failure, FailureClass, Nanos, Outcome, RequestMarks, Stamp,
    StampSource, Tokens,
};
use hyper::StatusCode;

use super::HttpTransport;
use super::answer::{self, PlainReply};
use super::endpoint::{ConnectionChoice, Endpoint, Payload};
use super::h1::ReplyHead;
use super::h2;
use super::log::IoLog;
use super::reading::{BodyContent, BodyKind, BodyReading, EndedBody};
use super::resend::{KeptConnections, UnansweredBreak};
use super::watchdog::{TimeoutAlarm, WaitPhase, Watchdog};
use super::wire::{BodyEnding, DrivenConnection, ReplyHeadError, SHORTEST_KEEP_ALIVE};
use crate::dialect::chunk::{self, PlainBody};
use crate::framing::Framing;
use crate::reply::{BodyEnd, Reply, ReplyReader};

/// One request under way.
pub(super) struct HttpCall<'t, C> {
    transport: &'t HttpTransport<C>,
    endpoint: &'t Endpoint<C>,
    off: &'t CallOff,
    marks: RequestMarks,
    connection: Connection,
    round_trip: Option<Nanos>,
    stamps: StampSource,
    watchdog: Watchdog,
    /// The socket's account of the request, once there is a connection.
    log: Option<Arc<IoLog>>,
    /// When it was sent first, if it has to be sent again.
    first_sent: Option<Stamp>,
    /// Whether the reply was over before its body.
    left_open: bool,
    /// How many tokens were asked for.
    asked: Tokens,
}

/// A reply whose head is there.
struct StartedReply<C> {
    wire: DrivenConnection<C>,
    head: ReplyHead,
}

/// Why no head of a reply came.
enum NoReplyHead {
    /// The server cannot have taken the request.
    Untaken(String),
    Failed(Failure),
}

impl<'t, C: Clock + Clone + Send + 'static> HttpCall<'t, C> {
    pub(super) fn new(
        transport: &'t HttpTransport<C>,
        endpoint: &'t Endpoint<C>,
        asked: Tokens,
        marks: RequestMarks,
        off: &'t CallOff,
    ) -> Self {
        Self {
            transport,
            endpoint,
            off,
            asked,
            marks,
            connection: Connection::Fresh,
            round_trip: None,
            stamps: StampSource::User,
            watchdog: Watchdog::new(transport.clock.now(), *transport.target.limits()),
            log: None,
            first_sent: None,
            left_open: false,
        }
    }

    pub(super) async fn run(&mut self, payload: Payload) -> Reply {
        let reply = match self.ask(payload).await {
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
    pub(super) const fn marks(&self) -> RequestMarks {
        self.marks
    }

    pub(super) const fn connection(&self) -> Connection {
        self.connection
    }

    /// The shortest round trip on the connection, as the kernel knew it when the reply ended.
    pub(super) const fn round_trip(&self) -> Option<Nanos> {
        self.round_trip
    }

    /// Whether the reply was over before its body.
    pub(super) const fn left_open(&self) -> bool {
        self.left_open
    }

    /// Who stamped what came.
    pub(super) const fn stamps(&self) -> StampSource {
        self.stamps
    }

    /// Sends the request, on an idle connection if there is one, and waits for the head of the reply. Where the server cannot have
    /// taken it on the idle one, it is sent again.
    async fn ask(&mut self, payload: Payload) -> Result<StartedReply<C>, Failure> {
        let mut wanted = ConnectionChoice::Any;
        let transport = self.transport;
        let idle = self.endpoint.check_out(&mut transport.scratch.borrow_mut(), &transport.clock);
        if let Some(wire) = idle {
            self.connection = Connection::Reused;
            let has_answered = wire.has_answered();
            match self.exchange(wire, payload.clone()).await {
                Ok(answer) => {
                    // One that was opened ahead shows nothing.
                    if has_answered {
                        self.endpoint.keep_alive().note_reuse();
                    }
                    return Ok(answer);
                }
                Err(NoReplyHead::Failed(failure)) => return Err(failure),
                Err(NoReplyHead::Untaken(why)) => {
                    tracing::debug!(why, "an idle connection was dead and is replaced");
                    let log = self.log.take();
                    let rest = log.as_ref().and_then(|log| log.rest());
                    if has_answered && rest.is_some_and(|rest| rest < SHORTEST_KEEP_ALIVE) {
                        self.endpoint.keep_alive().note_closed_early();
                    }
                    self.first_sent = log.and_then(|log| log.first_write());
                    self.connection = match self.first_sent {
                        Some(_) => Connection::ReplacedStale,
                        None => Connection::Fresh,
                    };
                    wanted = ConnectionChoice::New;
                }
            }
        }
        let wire = self.connect(wanted).await?;
        self.exchange(wire, payload).await.map_err(|unanswered| match unanswered {
            NoReplyHead::Failed(failure) => failure,
            NoReplyHead::Untaken(why) => self.unanswered(&why),
        })
    }

    /// The failure of a connection that broke without a byte of a reply.
    fn unanswered(&self, why: &str) -> Failure {
        let whom = self.endpoint.way().whom();
        let is_sent = self.log.as_ref().is_some_and(|log| log.first_write().is_some());
        let detail = match (is_sent, why.strip_prefix(h2::RESET)) {
            (true, Some(why)) => {
                format!("{whom} reset the request's stream, without a reply: {why}")
            }
            (true, None) => format!(
                "{whom} closed the connection after the request was sent, without a reply: {why}"
            ),
            (false, _) => {
                format!("the connection to {whom} broke before the request was sent: {why}")
            }
        };
        Failure::new(FailureClass::Connect, detail)
    }

    async fn connect(&mut self, wanted: ConnectionChoice) -> Result<DrivenConnection<C>, Failure> {
        let transport = self.transport;
        self.watchdog.enter(WaitPhase::Connection, transport.clock.now());
        // Apart, as whatever happens at most once a connection: a request under way would hold room for it all along.
        let mut connecting =
            Box::pin(self.endpoint.connect(&transport.clock, transport.stamps(), wanted));
        let connected = poll_fn(|cx| match connecting.as_mut().poll(cx) {
            Poll::Ready(connected) => Poll::Ready(Ok(connected)),
            Poll::Pending => self.watch(cx, None).map(Err),
        });
        let (wire, marks) = connected.await.map_err(|alarm| self.give_up(alarm))??;
        self.marks.connect = Some(marks);
        transport.adopt(wire, self.endpoint)
    }

    async fn exchange(
        &mut self,
        mut wire: DrivenConnection<C>,
        payload: Payload,
    ) -> Result<StartedReply<C>, NoReplyHead> {
        let log = Arc::clone(wire.log());
        let server = match wire.has_answered() && !self.endpoint.keeps_alive() {
            true => KeptConnections::PerhapsClosed,
            false => KeptConnections::Kept,
        };
        self.log = Some(Arc::clone(&log));
        let sent = self.first_sent.unwrap_or_else(|| self.transport.clock.now());
        self.watchdog.enter(WaitPhase::FirstToken, sent);
        self.endpoint.begin(&mut wire, payload);
        let answered =
            poll_fn(|cx| match wire.poll_head(cx, &mut self.transport.scratch.borrow_mut()) {
                Poll::Ready(answered) => Poll::Ready(Ok(answered)),
                Poll::Pending => self.watch(cx, None).map(Err),
            });
        match answered.await {
            Ok(Ok(head)) => {
                self.marks.headers = log.last_read();
                Ok(StartedReply { wire, head })
            }
            Ok(Err(ReplyHeadError::Untaken(why))) if log.first_read().is_none() => {
                Err(NoReplyHead::Untaken(why))
            }
            Ok(Err(ReplyHeadError::Cut(why))) if log.first_read().is_none() => {
                match self.may_be_untaken(&log, wire.known_round_trip(), server) {
                    true => Err(NoReplyHead::Untaken(why)),
                    false => Err(NoReplyHead::Failed(self.unanswered(&why))),
                }
            }
            Ok(Err(headless)) => Err(NoReplyHead::Failed(without_head(headless))),
            Err(alarm) => Err(NoReplyHead::Failed(self.give_up(alarm))),
        }
    }

    /// Whether the server can have closed the connection of `log`, which is broken, before the request came to it.
    fn may_be_untaken(
        &self,
        log: &IoLog,
        round_trip: Option<Nanos>,
        server: KeptConnections,
    ) -> bool {
        let (Some(sent), Some(rest)) = (log.first_write(), log.rest()) else {
            // Nothing was sent.
            return true;
        };
        let after = self.transport.clock.now().saturating_since(sent);
        self.transport.race.explains(&UnansweredBreak { rest, after, round_trip, server })
    }

    /// Gives the connection back for another request, whose stamps will then overwrite ours.
    fn check_in(&mut self, wire: DrivenConnection<C>) {
        self.note_io();
        self.endpoint.check_in(wire, &self.transport.clock);
    }

    /// Takes the marks over from the socket.
    fn note_io(&mut self) {
        if let Some(log) = self.log.take() {
            self.marks.send_start = log.first_write();
            self.marks.send_end = log.last_write();
            self.marks.first_byte = log.first_read();
            self.stamps = log.stamps();
        }
        // There may never have been a second connection to send it on again.
        self.marks.send_start = self.first_sent.or(self.marks.send_start);
    }

    /// Looks for a limit that is reached. `now` may be any instant since the task was woken.
    fn watch(&mut self, cx: &mut Context<'_>, now: Option<Stamp>) -> Poll<TimeoutAlarm> {
        if self.off.is_thrown() {
            return Poll::Ready(TimeoutAlarm::CalledOff);
        }
        let clock = &self.transport.clock;
        self.watchdog.poll(cx, || now.unwrap_or_else(|| clock.now()))
    }

    fn give_up(&self, alarm: TimeoutAlarm) -> Failure {
        let whom = self.endpoint.way().whom();
        match alarm {
            TimeoutAlarm::CalledOff => Failure::new(
                FailureClass::Cancelled,
                "the run was cancelled while this request was in flight",
            ),
            TimeoutAlarm::Timeout(class) => self.transport.timed_out(class, whom),
            TimeoutAlarm::Grace => self.transport.timed_out(FailureClass::TimeoutTotal, whom),
        }
    }

    /// Reads the reply, whatever it is.
    async fn take(&mut self, answer: StartedReply<C>) -> Reply {
        let status = answer.head.status;
        let asked = self.transport.target.spoken().framing();
        let mut reply = match answer::framing(&answer.head.headers, asked) {
            _ if status != StatusCode::OK => Reply::failed(Box::pin(self.refusal(answer)).await),
            Ok(framing) => self.stream(answer.wire, framing).await,
            Err(PlainReply::Json) => Reply::failed(Box::pin(self.unstreamed(answer.wire)).await),
            Err(PlainReply::Other(detail)) => {
                Reply::failed(Failure::new(FailureClass::Malformed, detail))
            }
        };
        if let Outcome::Failed(failure) = &mut reply.outcome {
            failure.status = Some(status.as_u16());
        }
        reply
    }

    /// Reads the events.
    async fn stream(&mut self, wire: DrivenConnection<C>, framing: Option<Framing>) -> Reply {
        let target = &self.transport.target;
        let dialect = target.spoken();
        let framing = framing.unwrap_or_else(|| dialect.framing());
        let reader = ReplyReader::spoken(dialect, framing, target.text()).expecting(self.asked);
        let (end, kind) = self.body(wire, BodyKind::Events(Box::new(reader))).await;
        match kind {
            BodyKind::Events(reader) => reader.finish_without(end, target.secrets()),
            // It was not read as one.
            BodyKind::Plain(_) => Reply::failed(Failure::new(FailureClass::Malformed, "no stream")),
        }
    }

    /// Reads the body as `kind`, within the limits, and gives the connection back where the body ends as it should.
    async fn body(&mut self, wire: DrivenConnection<C>, kind: BodyKind) -> (BodyEnd, BodyKind) {
        let transport = self.transport;
        let log = Arc::clone(wire.log());
        let watchdog = self.watchdog.hand_over(self.endpoint.grace());
        let content = BodyContent { watchdog, kind, settled: None };
        let mut reading = BodyReading::new(wire, content);
        let off = self.off;
        let ended = poll_fn(|cx| {
            let polled = reading.poll(cx, &mut transport.scratch.borrow_mut(), &transport.clock);
            if polled.is_pending() && off.is_thrown() { reading.call_off() } else { polled }
        });
        let EndedBody { wire, content, how } = ended.await;
        self.round_trip = wire.round_trip();
        let end = match how {
            Ok(BodyEnding::Whole) => {
                self.marks.end = log.last_read();
                self.endpoint.body_ended();
                self.check_in(wire);
                BodyEnd::Whole
            }
            Err(TimeoutAlarm::Grace) => {
                // What follows decides nothing, so it is over as all was said.
                if let Some(settled) = content.settled {
                    (self.marks.end, self.left_open) = (Some(settled), true);
                    self.note_io();
                    self.endpoint.leave_open(wire, settled);
                }
                BodyEnd::Cut
            }
            Ok(BodyEnding::Cut | BodyEnding::Stopped) => BodyEnd::Cut,
            Ok(BodyEnding::Reset(why)) => BodyEnd::Stopped(reset(&why)),
            Ok(BodyEnding::Malformed(why)) => {
                let detail = format!("the reply's chunked encoding is broken: {why}");
                BodyEnd::Stopped(Failure::new(FailureClass::Malformed, detail))
            }
            Err(alarm) => BodyEnd::Stopped(self.give_up(alarm)),
        };
        (end, content.kind)
    }

    /// The start of a body that is not a stream.
    async fn plain_body(&mut self, wire: DrivenConnection<C>) -> Vec<u8> {
        self.watchdog.enter(WaitPhase::Remainder, self.transport.clock.now());
        // However it ended: what came of it is the best there is.
        match self.body(wire, BodyKind::Plain(Vec::new())).await {
            (_, BodyKind::Plain(bytes)) => bytes,
            (_, BodyKind::Events(_)) => Vec::new(),
        }
    }

    /// The failure of a reply with another status than 200.
    async fn refusal(&mut self, answer: StartedReply<C>) -> Failure {
        let StartedReply { wire, head } = answer;
        let bytes = self.plain_body(wire).await;
        let words = chunk::message(bytes.trim_ascii());
        let words = if words.is_empty() { "no message" } else { &words };
        let detail = format!("{}: {words}", head.status);
        Failure {
            retry_after: answer::retry_after(&head.headers),
            ..Failure::new(FailureClass::Status, self.transport.target.secrets().detail(&detail))
        }
    }

    /// The failure of a reply with status 200 that is one JSON body.
    async fn unstreamed(&mut self, wire: DrivenConnection<C>) -> Failure {
        let bytes = self.plain_body(wire).await;
        let secrets = self.transport.target.secrets();
        match PlainBody::of(&bytes) {
            PlainBody::Error(words) => {
                Failure::new(FailureClass::InStreamError, secrets.detail(&words))
            }
            PlainBody::Reply => Failure::new(
                FailureClass::Malformed,
                "the server answered with one JSON body in place of a stream of events: it ignored `stream`",
            ),
            PlainBody::Other(start) => {
                let media = self.transport.target.spoken().framing().media();
                let detail = format!(
                    "the reply is of type `application/json`, not what was asked for ({media}): {start}"
                );
                Failure::new(FailureClass::Malformed, secrets.detail(&detail))
            }
        }
    }
}

/// The failure of a reply that began and whose head never became whole.
fn without_head(headless: ReplyHeadError) -> Failure {
    if let ReplyHeadError::Cut(why) = &headless
        && let Some(why) = why.strip_prefix(h2::RESET)
    {
        return reset(why);
    }
    let (class, why) = match headless {
        ReplyHeadError::Cut(why) | ReplyHeadError::Untaken(why) => (FailureClass::Truncated, why),
        ReplyHeadError::Malformed(why) => (FailureClass::Malformed, why),
    };
    Failure::new(class, format!("the reply's head is broken: {why}"))
}

/// The failure of a reply whose stream the server reset for the reason `why`.
fn reset(why: &str) -> Failure {
    let detail = format!("the server reset the reply's stream: {why}");
    Failure::new(FailureClass::Truncated, detail)
}
