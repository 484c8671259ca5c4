//! The way of tokens to a socket.

#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::io::{self, ErrorKind, Write};
use std::ops::Range;

use fizeau_core::Clock;

use super::frames::Frames;
use super::response::StreamFraming;
use super::truth::TruthRecord;
use crate::serve::Emission;

/// How much is rendered for one write.
const TURN: usize = 64 << 10;

/// Bytes that wait for their socket.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    bytes: Vec<u8>,
    sent: usize,
}

/// What became of bytes to be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SendOutcome {
    All,
    /// The socket is full; it says when it has room.
    Blocked,
}

impl Outbox {
    pub(super) const fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    pub(super) fn send(&mut self, to: &mut impl Write) -> io::Result<SendOutcome> {
        while let Some(rest) = self.bytes.get(self.sent..).filter(|rest| !rest.is_empty()) {
            match some(to, rest)? {
                0 => return Ok(SendOutcome::Blocked),
                sent => self.sent += sent,
            }
        }
        // Gives its memory back: most connections never need any again.
        *self = Self::default();
        Ok(SendOutcome::All)
    }
}

/// Writes some of `bytes`; zero means that the socket is full.
fn some(to: &mut impl Write, bytes: &[u8]) -> io::Result<usize> {
    loop {
        match to.write(bytes) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(sent) => return Ok(sent),
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(0),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Room to render in, shared by all streams.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    event: Vec<u8>,
    bytes: Vec<u8>,
    /// Where each event's bytes end in `bytes`, and how many tokens it has.
    ends: Vec<(usize, u64)>,
}

/// The events of one reply, one for the tokens that leave the engine together. A token that the engine has let go is rendered when its socket has room, so that a slow
/// reader costs no memory beyond one event.
pub(super) struct ReplyStream {
    frames: Frames,
    framing: StreamFraming,
    record: TruthRecord,
    /// Tokens that were let go and are not sent, event by event.
    waiting: EmissionSizes,
    /// Tokens of the event of which the outbox holds the rest, as a full socket left it.
    cut: Option<u64>,
}

/// Where a stream stands after its turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StreamTurn {
    /// The socket is full.
    Blocked,
    /// All is sent, the end too.
    Ended,
    /// More could be sent at once; others have their turn first.
    More,
    /// The next token is not due.
    Waiting,
}

impl ReplyStream {
    pub(super) const fn new(frames: Frames, framing: StreamFraming, record: TruthRecord) -> Self {
        Self { frames, framing, record, waiting: EmissionSizes::new(), cut: None }
    }

    pub(super) const fn record(&self) -> &TruthRecord {
        &self.record
    }

    /// Notes that the engine let the next tokens go; all instants are the server's.
    pub(super) fn emitted(&mut self, emission: &Emission) {
        if emission.index == 0 && self.record.cached_tokens.is_some() {
            self.frames.cached(emission.timing.cached_tokens);
        }
        self.record.emitted(emission);
        self.waiting.push(emission.count);
    }

    pub(super) fn into_record(self) -> TruthRecord {
        self.record
    }

    /// Sends what waits in `out`, then tokens, in one write for all that are due. How many bytes were written, too.
    ///
    /// A token is stamped just before the write that takes its last byte: on loopback it arrives during that call.
    pub(super) fn turn(
        &mut self,
        out: &mut Outbox,
        to: &mut impl Write,
        clock: &impl Clock,
        scratch: &mut Scratch,
    ) -> io::Result<(StreamTurn, usize)> {
        if !out.is_empty() {
            let before = clock.now();
            if out.send(to)? == SendOutcome::Blocked {
                return Ok((StreamTurn::Blocked, 0));
            }
            if let Some(tokens) = self.cut.take() {
                self.record.hand(tokens, before);
            }
        }
        self.render(scratch);
        if scratch.bytes.is_empty() {
            return Ok((self.standing(), 0));
        }
        let before = clock.now();
        let sent = some(to, &scratch.bytes)?;
        let mut begin = 0;
        for &(end, tokens) in &scratch.ends {
            if begin >= sent {
                break;
            }
            self.waiting.pop();
            if end > sent {
                // The event that was cut goes on from there; those behind it are rendered again when there is room.
                out.push(scratch.bytes.get(sent..end).unwrap_or_default());
                self.cut = Some(tokens);
                break;
            }
            self.record.hand(tokens, before);
            begin = end;
        }
        match sent == scratch.bytes.len() {
            true => Ok((self.standing(), sent)),
            false => Ok((StreamTurn::Blocked, sent)),
        }
    }

    fn standing(&self) -> StreamTurn {
        let handed = self.record.token_ns.len();
        match () {
            () if handed as u64 == self.frames.total() => StreamTurn::Ended,
            () if !self.waiting.is_empty() => StreamTurn::More,
            () => StreamTurn::Waiting,
        }
    }

    /// Renders the tokens that were let go and not sent, as many as fit in one turn.
    fn render(&self, scratch: &mut Scratch) {
        let Scratch { event, bytes, ends } = scratch;
        bytes.clear();
        ends.clear();
        let mut next = self.record.token_ns.len() as u64;
        for tokens in self.waiting.iter() {
            self.event(next..next + tokens, event, bytes);
            next += tokens;
            ends.push((bytes.len(), tokens));
            if bytes.len() >= TURN {
                return;
            }
        }
    }

    /// Writes what goes out with the head.
    pub(super) fn open(&self, head: &mut Vec<u8>) {
        let mut event = Vec::new();
        self.frames.opening(&mut event);
        self.frame_each(&mut event, head);
    }

    /// Renders tokens that leave together and what goes with them: what stands before the first one, the end behind the last.
    fn event(&self, tokens: Range<u64>, event: &mut Vec<u8>, bytes: &mut Vec<u8>) {
        event.clear();
        if tokens.start == 0 {
            self.frames.start(event);
            self.frame_each(event, bytes);
        }
        let last = tokens.end == self.frames.total();
        self.frames.tokens(tokens, event);
        self.frame(event, bytes);
        if !last {
            return;
        }
        self.frames.end(event);
        self.frame_each(event, bytes);
        if self.framing == StreamFraming::Chunked {
            bytes.extend_from_slice(b"0\r\n\r\n");
        }
    }

    /// Moves events to `bytes`, one by one.
    fn frame_each(&self, events: &mut Vec<u8>, bytes: &mut Vec<u8>) {
        let ends = |pair: &[u8]| pair == b"\n\n";
        while let Some(at) = events.windows(2).position(ends) {
            let behind = events.split_off(at + 2);
            self.frame(events, bytes);
            *events = behind;
        }
        self.frame(events, bytes);
    }

    /// Moves what is in `event` to `bytes`, as a chunk of its own where there are chunks. An empty one would end them.
    fn frame(&self, event: &mut Vec<u8>, bytes: &mut Vec<u8>) {
        match self.framing {
            _ if event.is_empty() => {}
            StreamFraming::UntilClose => bytes.append(event),
            StreamFraming::Chunked => {
                push_hex(bytes, event.len());
                bytes.extend_from_slice(b"\r\n");
                bytes.append(event);
                bytes.extend_from_slice(b"\r\n");
            }
        }
    }
}

/// Writes a size in hexadecimal, without leading zeros.
fn push_hex(bytes: &mut Vec<u8>, size: usize) {
    let digits = (usize::BITS - size.leading_zeros()).div_ceil(4).max(1);
    for place in (0..digits).rev() {
        let digit = (size >> (4 * place) & 0xf) as u8;
        bytes.push(if digit < 10 { b'0' + digit } else { b'a' + digit - 10 });
    }
}

// How many tokens left an engine together.

/// The sizes of emissions, first in, first out. Equal ones in a row take no memory of their own: nearly all emissions are of one
/// token, and a reader may be slow.
#[derive(Debug, Default)]
struct EmissionSizes {
    /// A size, and how often it comes.
    runs: VecDeque<(u64, u64)>,
}

impl EmissionSizes {
    const fn new() -> Self {
        Self { runs: VecDeque::new() }
    }

    fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    fn push(&mut self, size: u64) {
        match self.runs.back_mut() {
            Some((last, times)) if *last == size => *times += 1,
            _ => self.runs.push_back((size, 1)),
        }
    }

    fn pop(&mut self) -> Option<u64> {
        let (size, times) = self.runs.front_mut()?;
        let size = *size;
        *times -= 1;
        if *times == 0 {
            self.runs.pop_front();
        }
        Some(size)
    }

    fn iter(&self) -> impl Iterator<Item = u64> {
        self.runs.iter().flat_map(|(size, times)| (0..*times).map(|_| *size))
    }
}
