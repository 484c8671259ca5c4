//! The server's one thread: every connection, the engine and its time.
//!
//! There is no hop between the engine and a socket, and a token has a write of its own at its own instant. Between
//! instants the thread sleeps until just before the next one and watches the clock for the rest, with an eye on the
//! sockets: a request that waits to be read would be stamped late.

mod accept;

use std::collections::VecDeque;
use std::io::{self, ErrorKind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use fizeau_core::{Clock, Stamp, Tokens};
use mio::event::Event;
use mio::net::TcpListener;
use mio::{Events, Interest, Poll, Token, Waker};

use super::PassSink;
use super::alarm::PollAlarm;
use super::app::App;
use super::conn::{AfterWrite, ReadOutcome, WholeReply};
use super::fault::{FaultyReply, RequestIdentity};
use super::frames::{self, Frames};
use super::parsed_request::{Delivery, ParsedRequest};
use super::request::{HttpRequest, Method};
use super::response::{self, Refusal};
use super::routes::{self, RouteAnswer};
use super::slots::ConnSlots;
use super::stream::{ReplyStream, Scratch};
use super::truth::{TimeSummary, TruthRecord};
use crate::serve::{EngineJob, JobId, Serve};
use accept::Accept;

/// Sockets told of in one look. Few, so that the tokens that come due meanwhile do not wait long.
const LOOK: usize = 8;
/// Connections that write, and about how many bytes they write, between two looks.
const WRITES: usize = 16;
const WRITTEN: usize = 64 << 10;
/// How much is read at once.
const READ: usize = 64 << 10;

// Connections have their slots' numbers.
const LISTENER: Token = Token(usize::MAX);
const ALARM: Token = Token(usize::MAX - 1);
const STOP: Token = Token(usize::MAX - 2);

pub(super) struct Reactor {
    poll: Poll,
    listener: TcpListener,
    alarm: PollAlarm,
    stop: Arc<AtomicBool>,
    app: App,
    body_limit: usize,
    engine: Box<dyn Serve + Send>,
    /// Who hears of its steps.
    passes: Option<PassSink>,
    conns: ConnSlots,
    accept: Accept,
    /// Connections with something to read.
    reads: VecDeque<usize>,
    /// Connections with something to write, in the order in which it came to be.
    writes: VecDeque<usize>,
    scratch: Scratch,
    buffer: Vec<u8>,
}

/// Tells a reactor to stop.
#[derive(Debug)]
pub(super) struct Stop {
    stop: Arc<AtomicBool>,
    waker: Waker,
}

impl Stop {
    pub(super) fn stop(&self) {
        self.stop.store(true, Ordering::Release);
        if let Err(error) = self.waker.wake() {
            tracing::error!(%error, "the simulated server could not be woken to stop");
        }
    }
}

impl Reactor {
    pub(super) fn new(
        mut listener: TcpListener,
        (engine, passes): (Box<dyn Serve + Send>, Option<PassSink>),
        app: App,
        body_limit: usize,
    ) -> io::Result<(Self, Stop)> {
        let poll = Poll::new()?;
        poll.registry().register(&mut listener, LISTENER, Interest::READABLE)?;
        let alarm = PollAlarm::new(poll.registry(), ALARM)?;
        let stop = Arc::new(AtomicBool::new(false));
        let waker = Waker::new(poll.registry(), STOP)?;
        let reactor = Self {
            poll,
            listener,
            alarm,
            stop: Arc::clone(&stop),
            app,
            body_limit,
            engine,
            passes,
            conns: ConnSlots::default(),
            // What came before the listener was registered.
            accept: Accept::At(Stamp::EPOCH),
            reads: VecDeque::new(),
            writes: VecDeque::new(),
            scratch: Scratch::default(),
            buffer: vec![0; READ],
        };
        Ok((reactor, Stop { stop, waker }))
    }

    /// Serves until told to stop; how well it kept its time. Then every connection breaks off.
    pub(super) fn run(mut self) -> Option<TimeSummary> {
        let mut events = Events::with_capacity(LOOK);
        let mut arrived = Vec::new();
        while !self.stop.load(Ordering::Acquire) {
            if let Err(error) = self.look(&mut events) {
                tracing::error!(%error, "the simulated server cannot watch its sockets and ends");
                break;
            }
            self.accept();
            // All that is there is read, and so stamped, before any of it is looked at; and it all goes to the engine
            // before time passes: a job that came before a step began is part of it.
            self.read(&mut arrived);
            for slot in arrived.drain(..) {
                self.answer(slot);
            }
            self.advance();
            self.wake();
            self.write();
        }
        self.app.truth.lateness()
    }

    /// Waits until there is something to do, and notes what happened at the sockets.
    fn look(&mut self, events: &mut Events) -> io::Result<()> {
        let timeout = self.timeout()?;
        match self.poll.poll(events, timeout) {
            Err(error) if error.kind() == ErrorKind::Interrupted => return Ok(()),
            polled => polled?,
        }
        for event in events.iter() {
            match event.token() {
                // A pause goes on, whoever knocks.
                LISTENER if matches!(self.accept, Accept::At(_)) => {}
                LISTENER => self.accept = Accept::At(Stamp::EPOCH),
                ALARM | STOP => {}
                Token(slot) => self.note(slot, event),
            }
        }
        Ok(())
    }

    /// How long to sleep at most; none if nothing is due.
    fn timeout(&self) -> io::Result<Option<Duration>> {
        if !self.reads.is_empty() || !self.writes.is_empty() {
            return Ok(Some(Duration::ZERO));
        }
        let accept = match self.accept {
            Accept::At(at) => Some(at),
            Accept::Nothing => None,
        };
        let engine = self.engine.next_event().map(|at| self.app.scale.to_wall(at));
        match engine.into_iter().chain(accept).chain(self.app.faults.next_wake()).min() {
            Some(at) => self.alarm.arm(at.saturating_since(self.app.clock.now())),
            None => Ok(None),
        }
    }

    fn note(&mut self, slot: usize, event: &Event) {
        let Some(conn) = self.conns.get_mut(slot) else {
            return;
        };
        let marks = &mut conn.marks;
        let hung_up = event.is_read_closed() || event.is_error();
        if event.is_readable() || hung_up {
            marks.readable = true;
            marks.hung_up |= hung_up;
            enqueue(&mut self.reads, slot, &mut marks.in_reads);
        }
        if event.is_writable() && marks.blocked {
            marks.blocked = false;
            enqueue(&mut self.writes, slot, &mut marks.in_writes);
        }
    }

    /// Reads from whoever has something, once each; `arrived` gets those of whom something came.
    fn read(&mut self, arrived: &mut Vec<usize>) {
        for _ in 0..self.reads.len().min(LOOK) {
            let Some(slot) = self.reads.pop_front() else {
                return;
            };
            let Some(conn) = self.conns.get_mut(slot) else {
                continue;
            };
            conn.marks.in_reads = false;
            match conn.read(&mut self.buffer, self.app.clock) {
                Ok(ReadOutcome::All) => arrived.push(slot),
                Ok(ReadOutcome::Some) => {
                    arrived.push(slot);
                    enqueue(&mut self.reads, slot, &mut conn.marks.in_reads);
                }
                Ok(ReadOutcome::End) => self.close(slot),
                Err(error) => {
                    tracing::debug!(%error, "a connection broke off");
                    self.close(slot);
                }
            }
        }
    }

    /// Sees to the next request of a connection, if it is all there.
    fn answer(&mut self, slot: usize) {
        let Some(conn) = self.conns.get_mut(slot) else {
            return;
        };
        if let Some((request, arrived)) = conn.next_request() {
            if request.method == Method::Get {
                self.app.gauges = self.engine.gauges();
                self.app.ranks = self.engine.gauges_by_rank();
            }
            match routes::answer(&mut self.app, &request) {
                RouteAnswer::Now(response) => conn.respond(response, &request.method, request.peer),
                RouteAnswer::Generate(ask) => self.generate(slot, ask, &request, arrived),
            }
        }
        self.flush(slot);
    }

    /// Gives a request to the engine.
    fn generate(
        &mut self,
        slot: usize,
        mut ask: Box<ParsedRequest>,
        request: &HttpRequest,
        arrived: Stamp,
    ) {
        let Some(conn) = self.conns.get_mut(slot) else {
            return;
        };
        let met = match self.app.faults.meet(request.fault.as_deref(), &ask) {
            Ok(met) => met,
            Err(refusal) => return conn.decline(*ask, &refusal, request.peer),
        };
        if let Some(met) = met.as_ref().filter(|met| met.replaces_reply()) {
            let id = frames::reply_id(&ask, self.app.next_number());
            self.app.numbered += 1;
            let record = TruthRecord::unanswered(&ask, id, arrived).with_fault(Some(met));
            let record = record.of_client(conn.client);
            return conn.faulty(FaultyReply::instead(met, &ask, record, request.peer));
        }
        let (output, finish, peer) = match &met {
            Some(met) => met.prepare(&mut ask, request.peer),
            None => (ask.max_tokens, ask.ending.into(), request.peer),
        };
        ask.cached_tokens = self.app.prefix_block.map(|_| Tokens::ZERO);
        let number = self.app.next_number();
        let chain = ask.chain.take();
        let id = job_of(number, slot);
        let at = self.app.scale.to_engine(arrived);
        let job = EngineJob {
            priority: ask.priority,
            content: chain.map(|chain| chain.content(number, output)),
            ..EngineJob::new(id, ask.prompt_tokens, output, at)
        };
        if let Err(error) = self.engine.submit(job) {
            return conn.decline(*ask, &Refusal::from(error), request.peer);
        }
        self.app.numbered += 1;
        conn.works(id);
        let created = self.app.unix(arrived);
        let record = TruthRecord::new(&ask, frames::reply_id(&ask, number), arrived, finish);
        let record = record.with_fault(met.as_ref()).of_client(conn.client);
        if ask.delivery == Delivery::Whole {
            return conn.whole(WholeReply { ask, number, created, peer, record });
        }
        if let Some(met) = met {
            let frames = Frames::new(&mut ask, number, created);
            let identity = RequestIdentity { peer, id: ask.request_id.as_deref() };
            return conn.faulty(FaultyReply::new(&met, frames, record, identity));
        }
        let id = ask.request_id.as_deref();
        let (mut head, framing, after) = response::stream_head(peer, id);
        let stream = ReplyStream::new(Frames::new(&mut ask, number, created), framing, record);
        stream.open(&mut head);
        conn.stream(&head, stream, after);
    }

    /// Lets time pass for the engine.
    fn advance(&mut self) {
        let now = self.app.clock.now();
        let (conns, writes) = (&mut self.conns, &mut self.writes);
        let (scale, metrics) = (self.app.scale, &mut self.app.metrics);
        self.engine.advance(scale.to_engine(now), &mut |emission| {
            let emission = scale.emission(emission);
            let slot = slot_of(emission.job);
            if let Some(conn) = conns.get_mut(slot) {
                conn.emitted(&emission, now, metrics);
                if !conn.marks.blocked {
                    enqueue(writes, slot, &mut conn.marks.in_writes);
                }
            }
        });
        let (sink, metrics) = (&mut self.passes, &mut self.app.metrics);
        self.engine.take_passes(&mut |pass| {
            metrics.worked(&pass);
            if let Some(sink) = sink {
                sink(scale.pass(pass));
            }
        });
    }

    /// Lets connections write whose faulty replies held still until now.
    fn wake(&mut self) {
        if self.app.faults.next_wake().is_none() {
            return;
        }
        let now = self.app.clock.now();
        while let Some(slot) = self.app.faults.wake(now) {
            if let Some(conn) = self.conns.get_mut(slot)
                && !conn.marks.blocked
            {
                enqueue(&mut self.writes, slot, &mut conn.marks.in_writes);
            }
        }
    }

    /// Lets connections write, as many as may before the next look.
    fn write(&mut self) {
        let mut written = 0;
        for _ in 0..self.writes.len().min(WRITES) {
            let Some(slot) = self.writes.pop_front() else {
                return;
            };
            if let Some(conn) = self.conns.get_mut(slot) {
                conn.marks.in_writes = false;
                written += self.flush(slot);
            }
            if written >= WRITTEN {
                return;
            }
        }
    }

    /// Lets one connection write; how many bytes of tokens went.
    fn flush(&mut self, slot: usize) -> usize {
        let Some(conn) = self.conns.get_mut(slot) else {
            return 0;
        };
        let wrote = match conn.write(self.app.clock, &mut self.scratch) {
            Ok(wrote) => wrote,
            Err(error) => {
                tracing::debug!(%error, "a connection broke off");
                self.close(slot);
                return 0;
            }
        };
        if let Some(record) = wrote.record {
            self.app.truth.push(record);
        }
        match wrote.then {
            AfterWrite::Wait => {}
            AfterWrite::WakeAt(at) => self.app.faults.wake_at(at, slot),
            AfterWrite::Write => enqueue(&mut self.writes, slot, &mut conn.marks.in_writes),
            // Whatever was held back, in the kernel or here, has its turn.
            AfterWrite::Read => enqueue(&mut self.reads, slot, &mut conn.marks.in_reads),
            AfterWrite::End => self.close(slot),
        }
        wrote.bytes
    }

    /// Ends a connection; what it had asked for and not got is given up.
    fn close(&mut self, slot: usize) {
        let Some(mut conn) = self.conns.remove(slot) else {
            return;
        };
        if self.app.faults.limits_connections() {
            self.accept = Accept::At(Stamp::EPOCH);
        }
        if let Some(job) = conn.take_job() {
            self.engine.cancel(job);
            self.app.metrics.aborted(conn.rank());
            self.app.truth.cancelled();
        }
        if let Some(record) = conn.take_faulty() {
            self.app.truth.push(record);
        }
    }
}

/// Bits of a job's number that are the number of its connection, which is found without a search then. Those above are the
/// request's own, so that chance, which an engine draws by a job's number, is anew for each.
const SLOT_BITS: u32 = 24;

fn job_of(number: JobId, slot: usize) -> JobId {
    JobId(number.0 << SLOT_BITS | slot as u64)
}

const fn slot_of(job: JobId) -> usize {
    (job.0 & ((1 << SLOT_BITS) - 1)) as usize
}

/// Puts a connection into a queue that it does not stand in.
fn enqueue(queue: &mut VecDeque<usize>, slot: usize, standing: &mut bool) {
    if !std::mem::replace(standing, true) {
        queue.push_back(slot);
    }
}
