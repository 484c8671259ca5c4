//! Speculative decoding.

use std::num::NonZeroU64;

use fizeau_core::Tokens;
use fizeau_roofline::{
    Acceptance, AcceptanceError, ContextSpan, Deployment, Drafter, EstimateKind, Pass, Speculation,
    System, UniformLoad,
};
use proptest::prelude::*;

use crate::known::{accounts, at_most, device, loads, model, systems};
use crate::{fixed, llama_8b, single};

fn drafters() -> impl Strategy<Value = Drafter> {
    let small = single(model("qwen3-0.6b"), &device("h100-sxm"));
    prop_oneof![
        Just(Drafter::Lookup),
        (0.0..0.5).prop_map(Drafter::Share),
        Just(Drafter::Model(Box::new(small))),
    ]
}

fn with(probability: f64, drafter: Drafter) -> Speculation {
    Speculation::new(Acceptance::uniform(probability).unwrap(), drafter)
}

/// `(1 - q^(s+1)) / (1 - q)`, worked by hand.
#[test]
fn tokens_of_a_draft() {
    let tokens = |probability, length| {
        format!("{:.2}", Acceptance::uniform(probability).unwrap().tokens(length))
    };
    assert_eq!(tokens(0.8, 1), "1.80");
    assert_eq!(tokens(0.8, 3), "2.95");
    assert_eq!(tokens(0.6, 3), "2.18");
    assert_eq!(tokens(0.0, 5), "1.00");
    assert_eq!(tokens(1.0, 5), "6.00");
}

/// Where all is accepted and arithmetic is idle, longer is better.
#[test]
fn the_best_length_is_sought_beyond_sixteen() {
    let system = single(llama_8b(), &device("h100-sxm"));
    let load = UniformLoad::new(Tokens::new(128), Tokens::new(1024), NonZeroU64::MIN);
    let answer = with(1.0, Drafter::Lookup).answer(&system, &load, 1.0, None);
    assert!(answer.speculated[1].drafted > 16, "{}", answer.speculated[1].drafted);
}

#[test]
fn acceptance_that_decays() {
    let each = Acceptance::per_position(&[0.8, 0.7, 0.5]).unwrap();
    assert!((each.tokens(3) - 1.0 - 0.8 - 0.56 - 0.28).abs() < 1e-12);
    // Further positions are accepted as the last.
    assert!((each.tokens(4) - each.tokens(3) - 0.14).abs() < 1e-12);
}

#[test]
fn what_is_no_acceptance() {
    assert_eq!(Acceptance::per_position(&[]), Err(AcceptanceError::Empty));
    assert_eq!(
        Acceptance::per_position(&[0.9, 1.2]).unwrap_err().to_string(),
        "the acceptance of drafted token 2 is 1.2; it must be from 0 to 1"
    );
    assert!(Acceptance::uniform(f64::NAN).is_err());
}

/// Verifying reads the cache once, whatever the draft; its activations and arithmetic are those of all tokens.
/// After the first token one is left of two: what a draft guesses beyond is thrown away.
#[test]
fn a_draft_yields_no_more_than_the_reply() {
    let system = single(llama_8b(), &device("h100-sxm"));
    let load = UniformLoad::new(Tokens::new(2048), Tokens::new(2), NonZeroU64::MIN);
    for by in EstimateKind::ALL {
        let drafted = with(0.8, Drafter::Lookup).chain(&system, by, &load, 1.0, 3);
        assert_eq!(drafted.tokens_per_cycle, 1.0);
        assert!(drafted.gain <= 1.0, "{drafted:?}");
    }
}

#[test]
fn caches_are_read_once() {
    let system = single(llama_8b(), &device("h100-sxm"));
    let plain = Pass::decode(8.0, ContextSpan::at(4096.0));
    let mut verifying = plain;
    verifying.tokens_each = 4.0;
    let (plain, verifying) = (system.expected_pass(&plain), system.expected_pass(&verifying));
    assert_eq!(plain.weights, verifying.weights);
    assert_eq!(plain.cache, verifying.cache);
    let times = |one: f64| (one / 4.0 - 1.0).abs() < 1e-9;
    assert!(times(verifying.activations / plain.activations));
    assert!(times(verifying.matrices / plain.matrices));
    assert!(times(verifying.attention / plain.attention));
}

/// A draft of three at batch 4 reads the experts that 16 tokens pick: 128 (1 - (1 - 4 / 128)^16) = 51.0 of them.
#[test]
fn a_longer_draft_reads_more_experts() {
    let sparse = single(model("gpt-oss-120b"), &device("h200-sxm"));
    let dense = single(llama_8b(), &device("h200-sxm"));
    let gain = |system: &System, length| {
        let load =
            UniformLoad::new(Tokens::new(1024), Tokens::new(1024), NonZeroU64::new(4).unwrap());
        with(0.8, Drafter::Lookup).chain(system, EstimateKind::Expected, &load, 4.0, length).gain
    };
    assert!(gain(&dense, 3) > 2.5, "{}", gain(&dense, 3));
    assert!(gain(&sparse, 3) < 1.8, "{}", gain(&sparse, 3));
    let weights = |each: f64| {
        let mut pass = Pass::decode(4.0, ContextSpan::at(1024.0));
        pass.tokens_each = each;
        sparse.expected_pass(&pass).weights.get()
    };
    let touched = |tokens: f64| 128.0 * (1.0 - (1.0 - 4.0 / 128.0_f64).powf(tokens));
    let bytes = (weights(4.0) - weights(1.0)) * sparse.device().memory_bandwidth().get();
    let experts = 114.661_785_6e9 * 4.25 / 8.0 / 128.0;
    let ratio = bytes / ((touched(16.0) - touched(4.0)) * experts);
    assert!((ratio - 1.0).abs() < 0.01, "{ratio}");
}

/// The module of DeepSeek-V3 is a layer, a projection of `2 h h` and norms; it reads the LM head as well.
#[test]
fn a_model_drafts_with_its_own_module() {
    let base = model("deepseek-v3");
    let module = base.draft_model().unwrap();
    let tables = 2 * base.vocabulary * base.hidden + base.hidden;
    assert_eq!(module.parameters().total - tables, base.parameters().draft);

    let eight = Deployment::SINGLE.with_tensor(8).unwrap();
    let system = System::new(base, device("h200-sxm"), eight).unwrap();
    let drafter = Drafter::own_module(&system).unwrap().unwrap();
    let load = UniformLoad::new(Tokens::new(4096), Tokens::new(512), NonZeroU64::new(8).unwrap());
    let at = |drafter| with(0.85, drafter).chain(&system, EstimateKind::Expected, &load, 8.0, 1);
    let (own, free) = (at(drafter), at(Drafter::Lookup));
    assert!(own.draft.get() > 0.0 && own.draft.get() < 0.1 * own.verify.get(), "{own:?}");
    assert!(own.gain > 1.0 && own.gain < free.gain);
    assert!(Drafter::own_module(&single(llama_8b(), &device("h100-sxm"))).unwrap().is_none());
}

/// Only drafts depend on it, so nothing else is warned of.
#[test]
fn a_module_of_unknown_make_is_warned_of() {
    let assumed = |name| {
        let base = model(name);
        let module = base.draft_model().unwrap();
        assert_eq!(base.warnings, [""; 0]);
        module.warnings.iter().any(|warning| warning.contains("as in DeepSeek-V3"))
    };
    assert!(assumed("minimax-m2.5"));
    assert!(!assumed("deepseek-v3"));
}

/// The drafting weights leave room for fewer sequences, each of which has a second cache.
#[test]
fn a_drafting_model_takes_room() {
    let large = single(model("llama-3.1-8b"), &device("h100-sxm"));
    let small = single(model("qwen3-0.6b"), &device("h100-sxm"));
    let load = UniformLoad::new(Tokens::new(2048), Tokens::new(256), NonZeroU64::MIN);
    let most = |drafter| with(0.8, drafter).max_batch(&large, &load);
    assert_eq!(most(Drafter::Lookup), large.max_batch(&load));
    let room =
        |system: &System| large.max_batch(&load) * system.memory_use(&load, 1.0).sequence.get();
    let (own, its) = (large.memory_use(&load, 1.0), small.memory_use(&load, 1.0));
    let expected = (room(&large) - its.weights.get()) / (own.sequence.get() + its.sequence.get());
    let found = most(Drafter::Model(Box::new(small)));
    // Whole sequences of both.
    assert!((found - expected).abs() < 1.0, "{found} {expected}");
    // A module of the model's own has its tables already, and the cache of one layer more.
    let eight = Deployment::SINGLE.with_tensor(8).unwrap();
    let base = System::new(model("deepseek-v3"), device("h200-sxm"), eight).unwrap();
    let module = with(0.8, Drafter::own_module(&base).unwrap().unwrap());
    let ratio = module.max_batch(&base, &load) / base.max_batch(&load);
    assert!((0.9..1.0).contains(&ratio), "{ratio}");
}

proptest! {
    #![proptest_config(fixed())]

    #[test]
    fn nothing_accepted_never_helps(
        system in systems(), load in loads(), by in accounts(), drafter in drafters(),
        length in 0_u32..8, batch in 1.0..512.0,
    ) {
        let speculated = with(0.0, drafter).chain(&system, by, &load, batch, length);
        prop_assert!(at_most(speculated.gain, 1.0), "{speculated:?}");
    }

    #[test]
    fn a_gain_is_never_above_the_tokens_of_a_cycle(
        system in systems(), load in loads(), by in accounts(), drafter in drafters(),
        accepted in 0.0..=1.0, length in 0_u32..8, batch in 1.0..512.0,
    ) {
        let speculation = with(accepted, drafter);
        let one = speculation.chain(&system, by, &load, batch, length);
        prop_assert!(at_most(one.gain, one.tokens_per_cycle), "{one:?}");
        prop_assert!(at_most(one.tokens_per_cycle, f64::from(length) + 1.0));
        let best = speculation.best_chain(&system, by, &load, batch, 8);
        prop_assert!(at_most(one.gain, best.gain) && at_most(1.0, best.gain));
    }

    #[test]
    fn the_bound_is_never_slower(
        system in systems(), load in loads(), drafter in drafters(), accepted in 0.0..=1.0,
        length in 0_u32..8, batch in 1.0..512.0,
    ) {
        let speculation = with(accepted, drafter);
        let at = |by| speculation.chain(&system, by, &load, batch, length).figures;
        let (bound, expected) = (at(EstimateKind::Bound), at(EstimateKind::Expected));
        prop_assert!(at_most(bound.step.get(), expected.step.get()));
        prop_assert!(at_most(bound.ttft.get(), expected.ttft.get()));
        prop_assert!(at_most(expected.requests_per_s.get(), bound.requests_per_s.get()));
    }

    #[test]
    fn more_accepted_is_never_slower(
        system in systems(), load in loads(), by in accounts(), drafter in drafters(),
        less in 0.0..=1.0, more in 0.0..=1.0, length in 0_u32..8, batch in 1.0..512.0,
    ) {
        let (less, more) = if less < more { (less, more) } else { (more, less) };
        let at = |accepted, drafter| {
            with(accepted, drafter).chain(&system, by, &load, batch, length).figures.step.get()
        };
        prop_assert!(at_most(at(more, drafter.clone()), at(less, drafter)));
    }
}
