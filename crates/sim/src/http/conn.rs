//! One connection: one request at a time, in the order they come.

use std::io::{self, ErrorKind, Read};

use fizeau_core::{Clock, Stamp};

use super::app::WallClock;
use super::fault::{self, End, Faulty, Stand};
use super::frames;
use super::metrics::Metrics;
use super::parsed_request::ParsedRequest;
use super::request::{After, Method, Parser, Peer, Request, Version};
use super::response::{Refusal, Response};
use super::stream::{Outbox, Scratch, Sent, Stream, Turn};
use super::truth::Record;
use super::wire::Wire;
use crate::serve::{Emission, JobId};

/// How much a client may send ahead of the reply under way.
const AHEAD: usize = 64 << 10;
/// How much more of a request that was refused is read, so that a client that is still sending gets to see why.
const DRAIN: usize = 64 << 20;

pub(super) struct Conn {
    pub(super) wire: Wire,
    parser: Parser,
    out: Outbox,
    reply: Reply,
    after: After,
    /// When the last bytes had been read, or the connection was free for what had been read before.
    ready_at: Stamp,
    /// What the engine knows the request by whose reply is under way; none where it never heard of it.
    job: Option<JobId>,
    pub(super) marks: Marks,
    /// Whether what comes is left unread.
    pub(super) is_deaf: bool,
}

/// What is known of a connection's socket, and in which queues the connection stands.
#[derive(Debug, Default)]
pub(super) struct Marks {
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
enum Reply {
    /// Waiting for a request.
    None,
    /// The outbox holds all that is left of the reply.
    Rest,
    Stream(Box<Stream>),
    Whole(Box<Whole>),
    Faulty(Box<Faulty>),
    /// As `Rest`, the reply to what was no request.
    Refused,
    /// After that: reads on for so many bytes and then ends.
    Draining(usize),
}

/// A reply in one piece, until the engine is done.
pub(super) struct Whole {
    pub(super) ask: Box<ParsedRequest>,
    pub(super) number: JobId,
    pub(super) created: u64,
    pub(super) peer: Peer,
    pub(super) record: Record,
}

/// What reading came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Got {
    /// All that was there.
    All,
    /// There is more.
    Some,
    /// The client has gone.
    End,
}

/// What became of a connection's turn to write.
pub(super) struct Wrote {
    pub(super) then: Then,
    /// Of a reply that is all in the kernel's hands or the outbox.
    pub(super) record: Option<Record>,
    /// How many bytes of tokens were written.
    pub(super) bytes: usize,
}

/// What a connection can do after its turn to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Then {
    /// Nothing until something happens.
    Wait,
    /// Nothing before then.
    Nap(Stamp),
    /// Write more.
    Write,
    /// Read on: a reply is over.
    Read,
    /// Nothing ever.
    End,
}

impl Conn {
    pub(super) fn new(wire: Wire, body_limit: usize) -> Self {
        Self {
            wire,
            parser: Parser::new(body_limit),
            out: Outbox::default(),
            reply: Reply::None,
            after: After::KeepAlive,
            ready_at: Stamp::EPOCH,
            job: None,
            marks: Marks::default(),
            is_deaf: false,
        }
    }

    /// Reads once, unless more than enough waits already.
    pub(super) fn read(&mut self, buffer: &mut [u8], clock: WallClock) -> io::Result<Got> {
        if !matches!(self.reply, Reply::None | Reply::Draining(_)) && self.parser.waiting() > AHEAD
        {
            return Ok(Got::All);
        }
        if self.is_deaf {
            return Ok(if self.marks.hung_up { Got::End } else { Got::All });
        }
        let n = loop {
            match self.wire.read(buffer) {
                Ok(n) => break n,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    self.marks.readable = false;
                    return Ok(Got::All);
                }
                Err(error) => return Err(error),
            }
        };
        let got = buffer.get(..n).unwrap_or_default();
        match &mut self.reply {
            _ if n == 0 => return Ok(Got::End),
            Reply::Draining(left) if *left < n => return Ok(Got::End),
            Reply::Draining(left) => *left -= n,
            _ => {
                self.ready_at = clock.now();
                self.parser.feed(got);
            }
        }
        // Less than there was room for is all that there was; what comes later is told anew.
        if n < buffer.len() && !self.marks.hung_up {
            self.marks.readable = false;
            return Ok(Got::All);
        }
        Ok(Got::Some)
    }

    /// The next request and when it had arrived, if the connection is free for one; what is no request is answered
    /// here.
    pub(super) fn next_request(&mut self) -> Option<(Request, Stamp)> {
        if !matches!(self.reply, Reply::None) {
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
        let peer = Peer { version: Version::Http11, after: After::Close };
        self.respond(Response::refusal(refusal), &Method::Get, peer);
        self.reply = Reply::Refused;
    }

    /// Answers a request to generate that cannot be taken.
    pub(super) fn decline(&mut self, ask: ParsedRequest, refusal: &Refusal, peer: Peer) {
        let response = Response::refusal_on(ask.route, refusal).echoing(ask.request_id);
        self.respond(response, &Method::Post, peer);
    }

    /// Answers with what is ready.
    pub(super) fn respond(&mut self, response: Response, method: &Method, peer: Peer) {
        self.out.push(&response.render(method, peer));
        self.after = peer.after;
        self.reply = Reply::Rest;
    }

    /// Notes that the engine works for the reply that begins now.
    pub(super) const fn works(&mut self, job: JobId) {
        self.job = Some(job);
    }

    /// Begins a stream.
    pub(super) fn stream(&mut self, head: &[u8], stream: Stream, after: After) {
        self.out.push(head);
        self.after = after;
        self.reply = Reply::Stream(Box::new(stream));
    }

    /// Begins a reply in one piece.
    pub(super) fn whole(&mut self, whole: Whole) {
        self.after = whole.peer.after;
        self.reply = Reply::Whole(Box::new(whole));
    }

    /// Begins a reply that goes wrong.
    pub(super) fn faulty(&mut self, faulty: Faulty) {
        self.after = faulty.after;
        self.reply = Reply::Faulty(Box::new(faulty));
    }

    /// The record of a reply that goes wrong, where the connection ends before the reply does.
    pub(super) fn take_faulty(&mut self) -> Option<Record> {
        matches!(self.reply, Reply::Faulty(_)).then(|| self.take_record())?
    }

    /// Notes tokens of the reply, which the engine let go at `now`; all instants are the server's.
    pub(super) fn emitted(&mut self, emission: &Emission, now: Stamp, metrics: &mut Metrics) {
        if self.job != Some(emission.job) {
            return;
        }
        match &mut self.reply {
            Reply::Stream(stream) => {
                metrics.emitted(stream.record(), emission);
                stream.emitted(emission);
            }
            Reply::Faulty(faulty) => {
                metrics.emitted(faulty.record(), emission);
                faulty.emitted(emission);
            }
            Reply::Whole(whole) => {
                metrics.emitted(&whole.record, emission);
                whole.emitted(emission, now);
            }
            _ => {}
        }
    }

    /// What the engine still works at for a client that has gone.
    pub(super) const fn take_job(&mut self) -> Option<JobId> {
        self.job.take()
    }

    /// Writes what there is to write, up to one turn's worth.
    pub(super) fn write(&mut self, clock: WallClock, scratch: &mut Scratch) -> io::Result<Wrote> {
        if let Reply::Stream(stream) = &mut self.reply {
            let (turn, bytes) = stream.turn(&mut self.out, &mut self.wire, &clock, scratch)?;
            self.marks.blocked = turn == Turn::Blocked;
            let wrote = |then| Wrote { then, record: None, bytes };
            return match turn {
                Turn::Blocked | Turn::Waiting => Ok(wrote(Then::Wait)),
                Turn::More => Ok(wrote(Then::Write)),
                Turn::Ended => {
                    let record = self.take_record();
                    Ok(Wrote { then: self.end(clock)?, record, bytes })
                }
            };
        }
        if matches!(self.reply, Reply::Faulty(_)) {
            return self.write_faulty(clock);
        }
        let record = match &self.reply {
            Reply::Whole(whole) if whole.is_done() => {
                let body = frames::whole(&whole.ask, whole.number, whole.created);
                let response = Response::json(body).echoing(whole.ask.request_id.clone());
                self.out.push(&response.render(&Method::Post, whole.peer));
                self.take_record()
            }
            _ => None,
        };
        self.marks.blocked = self.out.send(&mut self.wire)? == Sent::Blocked;
        let then = match self.reply {
            Reply::Rest | Reply::Refused if !self.marks.blocked => self.end(clock)?,
            _ => Then::Wait,
        };
        Ok(Wrote { then, record, bytes: 0 })
    }

    fn write_faulty(&mut self, clock: WallClock) -> io::Result<Wrote> {
        let wrote = |then, record| Wrote { then, record, bytes: 0 };
        self.marks.blocked = self.out.send(&mut self.wire)? == Sent::Blocked;
        let stand = match &mut self.reply {
            Reply::Faulty(faulty) if !self.marks.blocked => faulty.turn(&mut self.wire, &clock)?,
            _ => return Ok(wrote(Then::Wait, None)),
        };
        self.marks.blocked = stand == Stand::Blocked;
        let end = match stand {
            Stand::Blocked | Stand::Idle => return Ok(wrote(Then::Wait, None)),
            Stand::Until(at) => return Ok(wrote(Then::Nap(at), None)),
            Stand::More => return Ok(wrote(Then::Write, None)),
            Stand::Ended(end) => end,
        };
        let record = self.take_record();
        let then = match end {
            End::Whole => self.end(clock)?,
            End::Close => Then::End,
            End::Fin => {
                self.reply = Reply::Refused;
                self.end(clock)?
            }
            End::Reset => {
                fault::reset_on_close(self.wire.socket())?;
                Then::End
            }
        };
        Ok(wrote(then, record))
    }

    /// Leaves of a reply what is in the outbox.
    fn take_record(&mut self) -> Option<Record> {
        self.job = None;
        match std::mem::replace(&mut self.reply, Reply::Rest) {
            Reply::Stream(stream) => Some(stream.into_record()),
            Reply::Whole(whole) => Some(whole.record),
            Reply::Faulty(faulty) => Some(faulty.into_record()),
            _ => None,
        }
    }

    /// The reply is sent.
    fn end(&mut self, clock: WallClock) -> io::Result<Then> {
        if matches!(self.reply, Reply::Refused) {
            self.wire.shutdown()?;
            self.reply = Reply::Draining(DRAIN);
            return Ok(Then::Read);
        }
        if self.after == After::Close {
            self.wire.say_end();
            return Ok(Then::End);
        }
        self.reply = Reply::None;
        self.ready_at = clock.now();
        Ok(Then::Read)
    }
}

impl Whole {
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
