//! Properties of the decoder of lines.

use fizeau_core::Stamp;
use fizeau_transport::ReadMark;
use fizeau_transport::ndjson::{NdjsonDecoder, NdjsonError, NdjsonEvents};
use proptest::prelude::*;

/// What came out, without stamps.
#[derive(Debug, PartialEq, Default)]
struct Seen {
    lines: Vec<Vec<u8>>,
    error: Option<NdjsonError>,
    /// Whether the last line was cut off.
    tail: Option<Tail>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Tail {
    Truncated,
    Whole,
}

impl Seen {
    fn drain(&mut self, mut events: NdjsonEvents<'_, '_>) {
        while let Some(event) = events.next_event() {
            match event {
                Ok(event) => self.lines.push(event.data.to_vec()),
                Err(error) => assert!(self.error.replace(error).is_none(), "only once"),
            }
        }
    }
}

/// Decodes `bytes` cut at `cuts`.
fn decode(bytes: &[u8], cuts: &[usize], limit: usize) -> Seen {
    let mut decoder = NdjsonDecoder::new(limit);
    let mut seen = Seen::default();
    let mut rest = bytes;
    for (read, cut) in (0..).zip(cuts) {
        let (piece, tail) = rest.split_at(cut % (rest.len() + 1));
        seen.drain(decoder.feed(piece, ReadMark::user(Stamp::EPOCH, read)));
        rest = tail;
    }
    seen.drain(decoder.feed(rest, ReadMark::user(Stamp::EPOCH, 0)));
    let last = decoder.finish();
    seen.tail = Some(if last.is_some() { Tail::Truncated } else { Tail::Whole });
    seen.lines.extend(last.map(|event| event.data.to_vec()));
    seen
}

#[track_caller]
fn check(stream: &str, expected: &[&str], tail: Tail) {
    let seen = decode(stream.as_bytes(), &[], 1000);
    let lines: Vec<_> = expected.iter().map(|line| line.as_bytes()).collect();
    assert_eq!(seen.lines, lines);
    assert_eq!((seen.tail, seen.error), (Some(tail), None));
    let bytewise = vec![1; stream.len()];
    assert_eq!(decode(stream.as_bytes(), &bytewise, 1000), seen, "byte by byte");
}

#[test]
fn lines_of_all_kinds() {
    check("a\nb\n", &["a", "b"], Tail::Whole);
    check("a\r\n\n\r\n \t\nb\r\n", &["a", "b"], Tail::Whole);
    check("a\rb\n", &["a\rb"], Tail::Whole);
    check("\u{feff}é\n\u{feff}b\n", &["é", "\u{feff}b"], Tail::Whole);
    check("", &[], Tail::Whole);
    check("\n\r", &[], Tail::Whole);
}

#[test]
fn a_line_without_its_end_is_handed_out_and_reported() {
    check("a\nb", &["a", "b"], Tail::Truncated);
    check("b\r", &["b"], Tail::Truncated);
}

#[test]
fn lines_carry_the_read_that_completed_them() {
    let mut decoder = NdjsonDecoder::default();
    let mut stamps = Vec::new();
    let reads: [&[u8]; 4] = [b"a\nb\nc", b"c", b"\nd\r", b"\ne"];
    for (read, bytes) in (0..).zip(reads) {
        let mark = ReadMark::user(Stamp::from_nanos(u64::from(read) * 10), read);
        let mut events = decoder.feed(bytes, mark);
        while let Some(Ok(event)) = events.next_event() {
            stamps.push((event.data.to_vec(), event.mark.at.as_nanos(), event.mark.number));
        }
    }
    let event = decoder.finish().unwrap();
    stamps.push((event.data.to_vec(), event.mark.at.as_nanos(), event.mark.number));
    let expected = [("a", 0, 0), ("b", 0, 0), ("cc", 20, 2), ("d", 30, 3), ("e", 30, 3)];
    let expected = expected.map(|(data, at, read)| (data.as_bytes().to_vec(), at, read));
    assert_eq!(stamps, expected);
}

#[test]
fn lines_that_nobody_asks_for_are_passed_over() {
    let mut decoder = NdjsonDecoder::default();
    drop(decoder.feed(b"a\nb\nc", ReadMark::user(Stamp::EPOCH, 0)));
    let mut lines = decoder.feed(b"c\n", ReadMark::user(Stamp::EPOCH, 1));
    assert_eq!(lines.next_event().unwrap().unwrap().data, b"cc");
    assert!(lines.next_event().is_none());
}

#[test]
fn a_line_over_the_limit_ends_the_stream_with_an_error() {
    let error = NdjsonError::TooLong { limit: 4 };
    for stream in ["a\n01234\n", "a\n01234", "a\n01234\nb\n"] {
        let seen = decode(stream.as_bytes(), &[], 4);
        assert_eq!((seen.lines.len(), seen.error), (1, Some(error)));
    }
    assert_eq!(decode(b"0123\n0123", &[], 4).error, None);
}

/// What comes out line by line, with our limit and our half line.
fn by_the_letter(bytes: &[u8], limit: usize) -> Seen {
    let mut seen = Seen { tail: Some(Tail::Whole), ..Seen::default() };
    let mut lines = bytes.split(|byte| *byte == b'\n').enumerate().peekable();
    while let Some((number, line)) = lines.next() {
        if line.len() > limit {
            seen.error = Some(NdjsonError::TooLong { limit });
            return seen;
        }
        let mark = if number == 0 { "\u{feff}".as_bytes() } else { b"" };
        let line = line.strip_prefix(mark).unwrap_or(line);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if !line.trim_ascii().is_empty() {
            seen.lines.push(line.to_vec());
            seen.tail = Some(if lines.peek().is_some() { Tail::Whole } else { Tail::Truncated });
        }
    }
    seen
}

/// Bytes that look like a stream most of the time.
fn stream() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        4 => prop::sample::select(vec!["{\"a\":1}", "\n", "\r\n", "\r", "é", "\u{feff}", " ", "\n\n"])
            .prop_map(|text| text.as_bytes().to_vec()),
        1 => prop::collection::vec(any::<u8>(), 0..6),
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn any_split_gives_the_same_lines(
        bytes in stream(),
        cuts in prop::collection::vec(0usize..30, 0..40),
        limit in 1usize..100,
    ) {
        prop_assert_eq!(decode(&bytes, &cuts, limit), decode(&bytes, &[], limit));
    }

    #[test]
    fn what_comes_out_is_what_the_lines_say(bytes in stream(), limit in 1usize..100) {
        prop_assert_eq!(decode(&bytes, &[], limit), by_the_letter(&bytes, limit));
    }

    #[test]
    fn no_line_exceeds_the_limit_and_none_is_blank(bytes in stream(), limit in 1usize..40) {
        let seen = decode(&bytes, &[], limit);
        prop_assert!(seen.lines.iter().all(|line| line.len() <= limit && !line.trim_ascii().is_empty()));
    }
}
