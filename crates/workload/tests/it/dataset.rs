//! Data sets of each format, read from the fixtures.

use std::io::{BufRead, BufReader};
use std::sync::Arc;

use fizeau_core::{Message, Nanos, Prompt, Role, Tokens};
use fizeau_workload::{
    CodecError, Conversation, ConversationUse, Dataset, DatasetError, ShareGpt, TextCodec, Turn,
};
use proptest::prelude::*;

pub(crate) const CUSTOM: &str = include_str!("../../../../fixtures/workload/datasets/custom.jsonl");
pub(crate) const BATCH: &str =
    include_str!("../../../../fixtures/workload/datasets/openai_batch.jsonl");
pub(crate) const SHAREGPT: &str =
    include_str!("../../../../fixtures/workload/datasets/sharegpt.json");

/// One token a byte.
#[derive(Debug)]
pub(crate) struct Bytewise(Vec<u32>);

impl Bytewise {
    pub(crate) fn new() -> Self {
        Self((b'a'..=b'z').map(u32::from).collect())
    }
}

impl TextCodec for Bytewise {
    fn vocabulary(&self) -> &[u32] {
        &self.0
    }

    fn encode(&self, text: &str) -> Result<Vec<u32>, CodecError> {
        Ok(text.bytes().map(u32::from).collect())
    }

    fn decode(&self, ids: &[u32]) -> Result<String, CodecError> {
        let bytes = ids.iter().map(|&id| u8::try_from(id).unwrap()).collect();
        String::from_utf8(bytes).map_err(|error| CodecError::new(error.to_string()))
    }
}

/// One token a word.
#[derive(Debug)]
struct Wordwise;

impl TextCodec for Wordwise {
    fn vocabulary(&self) -> &[u32] {
        &[0]
    }

    fn encode(&self, text: &str) -> Result<Vec<u32>, CodecError> {
        Ok(text.split_whitespace().map(|_| 0).collect())
    }

    fn decode(&self, _: &[u32]) -> Result<String, CodecError> {
        Err(CodecError::new("one way only"))
    }
}

fn plain(text: &str) -> Turn {
    Turn::new(Prompt::Text(text.to_owned()))
}

fn message(role: Role, content: &str) -> Message {
    Message { role, content: content.to_owned() }
}

const fn some(tokens: u64) -> Option<Tokens> {
    Some(Tokens::new(tokens))
}

fn shared(text: &str) -> Option<Arc<str>> {
    Some(Arc::from(text))
}

#[test]
fn each_field_of_a_custom_line_is_read() {
    let dataset = Dataset::jsonl("custom.jsonl", CUSTOM.as_bytes()).unwrap();
    let [bare, counted, ids, chat, structured, session, tools] = dataset.conversations.as_slice()
    else {
        panic!("not seven records: {dataset:?}");
    };
    assert_eq!(*bare, plain("Why is the sky blue?").into());
    let text = "Name three rivers that end in the Black Sea.";
    assert_eq!(*counted, Turn { output_tokens: some(60), ..plain(text) }.into());
    let prompt = Prompt::TokenIds(vec![101, 2054, 2003, 1037, 5896, 102]);
    let (output_tokens, model) = (some(12), shared("adapter-b"));
    assert_eq!(*ids, Turn { output_tokens, model, ..Turn::new(prompt) }.into());
    let prompt = Prompt::Chat(vec![
        message(Role::System, "You answer in one line."),
        message(Role::User, "What is a lighthouse for?"),
    ]);
    let (input_tokens, output_tokens) = (some(31), some(40));
    assert_eq!(*chat, Turn { input_tokens, output_tokens, ..Turn::new(prompt) }.into());
    // To the letter: 0.20 stays 0.20.
    assert!(structured.turns[0].extra.as_deref().unwrap().ends_with(r#""temperature": 0.20}"#));
    assert!(tools.turns[0].extra.as_deref().unwrap().starts_with(r#"{"tools": [{"type""#));
    assert_eq!(tools.turns[0].input_tokens, None);
    assert_eq!(*session, boat());
    assert_eq!(dataset.dropped, 0);
}

/// AIPerf's data files: `single_turn` and `multi_turn` lines. A `text` beside a prompt is somebody's own field.
#[test]
fn aiperfs_names_are_read_where_no_other_prompt_is_there() {
    let lines = r#"{"text": "Explain", "output_length": 10}
{"session_id": "s1", "turns": [{"text": "Hello", "delay": 0}, {"text": "More", "delay": 500}]}
{"prompt": "Why?", "text": "a reference", "delay": "yesterday", "output_length": "long"}"#;
    let read = Dataset::jsonl("aiperf.jsonl", lines.as_bytes()).unwrap().conversations;
    let of = |turn: &Turn| (turn.prompt.clone(), turn.output_tokens.map(Tokens::get), turn.think);
    let turns: Vec<_> = read.iter().flat_map(|own| &own.turns).map(of).collect();
    let text = |text: &str| Prompt::Text(text.to_owned());
    let wanted = [
        (text("Explain"), Some(10), None),
        (text("Hello"), None, Some(Nanos::ZERO)),
        (text("More"), None, Some(Nanos::from_millis(500))),
        (text("Why?"), None, None),
    ];
    assert_eq!(turns, wanted);
    let bad = r#"{"text": ""}"#;
    let error = Dataset::jsonl("bad.jsonl", bad.as_bytes()).unwrap_err().to_string();
    assert_eq!(error, "bad.jsonl, line 1: field text is empty; expected at least one character");
    let inputs = r#"{"data": [{"session_id": "x", "payloads": [{"model": "m"}]}]}"#;
    let error = Dataset::jsonl("inputs.json", inputs.as_bytes()).unwrap_err().to_string();
    assert!(error.contains("each of data[].payloads[] is the body of a line"), "{error}");
}

fn boat() -> Conversation {
    let dog = Prompt::Chat(vec![message(Role::User, "And for a dog? Schöner Name, bitte.")]);
    let model = shared("adapter-a");
    Conversation {
        turns: vec![
            Turn {
                output_tokens: some(10),
                model: model.clone(),
                ..plain("Suggest a name for a boat.")
            },
            Turn {
                output_tokens: some(8),
                think: Some(Nanos::from_millis(1_500)),
                model: shared("adapter-c"),
                ..plain("A shorter one, please.")
            },
            Turn { think: Some(Nanos::from_micros(250_500)), model, ..Turn::new(dog) },
        ],
    }
}

#[test]
fn a_body_of_a_batch_goes_through_as_it_stands() {
    let dataset = Dataset::openai_batch("batch.jsonl", BATCH.as_bytes()).unwrap();
    let turns: Vec<&Turn> = dataset.conversations.iter().flat_map(|record| &record.turns).collect();
    assert_eq!(turns.len(), 3);
    for (turn, line) in turns.iter().zip(BATCH.lines()) {
        let Prompt::Body(body) = &turn.prompt else { panic!("not a body: {turn:?}") };
        assert!(line.ends_with(&format!("\"body\": {body}}}")), "{body}");
        assert_eq!(turn.model, None);
    }
    let lengths: Vec<_> = turns.iter().map(|turn| turn.output_tokens).collect();
    assert_eq!(lengths, [some(64), some(128), None]);
}

#[test]
fn first_exchanges_of_sharegpt_whoever_speaks() {
    let dataset = Dataset::sharegpt("s.json", SHAREGPT.as_bytes(), &ShareGpt::default()).unwrap();
    let texts: Vec<&str> = dataset
        .conversations
        .iter()
        .map(|record| match &record.turns[..] {
            [
                Turn {
                    prompt: Prompt::Text(text), input_tokens: None, output_tokens: None, ..
                },
            ] => text.as_str(),
            other => panic!("not one plain turn: {other:?}"),
        })
        .collect();
    let expected = [
        "What is a lighthouse for, in one sentence?",
        "You are a patient teacher of mathematics.",
        "As I said before, the ferry leaves at noon.",
        "It was a dark and stormy night at sea.",
    ];
    assert_eq!(texts, expected);
    assert_eq!(dataset.dropped, 3);
}

#[test]
fn whole_conversations_of_sharegpt() {
    let options = ShareGpt {
        take: ConversationUse::Conversation,
        codec: Some(&Wordwise),
        ..ShareGpt::default()
    };
    let dataset = Dataset::sharegpt("s.json", SHAREGPT.as_bytes(), &options).unwrap();
    let [lighthouse, system, model_first, empty] = dataset.conversations.as_slice() else {
        panic!("not four records: {dataset:?}");
    };
    let turn = |text, input, output| Turn {
        input_tokens: some(input),
        output_tokens: some(output),
        ..plain(text)
    };
    assert_eq!(*lighthouse, turn("What is a lighthouse for, in one sentence?", 8, 13).into());
    let taught = Prompt::Chat(vec![
        message(Role::System, "You are a patient teacher of mathematics."),
        message(Role::User, "What is a prime number, please?"),
    ]);
    let first = Turn { output_tokens: some(11), ..Turn::new(taught) };
    assert_eq!(system.turns, [first, turn("Is one a prime number then?", 6, 7)]);
    // The model's first word has no question, and the user's last no answer.
    let asked = "And when does it come back?\nI mean on Sundays.";
    assert_eq!(*model_first, turn(asked, 10, 10).into());
    let bird = "Tell me the name of a bird that cannot fly.";
    assert_eq!(*empty, Turn { input_tokens: some(10), ..plain(bird) }.into());
    assert_eq!(dataset.dropped, 3);
}

/// A file of one exchange of so many words each.
fn exchange(prompt: u64, reply: u64) -> String {
    let words = |count| vec!["word"; count as usize].join(" ");
    serde_json::json!([{"conversations": [
        {"from": "human", "value": words(prompt)},
        {"from": "gpt", "value": words(reply)},
    ]}])
    .to_string()
}

#[test]
fn vllms_rule_of_lengths_holds_to_the_token() {
    let kept = |prompt, reply, output: Option<Tokens>| {
        let options = ShareGpt { codec: Some(&Wordwise), output, ..ShareGpt::default() };
        Dataset::sharegpt("s.json", exchange(prompt, reply).as_bytes(), &options).is_ok()
    };
    for (prompt, reply, expected) in [
        (4, 4, true),
        (3, 4, false),
        (4, 3, false),
        (1024, 1024, true),
        (1025, 4, false),
        (1024, 1025, false),
        (10, 2038, true),
        (10, 2039, false),
    ] {
        assert_eq!(kept(prompt, reply, None), expected, "{prompt} and {reply}");
    }
    // A given length takes the place of the reply's, and may be short.
    assert!(kept(4, 1, some(1)));
    assert!(kept(4, 5_000, some(2_044)));
    assert!(!kept(4, 1, some(2_045)));
}

#[test]
fn byte_order_marks_line_ends_and_blank_lines_are_fine() {
    let dos = format!("\u{feff}\r\n  \r\n{}", CUSTOM.replace('\n', "\r\n"));
    let read = |text: &str| Dataset::jsonl("c", text.as_bytes()).unwrap();
    assert_eq!(read(&dos), read(CUSTOM));
    assert_eq!(read(CUSTOM.trim_end()), read(CUSTOM));
    let dos = format!("\u{feff}{}", SHAREGPT.replace('\n', "\r\n"));
    let read = |text: &str| Dataset::sharegpt("s", text.as_bytes(), &ShareGpt::default()).unwrap();
    assert_eq!(read(&dos), read(SHAREGPT));
}

/// What each reader makes of `bytes`, an error as its message.
pub(crate) fn read_all(mut open: impl FnMut() -> Box<dyn BufRead>) -> [Result<Dataset, String>; 4] {
    let whole = ShareGpt { take: ConversationUse::Conversation, ..ShareGpt::default() };
    let said = |error: DatasetError| error.to_string();
    [
        Dataset::jsonl("x", open()).map_err(said),
        Dataset::openai_batch("x", open()).map_err(said),
        Dataset::sharegpt("x", open(), &ShareGpt::default()).map_err(said),
        Dataset::sharegpt("x", open(), &whole).map_err(said),
    ]
}

fn in_chunks(bytes: &[u8], size: usize) -> Box<dyn BufRead> {
    Box::new(BufReader::with_capacity(size, std::io::Cursor::new(bytes.to_vec())))
}

#[test]
fn any_chunking_gives_the_same() {
    for text in [CUSTOM, BATCH, SHAREGPT] {
        let text = format!("\u{feff}{text}");
        let at_once = read_all(|| in_chunks(text.as_bytes(), 1 << 20));
        for size in [1, 2, 3, 7, 64, 1_000] {
            assert_eq!(read_all(|| in_chunks(text.as_bytes(), size)), at_once);
        }
    }
}

proptest! {
    #[test]
    fn no_bytes_whatever_make_a_reader_panic(
        which in 0_usize..3,
        changes in proptest::collection::vec((any::<prop::sample::Index>(), 0_u8..4, any::<u8>()), 1..6),
    ) {
        let mut bytes = [CUSTOM, BATCH, SHAREGPT][which].as_bytes().to_vec();
        for (place, kind, byte) in changes {
            if bytes.is_empty() {
                break;
            }
            let place = place.index(bytes.len());
            match kind {
                0 => bytes[place] = byte,
                1 => bytes.insert(place, byte),
                2 => drop(bytes.remove(place)),
                _ => bytes.truncate(place),
            }
        }
        for read in read_all(|| in_chunks(&bytes, 1 << 16)) {
            match read {
                Ok(dataset) => prop_assert!(dataset.conversations.iter().all(|it| !it.turns.is_empty())),
                Err(line) => prop_assert!(line.starts_with("x"), "{}", line),
            }
        }
    }
}
