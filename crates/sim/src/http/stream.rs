//! The way of tokens to a socket.

mod groups;

use std::io::{self, ErrorKind, Write};
use std::ops::Range;

use fizeau_core::Clock;

use super::frames::{DONE, Frames};
use super::response::Framing;
use super::truth::Record;
use crate::job::Emission;
use groups::Groups;

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
    /// Where each event's bytes end in `bytes`, and how many tokens it has.
    ends: Vec<(usize, u64)>,
}

/// The events of one reply, one for the tokens that leave the engine together. A token that the engine has let go is rendered when its socket has room, so that a slow
/// reader costs no memory beyond one event.
pub(super) struct Stream {
    frames: Frames,
    framing: Framing,
    record: Record,
    /// Tokens that were let go and are not sent, event by event.
    waiting: Groups,
    /// Tokens of the event of which the outbox holds the rest, as a full socket left it.
    cut: Option<u64>,
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
        Self { frames, framing, record, waiting: Groups::new(), cut: None }
    }

    pub(super) const fn record(&self) -> &Record {
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
            false => Ok((Turn::Blocked, sent)),
        }
    }

    fn standing(&self) -> Turn {
        let handed = self.record.token_ns.len();
        match () {
            () if handed as u64 == self.frames.length() => Turn::Ended,
            () if !self.waiting.is_empty() => Turn::More,
            () => Turn::Waiting,
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

    /// Renders tokens that leave together and what goes with them: the role before the first one, the end behind the last.
    fn event(&self, tokens: Range<u64>, event: &mut Vec<u8>, bytes: &mut Vec<u8>) {
        event.clear();
        if tokens.start == 0 && self.frames.role(event).is_some() {
            self.frame(event, bytes);
        }
        let last = tokens.end == self.frames.length();
        self.frames.tokens(tokens, event);
        self.frame(event, bytes);
        if !last {
            return;
        }
        if self.frames.usage(event).is_some() {
            self.frame(event, bytes);
        }
        event.extend_from_slice(DONE);
        self.frame(event, bytes);
        if self.framing == Framing::Chunked {
            bytes.extend_from_slice(b"0\r\n\r\n");
        }
    }

    /// Moves an event to `bytes`, as a chunk of its own where there are chunks.
    fn frame(&self, event: &mut Vec<u8>, bytes: &mut Vec<u8>) {
        match self.framing {
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

    use fizeau_core::{Nanos, Stamp, Tokens};
    use proptest::prelude::*;

    use super::*;
    use crate::http::ask::{Ask, Delivery, Route, StreamUsage, TokenIds};
    use crate::job::{JobId, JobTiming};

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
        let mut ask = Ask {
            route: Route::Chat,
            model: "m".into(),
            prompt_tokens: Tokens::new(3),
            prompt_ids: Some(vec![1, 2, 3]),
            chain: None,
            cached_tokens: None,
            max_tokens: Tokens::new(tokens),
            delivery: Delivery::Streamed,
            usage: StreamUsage::OnEveryChunk,
            token_ids: TokenIds::Present,
        };
        let record = Record::new(&ask, String::new(), Stamp::EPOCH);
        Stream::new(Frames::new(&mut ask, JobId(7), 1), framing, record)
    }

    /// The `count` tokens from `index` on.
    fn emission(index: u64, count: u64) -> Emission {
        let timing = JobTiming {
            submitted: Stamp::EPOCH,
            admitted: Stamp::EPOCH,
            first_token: Stamp::EPOCH,
            cached_tokens: Tokens::ZERO,
            preemptions: 0,
        };
        let at = Stamp::EPOCH + Nanos::from_nanos(index + 1);
        Emission { job: JobId(7), at, index, count, last: false, timing }
    }

    /// The sizes of emissions of `tokens` tokens in all: `sizes` again and again.
    fn cut(tokens: u64, sizes: &[u64]) -> Vec<Emission> {
        let mut next = 0;
        let mut sizes = sizes.iter().cycle();
        std::iter::from_fn(|| {
            let count = (*sizes.next()?).min(tokens - next);
            next += count;
            (count > 0).then(|| emission(next - count, count))
        })
        .collect()
    }

    /// Lets tokens go as in `emissions`, `burst` of these at a time, to a socket that has room for the next of `rooms` bytes whenever it
    /// was full, and in the end for all.
    fn run(
        emissions: &[Emission],
        framing: Framing,
        burst: usize,
        rooms: &[usize],
    ) -> (Vec<u8>, Record) {
        let tokens = emissions.iter().map(|emission| emission.count).sum();
        let clock = Ticks(Cell::new(0));
        let mut rooms = rooms.iter().copied().chain(std::iter::repeat(usize::MAX));
        let room = rooms.next().unwrap();
        let mut socket = Socket { room, taken: Vec::new(), clock: &clock, fills: Vec::new() };
        let (mut stream, mut out) = (stream(tokens, framing), Outbox::default());
        let mut scratch = Scratch::default();
        out.push(b"HEAD");
        let (mut left, mut most) = (emissions, 0);
        loop {
            let (turn, _) = stream.turn(&mut out, &mut socket, &clock, &mut scratch).unwrap();
            most = most.max(out.bytes.len());
            match turn {
                Turn::Blocked => socket.room = rooms.next().unwrap(),
                Turn::Ended => break,
                Turn::More => {}
                Turn::Waiting => {
                    let (now, later) = left.split_at(burst.min(left.len()));
                    now.iter().for_each(|emission| stream.emitted(emission));
                    left = later;
                }
            }
        }
        assert!(most < 2_000, "no more waits than the rest of one event: {most} bytes");
        let record = stream.into_record();
        // Each token has the stamp read just before the write that took its last byte.
        let mut end = 4;
        let mut stamps = record.token_ns.iter();
        for Emission { index, count, .. } in emissions {
            let mut bytes = Vec::new();
            let range = *index..index + count;
            self::stream(tokens, framing).event(range, &mut Vec::new(), &mut bytes);
            end += bytes.len();
            let fill = socket.fills.iter().find(|(filled, _)| *filled >= end).unwrap();
            let stamps = stamps.by_ref().take(*count as usize);
            assert!(stamps.eq(std::iter::repeat_n(&fill.1, *count as usize)), "from {index} on");
        }
        assert_eq!(end, socket.taken.len());
        (socket.taken, record)
    }

    proptest! {
        /// However little a socket takes at a time, the same bytes leave, each token stamped as it leaves.
        #[test]
        fn a_slow_socket_changes_no_byte(
            tokens in 1u64..400,
            sizes in prop::collection::vec(1u64..5, 1..4),
            burst in 1usize..400,
            chunked: bool,
            rooms in prop::collection::vec(0usize..3_000, 0..60),
        ) {
            let framing = if chunked { Framing::Chunked } else { Framing::UntilClose };
            let emissions = cut(tokens, &sizes);
            let (bytes, record) = run(&emissions, framing, burst, &rooms);
            prop_assert_eq!(&bytes, &run(&emissions, framing, 1, &[]).0);
            prop_assert_eq!(record.scheduled_ns.len() as u64, tokens);
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
        (0..100).for_each(|index| stream.emitted(&emission(index, 1)));
        let (mut out, mut scratch) = (Outbox::default(), Scratch::default());
        let (turn, _) = stream.turn(&mut out, &mut socket, &clock, &mut scratch).unwrap();
        assert_eq!((turn, socket.fills.len()), (Turn::Ended, 1));
    }
}
