//! Prompts of verse.

use std::collections::HashSet;
use std::sync::Arc;

use fizeau_core::{RequestId, Tokens};
use fizeau_workload::{Length, Plan, PlanSpec, PromptContent, TextSource};
use proptest::prelude::*;

use crate::dataset::Bytewise;
use crate::{common, input, spec, text};

fn verse(tokens: u64, prefix: u64, seed: u64) -> PlanSpec {
    let lengths = input(Length::Fixed(Tokens::new(tokens)));
    let content = PromptContent::Text(TextSource::Sonnet);
    PlanSpec { content, lengths, prefix: common(prefix), ..spec(20, seed) }
}

proptest! {
    #[test]
    fn as_many_words_as_tokens_and_no_two_prompts_alike(
        tokens in 8_u64..200, prefix in 0_u64..50, seed: u64,
    ) {
        let plan = Plan::new(verse(tokens, prefix, seed)).unwrap();
        let mut seen = HashSet::new();
        for scheduled in plan.source().chain(plan.warmup(20)) {
            let text = text(&scheduled.request.prompt).to_owned();
            prop_assert_eq!(text.split_whitespace().count() as u64, prefix + tokens);
            prop_assert!(seen.insert(text));
        }
    }

    #[test]
    fn a_tokenizer_makes_the_length_exact(tokens in 1_u64..400, prefix in 0_u64..50, seed: u64) {
        let plan = Plan::with_tokenizer(verse(tokens, prefix, seed), Arc::new(Bytewise::new())).unwrap();
        let texts = [0, 1].map(|number| {
            let request = plan.request(RequestId(number));
            let said = text(&request.prompt).to_owned();
            assert_eq!(request.input_tokens, Some(Tokens::new(said.len() as u64)));
            said
        });
        prop_assert_eq!(texts[0].len() as u64, prefix + tokens);
        let shared = usize::try_from(prefix).unwrap();
        prop_assert_eq!(&texts[0][..shared], &texts[1][..shared]);
    }
}

#[test]
fn verse_keeps_its_words() {
    const EXPECTED: &str = "Shall I compare thee\n\
                            hall cow bone above house clean line warm\n\
                            Rough winds do shake the darling buds of May,\n\
                            By chance or nature's changing course untrimmed;\n\
                            And die as fast as they";
    let plan = Plan::new(verse(30, 4, 0)).unwrap();
    assert_eq!(text(&plan.request(RequestId(0)).prompt), EXPECTED);
}

#[cfg(feature = "tiktoken")]
#[test]
fn a_real_vocabulary_fits_verse_to_the_token() {
    use fizeau_workload::Tiktoken;
    let codec = Tiktoken::named("o200k_base").unwrap();
    let plan = Plan::with_tokenizer(verse(500, 30, 1), Arc::new(codec)).unwrap();
    for scheduled in plan.source() {
        assert_eq!(scheduled.request.input_tokens, Some(Tokens::new(530)));
    }
}

const SONNETS: &str = include_str!("../../src/prompts/sonnets.txt");

#[test]
fn eight_sonnets_of_fourteen_plain_lines_each() {
    let lines: Vec<&str> = SONNETS.lines().collect();
    assert_eq!(lines.len(), 8 * 14);
    let distinct: HashSet<&&str> = lines.iter().collect();
    assert_eq!(distinct.len(), lines.len());
    for line in &lines {
        assert!(line.is_ascii() && *line == line.trim() && !line.contains("  "), "{line}");
        assert!((5..=11).contains(&line.split(' ').count()), "{line}");
    }
    // Each ends in a full stop.
    assert!(lines.chunks(14).all(|sonnet| sonnet[13].ends_with('.')));
}
