//! Properties of the decoder.

use fizeau_core::Stamp;
use fizeau_transport::sse::{SseDecoder, SseError, SseEvents};
use fizeau_transport::{RawEvent, ReadMark};
use proptest::prelude::*;

/// What came out, without stamps: data and name of each event, and the error if there was one.
#[derive(Debug, PartialEq, Default)]
struct Seen {
    events: Vec<(Vec<u8>, Vec<u8>)>,
    error: Option<SseError>,
    /// Whether the last event was cut off.
    tail: Option<Tail>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Tail {
    Truncated,
    Whole,
}

impl Seen {
    fn take(&mut self, event: RawEvent<'_>) {
        self.events.push((event.data.to_vec(), event.name.to_vec()));
    }

    fn drain(&mut self, mut events: SseEvents<'_, '_>) {
        while let Some(event) = events.next_event() {
            match event {
                Ok(event) => self.take(event),
                Err(error) => assert!(self.error.replace(error).is_none(), "only once"),
            }
        }
    }
}

/// Decodes `bytes` cut at `cuts`.
fn decode(bytes: &[u8], cuts: &[usize], limit: usize) -> Seen {
    let mut decoder = SseDecoder::new(limit);
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
    last.into_iter().for_each(|event| seen.take(event));
    seen
}

#[track_caller]
fn check(stream: &[u8], expected: &[(&str, &str)], tail: Tail) {
    let seen = decode(stream, &[], 1000);
    let events: Vec<_> = expected
        .iter()
        .map(|(data, name)| (data.as_bytes().to_vec(), name.as_bytes().to_vec()))
        .collect();
    assert_eq!(seen.events, events);
    assert_eq!((seen.tail, seen.error), (Some(tail), None));
    let bytewise = vec![1; stream.len()];
    assert_eq!(decode(stream, &bytewise, 1000), seen, "byte by byte");
}

#[test]
fn line_ends_of_all_kinds() {
    check(b"data: a\n\ndata: b\n\n", &[("a", ""), ("b", "")], Tail::Whole);
    check(b"data: a\r\n\r\ndata: b\r\n\r\n", &[("a", ""), ("b", "")], Tail::Whole);
    check(b"data: a\r\rdata: b\r\r", &[("a", ""), ("b", "")], Tail::Whole);
    check(b"data: a\n\r\ndata: b\r\ndata: c\r\r", &[("a", ""), ("b\nc", "")], Tail::Whole);
}

#[test]
fn spaces_names_and_several_lines() {
    check(b"data:a\ndata:  b \ndata\n\n", &[("a\n b \n", "")], Tail::Whole);
    check(b"event: x\nevent:y\ndata: 1\n\ndata: 2\n\n", &[("1", "y"), ("2", "")], Tail::Whole);
    check(b"data:\n\n", &[("", "")], Tail::Whole);
    check("\u{feff}data: é\n\n\u{feff}data: no\n\n".as_bytes(), &[("é", "")], Tail::Whole);
}

#[test]
fn what_is_no_event() {
    check(b":\n\n: ping\n\n:glued\ndata: a\n:within\ndata: b\n\n", &[("a\nb", "")], Tail::Whole);
    check(b"id: 7\n\nretry: 5\n\nevent: lost\n\nother\n\ndata: a\n\n", &[("a", "")], Tail::Whole);
    check(b"\n\n\r\n\r\r", &[], Tail::Whole);
    check(b"", &[], Tail::Whole);
}

#[test]
fn a_half_event_is_handed_out_and_reported() {
    check(b"data: a\n\ndata: b", &[("a", ""), ("b", "")], Tail::Truncated);
    check(b"data: b\n", &[("b", "")], Tail::Truncated);
    check(b"data: a\n\n: comment", &[("a", "")], Tail::Whole);
    check(b"event: x\nda", &[], Tail::Whole);
}

#[test]
fn events_carry_the_read_that_completed_them() {
    let mut decoder = SseDecoder::default();
    let mut stamps = Vec::new();
    let reads: [&[u8]; 5] =
        [b"data: a\n\ndata: b\n\nda", b"ta: c\n", b"\ndata: d\r\n\r", b"\n", b"data: e"];
    for (read, bytes) in (0..).zip(reads) {
        let mark = ReadMark::user(Stamp::from_nanos(u64::from(read) * 10), read);
        let mut events = decoder.feed(bytes, mark);
        while let Some(Ok(event)) = events.next_event() {
            stamps.push((event.data.to_vec(), event.mark.at.as_nanos(), event.mark.number));
        }
    }
    let event = decoder.finish().unwrap();
    stamps.push((event.data.to_vec(), event.mark.at.as_nanos(), event.mark.number));
    let expected = [(b"a", 0, 0), (b"b", 0, 0), (b"c", 20, 2), (b"d", 20, 2), (b"e", 40, 4)];
    let expected = expected.map(|(data, at, read)| (data.to_vec(), at, read));
    assert_eq!(stamps, expected);
}

#[test]
fn events_that_nobody_asks_for_are_passed_over() {
    let mut decoder = SseDecoder::default();
    drop(decoder.feed(b"data: a\n\ndata: b\n\nda", ReadMark::user(Stamp::EPOCH, 0)));
    let mut events = decoder.feed(b"ta: c\n\n", ReadMark::user(Stamp::EPOCH, 1));
    assert_eq!(events.next_event().unwrap().unwrap().data, b"c");
    assert!(events.next_event().is_none());
}

#[test]
fn an_event_over_the_limit_ends_the_stream_with_an_error() {
    let error = SseError::TooLong { limit: 10 };
    for stream in [
        &b"data: a\n\ndata: 012345\n\n"[..],
        b"data: a\n\n:0123456789",
        b"data: a\n\ndata: 012\ndata: 02\n\n",
    ] {
        let seen = decode(stream, &[], 10);
        assert_eq!((seen.events.len(), seen.error), (1, Some(error)));
    }
    assert_eq!(decode(b"data: 0123\n\n", &[], 10).error, None);
}

const MARK: &[u8] = "\u{feff}".as_bytes();

/// The first line of `bytes` and what comes behind its end; none of the latter where it has no end.
fn first_line(bytes: &[u8]) -> (&[u8], Option<&[u8]>) {
    let Some(at) = bytes.iter().position(|byte| b"\r\n".contains(byte)) else {
        return (bytes, None);
    };
    let (line, end) = bytes.split_at(at);
    (line, Some(end.strip_prefix(b"\r\n").unwrap_or_else(|| &end[1..])))
}

/// What comes out by the letter of the standard, line by line, with our limit, our half event and our field of errors.
fn by_the_letter(bytes: &[u8], limit: usize) -> Seen {
    let mut seen = Seen { tail: Some(Tail::Whole), ..Seen::default() };
    let (mut data, mut name): (Option<Vec<u8>>, Vec<u8>) = (None, Vec::new());
    let (mut rest, mut mark) = (Some(bytes), MARK);
    while let Some(bytes) = rest.filter(|rest| !rest.is_empty()) {
        let line;
        (line, rest) = first_line(bytes);
        if data.as_ref().map_or(0, Vec::len) + name.len() + line.len() > limit {
            seen.error = Some(SseError::TooLong { limit });
            return seen;
        }
        let line = line.strip_prefix(std::mem::take(&mut mark)).unwrap_or(line);
        let colon = line.iter().position(|byte| *byte == b':').unwrap_or(line.len());
        let value = line.get(colon + 1..).unwrap_or_default();
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match &line[..colon] {
            b"" if line.is_empty() => {
                seen.events.extend(data.take().map(|data| (data, name.clone())));
                name.clear();
            }
            b"data" => {
                data = Some(match data {
                    Some(data) => [&data, &b"\n"[..], value].concat(),
                    None => value.to_vec(),
                });
            }
            b"event" => name = value.to_vec(),
            // Ours alone.
            b"error" => {
                name = b"error".to_vec();
                data = Some(match data {
                    Some(data) => [&data, &b"\n"[..], value].concat(),
                    None => value.to_vec(),
                });
            }
            _ => {}
        }
    }
    if let Some(data) = data {
        seen.events.push((data, name));
        seen.tail = Some(Tail::Truncated);
    }
    seen
}

/// Bytes that look like a stream most of the time.
fn stream() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        4 => prop::sample::select(vec![
            "data", "data:", "data: ", "event: e", "error: e", "id: 1", ":", ": c", "\n", "\r", "\r\n", "\n\n", "\r\n\r\n", "\r\r",
            "{\"a\":1}", "é", "\u{feff}", " ",
        ]).prop_map(|text| text.as_bytes().to_vec()),
        1 => prop::collection::vec(any::<u8>(), 0..6),
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn any_split_gives_the_same_events(
        bytes in stream(),
        cuts in prop::collection::vec(0usize..30, 0..40),
        limit in 1usize..200,
    ) {
        prop_assert_eq!(decode(&bytes, &cuts, limit), decode(&bytes, &[], limit));
    }

    #[test]
    fn what_comes_out_is_what_the_standard_says(bytes in stream(), limit in 1usize..200) {
        prop_assert_eq!(decode(&bytes, &[], limit), by_the_letter(&bytes, limit));
    }

    #[test]
    fn no_event_exceeds_the_limit(bytes in stream(), limit in 1usize..60) {
        let seen = decode(&bytes, &[], limit);
        prop_assert!(seen.events.iter().all(|(data, name)| data.len() + name.len() <= limit));
    }
}
