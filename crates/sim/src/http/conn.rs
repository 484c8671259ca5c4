//! One connection: one request at a time, in the order they come.

use std::io::{self, ErrorKind, Read};
use std::net::IpAddr;

use fizeau_core::{Clock, Stamp};

use super::app::WallClock;
use super::fault::{self, FaultedEnd, FaultyReply, ReplyState};
use super::frames;
use super::metrics::Metrics;
use super::parsed_request::ParsedRequest;
use super::request::{AfterReply, HttpRequest, Method, PeerAbilities, RequestParser, Version};
use super::response::{ReadyResponse, Refusal};
use super::stream::{Outbox, ReplyStream, Scratch, SendOutcome, StreamTurn};
use super::truth::TruthRecord;
use super::wire::SocketWire;
use crate::serve::{Emission, JobId};

/// How much a client may send ahead of the reply under way.
const AHEAD: usize = 64 << 10;
/// How much more of a request that was refused is read, so that a client that is still sending gets to see why.
const DRAIN: usize = 64 << 20;

pub(super) struct Conn {
    pub(super) wire: SocketWire,
    /// Whose it is, where the system says so.
    pub(super) client: Option<IpAddr>,
    parser: RequestParser,
    out: Outbox,
    reply: ConnReply,
    after: AfterReply,
    /// When the last bytes had been read, or the connection was free for what had been read before.
    ready_at: Stamp,
    /// What the engine knows the request by whose reply is under way; none where it never heard of it.
    job: Option<JobId>,
    pub(super) marks: ConnMarks,
    /// Whether what comes is left unread.
    pub(super) is_deaf: bool,
}

/// What is known of a connection's socket, and in which queues the connection stands.
#[derive(Debug, Default)]
pub(super) struct ConnMarks {
    /// The socket took less than it was given and has not said since that there is room.
    pub(super) blocked: bool,
    /// Bytes may have come that were not read.
    pub(super) readable: bool,
    /// The client sends no more: there is an end to be read.
    pub(super) hung_up: bool,
    pub(super) in_reads: bool,
    pub(super) in_writes: bool,
}

/// What a connection is at.
enum ConnReply {
    /// Waiting for a request.
    None,
    /// The outbox holds all that is left of the reply.
    Rest,
    Stream(Box<ReplyStream>),
    Whole(Box<WholeReply>),
    Faulty(Box<FaultyReply>),
    /// As `Rest`, the reply to what was no request.
    Refused,
    /// After that: reads on for so many bytes and then ends.
    Draining(usize),
}

/// A reply in one piece, until the engine is done.
pub(super) struct WholeReply {
    pub(super) ask: Box<ParsedRequest>,
    pub(super) number: JobId,
    pub(super) created: u64,
    pub(super) peer: PeerAbilities,
    pub(super) record: TruthRecord,
}

/// What reading came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReadOutcome {
    /// All that was there.
    All,
    /// There is more.
    Some,
    /// The client has gone.
    End,
}

/// What became of a connection's turn to write.
pub(super) struct WriteOutcome {
    pub(super) then: AfterWrite,
    /// Of a reply that is all in the kernel's hands or the outbox.
    pub(super) record: Option<TruthRecord>,
    /// How many bytes of tokens were written.
    pub(super) bytes: usize,
}

/// What a connection can do after its turn to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AfterWrite {
    /// Nothing until something happens.
    Wait,
    /// Nothing before then.
    WakeAt(Stamp),
    /// Write more.
    Write,
    /// Read on: a reply is over.
    Read,
    /// Nothing ever.
    End,
}

impl Conn {
    pub(super) fn new(wire: SocketWire, body_limit: usize) -> Self {
        Self {
            wire,
            client: None,
            parser: RequestParser::new(body_limit),
            out: Outbox::default(),
            reply: ConnReply::None,
            after: AfterReply::KeepAlive,
            ready_at: Stamp::EPOCH,
            job: None,
            marks: ConnMarks::default(),
            is_deaf: false,
        }
    }

    /// Reads once, unless more than enough waits already.
    pub(super) fn read(&mut self, buffer: &mut [u8], clock: WallClock) -> io::Result<ReadOutcome> {
        if !matches!(self.reply, ConnReply::None | ConnReply::Draining(_))
            && self.parser.waiting() > AHEAD
        {
            return Ok(ReadOutcome::All);
        }
        if self.is_deaf {
            return Ok(if self.marks.hung_up { ReadOutcome::End } else { ReadOutcome::All });
        }
        let n = loop {
            match self.wire.read(buffer) {
                Ok(n) => break n,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    self.marks.readable = false;
                    return Ok(ReadOutcome::All);
                }
                Err(error) => return Err(error),
            }
        };
        let got = buffer.get(..n).unwrap_or_default();
        match &mut self.reply {
            _ if n == 0 => return Ok(ReadOutcome::End),
            ConnReply::Draining(left) if *left < n => return Ok(ReadOutcome::End),
            ConnReply::Draining(left) => *left -= n,
            _ => {
                self.ready_at = clock.now();
                self.parser.feed(got);
            }
        }
        // Less than there was room for is all that there was; what comes later is told anew.
        if n < buffer.len() && !self.marks.hung_up {
            self.marks.readable = false;
            return Ok(ReadOutcome::All);
        }
        Ok(ReadOutcome::Some)
    }

    /// The next request and when it had arrived, if the connection is free for one; what is no request is answered
    /// here.
    pub(super) fn next_request(&mut self) -> Option<(HttpRequest, Stamp)> {
        if !matches!(self.reply, ConnReply::None) {
            return None;
        }
        match self.parser.next() {
            Ok(Some(request)) => Some((request, self.ready_at)),
            Ok(None) => {
                if self.parser.take_continue() {
                    self.out.push(b"HTTP/1.1 100 Continue\r\n\r\n");
                }
                None
            }
            Err(refusal) => {
                self.refuse(&refusal);
                None
            }
        }
    }

    fn refuse(&mut self, refusal: &Refusal) {
        let peer = PeerAbilities { version: Version::Http11, after: AfterReply::Close };
        self.respond(ReadyResponse::refusal(refusal), &Method::Get, peer);
        self.reply = ConnReply::Refused;
    }

    /// Answers a request to generate that cannot be taken.
    pub(super) fn decline(&mut self, ask: ParsedRequest, refusal: &Refusal, peer: PeerAbilities) {
        let response = ReadyResponse::refusal_on(ask.route, refusal).echoing(ask.request_id);
        self.respond(response, &Method::Post, peer);
    }

    /// Answers with what is ready.
    pub(super) fn respond(
        &mut self,
        response: ReadyResponse,
        method: &Method,
        peer: PeerAbilities,
    ) {
        self.out.push(&response.render(method, peer));
        self.after = peer.after;
        self.reply = ConnReply::Rest;
    }

    /// Notes that the engine works for the reply that begins now.
    pub(super) const fn works(&mut self, job: JobId) {
        self.job = Some(job);
    }

    /// Begins a stream.
    pub(super) fn stream(&mut self, head: &[u8], stream: ReplyStream, after: AfterReply) {
        self.out.push(head);
        self.after = after;
        self.reply = ConnReply::Stream(Box::new(stream));
    }

    /// Begins a reply in one piece.
    pub(super) fn whole(&mut self, whole: WholeReply) {
        self.after = whole.peer.after;
        self.reply = ConnReply::Whole(Box::new(whole));
    }

    /// Begins a reply that goes wrong.
    pub(super) fn faulty(&mut self, faulty: FaultyReply) {
        self.after = faulty.after;
        self.reply = ConnReply::Faulty(Box::new(faulty));
    }

    /// The record of a reply that goes wrong, where the connection ends before the reply does.
    pub(super) fn take_faulty(&mut self) -> Option<TruthRecord> {
        matches!(self.reply, ConnReply::Faulty(_)).then(|| self.take_record())?
    }

    /// Notes tokens of the reply, which the engine let go at `now`; all instants are the server's.
    pub(super) fn emitted(&mut self, emission: &Emission, now: Stamp, metrics: &mut Metrics) {
        if self.job != Some(emission.job) {
            return;
        }
        match &mut self.reply {
            ConnReply::Stream(stream) => {
                metrics.emitted(stream.record(), emission);
                stream.emitted(emission);
            }
            ConnReply::Faulty(faulty) => {
                metrics.emitted(faulty.record(), emission);
                faulty.emitted(emission);
            }
            ConnReply::Whole(whole) => {
                metrics.emitted(&whole.record, emission);
                whole.emitted(emission, now);
            }
            _ => {}
        }
    }

    /// Which of several engines gave the last token of the reply; the first where none has.
    pub(super) fn rank(&self) -> u32 {
        match &self.reply {
            ConnReply::Stream(stream) => stream.record().rank,
            ConnReply::Faulty(faulty) => faulty.record().rank,
            ConnReply::Whole(whole) => whole.record.rank,
            _ => 0,
        }
    }

    /// What the engine still works at for a client that has gone.
    pub(super) const fn take_job(&mut self) -> Option<JobId> {
        self.job.take()
    }

    /// Writes what there is to write, up to one turn's worth.
    pub(super) fn write(
        &mut self,
        clock: WallClock,
        scratch: &mut Scratch,
    ) -> io::Result<WriteOutcome> {
        if let ConnReply::Stream(stream) = &mut self.reply {
            let (turn, bytes) = stream.turn(&mut self.out, &mut self.wire, &clock, scratch)?;
            self.marks.blocked = turn == StreamTurn::Blocked;
            let wrote = |then| WriteOutcome { then, record: None, bytes };
            return match turn {
                StreamTurn::Blocked | StreamTurn::Waiting => Ok(wrote(AfterWrite::Wait)),
                StreamTurn::More => Ok(wrote(AfterWrite::Write)),
                StreamTurn::Ended => {
                    let record = self.take_record();
                    Ok(WriteOutcome { then: self.end(clock)?, record, bytes })
                }
            };
        }
        if matches!(self.reply, ConnReply::Faulty(_)) {
            return self.write_faulty(clock);
        }
        let record = match &self.reply {
            ConnReply::Whole(whole) if whole.is_done() => {
                let body = frames::whole(&whole.ask, whole.number, whole.created);
                let response = ReadyResponse::json(body).echoing(whole.ask.request_id.clone());
                self.out.push(&response.render(&Method::Post, whole.peer));
                self.take_record()
            }
            _ => None,
        };
        self.marks.blocked = self.out.send(&mut self.wire)? == SendOutcome::Blocked;
        let then = match self.reply {
            ConnReply::Rest | ConnReply::Refused if !self.marks.blocked => self.end(clock)?,
            _ => AfterWrite::Wait,
        };
        Ok(WriteOutcome { then, record, bytes: 0 })
    }

    fn write_faulty(&mut self, clock: WallClock) -> io::Result<WriteOutcome> {
        let wrote = |then, record| WriteOutcome { then, record, bytes: 0 };
        self.marks.blocked = self.out.send(&mut self.wire)? == SendOutcome::Blocked;
        let stand = match &mut self.reply {
            ConnReply::Faulty(faulty) if !self.marks.blocked => {
                faulty.turn(&mut self.wire, &clock)?
            }
            _ => return Ok(wrote(AfterWrite::Wait, None)),
        };
        self.marks.blocked = stand == ReplyState::Blocked;
        let end = match stand {
            ReplyState::Blocked | ReplyState::Idle => return Ok(wrote(AfterWrite::Wait, None)),
            ReplyState::Until(at) => return Ok(wrote(AfterWrite::WakeAt(at), None)),
            ReplyState::More => return Ok(wrote(AfterWrite::Write, None)),
            ReplyState::Ended(end) => end,
        };
        let record = self.take_record();
        let then = match end {
            FaultedEnd::Whole => self.end(clock)?,
            FaultedEnd::Close => AfterWrite::End,
            FaultedEnd::Fin => {
                self.reply = ConnReply::Refused;
                self.end(clock)?
            }
            FaultedEnd::Reset => {
                fault::reset_on_close(self.wire.socket())?;
                AfterWrite::End
            }
        };
        Ok(wrote(then, record))
    }

    /// Leaves of a reply what is in the outbox.
    fn take_record(&mut self) -> Option<TruthRecord> {
        self.job = None;
        match std::mem::replace(&mut self.reply, ConnReply::Rest) {
            ConnReply::Stream(stream) => Some(stream.into_record()),
            ConnReply::Whole(whole) => Some(whole.record),
            ConnReply::Faulty(faulty) => Some(faulty.into_record()),
            _ => None,
        }
    }

    /// The reply is sent.
    fn end(&mut self, clock: WallClock) -> io::Result<AfterWrite> {
        if matches!(self.reply, ConnReply::Refused) {
            self.wire.shutdown()?;
            self.reply = ConnReply::Draining(DRAIN);
            return Ok(AfterWrite::Read);
        }
        if self.after == AfterReply::Close {
            self.wire.say_end();
            return Ok(AfterWrite::End);
        }
        self.reply = ConnReply::None;
        self.ready_at = clock.now();
        Ok(AfterWrite::Read)
    }
}

impl WholeReply {
    fn emitted(&mut self, emission: &Emission, now: Stamp) {
        if emission.index == 0 && self.record.cached_tokens.is_some() {
            self.ask.cached_tokens = Some(emission.timing.cached_tokens);
        }
        self.record.emitted(emission);
        self.record.hand(emission.count, now);
    }

    fn is_done(&self) -> bool {
        self.record.token_ns.len() as u64 == self.ask.max_tokens.get()
    }
}
