//! Tokenizers of Hugging Face's library, on small vocabularies of whole words.

use fizeau_core::{TokenCounter, Tokens};
use fizeau_workload::{HfTokenizer, HfTokenizerError, Seed, TextCodec, exact_text};

/// A `tokenizer.json` of the word-level kind: one token a word, ids from 0 in the order given, the first one
/// for all unknown words. It asks for truncation, as a real file may.
fn word_level(split: &str, decoder: &str, words: &[String]) -> String {
    let entry = |(id, word)| format!(r#""{word}": {id}"#);
    let vocabulary: Vec<String> = (0..).zip(words).map(entry).collect();
    let vocabulary = vocabulary.join(", ");
    let unknown = &words[0];
    format!(
        r#"{{"version": "1.0",
            "truncation": {{"direction": "Right", "max_length": 3, "strategy": "LongestFirst", "stride": 0}},
            "padding": null, "added_tokens": [], "normalizer": null,
            "pre_tokenizer": {split}, "post_processor": null, "decoder": {decoder},
            "model": {{"type": "WordLevel", "vocab": {{{vocabulary}}}, "unk_token": "{unknown}"}}}}"#
    )
}

fn split_by_space(words: &[&str]) -> String {
    let words: Vec<String> = words.iter().map(ToString::to_string).collect();
    word_level(r#"{"type": "WhitespaceSplit"}"#, "null", &words)
}

fn animals() -> HfTokenizer {
    let words = ["[UNK]", "big", "cat", "dog", "eat", "far", "get", "hat", "12", "<x>"];
    HfTokenizer::from_json(split_by_space(&words).as_bytes()).unwrap()
}

#[test]
fn words_are_counted_whatever_the_file_truncates_to() {
    assert_eq!(animals().count("big cat eat unheard-of hat"), Ok(Tokens::new(5)));
    assert_eq!(animals().count(""), Ok(Tokens::ZERO));
}

#[test]
fn text_is_drawn_from_plain_words_and_exact() {
    let tokenizer = animals();
    assert_eq!(tokenizer.vocabulary(), [1, 2, 3, 4, 5, 6, 7]);
    let exact = exact_text(&tokenizer, Tokens::new(100), Seed(0)).unwrap();
    assert_eq!(exact.tokens, Tokens::new(100));
    assert_eq!(exact.text.split(' ').count(), 100);
}

#[test]
fn tokens_that_start_a_word_are_preferred() {
    let letters = 'a'..='z';
    let continued = letters.clone().map(String::from);
    let starting = letters.clone().flat_map(|a| ['e', 'o', 'u'].map(|b| format!("\u{2581}{a}{b}")));
    let words: Vec<String> = continued.chain(starting).collect();
    let metaspace =
        r#"{"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": true}"#;
    let json = word_level(metaspace, metaspace, &words);
    let tokenizer = HfTokenizer::from_json(json.as_bytes()).unwrap();
    let expected: Vec<u32> = (26..26 + 78).collect();
    assert_eq!(tokenizer.vocabulary(), expected);
    let exact = exact_text(&tokenizer, Tokens::new(50), Seed(1)).unwrap();
    assert_eq!(exact.tokens, Tokens::new(50));
}

#[test]
fn bad_files_are_told_apart() {
    let missing = HfTokenizer::from_file("no/such/tokenizer.json").unwrap_err();
    assert!(matches!(missing, HfTokenizerError::File { .. }));
    assert!(missing.to_string().contains("no/such/tokenizer.json"));
    let malformed = HfTokenizer::from_json(b"{}").unwrap_err();
    assert!(matches!(malformed, HfTokenizerError::Malformed { .. }));
    let wordless = split_by_space(&["[UNK]", "12", "<x>"]);
    let wordless = HfTokenizer::from_json(wordless.as_bytes()).unwrap_err();
    assert!(matches!(wordless, HfTokenizerError::NoWords));
}

#[test]
fn special_tokens_are_told_from_text() {
    let words = ["[UNK]", "big", "cat", "[BOS]", "dog"];
    let file = split_by_space(&words)
        .replace(
            r#""added_tokens": []"#,
            r#""added_tokens": [{"id": 3, "content": "[BOS]", "single_word": false, "lstrip": false,
                "rstrip": false, "normalized": false, "special": true}]"#,
        )
        .replace(
            r#""post_processor": null"#,
            r#""post_processor": {"type": "TemplateProcessing",
                "single": [{"SpecialToken": {"id": "[BOS]", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
                "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
                "special_tokens": {"[BOS]": {"id": "[BOS]", "ids": [3], "tokens": ["[BOS]"]}}}"#,
        );
    let tokenizer = HfTokenizer::from_json(file.as_bytes()).unwrap();
    assert_eq!(tokenizer.special_ids(), [3]);
    assert_eq!(tokenizer.special_tokens(), Tokens::new(1));
    assert_eq!(tokenizer.size(), 5);
    assert_eq!(tokenizer.decode(&[3, 2]).as_deref(), Ok("cat"));
    assert_eq!(tokenizer.decode_any(&[3, 2]).as_deref(), Ok("[BOS] cat"));
}
