//! What a slow socket changes, and what it does not.

use std::cell::Cell;

use fizeau_core::{Nanos, Stamp, Tokens};
use proptest::prelude::*;

use super::*;
use crate::http::parsed_request::{GeneratingRoute, ParsedRequest};
use crate::serve::{JobId, JobTiming};

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

fn stream(tokens: u64, framing: StreamFraming) -> ReplyStream {
    let mut ask = ParsedRequest::sample(GeneratingRoute::Chat, tokens);
    let record = TruthRecord::new(&ask, String::new(), Stamp::EPOCH, ask.ending.into());
    ReplyStream::new(Frames::new(&mut ask, JobId(7), 1), framing, record)
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
    Emission { job: JobId(7), rank: 0, at, index, count, last: false, timing }
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
    framing: StreamFraming,
    burst: usize,
    rooms: &[usize],
) -> (Vec<u8>, TruthRecord) {
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
            StreamTurn::Blocked => socket.room = rooms.next().unwrap(),
            StreamTurn::Ended => break,
            StreamTurn::More => {}
            StreamTurn::Waiting => {
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
    /// Pops are told by zeros.
    #[test]
    fn it_is_a_queue(moves in prop::collection::vec(0u64..3, 0..100)) {
        let (mut groups, mut queue) = (EmissionSizes::new(), VecDeque::new());
        for size in moves {
            if size == 0 {
                prop_assert_eq!(groups.pop(), queue.pop_front());
            } else {
                groups.push(size);
                queue.push_back(size);
            }
            prop_assert_eq!(groups.iter().collect::<Vec<_>>(), queue.iter().copied().collect::<Vec<_>>());
            prop_assert_eq!(groups.is_empty(), queue.is_empty());
        }
    }

    /// However little a socket takes at a time, the same bytes leave, each token stamped as it leaves.
    #[test]
    fn a_slow_socket_changes_no_byte(
        tokens in 1u64..400,
        sizes in prop::collection::vec(1u64..5, 1..4),
        burst in 1usize..400,
        chunked: bool,
        rooms in prop::collection::vec(0usize..3_000, 0..60),
    ) {
        let framing = if chunked { StreamFraming::Chunked } else { StreamFraming::UntilClose };
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
    let mut stream = stream(100, StreamFraming::Chunked);
    (0..100).for_each(|index| stream.emitted(&emission(index, 1)));
    let (mut out, mut scratch) = (Outbox::default(), Scratch::default());
    let (turn, _) = stream.turn(&mut out, &mut socket, &clock, &mut scratch).unwrap();
    assert_eq!((turn, socket.fills.len()), (StreamTurn::Ended, 1));
}
