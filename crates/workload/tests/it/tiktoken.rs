//! OpenAI's vocabularies.

use std::sync::Arc;

use fizeau_core::{RequestId, TokenCounter, Tokens};
use fizeau_workload::{
    Plan, PlanSpec, PromptContent, Seed, TextCodec, TextSource, Tiktoken, VllmRandom, exact_text,
};

use crate::{spec, text};

const NAMES: [&str; 4] = ["o200k_base", "cl100k_base", "p50k_base", "r50k_base"];

#[test]
fn counts_are_those_of_openai() {
    // From "How to count tokens with tiktoken" in the OpenAI cookbook.
    let count = |name, text| Tiktoken::named(name).unwrap().count(text).unwrap().get();
    assert_eq!(count("r50k_base", "antidisestablishmentarianism"), 5);
    assert_eq!(count("cl100k_base", "antidisestablishmentarianism"), 6);
    assert_eq!(count("o200k_base", "antidisestablishmentarianism"), 6);
    assert_eq!(count("r50k_base", "2 + 2 = 4"), 5);
    assert_eq!(count("cl100k_base", "2 + 2 = 4"), 7);
    // A special token's text is text to whoever counts a model's output.
    assert!(count("cl100k_base", "<|endoftext|>") > 1);
}

#[test]
fn exact_text_is_exact_under_every_vocabulary() {
    for name in NAMES {
        let tokenizer = Tiktoken::named(name).unwrap();
        assert!(tokenizer.vocabulary().len() > 10_000, "{name}");
        for tokens in [1, 2, 16, 250] {
            let wanted = Tokens::new(tokens);
            let exact = exact_text(&tokenizer, wanted, Seed(tokens)).unwrap();
            assert_eq!(exact.tokens, wanted, "{name}");
            assert_eq!(tokenizer.count(&exact.text), Ok(wanted), "{name}");
        }
    }
}

#[test]
fn each_word_of_a_prompt_is_one_token() {
    let content = PromptContent::Text(TextSource::Words);
    let plan = Plan::new(PlanSpec { content, ..spec(1, 0) }).unwrap();
    let words: Vec<String> = (0..500)
        .flat_map(|k| {
            text(&plan.request(RequestId(k)).prompt)
                .split(' ')
                .map(str::to_owned)
                .collect::<Vec<_>>()
        })
        .collect();
    for name in NAMES {
        let tokenizer = Tiktoken::named(name).unwrap();
        for word in &words {
            assert_eq!(tokenizer.count(&format!(" {word}")), Ok(Tokens::new(1)), "{name}: {word}");
        }
    }
}

#[test]
fn a_plan_of_exact_text_has_its_lengths() {
    let content = PromptContent::Chat(TextSource::Exact);
    let tokenizer = Arc::new(Tiktoken::named("r50k_base").unwrap());
    let plan =
        Plan::with_tokenizer(PlanSpec { content, ..spec(10, 0) }, tokenizer.clone()).unwrap();
    for scheduled in plan.source() {
        assert_eq!(tokenizer.count(text(&scheduled.request.prompt)), Ok(Tokens::new(12)));
    }
}

#[test]
fn an_unknown_vocabulary_is_named() {
    let line = Tiktoken::named("o300k").unwrap_err().to_string();
    assert!(line.contains("`o300k`") && line.contains("o200k_base"), "{line}");
}

#[test]
fn any_ids_have_a_text() {
    for name in NAMES {
        let tokenizer = Tiktoken::named(name).unwrap();
        // Single bytes among them, which are no text alone.
        let ids: Vec<u32> = (0..tokenizer.size()).step_by(7).collect();
        assert!(!tokenizer.decode_any(&ids).unwrap().is_empty(), "{name}");
        assert!(tokenizer.special_ids().iter().all(|&id| id < tokenizer.size()));
    }
}

#[test]
fn vllm_s_random_prompts_have_their_lengths() {
    let random =
        VllmRandom { input: Tokens::new(40), prefix: Tokens::new(6), ..VllmRandom::default() };
    let content = PromptContent::VllmRandom(random);
    let tokenizer = Arc::new(Tiktoken::named("o200k_base").unwrap());
    let plan =
        Plan::with_tokenizer(PlanSpec { content, ..spec(20, 0) }, tokenizer.clone()).unwrap();
    for scheduled in plan.source().chain(plan.warmup(5)) {
        let counted = tokenizer.count(text(&scheduled.request.prompt)).unwrap();
        assert_eq!(scheduled.request.input_tokens, Some(counted));
        assert!(counted.get().abs_diff(46) < 5, "{counted}");
    }
}
