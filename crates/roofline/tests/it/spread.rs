//! Batches of which sums are known, and whose contexts differ: the least that they can be is a bound.

use fizeau_roofline::{
    ContextSpan, ContextSpread, Deployment, Device, Model, Pass, PassSums, PassTime, System,
};
use proptest::prelude::*;

use crate::anything::{at_least, systems};
use crate::fixed;

fn mistral() -> System {
    let config = include_str!("../../../../fixtures/configs/mistral-7b-v0.1.json");
    let model = Model::from_config_json(config).unwrap();
    System::new(model, Device::named("h100-sxm").unwrap().clone(), Deployment::SINGLE).unwrap()
}

/// All layers have a window of 4,096 tokens: 32 sequences of 300 tokens and 32 of 8,000 read 2,198 tokens each and not 4,096. With 14.2 GB
/// of weights and 131,072 bytes a token that is 9.8 ms at 3.35 TB/s.
#[test]
fn a_window_ends_the_long_contexts_and_not_the_short_ones() {
    let system = mistral();
    let alike = PassSums { decoding: 64.0, context: 32.0 * 8_300.0, ..PassSums::default() };
    let ms = |sums: &PassSums| system.bound_sums(sums).total.to_millis().get();
    let halves = [300.0, 8_000.0].map(|context| Pass::decode(32.0, ContextSpan::at(context)));
    let [short, long] = halves.map(|half| system.bound_pass(&half));
    let truth = (short.weights + short.cache + long.cache).to_millis().get();
    assert!((9.5..9.9).contains(&truth), "{truth}");
    assert!(ms(&alike) > 14.4, "{}", ms(&alike));
    // The variance of just two lengths says as much as the lengths themselves.
    let spread = |longest: f64, variance: Option<f64>| PassSums {
        spread: Some(ContextSpread { longest, variance }),
        ..alike
    };
    let told = ms(&spread(32_768.0, Some(3_850.0 * 3_850.0)));
    assert!(told <= truth && told > 0.999 * truth, "{told} {truth}");
    // Nothing but the longest context of the model leaves an eighth of each for the window.
    let declared = ms(&spread(32_768.0, None));
    assert!(declared < 6.0 && declared > short.weights.to_millis().get(), "{declared}");
    assert_eq!(ms(&spread(32_768.0, Some(0.0))), ms(&alike));
}

/// `2 w` tokens compare `w^2 / 2` pairs before the window is full and `w^2` after that, and not `2 w` times the window.
#[test]
fn one_prompt_is_exact() {
    let system = mistral();
    let window = 4_096.0;
    let alone = |spread| PassSums {
        prompts: 1.0,
        prompt_tokens: 2.0 * window,
        prompt_context: 2.0 * window,
        prompt_pairs: window * (2.0 * window + 1.0),
        spread,
        ..PassSums::default()
    };
    let exact = system.bound_pass(&Pass::prefill(2.0 * window, 0.0));
    let [alike, least] = [None, Some(ContextSpread::up_to(system.model().max_context))]
        .map(|spread| system.bound_sums(&alone(spread)));
    assert!((alike.attention / exact.attention - 4.0 / 3.0).abs() < 1e-3, "{alike:?} {exact:?}");
    assert_eq!(least, exact);
}

/// The caches and the pairs of sequences and prompts, each with its own length: they add up.
fn apart(system: &System, contexts: &[u64], prompts: &[(u64, u64)]) -> [f64; 2] {
    let (decoding, reading) = (contexts.len() as f64, prompts.len() as f64);
    let decodes = contexts
        .iter()
        .map(|context| (Pass::decode(decoding, ContextSpan::at(*context as f64)), decoding));
    let prompts = prompts.iter().map(|(cached, tokens)| {
        let mut pass = Pass::prefill((cached + tokens) as f64, *cached as f64);
        pass.prompts = reading;
        (pass, reading)
    });
    decodes.chain(prompts).fold([0.0; 2], |[cache, attention], (pass, alike)| {
        let PassTime { cache: more, attention: pairs, .. } = system.bound_pass(&pass);
        [cache + more.get() / alike, attention + pairs.get() / alike]
    })
}

proptest! {
    #![proptest_config(fixed())]

    /// However the sums are split into contexts, the bound of the sums is not above the bound of those contexts.
    #[test]
    fn no_split_of_the_sums_is_faster_than_their_bound(
        system in systems(),
        contexts in prop::collection::vec(1_u64..9_000, 0..40),
        prompts in prop::collection::vec((0_u64..6_000, 1_u64..3_000), 0..4),
        (has_variance, more) in (any::<bool>(), prop::option::of(0.0..9_000.0)),
    ) {
        let sum = |of: fn(&(u64, u64)) -> u64| prompts.iter().map(of).sum::<u64>() as f64;
        let decoding = contexts.len() as f64;
        let context = contexts.iter().sum::<u64>() as f64;
        let squares = contexts.iter().map(|context| (*context as f64 - context_mean(&contexts)).powi(2));
        let ends = prompts.iter().map(|(cached, tokens)| cached + tokens);
        let longest = ends.chain(contexts.iter().copied()).max().unwrap_or(0) as f64;
        let spread = ContextSpread {
            longest: more.map_or(f64::INFINITY, |more| longest + more),
            variance: Some(squares.sum::<f64>() / decoding.max(1.0)).filter(|_| has_variance),
        };
        let sums = PassSums {
            decoding, context, prompts: prompts.len() as f64, prompt_tokens: sum(|of| of.1),
            prompt_context: sum(|of| of.0 + of.1),
            // As few as there may be, of layers that see everything.
            prompt_pairs: prompts.iter().map(|(cached, tokens)| (tokens * (2 * cached + tokens + 1)) as f64 / 2.0).sum(),
            spread: Some(spread), ..PassSums::default()
        };
        let bound = system.bound_sums(&sums);
        let [cache, attention] = apart(&system, &contexts, &prompts);
        prop_assert!(at_least(cache, bound.cache.get()), "{cache} {bound:?}");
        prop_assert!(at_least(attention, bound.attention.get()), "{attention} {bound:?}");
        let arithmetic = bound.matrices.get() + attention;
        let truth = (bound.weights.get() + cache).max(arithmetic);
        prop_assert!(at_least(truth, bound.total.get()), "{truth} {bound:?}");
    }
}

fn context_mean(contexts: &[u64]) -> f64 {
    contexts.iter().sum::<u64>() as f64 / contexts.len().max(1) as f64
}
