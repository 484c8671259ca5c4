//! Exact text, with toy tokenizers that show what the fitting has to cope with.

use std::collections::{HashMap, HashSet};
use std::num::NonZeroU64;
use std::sync::Arc;

use fizeau_core::{RequestId, Tokens};
use fizeau_workload::{
    CodecError, Plan, PlanSpec, Popularity, PromptContent, Seed, SharedPrefix, SpecError,
    TextCodec, TextSource, exact_text,
};
use proptest::prelude::*;

use crate::{common, spec, text};

/// Ids 0 to 25 are letters; a letter that follows itself merges with it into one token, ids 26 to 51.
#[derive(Debug)]
pub(crate) struct Doubling {
    vocabulary: Vec<u32>,
}

impl Doubling {
    pub(crate) fn new() -> Self {
        Self { vocabulary: (0..52).collect() }
    }
}

impl TextCodec for Doubling {
    fn vocabulary(&self) -> &[u32] {
        &self.vocabulary
    }

    fn encode(&self, text: &str) -> Result<Vec<u32>, CodecError> {
        let letters: Vec<u32> = text.bytes().map(|letter| u32::from(letter - b'a')).collect();
        let mut ids = Vec::new();
        let mut rest = letters.as_slice();
        while let [first, tail @ ..] = rest {
            let doubled = tail.first() == Some(first);
            ids.push(if doubled { first + 26 } else { *first });
            rest = if doubled { &tail[1..] } else { tail };
        }
        Ok(ids)
    }

    fn decode(&self, ids: &[u32]) -> Result<String, CodecError> {
        let letter = |id: u32| char::from(b'a' + (id % 26) as u8).to_string();
        Ok(ids.iter().map(|&id| letter(id).repeat(1 + (id / 26) as usize)).collect())
    }
}

/// A tokenizer that cannot encode.
#[derive(Debug)]
struct Broken(Vec<u32>);

impl TextCodec for Broken {
    fn vocabulary(&self) -> &[u32] {
        &self.0
    }

    fn encode(&self, _: &str) -> Result<Vec<u32>, CodecError> {
        Err(CodecError::new("out of order"))
    }

    fn decode(&self, _: &[u32]) -> Result<String, CodecError> {
        Ok(String::new())
    }
}

proptest! {
    #[test]
    fn the_count_said_is_the_count_had(tokens in 1_u64..200, seed: u64) {
        let codec = Doubling::new();
        let exact = exact_text(&codec, Tokens::new(tokens), Seed(seed)).unwrap();
        let encoded = codec.encode(&exact.text).unwrap().len() as u64;
        prop_assert_eq!(exact.tokens, Tokens::new(encoded));
        // Merging only ever shortens, so padding gets there in a few rounds.
        prop_assert_eq!(exact.tokens, Tokens::new(tokens));
    }
}

#[test]
fn a_plan_of_exact_text_says_its_lengths_and_stays_random_access() {
    let prefix = common(10);
    let content = PromptContent::Text(TextSource::Exact);
    let spec = PlanSpec { content, prefix, ..spec(20, 5) };
    let plan = Plan::with_tokenizer(spec, Arc::new(Doubling::new())).unwrap();
    for (number, scheduled) in plan.source().enumerate() {
        assert_eq!(scheduled.request.input_tokens, Some(Tokens::new(22)));
        assert_eq!(scheduled.request, plan.request(RequestId(number as u64)));
    }
    let first = |number| text(&plan.request(RequestId(number)).prompt).to_owned();
    assert_ne!(first(0), first(1));
    assert_eq!(first(0)[..8], first(1)[..8]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_shared_prefix_is_equal_text_and_the_whole_is_exact(
        groups in 1_u64..4, tokens in 1_u64..20, share in 0.0..=1.0, seed: u64,
    ) {
        let (count, popularity) = (NonZeroU64::new(groups).unwrap(), Popularity::Uniform);
        let prefix =
            SharedPrefix::Groups { groups: count, tokens: Tokens::new(tokens), share, popularity };
        let content = PromptContent::Text(TextSource::Exact);
        let ids = PromptContent::TokenIds { range: 0..u32::MAX };
        let spec = PlanSpec { content, prefix, ..spec(30, seed) };
        // Who shares a prefix does not depend on what it is made of.
        let numbers = Plan::new(PlanSpec { content: ids, ..spec.clone() }).unwrap();
        let plan = Plan::with_tokenizer(spec, Arc::new(Doubling::new())).unwrap();
        let mut texts: HashMap<Vec<u32>, HashSet<String>> = HashMap::new();
        for (exact, number) in plan.source().zip(numbers.source()) {
            prop_assert_eq!(exact.request.input_tokens, Some(Tokens::new(12 + tokens)));
            // Each token is a letter at least.
            let start = text(&exact.request.prompt)[..tokens as usize].to_owned();
            let group = crate::ids(&number.request.prompt)[..tokens as usize].to_vec();
            texts.entry(group).or_default().insert(start);
        }
        prop_assert!(texts.values().all(|starts| starts.len() == 1), "{texts:?}");
    }
}

#[test]
fn chat_leaves_the_count_to_the_server() {
    let content = PromptContent::Chat(TextSource::Exact);
    let plan = Plan::with_tokenizer(PlanSpec { content, ..spec(1, 0) }, Arc::new(Doubling::new()));
    let request = plan.unwrap().request(RequestId(0));
    assert_eq!(request.input_tokens, None);
    assert_eq!(Doubling::new().encode(text(&request.prompt)).unwrap().len(), 12);
}

#[test]
fn a_tokenizer_that_fails_is_refused_at_once() {
    let content = PromptContent::Text(TextSource::Exact);
    let spec = PlanSpec { content, ..spec(1, 0) };
    let error = Plan::with_tokenizer(spec.clone(), Arc::new(Broken(vec![0, 1]))).unwrap_err();
    assert_eq!(error, SpecError::Tokenizer(CodecError::new("out of order")));
    let empty = Plan::with_tokenizer(spec.clone(), Arc::new(Broken(Vec::new()))).unwrap_err();
    assert!(matches!(empty, SpecError::Tokenizer(_)));
    let words = PlanSpec { content: PromptContent::Text(TextSource::Words), ..spec };
    assert!(Plan::with_tokenizer(words, Arc::new(Broken(Vec::new()))).is_ok());
}
