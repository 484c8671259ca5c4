//! Streams whose events repeat all of the text so far, told from those whose events hold only what is new.

use fizeau_core::Stamp;
use fizeau_transport::{BodyEnd, KeepText, ReadMark, Reply, ReplyReader, Route};
use proptest::prelude::*;
use serde_json::{Value, json};

fn reply(route: Route, events: impl IntoIterator<Item = Value>) -> Reply {
    let mut reader = ReplyReader::new(route.dialect(), KeepText::Yes);
    for event in events {
        reader.feed(format!("data: {event}\n\n").as_bytes(), ReadMark::user(Stamp::EPOCH, 0));
    }
    reader.finish(BodyEnd::Whole)
}

/// The text that `texts` come to, which all arrivals together hold once.
fn read<T: AsRef<str>>(texts: impl IntoIterator<Item = T>) -> String {
    let texts = texts.into_iter().map(|text| json!({"text_output": text.as_ref()}));
    let reply = reply(Route::TritonGenerate, texts);
    let text = reply.text.unwrap();
    let bytes: usize = reply.arrivals.iter().map(|arrival| arrival.bytes as usize).sum();
    assert_eq!(bytes, text.len());
    text
}

proptest! {
    #[test]
    fn either_kind_gives_the_same_text(pieces in prop::collection::vec("[a-cé]{1,4}", 3..40)) {
        prop_assert_eq!(read((1..=pieces.len()).map(|n| pieces[..n].concat())), pieces.concat());
        // Told apart as soon as one text does not begin with the one before.
        prop_assume!(pieces.windows(2).any(|two| !two[1].starts_with(&*two[0])));
        // Nor do the first nine grow by chance.
        prop_assume!(!pieces.iter().take(9).is_sorted_by(|a, b| b.starts_with(&**a)));
        prop_assert_eq!(read(&pieces), pieces.concat());
    }
}

#[test]
fn odd_texts() {
    let cases: [(&[&str], &str); 7] = [
        (&[], ""),
        (&["a"], "a"),
        // A server that always says the same says something new each time.
        (&["a", "a", "a"], "aaa"),
        (&[" ", " the", " end"], "  the end"),
        (&["", "a", "", "ab", "ab"], "ab"),
        (&["a\u{fffd}", "aé", "aéb"], "aéb"),
        (&["\u{fffd}", "\u{fffd}"], "\u{fffd}\u{fffd}"),
    ];
    for (texts, expected) in cases {
        assert_eq!(read(texts), expected);
    }
}

/// Whatever the texts look like.
#[test]
fn counts_settle_it_at_the_second_event() {
    let event = |text, ids: &[u32], count| json!({"text": text, "output_ids": ids, "meta_info": {"completion_tokens": count}});
    for (text, ids, expected) in [("xy", &[5, 6, 7][..], "xy"), ("abc", &[7], "ababc")] {
        let events = [event("ab", &[5, 6], 2), event(text, ids, 3)];
        assert_eq!(reply(Route::SglangGenerate, events).text.as_deref(), Some(expected));
    }
}
