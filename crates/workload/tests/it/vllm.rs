//! vLLM's `random` data set against what numpy drew for it; `tests/goldens/make_numpy_goldens.py` wrote it down.

use std::collections::HashSet;
use std::sync::Arc;

use fizeau_core::{RequestId, Tokens};
use fizeau_workload::{
    CodecError, Plan, PlanSpec, PromptContent, PromptForm, Salt, SpecError, TextCodec, VllmRandom,
};
use serde::Deserialize;

use crate::{ids, spec, text};

/// Id 3 l + n - 1 is a run of n times the l-th letter, n from 1 to 3; longer runs come first. Neighbours merge often.
#[derive(Debug)]
struct Runs {
    vocabulary: Vec<u32>,
    special: Tokens,
}

impl Runs {
    fn new(special: u64) -> Arc<Self> {
        Arc::new(Self { vocabulary: (0..78).collect(), special: Tokens::new(special) })
    }
}

impl TextCodec for Runs {
    fn vocabulary(&self) -> &[u32] {
        &self.vocabulary
    }

    fn encode(&self, text: &str) -> Result<Vec<u32>, CodecError> {
        let mut ids = Vec::new();
        for run in text.as_bytes().chunk_by(|a, b| a == b) {
            for part in run.chunks(3) {
                ids.push(3 * u32::from(run[0] - b'a') + part.len() as u32 - 1);
            }
        }
        Ok(ids)
    }

    fn decode(&self, ids: &[u32]) -> Result<String, CodecError> {
        let letter = |id: u32| char::from(b'a' + (id / 3) as u8).to_string();
        Ok(ids.iter().map(|&id| letter(id).repeat(1 + (id % 3) as usize)).collect())
    }

    fn special_ids(&self) -> &[u32] {
        &[3, 40]
    }

    fn special_tokens(&self) -> Tokens {
        self.special
    }
}

#[derive(Deserialize)]
struct Goldens {
    plans: Vec<Golden>,
}

#[derive(Deserialize)]
struct Golden {
    seed: u64,
    special_tokens: u64,
    input: u64,
    output: u64,
    prefix: u64,
    input_ratio: f64,
    output_ratio: f64,
    inputs: Vec<u64>,
    outputs: Vec<u64>,
    offsets: Vec<u64>,
    prompts: Vec<Text>,
}

#[derive(Deserialize)]
struct Text {
    text: String,
    tokens: u64,
}

fn goldens() -> Vec<Golden> {
    let file = include_str!("../goldens/vllm_random_goldens.json");
    serde_json::from_str::<Goldens>(file).unwrap().plans
}

impl Golden {
    fn spec(&self, form: PromptForm) -> PlanSpec {
        let tokens = Tokens::new;
        let content = PromptContent::VllmRandom(VllmRandom {
            form,
            vocabulary: 78,
            input: tokens(self.input),
            output: tokens(self.output),
            prefix: tokens(self.prefix),
            input_ratio: self.input_ratio,
            output_ratio: self.output_ratio,
        });
        PlanSpec { content, ..spec(self.inputs.len() as u64, self.seed) }
    }
}

#[test]
fn texts_and_lengths_are_those_of_vllm() {
    for golden in goldens() {
        let codec = Runs::new(golden.special_tokens);
        let plan = Plan::with_tokenizer(golden.spec(PromptForm::Text), codec).unwrap();
        // From the last to the first: any prompt can be had without those before it.
        for (number, expected) in golden.prompts.iter().enumerate().rev() {
            let request = plan.request(RequestId(number as u64));
            assert_eq!(text(&request.prompt), expected.text, "seed {} {number}", golden.seed);
            assert_eq!(request.input_tokens, Some(Tokens::new(expected.tokens)));
            assert_eq!(request.max_output_tokens, Tokens::new(golden.outputs[number]));
        }
    }
}

#[test]
fn token_ids_have_numpy_s_lengths_and_offsets_and_need_no_tokenizer() {
    for golden in goldens().into_iter().filter(|golden| golden.special_tokens == 0) {
        let plan = Plan::new(golden.spec(PromptForm::TokenIds)).unwrap();
        for scheduled in plan.source() {
            let number = scheduled.request.id.0;
            let (offset, input) = (golden.offsets[number as usize], golden.inputs[number as usize]);
            let expected: Vec<u32> =
                (0..input).map(|j| ((offset + number + j) % 78) as u32).collect();
            assert_eq!(ids(&scheduled.request.prompt), expected);
            assert_eq!(scheduled.request.max_output_tokens.get(), golden.outputs[number as usize]);
        }
    }
}

#[test]
fn the_salt_leaves_it_alone_and_warm_up_is_not_of_it() {
    let golden = &goldens()[2];
    let content = PromptContent::VllmRandom(VllmRandom {
        form: PromptForm::TokenIds,
        vocabulary: 1 << 20,
        prefix: Tokens::new(4),
        ..VllmRandom::default()
    });
    let plain = PlanSpec { content, ..golden.spec(PromptForm::TokenIds) };
    let salted = Plan::new(PlanSpec { salt: Salt(5), ..plain.clone() }).unwrap();
    let plain = Plan::new(plain).unwrap();
    assert!(plain.source().eq(salted.source()));
    let starts = |source: fizeau_workload::PlanSource| -> HashSet<u32> {
        source.map(|s| ids(&s.request.prompt)[0]).collect()
    };
    assert_eq!(starts(plain.source()).len(), 1);
    assert!(starts(plain.source()).is_disjoint(&starts(plain.warmup(50))));
    let expected = plain.expected_cache().unwrap();
    assert_eq!((expected.cached.get(), expected.prompt.get()), (11 * 4, 12 * 1_028));
}

#[test]
fn past_its_end_it_begins_again() {
    let golden = &goldens()[1];
    let plan = Plan::new(golden.spec(PromptForm::TokenIds)).unwrap();
    let (first, again) = (plan.request(RequestId(0)), plan.request(RequestId(9)));
    assert_eq!(first.prompt, again.prompt);
}

#[test]
fn what_cannot_be_drawn_is_refused() {
    let base = VllmRandom::default();
    let line = |random: VllmRandom, requests| {
        let content = PromptContent::VllmRandom(random);
        Plan::new(PlanSpec { content, ..spec(requests, 0) }).unwrap_err().to_string()
    };
    assert_eq!(line(base, 1), SpecError::NoTokenizer.to_string());
    let ids = VllmRandom { form: PromptForm::TokenIds, ..base };
    assert!(line(VllmRandom { vocabulary: 1, ..ids }, 1).contains("fewer than 2"));
    assert!(line(VllmRandom { input_ratio: 1.0, ..ids }, 1).contains("range ratio 1 "));
    assert!(line(VllmRandom { output: Tokens::ZERO, ..ids }, 1).contains("output length is 0"));
    let shortest = VllmRandom { input: Tokens::new(1), input_ratio: 0.5, ..ids };
    assert!(line(shortest, 1).contains("shortest input length is 0"));
    assert_eq!(
        line(ids, 1 << 25),
        "33554432 requests are too many for vLLM's random data set, which is drawn before the run: ask for at most 2097152"
    );
    assert_eq!(
        line(VllmRandom { vocabulary: 1 << 30, ..ids }, 1),
        "the vocabulary has 1073741824 ids: at most 16777216 can be drawn from"
    );
}

#[test]
fn its_own_lengths_count_against_the_context() {
    let golden = &goldens()[2];
    // 11 of prefix, 40 (1 + 0.5) of prompt, 20 (1 + 0.25) of output.
    let spec = golden.spec(PromptForm::Text);
    assert_eq!(spec.check_context(Tokens::new(96)), Ok(()));
    assert!(spec.check_context(Tokens::new(95)).is_err());
}
