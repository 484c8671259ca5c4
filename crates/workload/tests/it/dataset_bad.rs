//! Each mistake in a data set has one clear line that says where it is and what would be right.

use std::io::{self, BufReader, Read};

use fizeau_core::{Prompt, Tokens};
use fizeau_workload::{ConversationUse, Dataset, DatasetError, DatasetLocation, ShareGpt};

fn jsonl(text: &str) -> String {
    Dataset::jsonl("d.jsonl", text.as_bytes()).unwrap_err().to_string()
}

fn batch(text: &str) -> String {
    Dataset::openai_batch("b.jsonl", text.as_bytes()).unwrap_err().to_string()
}

fn sharegpt(text: &str) -> String {
    let options = ShareGpt { take: ConversationUse::Conversation, ..ShareGpt::default() };
    Dataset::sharegpt("s.json", text.as_bytes(), &options).unwrap_err().to_string()
}

#[test]
fn wrong_json_far_down() {
    let good = "{\"prompt\": \"Hello there\", \"output_tokens\": 16}\n";
    let bad = "{\"prompt\": \"Hello there\", \"output_tokens\": sixteen}\n";
    let file = format!("{}{bad}{good}", good.repeat(48_210));
    assert_eq!(
        jsonl(&file),
        "d.jsonl, line 48211, column 44: wrong JSON in field output_tokens: expected value; expected one JSON \
         object a line, such as {\"prompt\": \"Once upon a time\"}"
    );
    let wrong = file.replace("sixteen", "\"sixteen\"");
    assert_eq!(
        jsonl(&wrong),
        "d.jsonl, line 48211: field output_tokens is \"sixteen\"; expected a whole number from 1 to 16777216"
    );
}

#[test]
fn lines_that_are_no_record() {
    for (line, expected) in [
        ("[1]", "the record is [1]; expected one JSON object a line"),
        ("prompt: hi", "the record is prompt: hi; expected one JSON object"),
        ("{}", "field prompt is missing; expected it, or prompt_token_ids, messages or turns"),
        (r#"{"prompt": null}"#, "field prompt is missing"),
        (r#"{"prompt": ""}"#, "field prompt is empty; expected at least one character"),
        (r#"{"prompt": 5}"#, "field prompt is 5; expected text"),
        (r#"{"prompt": "a", "messages": []}"#, "field messages is []; expected none beside prompt"),
        (r#"{"messages": []}"#, "field messages is an empty list; expected a list of at least one"),
        (r#"{"messages": [{"role": "tool", "content": ""}]}"#, "field messages[0].role is tool;"),
        (
            r#"{"messages": [{"role": "user"}]}"#,
            "field messages[0].content is missing; expected text",
        ),
        (
            r#"{"messages": [{"role": "user", "content": [{"type": "text"}]}]}"#,
            r#"field messages[0].content is [{"type": "text"}]; expected text (the data set openai-batch takes"#,
        ),
        (
            r#"{"prompt_token_ids": [1, 2, 3], "input_tokens": 20}"#,
            "field input_tokens is 20; expected 3, as many as prompt_token_ids has",
        ),
        (
            r#"{"prompt_token_ids": [1, -1]}"#,
            "field prompt_token_ids is [1, -1]; expected token ids",
        ),
        (r#"{"prompt_token_ids": []}"#, "field prompt_token_ids is an empty list;"),
        (r#"{"prompt": "a", "extra": [1]}"#, "field extra is [1]; expected a JSON object"),
        (r#"{"prompt": "a", "think_ms": -1}"#, "field think_ms is -1; expected milliseconds"),
        (r#"{"turns": [{"prompt": "a"}, {}]}"#, "field turns[1].prompt is missing;"),
        (r#"{"turns": []}"#, "field turns is an empty list;"),
        (
            r#"{"turns": [{"prompt": "a"}], "prompt": "b"}"#,
            "field prompt is \"b\"; expected it within turns",
        ),
        (
            r#"{"turns": [{"prompt": "a"}, {"prompt_token_ids": [1]}]}"#,
            "field turns[1].prompt_token_ids is one of several turns'; expected prompt or messages",
        ),
    ] {
        let said = jsonl(&format!("{{\"prompt\": \"fine\"}}\n\n{line}\n"));
        assert!(said.starts_with(&format!("d.jsonl, line 3: {expected}")), "{said}");
    }
}

/// A field that nobody looks at changes nothing, and whoever wrote it does not hear of it.
#[test]
fn misspelt_fields_and_two_that_contradict_each_other() {
    for (fields, expected) in [
        (
            r#""prompt": "a", "ouput_tokens": 9"#,
            "field ouput_tokens is not known; expected output_tokens",
        ),
        (
            r#""prompt": "a", "outputTokens": 9"#,
            "field outputTokens is not known; expected output_tokens",
        ),
        (
            r#""prompt": "a", "max_tokens": 9, "output_token": 9"#,
            "field output_token is not known;",
        ),
        (r#""prompt": "a", "thnik_ms": 9"#, "field thnik_ms is not known; expected think_ms"),
        (r#""promt": "a""#, "field promt is not known; expected prompt"),
        (r#""turn": [{"prompt": "a"}]"#, "field turn is not known; expected turns"),
        (
            r#""turns": [{"prompt": "a", "imput_tokens": 9}]"#,
            "field turns[0].imput_tokens is not known",
        ),
        (
            r#""turns": [{"prompt": "a"}], "output_tokens": 9"#,
            "field output_tokens is 9; expected it within turns",
        ),
        (
            r#""prompt": "a", "output_tokens": 9, "max_tokens": 10"#,
            "field max_tokens is 10; expected 9, as output_tokens says: they mean the same",
        ),
    ] {
        let said = jsonl(&format!("{{{fields}}}"));
        assert!(said.starts_with(&format!("d.jsonl, line 1: {expected}")), "{said}");
    }
    for fields in [
        r#""prompt": "a", "output_tokens": 9, "max_tokens": 9, "max_completion_tokens": 9"#,
        r#""prompt": "a", "output_tokens": 9, "min_tokens": 1, "turn": 1, "tokens": 3"#,
        r#""prompt": "a", "prompts": 1, "id": 5, "completion": "b""#,
    ] {
        assert!(Dataset::jsonl("d", format!("{{{fields}}}").as_bytes()).is_ok(), "{fields}");
    }
}

#[test]
fn lengths_of_nothing_and_beyond_all() {
    for length in ["0", "-3", "1e9", "1000000000", "16777217", "2.5", "\"12\"", "[]"] {
        for field in ["output_tokens", "max_tokens", "input_tokens"] {
            let said = jsonl(&format!("{{\"prompt\": \"a\", \"{field}\": {length}}}"));
            let expected = format!(
                "d.jsonl, line 1: field {field} is {length}; expected a whole number from 1 to 16777216"
            );
            assert_eq!(said, expected);
        }
        let said = batch(&format!("{{\"body\": {{\"max_tokens\": {length}}}}}"));
        assert!(said.starts_with(&format!("b.jsonl, line 1: field body.max_tokens is {length};")));
    }
}

#[test]
fn files_of_nothing() {
    for text in ["", "\n \r\n", "\u{feff}"] {
        let said =
            "d.jsonl has no record that can be sent (0 were left out): it must have at least one";
        assert_eq!(jsonl(text), said);
    }
    assert!(sharegpt("[]").starts_with("s.json has no record that can be sent (0 were left out)"));
    assert!(sharegpt("[{\"a\": 1}]").contains("(1 were left out)"));
    assert!(sharegpt(" \n").starts_with("s.json has no record that can be sent (0 were left out)"));
}

#[test]
fn records_beyond_the_context() {
    let text = "{\"prompt\": \"a\", \"input_tokens\": 90, \"output_tokens\": 10}\n{\"turns\": [{\"prompt\": \"a\", \
                \"input_tokens\": 90}, {\"prompt\": \"b\", \"output_tokens\": 11}]}";
    let dataset = Dataset::jsonl("d.jsonl", text.as_bytes()).unwrap();
    assert!(dataset.check_context(Tokens::new(101)).is_ok());
    let said = dataset.check_context(Tokens::new(100)).unwrap_err().to_string();
    let expected =
        "d.jsonl: record 2 takes 101 tokens, and the model's context has 100: leave it out";
    assert_eq!(said, expected);
}

#[test]
fn nesting_however_deep_is_passed_over() {
    let deep = "[".repeat(200_000) + &"]".repeat(200_000);
    let text = format!("{{\"prompt\": \"a\", \"extra\": {{\"b\": {deep}}}, \"c\": {deep}}}");
    assert!(Dataset::jsonl("d", text.as_bytes()).is_ok());
    let text = format!("{{\"prompt\": \"a\", \"turns\": {}", "{\"turns\": [".repeat(200_000));
    assert!(jsonl(&text).contains("ends in the middle of line 1: the file was cut off"));
    assert!(jsonl(&format!("{text}\n")).contains("wrong JSON in field turns: it ends too early"));
    let text = format!("[{deep}]");
    assert!(sharegpt(&text).contains("the record is [[["));
}

#[test]
fn batches_that_are_none() {
    let first = r#"{"url": "/v1/completions", "body": {}}"#;
    for (line, expected) in [
        (r#"{"custom_id": "a"}"#, "field body is missing; expected the body of the request"),
        (r#"{"body": "{}"}"#, "field body is \"{}\"; expected a JSON object"),
        (r#"{"method": "GET", "body": {}}"#, "field method is GET; expected POST"),
        (
            r#"{"url": "/v1/responses", "body": {}}"#,
            "field url is /v1/responses; expected /v1/completions, as on the lines before",
        ),
    ] {
        let said = batch(&format!("{first}\n{line}"));
        assert!(said.starts_with(&format!("b.jsonl, line 2: {expected}")), "{said}");
    }
}

#[test]
fn arrays_that_are_none() {
    let fine = "{\"conversations\": [{\"from\": \"human\", \"value\": \"a\"},\n \
                {\"from\": \"gpt\", \"value\": \"b\"}]}";
    for (second, expected) in [
        ("{\"conversations\": 5}", "line 3, record 2: field conversations is 5; expected a list"),
        ("[]", "line 3, record 2: the record is []; expected an object with the field"),
        (
            "{\"conversations\": [{\"from\": \"human\"}]}",
            "line 3, record 2: field conversations[0].value is missing; expected text",
        ),
        (
            "{\"conversations\" 5}",
            "line 3, record 2, column 18: wrong JSON in field conversations: expected `:`",
        ),
    ] {
        let said = sharegpt(&format!("[{fine},\n{second}]"));
        assert!(said.starts_with(&format!("s.json, {expected}")), "{said}");
    }
    let far = "\n\n  {\"conversations\":\n\n  [1, 2, nil]}";
    let said = sharegpt(&format!("[{fine}, {far}, {fine}]"));
    let expected = "s.json, line 6, record 2, column 11: wrong JSON in field conversations: a word that is not true, false or null";
    assert!(said.starts_with(expected), "{said}");
    let said = sharegpt(&format!("[{fine}, {fine}}}, {fine}]"));
    assert!(
        said.starts_with("s.json, line 3, record 2, column 33: wrong JSON: trailing char"),
        "{said}"
    );
    assert!(sharegpt(&format!("[{fine},]")).contains("line 2, record 2: the record is empty"));
    assert!(sharegpt("{}").contains(
        "line 1, record 1, column 1: wrong JSON: it does not begin with [; expected a JSON array of"
    ));
    assert!(sharegpt(&format!("[{fine}] x")).contains("wrong JSON: something follows the array"));
    assert!(
        sharegpt(&format!("[{fine},")).contains("wrong JSON: the file ends before the array does")
    );
}

#[test]
fn a_file_that_was_cut_off_says_so_and_where() {
    let line = "{\"prompt\": \"Hello there\", \"output_tokens\": 16}";
    let cut = "the file was cut off; fetch it again, or delete that record";
    for end in 1..line.len() {
        let said = jsonl(&format!("{line}\n{}", &line[..end]));
        assert_eq!(said, format!("d.jsonl ends in the middle of line 2: {cut}"));
    }
    let record = "{\"conversations\": [{\"from\": \"human\", \"value\": \"a\"}]}";
    for end in 1..record.len() {
        let said = sharegpt(&format!("[{record},\n{}", &record[..end]));
        assert_eq!(said, format!("s.json ends in the middle of line 2, record 2: {cut}"));
    }
    // Somebody's lay-out, and no cut: what a record should be is said.
    assert!(jsonl("{\n\"prompt\": \"a\"\n}\n").contains("expected one JSON object a line"));
}

#[test]
fn bytes_that_are_no_text() {
    let bytes = b"{\"prompt\": \"a\"}\n{\"prompt\": \"\xff\"}\n";
    let said = Dataset::jsonl("d.jsonl", &bytes[..]).unwrap_err().to_string();
    let expected =
        "d.jsonl, line 2: the record is not UTF-8 from its byte 13 on; expected text in UTF-8";
    assert_eq!(said, expected);
}

#[test]
fn a_file_that_breaks_off() {
    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("disk on fire"))
        }
    }
    let reader = || BufReader::new((&b"{\"prompt\": \"a\"}\n"[..]).chain(Broken));
    let options = ShareGpt::default();
    for (error, place) in [
        (Dataset::jsonl("d", reader()), DatasetLocation { line: 1, record: None }),
        (
            Dataset::sharegpt("d", BufReader::new((&b"[\n\n"[..]).chain(Broken)), &options),
            DatasetLocation { line: 3, record: Some(1) },
        ),
    ] {
        match error.unwrap_err() {
            DatasetError::Read { location: found, source, .. } => {
                assert_eq!((found, source.to_string().as_str()), (place, "disk on fire"));
            }
            other => panic!("not the system's error: {other}"),
        }
    }
}

#[test]
fn half_a_surrogate_pair_becomes_the_replacement_character() {
    let text = |dataset: &Dataset| dataset.conversations[0].turns[0].prompt.clone();
    let cut = Prompt::Text("cut \u{fffd}".to_owned());
    let lines = r#"{"prompt": "cut \ud83d"}"#;
    assert_eq!(text(&Dataset::jsonl("cut.jsonl", lines.as_bytes()).unwrap()), cut);
    let json = r#"[{"conversations": [{"from": "human", "value": "cut \ud83d"},
                                       {"from": "gpt", "value": "\ude00"}]}]"#;
    let read = Dataset::sharegpt("cut.json", json.as_bytes(), &ShareGpt::default()).unwrap();
    assert_eq!(text(&read), cut);
    let cases = [
        (r"a\ud83d", "a\u{fffd}"),
        (r"\ud83d\ude00!", "\u{1f600}!"),
        (r"\ude00\ud83d", "\u{fffd}\u{fffd}"),
        (r"\ud83d\ud83d\ude00", "\u{fffd}\u{1f600}"),
        // Only where there is a half is a text put right: the last escape is one.
        (r"\\ud83d \n\u00e9é\ude00", "\\ud83d \n\u{e9}é\u{fffd}"),
    ];
    for (json, expected) in cases {
        let line = format!(r#"{{"prompt": "{json}"}}"#);
        let read = Dataset::jsonl("cut.jsonl", line.as_bytes()).unwrap();
        assert_eq!(text(&read), Prompt::Text(expected.to_owned()), "{json}");
    }
    for odd in [r"\ud83", r"\u", r"\ud83d\", r"\é", r"\ud83d\u12é"] {
        let line = format!(r#"{{"prompt": "{odd}"}}"#);
        assert!(Dataset::jsonl("cut.jsonl", line.as_bytes()).is_err(), "{odd}");
    }
}
