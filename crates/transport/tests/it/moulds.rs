//! Reading without a parser where events are alike comes to the same as parsing each of them.

use fizeau_core::Stamp;
use fizeau_transport::{
    Ask, BodyEnd, Dialect, EndRule, EventError, Framing, KeepText, RawEvent, ReadMark, Repeats,
    Reply, ReplyReader, RequestError, Route, WireEvent,
};
use proptest::prelude::*;

use crate::streams::all_cases;

/// A dialect each of whose events is parsed.
#[derive(Debug)]
struct Parsed(&'static dyn Dialect);

impl Dialect for Parsed {
    fn body(&self, ask: &Ask<'_>) -> Result<Vec<u8>, RequestError> {
        self.0.body(ask)
    }

    fn read<'a>(&self, event: &RawEvent<'a>) -> Result<WireEvent<'a>, EventError> {
        self.0.read(event)
    }

    fn end(&self) -> EndRule {
        self.0.end()
    }

    fn framing(&self) -> Framing {
        self.0.framing()
    }

    fn repeats(&self) -> Repeats {
        self.0.repeats()
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
    let (with, without) = (route.dialect(), Parsed(route.dialect()));
    prop_assert_eq!(read(with, bytes, piece), read(&without, bytes, piece));
    Ok(())
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
