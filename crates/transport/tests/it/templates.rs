//! Reading without a parser where events are alike comes to the same as parsing each of them.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use fizeau_core::{Channel, Stamp};
use fizeau_transport::{
    BodyEnd, BodyInput, CumulativeEvents, Dialect, EndRule, EventError, Framing, KeepText,
    RawEvent, ReadMark, Reply, ReplyReader, RequestError, Route, WireEvent,
};
use proptest::prelude::*;

use crate::streams::all_cases;

/// A dialect that counts how many of its events are parsed: each of them, if no keys are named behind which they vary.
#[derive(Debug)]
struct Parsed {
    inner: &'static dyn Dialect,
    keys: Option<&'static [&'static str]>,
    parsed: AtomicU32,
}

impl Parsed {
    fn new(route: Route, keys: Option<&'static [&'static str]>) -> Self {
        Self { inner: route.dialect(), keys, parsed: AtomicU32::new(0) }
    }
}

impl Dialect for Parsed {
    fn body(&self, ask: &BodyInput<'_>) -> Result<Vec<u8>, RequestError> {
        self.inner.body(ask)
    }

    fn read<'a>(&self, event: &RawEvent<'a>) -> Result<WireEvent<'a>, EventError> {
        self.parsed.fetch_add(1, Relaxed);
        self.inner.read(event)
    }

    fn end(&self) -> EndRule {
        self.inner.end()
    }

    fn framing(&self) -> Framing {
        self.inner.framing()
    }

    fn repeats(&self) -> CumulativeEvents {
        self.inner.repeats()
    }

    fn varying(&self) -> Option<&'static [&'static str]> {
        self.keys
    }
}

fn read(dialect: &dyn Dialect, bytes: &[u8], piece: usize) -> Reply {
    let mut reader = ReplyReader::new(dialect, KeepText::Yes);
    for (number, piece) in (0..).zip(bytes.chunks(piece)) {
        reader.feed(piece, ReadMark::user(Stamp::from_nanos(number.into()), number));
    }
    reader.finish(BodyEnd::Whole)
}

fn check(route: Route, bytes: &[u8], piece: usize) -> Result<(), TestCaseError> {
    let (with, without) = (route.dialect(), Parsed::new(route, None));
    prop_assert_eq!(read(with, bytes, piece), read(&without, bytes, piece));
    Ok(())
}

/// Whether `second` is read without being parsed behind `first`, in a dialect whose events vary behind `keys`.
fn fits_by(keys: &'static [&'static str], route: Route, first: &[u8], second: &[u8]) -> bool {
    let dialect = Parsed::new(route, Some(keys));
    let mut reader = ReplyReader::new(&dialect, KeepText::Yes);
    let mut parsed_of = |event: &[u8]| {
        let before = dialect.parsed.load(Relaxed);
        let start = if dialect.framing() == Framing::Sse { "data:" } else { "" };
        let bytes = [start.as_bytes(), event, b"\n\n"].concat();
        reader.feed(&bytes, ReadMark::user(Stamp::EPOCH, 0));
        dialect.parsed.load(Relaxed) - before
    };
    assert!(parsed_of(first) > 0);
    parsed_of(second) == 0
}

fn fits(route: Route, first: &str, second: &str) -> bool {
    fits_by(route.dialect().varying().unwrap(), route, first.as_bytes(), second.as_bytes())
}

/// Two events of each common kind, told by a `#` where they differ in the count of tokens and a `%` in the text.
#[test]
fn common_events_fit() {
    let usage = r#""usage":{"prompt_tokens":9,"total_tokens":1#,"completion_tokens":#}"#;
    let kinds = [
        (
            Route::Completions,
            format!(
                r#"{{"created":17#,"choices":[{{"text":"%","finish_reason":null}}],{usage}}}"#
            ),
        ),
        (
            Route::Completions,
            r#"{"choices":[{"text":"%","token_ids":[3,#],"finish_reason":null}]}"#.into(),
        ),
        (
            Route::Chat,
            format!(r#"{{"choices":[{{"delta":{{"content":"%"}},"logprobs":null}}],{usage}}}"#),
        ),
        (
            Route::Chat,
            format!(r#"{{"choices": [{{"delta": {{"reasoning_content": "%"}}}}], {usage}}}"#),
        ),
        (Route::Chat, r#"{"choices":[{"delta":{"content":"%"}}],"obfuscation":"x#"}"#.into()),
        (
            Route::Gemini,
            r#"{"candidates":[{"content":{"parts":[{"text":"%"}]}}],"usageMetadata":{"candidatesTokenCount":#}}"#
                .into(),
        ),
        (
            Route::LlamaCppCompletion,
            r#"{"content":"%","tokens":[7#],"tokens_predicted":#}"#.into(),
        ),
        (
            Route::Messages,
            r#"{"type":"content_block_delta","delta":{"type":"text_delta","text":"%"}}"#.into(),
        ),
        (
            Route::OllamaGenerate,
            r#"{"created_at":"2026-01-01T00:00:0#Z","response":"%","done":false}"#.into(),
        ),
        (
            Route::OllamaChat,
            r#"{"created_at":"2026-01-01T00:00:0#Z","message":{"content":"%"}}"#.into(),
        ),
        (
            Route::Responses,
            r#"{"type":"response.output_text.delta","sequence_number":#,"delta":"%"}"#.into(),
        ),
        (
            Route::SglangGenerate,
            r#"{"text":"%","output_ids":[#],"meta_info":{"completion_tokens":#}}"#.into(),
        ),
        (Route::TgiGenerate, r#"{"index":#,"token":{"id":#,"text":"%","logprob":-0.#}}"#.into()),
        (Route::TritonGenerate, r#"{"text_output":"%"}"#.into()),
    ];
    for (route, kind) in kinds {
        let first = kind.replace('#', "1").replace('%', "a");
        let second = kind.replace('#', "24").replace('%', " bé");
        assert!(fits(route, &first, &second), "{route:?}: {kind}");
        let start = if route.dialect().framing() == Framing::Sse { "data:" } else { "" };
        let both = format!("{start}{first}\n\n{start}{second}\n\n");
        check(route, both.as_bytes(), 7_000).unwrap();
    }
}

#[test]
fn what_says_more_or_is_unsure_does_not_fit() {
    let kinds = [
        // An end, a count of none, another spacing, several lists, several texts.
        (
            r#"{"choices":[{"text":"a","finish_reason":null}]}"#,
            r#"{"choices":[{"text":"a","finish_reason":"stop"}]}"#,
        ),
        (
            r#"{"choices":[{"text":"a"}],"usage":{"completion_tokens":5}}"#,
            r#"{"choices":[{"text":"a"}],"usage":{"completion_tokens":6}} "#,
        ),
        (
            r#"{"choices":[{"text":"a","token_ids":[1],"output_ids":[1]}]}"#,
            r#"{"choices":[{"text":"a","token_ids":[1],"output_ids":[1]}]}"#,
        ),
        (
            r#"{"choices":[{"text":"a"},{"text":"b"}]}"#,
            r#"{"choices":[{"text":"a"},{"text":"b"}]}"#,
        ),
    ];
    for (first, second) in kinds {
        assert!(!fits(Route::Completions, first, second), "{second}");
    }
}

/// Each kind of value that may differ, in its plain form and in others, which a real parser reads.
#[test]
fn values_in_their_plain_form() {
    let long = "é".repeat(24);
    let ended = |end: &str| format!("\"{long}{end}");
    let text = (r#"{"choices":[{"text":@}]}"#, "\"a\"");
    let count = (r#"{"choices":[{"text":"a"}],"usage":{"completion_tokens":@}}"#, "5");
    let number = (r#"{"created":@,"choices":[{"text":"a"}]}"#, "5");
    let list = (r#"{"choices":[{"text":"a","token_ids":[@]}]}"#, "1");
    let word = (r#"{"obfuscation":@,"choices":[{"text":"a"}]}"#, "\"x\"");
    let plain = [
        (text, vec!["\" aé\"".to_owned(), ended("\"")]),
        (count, vec!["120".into(), "123456789012345678".into()]),
        (number, ["0", "-0.25", "12.5", "7", "-3"].map(str::to_owned).into()),
        (list, vec!["0,22,333".into()]),
        (word, vec!["\"yz\"".into()]),
    ];
    let odd = [
        (text, [r"\n", "\u{1f}"].iter().map(|odd| ended(&format!("{odd}\""))).collect()),
        (text, ["\"\"", "\"a", r#""a\n""#, "\"a\u{1}\"", r#""a\""#].map(str::to_owned).into()),
        (count, ["0", "05", "-1", "6.0", "", "x", "1234567890123456789"].map(str::to_owned).into()),
        (
            number,
            ["", "-", ".5", "1.", "01", "1.e3", "1234567890123456789"].map(str::to_owned).into(),
        ),
        (list, ["", "1,", "1,-2", "01", "1, 2", "1.5"].map(str::to_owned).into()),
        (word, vec!["\"\"".into(), "7".into()]),
    ];
    let all = plain.map(|of| (of, true)).into_iter().chain(odd.map(|of| (of, false)));
    for (((shape, usual), values), expected) in all {
        for value in values {
            let value: String = value;
            let (first, second) = (shape.replace('@', usual), shape.replace('@', &value));
            assert_eq!(fits(Route::Completions, &first, &second), expected, "{second}");
        }
    }
    let (before, behind) = text.0.split_once('@').unwrap();
    let broken = [before.as_bytes(), b"\"\xC3\"", behind.as_bytes()].concat();
    let first = text.0.replace('@', text.1);
    assert!(!fits_by(&[], Route::Completions, first.as_bytes(), &broken));
}

/// What may differ is told by its key, whatever texts look like keys; zeros and nothings say something where they stand.
#[test]
fn values_behind_keys() {
    let event = |created: &str| {
        let odd = r#""x":"created","y":"\"created\":5","created" : "#;
        format!(r#"{{{odd}{created},"choices":[{{"text":"created"}}]}}"#)
    };
    assert!(fits(Route::Completions, &event("5"), &event("-1.5")));
    let other = event("5").replace(r#"\":5"#, r#"\":6"#);
    assert!(!fits(Route::Completions, &event("5"), &other));
    for still in ["0", "null", "[]", "[1, 2]", "\"\""] {
        assert!(fits(Route::Completions, &event(still), &event(still)), "{still}");
        assert!(!fits(Route::Completions, &event(still), &event("[3]")), "{still}");
    }
    // A key that is the text's own.
    let event = |text| format!(r#"{{"text_output":"{text}"}}"#);
    let (first, second) = (event("a"), event("b"));
    let of = |keys| fits_by(keys, Route::TritonGenerate, first.as_bytes(), second.as_bytes());
    assert!(of(&["text_output"]) && of(&[]));
}

/// Triton's, but for the text, which is the first letter of what comes.
#[derive(Debug)]
struct Letter(Parsed);

impl Dialect for Letter {
    fn body(&self, ask: &BodyInput<'_>) -> Result<Vec<u8>, RequestError> {
        self.0.body(ask)
    }

    fn read<'a>(&self, event: &RawEvent<'a>) -> Result<WireEvent<'a>, EventError> {
        let first = event.data.iter().position(|byte| *byte == b'T').unwrap();
        let visible = std::str::from_utf8(&event.data[first..=first]).unwrap().into();
        Ok(WireEvent { visible, ..self.0.read(event)? })
    }

    fn end(&self) -> EndRule {
        self.0.end()
    }

    fn varying(&self) -> Option<&'static [&'static str]> {
        self.0.varying()
    }
}

#[test]
fn a_text_that_is_no_whole_string_makes_no_mould() {
    let dialect = Letter(Parsed::new(Route::TritonGenerate, Some(&[])));
    let mut reader = ReplyReader::new(&dialect, KeepText::No);
    for _ in 0..2 {
        reader.feed(b"data: {\"text_output\":\"TT\"}\n\n", ReadMark::user(Stamp::EPOCH, 0));
    }
    assert_eq!(dialect.0.parsed.load(Relaxed), 2);
    assert_eq!(reader.finish(BodyEnd::Whole).arrivals[1].channel, Channel::Visible);
}

/// So that it costs a few per cent at most.
#[test]
fn a_stream_that_never_repeats_makes_few_moulds() {
    let dialect = Parsed::new(Route::Completions, Route::Completions.dialect().varying());
    let mut reader = ReplyReader::new(&dialect, KeepText::No);
    let events = 3_200;
    for number in 0..events {
        let event = format!("data: {{\"id\":\"{number}\",\"choices\":[{{\"text\":\"a\"}}]}}\n\n");
        reader.feed(event.as_bytes(), ReadMark::user(Stamp::EPOCH, 0));
    }
    // The first two at once, then one for sixty-four events; the making parses one made-up event.
    let made = dialect.parsed.load(Relaxed) - events;
    assert!((1..=2 + events / 64).contains(&made), "{made}");
}

/// Events as servers send them, and as none should. `T` is a text, `N` a number, `L` a list, `W` a word.
const SHAPES: [(Route, &[&str]); 9] = [
    (
        Route::Completions,
        &[
            r#"{"id":"c","created":N,"choices":[{"index":0,"text":"T","logprobs":null,"finish_reason":null}],"usage":{"prompt_tokens":9,"total_tokens":N,"completion_tokens":N}}"#,
            r#"{"choices":[{"index":0,"text":"T","token_ids":[L],"finish_reason":null}]}"#,
            r#"{"choices":[{"text":"T"},{"index":1,"text":"T"}]}"#,
            r#"{"choices":[{"text":"T","text":"T"}],"usage":{"completion_tokens":N,"completion_tokens":N}}"#,
            r#"{"completion_tokens":N,"choices":[{"text":"T","token_ids":[L],"output_ids":[L]}],"token_ids":[L]}"#,
            r#"{"choices":[{"text":"T","logprobs":{"tokens":["T"]},"finish_reason":"length"}]}"#,
            r#"{"created" : N, "choices": [ {"text" : "T"} ], "usage": null}"#,
            r#"{"choices":[],"usage":{"prompt_tokens":9,"total_tokens":N,"completion_tokens":N}}"#,
            r#"{"object":"T","message":"T","choices":[{"text":"T"}],"error":null}"#,
        ],
    ),
    (
        Route::Chat,
        &[
            r#"{"id":"c","object":"chat.completion.chunk","created":N,"choices":[{"index":0,"delta":{"content":"T"},"logprobs":null,"finish_reason":null}],"usage":{"prompt_tokens":9,"total_tokens":N,"completion_tokens":N}}"#,
            r#"{"choices":[{"index":0,"delta":{"role":"assistant","content":"T","reasoning_content":null},"finish_reason":null,"matched_stop":null}],"usage":null}"#,
            r#"{"choices":[{"delta":{"reasoning":"T"}}],"usage":{"prompt_tokens":9,"completion_tokens":N,"completion_tokens_details":{"reasoning_tokens":N}}}"#,
            r#"{"choices":[{"delta":{"reasoning":"T","reasoning_content":"T"}}],"x_groq":{"usage":{"completion_tokens":N}}}"#,
            r#"{"choices":[{"delta":{"content":"T","refusal":"T"}}],"obfuscation":"W"}"#,
            r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"name":"T","arguments":"T"}}]}}]}"#,
            r#"{"choices":[{"delta":{"content":[{"type":"text","text":"T"}]}}],"obfuscation":"T"}"#,
            r#"{"choices":[{"delta":{"content":"T"},"avg_decoded_tokens_per_iter":N}],"timings":{"predicted_n":N,"prompt_n":2}}"#,
        ],
    ),
    (
        Route::SglangGenerate,
        &[
            r#"{"text":"T","output_ids":[L],"meta_info":{"id":"r","finish_reason":null,"prompt_tokens":3,"completion_tokens":N,"cached_tokens":0}}"#,
            r#"{"text":"T","output_ids":[L],"meta_info":{"finish_reason":{"type":"length","length":N},"completion_tokens":N,"queue_time":0.5}}"#,
        ],
    ),
    (
        Route::TgiGenerate,
        &[
            r#"{"index":N,"token":{"id":N,"text":"T","logprob":-0.5,"special":false},"generated_text":null,"details":null}"#,
            r#"{"index":N,"token":{"id":N,"text":"T","logprob":N,"special":true},"generated_text":"T","details":{"generated_tokens":N}}"#,
        ],
    ),
    (
        Route::LlamaCppCompletion,
        &[
            r#"{"index":0,"content":"T","tokens":[L],"stop":false,"tokens_predicted":N,"tokens_evaluated":3}"#,
            r#"{"content":"T","tokens":[],"stop":true,"stop_type":"limit","tokens_predicted":N,"timings":{"prompt_n":N}}"#,
        ],
    ),
    (Route::TritonGenerate, &[r#"{"model_name":"m","text_output":"T"}"#]),
    (
        Route::Gemini,
        &[
            r#"{"candidates":[{"content":{"parts":[{"text":"T"}]}}],"usageMetadata":{"promptTokenCount":3,"candidatesTokenCount":N,"totalTokenCount":N}}"#,
            r#"{"candidates":[{"content":{"parts":[{"text":"T","thought":true}]}}],"usageMetadata":{"candidatesTokenCount":N,"thoughtsTokenCount":2}}"#,
        ],
    ),
    (
        Route::Responses,
        &[
            r#"{"type":"response.output_text.delta","sequence_number":N,"delta":"T","logprobs":[],"obfuscation":"W"}"#,
            r#"{"type":"response.reasoning_text.delta","sequence_number":N,"delta":"T"}"#,
        ],
    ),
    (
        Route::Messages,
        &[
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"T"},"usage":{"output_tokens":N}}"#,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"T"}}"#,
        ],
    ),
];

/// One event: which shape, with what, and which of its bytes are changed to what.
#[derive(Debug, Clone)]
struct Made {
    shape: usize,
    text: &'static str,
    number: &'static str,
    list: &'static str,
    changes: Vec<(prop::sample::Index, u8)>,
}

impl Made {
    fn write(&self, shapes: &[&str], to: &mut Vec<u8>) {
        let shape = shapes[self.shape % shapes.len()];
        let mut event = shape
            .replace("\"T\"", &format!("\"{}\"", self.text))
            .replace("\"W\"", &format!("\"{}\"", self.number))
            .replace(":N", &format!(":{}", self.number))
            .replace("[L]", &format!("[{}]", self.list))
            .into_bytes();
        for (at, byte) in &self.changes {
            let at = at.index(event.len());
            event[at] = *byte;
        }
        to.extend_from_slice(b"data: ");
        to.extend_from_slice(&event);
        to.extend_from_slice(b"\n\n");
    }
}

fn made() -> impl Strategy<Value = Made> {
    let texts = [
        "a",
        " token",
        "é✓",
        "",
        "a\\n",
        "\\u00e9",
        "\\\"completion_tokens\\\":7",
        "x\":1",
        "\t",
        "stop",
    ];
    let numbers = [
        "1",
        "2",
        "3",
        "17",
        "250",
        "0",
        "-1",
        "2.0",
        "2.5",
        "1e3",
        "01",
        "null",
        "99999999999999999999",
        " 4",
    ];
    let lists = ["1", "1,2", "5,6,7", "", "1, 2", "1.5", "null", "0"];
    let changes = prop::collection::vec(
        (
            any::<prop::sample::Index>(),
            prop::sample::select(b"\"\\{}[],:0123456789.eE- xn\t".to_vec()),
        ),
        0..3,
    );
    let common = |n: usize| prop_oneof![8 => 0..3usize, 1 => 0..n];
    (
        prop_oneof![6 => Just(0usize), 1 => 0usize..9],
        common(texts.len()),
        common(numbers.len()),
        common(lists.len()),
        prop_oneof![12 => Just(Vec::new()), 1 => changes],
    )
        .prop_map(move |(shape, text, number, list, changes)| Made {
            shape,
            text: texts[text],
            number: numbers[number],
            list: lists[list],
            changes,
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn with_and_without_a_mould(
        route in 0..SHAPES.len(),
        // So that every shape gets to be the usual one.
        first in 0usize..9,
        events in prop::collection::vec(made(), 1..24),
        piece in 1usize..700,
    ) {
        let (route, shapes) = SHAPES[route];
        let mut bytes = Vec::new();
        for made in &events {
            Made { shape: made.shape + first, ..made.clone() }.write(shapes, &mut bytes);
        }
        bytes.extend_from_slice(b"data: [DONE]\n\n");
        check(route, &bytes, piece)?;
    }

    #[test]
    fn every_trap_with_and_without(number in 0..all_cases().len(), piece in 1usize..700) {
        let case = &all_cases()[number];
        check(case.route, case.bytes.as_bytes(), piece)?;
    }
}
