//! What a plan promises, seen from outside.

#![allow(clippy::unwrap_used, reason = "what a test cannot get ends the test")]

mod arrivals;
mod bad_input;
mod cache;
mod dataset;
mod dataset_bad;
mod dataset_plan;
mod draws;
mod exact_text;
mod golden;
mod golden_sessions;
#[cfg(feature = "hf-tokenizer")]
mod hf;
mod lengths;
mod mix;
mod plan;
mod prefix;
mod sessions;
mod shards;
mod sonnet;
mod statistics;
#[cfg(feature = "tiktoken")]
mod tiktoken;
mod trace;
mod trace_files;
mod vllm;

use fizeau_core::{PerSec, Prompt, Tokens};
use fizeau_workload::{ArrivalLaw, Length, Lengths, PlanSpec, Rescale, Seed, SharedPrefix};

/// A small, valid specification to vary.
fn spec(requests: u64, seed: u64) -> PlanSpec {
    PlanSpec {
        lengths: Lengths::fixed(12, 5),
        seed: Seed(seed),
        ..PlanSpec::new(requests).unwrap()
    }
}

fn gamma(rate: f64, burstiness: f64, rescale: Rescale) -> ArrivalLaw {
    ArrivalLaw::Gamma { rate: PerSec::new(rate), burstiness, rescale }
}

fn uniform(nominal: u64, ratio: f64) -> Length {
    Length::Uniform { nominal: Tokens::new(nominal), ratio }
}

/// Lengths of which the prompt's follow `input`.
const fn input(input: Length) -> Lengths {
    Lengths::Independent { input, output: Length::Fixed(Tokens::new(5)) }
}

/// Lengths of which the output's follow `output`.
const fn output(output: Length) -> Lengths {
    Lengths::Independent { input: Length::Fixed(Tokens::new(12)), output }
}

/// A prefix of so many tokens for all; 0 is one too.
const fn common(tokens: u64) -> SharedPrefix {
    SharedPrefix::Common { tokens: Tokens::new(tokens) }
}

fn ids(prompt: &Prompt) -> &[u32] {
    match prompt {
        Prompt::TokenIds(ids) => ids,
        other => panic!("not token ids: {other:?}"),
    }
}

fn text(prompt: &Prompt) -> &str {
    match prompt {
        Prompt::Text(text) => text,
        Prompt::Chat(messages) => match messages.as_slice() {
            [only] => &only.content,
            other => panic!("not one message: {other:?}"),
        },
        other => panic!("not text: {other:?}"),
    }
}
