//! The ways in which clients mis-measure, one stream each, read in one piece and in any pieces.

use fizeau_core::{Nanos, Outcome, ReadLag, Stamp, Tokens};
use fizeau_transport::{BodyEnd, FeedProgress, KeepText, ReadMark, Reply, ReplyReader, Route};
use proptest::prelude::*;

use crate::streams::{Case, DONE, all_cases, event, text};

/// Reads `case` with its bytes cut into reads at `cuts`.
fn read(case: &Case, cuts: &[usize]) -> Reply {
    let mut reader = ReplyReader::new(case.route.dialect(), KeepText::Yes);
    let mut rest = case.bytes.as_bytes();
    let mut number = 0;
    for cut in cuts {
        let (piece, tail) = rest.split_at(cut % (rest.len() + 1));
        reader.feed(piece, ReadMark::user(Stamp::from_nanos(number.into()), number));
        number += 1;
        rest = tail;
    }
    reader.feed(rest, ReadMark::user(Stamp::from_nanos(number.into()), number));
    reader.finish(case.body_end.clone())
}

/// `reply` without what depends on how the bytes came.
fn unstamped(mut reply: Reply) -> Reply {
    for arrival in &mut reply.arrivals {
        (arrival.at, arrival.read) = (Stamp::EPOCH, 0);
    }
    reply
}

#[test]
fn every_trap_in_one_read() {
    for case in all_cases() {
        case.check(&read(&case, &[]));
    }
}

#[test]
fn every_trap_byte_by_byte() {
    for case in all_cases() {
        let reply = read(&case, &vec![1; case.bytes.len()]);
        case.check(&reply);
        assert!(reply.arrivals.is_sorted_by_key(|arrival| arrival.at), "{}", case.name);
    }
}

proptest! {
    #[test]
    fn any_split_gives_the_same_reply(
        number in 0..all_cases().len(),
        cuts in prop::collection::vec(0usize..80, 0..60),
    ) {
        let case = &all_cases()[number];
        prop_assert_eq!(unstamped(read(case, &cuts)), unstamped(read(case, &[])));
    }
}

#[test]
fn events_of_one_read_share_its_stamp() {
    let body = [text("a", "", ""), text("b", "", ""), text("c", "", ""), DONE.into()].concat();
    let cut = body.rfind("\"c\"").unwrap();
    let mut reader = ReplyReader::new(Route::Completions.dialect(), KeepText::No);
    assert_eq!(
        reader.feed(&body.as_bytes()[..cut], ReadMark::user(Stamp::from_nanos(5), 0)),
        FeedProgress::Tokens
    );
    assert_eq!(
        reader.feed(&body.as_bytes()[cut..], ReadMark::user(Stamp::from_nanos(9), 1)),
        FeedProgress::Settled
    );
    let reply = reader.finish(BodyEnd::Whole);
    let stamps: Vec<_> = reply.arrivals.iter().map(|a| (a.at.as_nanos(), a.read)).collect();
    assert_eq!(stamps, [(5, 0), (5, 0), (9, 1)]);
    assert_eq!(reply.text, None);
}

/// Row 25: a first event with the ids of a long prompt is one event, however large, stamped by the read that
/// completed it.
#[test]
fn a_first_event_beyond_a_mebibyte() {
    let ids = vec!["123456"; 200_000].join(",");
    let first = text("a", &format!(r#","token_ids":[7],"prompt_token_ids":[{ids}]"#), "");
    let body = [first, text("b", r#","token_ids":[8]"#, ""), DONE.into()].concat();
    assert!(body.len() > 1 << 20);
    let mut reader = ReplyReader::new(Route::Completions.dialect(), KeepText::No);
    for (number, piece) in (0..).zip(body.as_bytes().chunks(100_000)) {
        reader.feed(piece, ReadMark::user(Stamp::from_nanos(number.into()), number));
    }
    let reply = reader.finish(BodyEnd::Whole);
    let seen: Vec<_> = reply.arrivals.iter().map(|a| (a.read, a.tokens, a.bytes)).collect();
    let last = u32::try_from(body.len() / 100_000).unwrap();
    assert_eq!(seen, [(last, 1, 1), (last, 1, 1)]);
}

/// Row 32: what keeps a connection alive, and what only looks like output, is no progress.
#[test]
fn only_tokens_are_progress() {
    let quiet = [
        ":\n\n".to_owned(),
        ": ping\n\n".to_owned(),
        "data: null\n\n".to_owned(),
        event(r#"{"choices":[{"delta":{"role":"assistant","content":""}}]}"#),
        event(r#"{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":0}}"#),
        event(r#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#),
        event(r#"{"choices":[],"prompt_filter_results":[]}"#),
    ];
    let mut reader = ReplyReader::new(Route::Chat.dialect(), KeepText::No);
    let mut feed = |bytes: &str| reader.feed(bytes.as_bytes(), ReadMark::user(Stamp::EPOCH, 0));
    for bytes in &quiet {
        assert_eq!(feed(bytes), FeedProgress::Quiet, "{bytes}");
    }
    assert_eq!(feed(&event(r#"{"choices":[{"delta":{"content":"a"}}]}"#)), FeedProgress::Tokens);
    assert_eq!(feed(DONE), FeedProgress::Settled);
}

#[test]
fn a_mark_reaches_its_arrivals() {
    let mark =
        ReadMark { at: Stamp::from_nanos(5), number: 7, lag: ReadLag::of(Nanos::from_micros(3)) };
    // Parsed, and matched by a template.
    let body = [text("a", "", ""), text("b", "", "")].concat();
    let mut reader = ReplyReader::new(Route::Completions.dialect(), KeepText::No)
        .expecting(Tokens::new(u64::MAX));
    reader.feed(body.as_bytes(), mark);
    let arrivals = reader.finish(BodyEnd::Cut).arrivals;
    assert_eq!(arrivals.len(), 2);
    assert!(arrivals.iter().all(|a| (a.at, a.read, a.read_lag) == (mark.at, 7, mark.lag)));
}

#[test]
fn usage_and_timing_are_the_servers_words() {
    let body = [
        text("a", "", ""),
        event(
            r#"{"choices":[],"usage":{"prompt_tokens":30,"completion_tokens":8,"prompt_tokens_details":{"cached_tokens":16},"completion_tokens_details":{"reasoning_tokens":5}},"timings":{"prompt_ms":1.5,"predicted_ms":20,"prompt_n":3}}"#,
        ),
        DONE.into(),
    ]
    .concat();
    let mut reader = ReplyReader::new(Route::Completions.dialect(), KeepText::No);
    reader.feed(body.as_bytes(), ReadMark::user(Stamp::EPOCH, 0));
    let reply = reader.finish(BodyEnd::Whole);
    let usage = reply.usage.unwrap();
    let counts =
        [usage.prompt_tokens, usage.completion_tokens, usage.cached_tokens, usage.reasoning_tokens];
    assert_eq!(counts.map(|count| count.unwrap().get()), [30, 8, 16, 5]);
    let timing = reply.server_timing.unwrap();
    let times = [timing.queue, timing.prefill, timing.decode].map(|time| time.map(Nanos::as_nanos));
    assert_eq!(times, [None, Some(1_500_000), Some(20_000_000)]);
}

#[test]
fn a_body_in_one_piece_is_bounded_and_marked_by_its_last_read() {
    let new = || ReplyReader::new(Route::Embeddings.dialect(), KeepText::No);
    let mark = |number| ReadMark::user(Stamp::from_nanos(u64::from(number)), number);
    let mut reader = new();
    for (number, piece) in [(1, "{\"data\":["), (2, "{\"embedding\":[1]}]}"), (3, "")] {
        assert_eq!(reader.feed(piece.as_bytes(), mark(number)), FeedProgress::Quiet);
    }
    let arrivals = reader.finish(BodyEnd::Whole).arrivals;
    assert_eq!(arrivals.iter().map(|a| (a.at, a.read)).collect::<Vec<_>>(), [(mark(2).at, 2)]);

    let mut reader = new();
    let piece = vec![b' '; 1 << 20];
    for number in 0..64 {
        assert_eq!(reader.feed(&piece, mark(number)), FeedProgress::Quiet);
    }
    assert_eq!(reader.feed(b" ", mark(64)), FeedProgress::Broken);
    assert_eq!(reader.feed(b" ", mark(65)), FeedProgress::Broken);
    let Outcome::Failed(failure) = reader.finish(BodyEnd::Whole).outcome else {
        panic!("an endless body is a failure");
    };
    assert!(failure.detail.contains("longer"), "{}", failure.detail);
}

#[test]
fn the_servers_words_become_one_short_line() {
    let words = format!("too\\n\\tlong {}", "x".repeat(400));
    let mut reader = ReplyReader::new(Route::Completions.dialect(), KeepText::No);
    reader.feed(
        event(&format!(r#"{{"error":{{"message":"{words}"}}}}"#)).as_bytes(),
        ReadMark::user(Stamp::EPOCH, 0),
    );
    let Outcome::Failed(failure) = reader.finish(BodyEnd::Whole).outcome else {
        panic!("an error is a failure");
    };
    assert!(failure.detail.starts_with("too long xxx"), "{}", failure.detail);
    assert_eq!(failure.detail.len(), 200);
}
