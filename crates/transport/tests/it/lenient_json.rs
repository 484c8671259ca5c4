//! JSON that is legal and yet refused by a strict parser is put into a plain form and read again.

use std::sync::Mutex;

use fizeau_core::Stamp;
use fizeau_transport::{
    BodyEnd, BodyInput, Dialect, EndRule, EventError, Framing, KeepText, RawEvent, ReadMark,
    ReplyReader, RequestError, WireEvent,
};
use proptest::prelude::*;
use serde_json::Value;

/// Takes nothing, and keeps what it was given to read.
#[derive(Debug, Default)]
struct Refusing(Mutex<Vec<Vec<u8>>>);

impl Dialect for Refusing {
    fn body(&self, _: &BodyInput<'_>) -> Result<Vec<u8>, RequestError> {
        Err(RequestError::Encode)
    }

    fn read<'a>(&self, event: &RawEvent<'a>) -> Result<WireEvent<'a>, EventError> {
        self.0.lock().unwrap().push(event.data.to_vec());
        Err(EventError::new("no"))
    }

    fn end(&self) -> EndRule {
        EndRule::Body
    }
}

/// `data` as it is read once it was refused; none if it cannot be put into a plain form.
fn plain(data: &[u8]) -> Option<Vec<u8>> {
    let dialect = Refusing::default();
    let mut reader = ReplyReader::framed(&dialect, Framing::Whole, KeepText::No);
    reader.feed(data, ReadMark::user(Stamp::EPOCH, 0));
    let _ = reader.finish(BodyEnd::Whole);
    dialect.0.into_inner().unwrap().into_iter().nth(1)
}

#[track_caller]
fn check(odd: &str, expected: Option<&str>) {
    let plain = plain(odd.as_bytes()).map(|bytes| String::from_utf8(bytes).unwrap());
    assert_eq!(plain.as_deref(), expected, "{odd}");
}

#[test]
fn what_is_legal_becomes_plain() {
    check(r#"{"a":"\ud83d"}"#, Some("{\"a\":\"\u{fffd}\"}"));
    check(
        r#"["\ude00x","\ud83d\ude00","\ud83d\n","\ud83d\ud83d\ude00"]"#,
        Some("[\"\u{fffd}x\",\"😀\",\"\u{fffd}\\n\",\"\u{fffd}😀\"]"),
    );
    check(r#"["\\ud83d"]"#, Some(r#"["\\ud83d"]"#));
    check(r#"{"a":1,"b":{"c":1,"c":2},"a":3}"#, Some(r#"{"a":3,"b":{"c":2}}"#));
    check("[1e400,-1e400,1e-400,7]", Some("[null,null,0.0,7]"));
}

#[test]
fn what_is_broken_stays_so() {
    let broken = [
        "{",
        r#"{"a":"\ud83"}"#,
        r#"{"a":"\u+d83"}"#,
        "[01]",
        "[1e400e]",
        "[\"\n\"]",
        "[1-2]",
        "\"\\",
    ];
    for broken in broken {
        check(broken, None);
    }
    assert_eq!(plain(b"[\xF0\x9F]"), None);
}

/// Python writes the first two; a tokenizer cuts a character in two.
#[test]
fn what_is_no_json_and_sent_all_the_same() {
    check("[NaN,-Infinity,Infinity,1]", Some("[null,null,null,1]"));
    check(r#"["NaN",{"Infinity":NaN}]"#, Some(r#"["NaN",{"Infinity":null}]"#));
    check("[NaNs]", None);
    let half = plain(b"[\"a\xF0\x9F\",\"\xED\xA0\xBD\"]").unwrap();
    assert_eq!(String::from_utf8(half).unwrap(), "[\"a\u{fffd}\",\"\u{fffd}\u{fffd}\u{fffd}\"]");
}

proptest! {
    #[test]
    fn plain_json_keeps_its_meaning(text in ".{0,20}", eighths in any::<i32>(), count in any::<u64>()) {
        let value = serde_json::json!({"t": text, "n": [f64::from(eighths) / 8.0, count], "e": format!("{text:?}")});
        let plain = plain(value.to_string().as_bytes()).unwrap();
        prop_assert_eq!(serde_json::from_slice::<Value>(&plain).unwrap(), serde_json::from_str::<Value>(&value.to_string()).unwrap());
    }

    #[test]
    fn any_bytes_are_taken(bytes in prop::collection::vec(prop::sample::select(b"\"\\ud83e0-,[]{}:1 x".to_vec()), 0..40)) {
        let _ = plain(&bytes);
    }
}
