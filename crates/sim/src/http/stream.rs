//! The way of tokens to a socket.

use std::io::{self, ErrorKind, Write};

use fizeau_core::{Clock, Stamp};

use super::frames::Frames;
use super::response::Framing;
use super::truth::Record;

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
pub(super) enum Sent {
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

    pub(super) fn send(&mut self, to: &mut impl Write) -> io::Result<Sent> {
        while let Some(rest) = self.bytes.get(self.sent..).filter(|rest| !rest.is_empty()) {
            match some(to, rest)? {
                0 => return Ok(Sent::Blocked),
                sent => self.sent += sent,
            }
        }
        // Gives its memory back: most connections never need any again.
        *self = Self::default();
        Ok(Sent::All)
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
    /// Where each token's bytes end in `bytes`.
    ends: Vec<usize>,
}

/// The events of one reply. A token that the engine has let go is rendered when its socket has room, so that a slow
/// reader costs no memory beyond one event.
pub(super) struct Stream {
    frames: Frames,
    framing: Framing,
    record: Record,
    /// Whether the outbox holds the rest of a token's bytes, as a full socket left it.
    cut: bool,
}

/// Where a stream stands after its turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Turn {
    /// The socket is full.
    Blocked,
    /// All is sent, the end too.
    Ended,
    /// More could be sent at once; others have their turn first.
    More,
    /// The next token is not due.
    Waiting,
}

impl Stream {
    pub(super) const fn new(frames: Frames, framing: Framing, record: Record) -> Self {
        Self { frames, framing, record, cut: false }
    }

    /// Notes that the engine let the next token go, which it meant to leave at `at`.
    pub(super) fn scheduled(&mut self, at: Stamp) {
        self.record.scheduled_ns.push(at);
    }

    pub(super) fn into_record(self) -> Record {
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
    ) -> io::Result<(Turn, usize)> {
        if !out.is_empty() {
            let before = clock.now();
            if out.send(to)? == Sent::Blocked {
                return Ok((Turn::Blocked, 0));
            }
            if std::mem::take(&mut self.cut) {
                self.record.hand(1, before);
            }
        }
        self.render(scratch);
        if scratch.bytes.is_empty() {
            return Ok((self.standing(), 0));
        }
        let before = clock.now();
        let sent = some(to, &scratch.bytes)?;
        self.record.hand(scratch.ends.partition_point(|&end| end <= sent), before);
        if sent == scratch.bytes.len() {
            return Ok((self.standing(), sent));
        }
        // The token that was cut goes on from there; those behind it are rendered again when there is room.
        let end = scratch.ends.iter().find(|&&end| end > sent);
        let begun = scratch.ends.binary_search(&sent).is_err() && sent > 0;
        if let (true, Some(&end)) = (begun, end) {
            out.push(scratch.bytes.get(sent..end).unwrap_or_default());
            self.cut = true;
        }
        Ok((Turn::Blocked, sent))
    }

    fn standing(&self) -> Turn {
        let handed = self.record.token_ns.len();
        match () {
            () if handed as u64 == self.frames.total() => Turn::Ended,
            () if handed < self.record.scheduled_ns.len() => Turn::More,
            () => Turn::Waiting,
        }
    }

    /// Renders the tokens that were let go and not sent, as many as fit in one turn.
    fn render(&self, scratch: &mut Scratch) {
        let Scratch { event, bytes, ends } = scratch;
        bytes.clear();
        ends.clear();
        for index in self.record.token_ns.len()..self.record.scheduled_ns.len() {
            self.token(index as u64, event, bytes);
            ends.push(bytes.len());
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

    /// Renders a token and what goes with it: what stands before the first one, the end behind the last.
    fn token(&self, index: u64, event: &mut Vec<u8>, bytes: &mut Vec<u8>) {
        event.clear();
        if index == 0 {
            self.frames.start(event);
            self.frame_each(event, bytes);
        }
        self.frames.tokens(index..index + 1, event);
        self.frame(event, bytes);
        if index + 1 < self.frames.total() {
            return;
        }
        self.frames.end(event);
        self.frame_each(event, bytes);
        if self.framing == Framing::Chunked {
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
            Framing::UntilClose => bytes.append(event),
            Framing::Chunked => {
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

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use fizeau_core::Nanos;
    use proptest::prelude::*;

    use super::*;
    use crate::http::ask::{Ask, Route};
    use crate::job::JobId;

    /// A clock that goes on by 1 ns whenever it is read.
    struct Ticks(Cell<u64>);

    impl Clock for Ticks {
        fn now(&self) -> Stamp {
            self.0.set(self.0.get() + 1);
            Stamp::from_nanos(self.0.get())
        }
    }

    /// A socket with room for so many bytes. Notes how far it was filled by when.
    struct Socket<'a> {
        room: usize,
        taken: Vec<u8>,
        clock: &'a Ticks,
        fills: Vec<(usize, Stamp)>,
    }

    impl Write for Socket<'_> {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let took = bytes.len().min(self.room);
            if took == 0 {
                return Err(ErrorKind::WouldBlock.into());
            }
            self.room -= took;
            self.taken.extend(bytes.iter().take(took));
            self.fills.push((self.taken.len(), Stamp::from_nanos(self.clock.0.get())));
            Ok(took)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn stream(tokens: u64, framing: Framing) -> Stream {
        let mut ask = Ask::sample(Route::Chat, tokens);
        let record = Record::new(&ask, String::new(), Stamp::EPOCH);
        Stream::new(Frames::new(&mut ask, JobId(7), 1), framing, record)
    }

    /// Lets `tokens` tokens go, `burst` at a time, to a socket that has room for the next of `rooms` bytes whenever it
    /// was full, and in the end for all.
    fn run(tokens: u64, framing: Framing, burst: u64, rooms: &[usize]) -> (Vec<u8>, Record) {
        let clock = Ticks(Cell::new(0));
        let mut rooms = rooms.iter().copied().chain(std::iter::repeat(usize::MAX));
        let room = rooms.next().unwrap();
        let mut socket = Socket { room, taken: Vec::new(), clock: &clock, fills: Vec::new() };
        let (mut stream, mut out) = (stream(tokens, framing), Outbox::default());
        let mut scratch = Scratch::default();
        out.push(b"HEAD");
        let (mut scheduled, mut most) = (0, 0);
        loop {
            let (turn, _) = stream.turn(&mut out, &mut socket, &clock, &mut scratch).unwrap();
            most = most.max(out.bytes.len());
            match turn {
                Turn::Blocked => socket.room = rooms.next().unwrap(),
                Turn::Ended => break,
                Turn::More => {}
                Turn::Waiting => {
                    for _ in 0..burst.min(tokens - scheduled) {
                        scheduled += 1;
                        stream.scheduled(Stamp::EPOCH + Nanos::from_nanos(scheduled));
                    }
                }
            }
        }
        assert!(most < 2_000, "no more waits than the rest of one event: {most} bytes");
        let record = stream.into_record();
        // Each token has the stamp read just before the write that took its last byte.
        let mut end = 4;
        for (index, stamp) in (0..).zip(&record.token_ns) {
            let mut bytes = Vec::new();
            self::stream(tokens, framing).token(index, &mut Vec::new(), &mut bytes);
            end += bytes.len();
            let fill = socket.fills.iter().find(|(filled, _)| *filled >= end).unwrap();
            assert_eq!(*stamp, fill.1, "token {index}");
        }
        assert_eq!(end, socket.taken.len());
        (socket.taken, record)
    }

    proptest! {
        /// However little a socket takes at a time, the same bytes leave, each token stamped as it leaves.
        #[test]
        fn a_slow_socket_changes_no_byte(
            tokens in 1u64..400,
            burst in 1u64..400,
            chunked: bool,
            rooms in prop::collection::vec(0usize..3_000, 0..60),
        ) {
            let framing = if chunked { Framing::Chunked } else { Framing::UntilClose };
            let (bytes, record) = run(tokens, framing, burst, &rooms);
            prop_assert_eq!(&bytes, &run(tokens, framing, 1, &[]).0);
            prop_assert_eq!(record.token_ns.len() as u64, tokens);
            prop_assert!(record.token_ns.is_sorted());
        }

        #[test]
        fn sizes_are_hexadecimal(size: usize, bits in 0u32..usize::BITS) {
            for size in [size, size >> bits, 0, 15, 16, 255, 256, usize::MAX] {
                let mut text = Vec::new();
                push_hex(&mut text, size);
                prop_assert_eq!(text, format!("{size:x}").into_bytes());
            }
        }
    }

    #[test]
    fn what_is_due_together_leaves_together() {
        let clock = Ticks(Cell::new(0));
        let mut socket =
            Socket { room: usize::MAX, taken: Vec::new(), clock: &clock, fills: Vec::new() };
        let mut stream = stream(100, Framing::Chunked);
        (0..100).for_each(|_| stream.scheduled(Stamp::EPOCH));
        let (mut out, mut scratch) = (Outbox::default(), Scratch::default());
        let (turn, _) = stream.turn(&mut out, &mut socket, &clock, &mut scratch).unwrap();
        assert_eq!((turn, socket.fills.len()), (Turn::Ended, 1));
    }
}
