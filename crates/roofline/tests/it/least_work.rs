//! What a prompt and a prefix need at the least, and what engines do of it: worked by hand.

use std::num::NonZeroU64;

use fizeau_core::{Seconds, Tokens};
use fizeau_roofline::{
    Bound, ContextSpan, Deployment, Device, KnownModel, MathType, Model, OperatorKind, Pass,
    PassPhase, PassSums, PassTerm, PassTime, Prefix, System, TermKind, UniformLoad,
};

use crate::{config, llama_8b, single};

/// Behind the last keys and values that a prompt leaves nothing is needed but its last position: engines of today leave it out
/// (llama.cpp before the last feed-forward block, vLLM with `--kv-sharing-fast-prefill`). Worked by hand for Llama-3.1-8B.
#[test]
fn of_a_prompt_nothing_is_computed_behind_the_last_cache() {
    let system = single(llama_8b(), Device::named("h100-sxm").unwrap());
    let (hidden, wide, words, keys) = (4096.0, 14_336.0, 128_256.0, 1024.0);
    let layer = hidden * (2.0 * hidden + 2.0 * keys) + 3.0 * hidden * wide;
    let written = 2.0 * hidden * keys;
    let all = 31.0 * layer + written;
    let sampled = layer - written + hidden * words;
    let close =
        |seconds: Seconds, flops: f64| (seconds.get() * 989.5e12 / flops - 1.0).abs() < 1e-9;
    for (input, cached) in [(8192.0, 0.0), (8192.0, 8000.0), (1.0, 0.0)] {
        let pass = system.bound_pass(&Pass::prefill(input, cached));
        let computed: f64 = input - cached;
        assert!(close(pass.matrices, 2.0 * (all * computed + sampled)), "{input} {cached}");
        let pairs = computed * cached + computed * (computed + 1.0) / 2.0;
        assert!(close(pass.attention, 4.0 * 4096.0 * (31.0 * pairs + input)), "{input} {cached}");
    }
    // A decoded token goes through all of it.
    let step = system.bound_pass(&Pass::decode(1.0, ContextSpan::at(100.0)));
    assert!(close(step.matrices, 2.0 * (all + sampled)));
    assert!(close(step.attention, 4.0 * 4096.0 * 32.0 * 100.0));
}

/// Where the last half of the layers reads the keys of the first, a prompt needs no more than the first.
#[test]
fn layers_that_share_keys_are_not_computed_for_a_prompt() {
    let mut config: serde_json::Value = serde_json::from_str(config!("llama-3.1-8b")).unwrap();
    config["num_kv_shared_layers"] = 16.into();
    let model = Model::from_config_json(&config.to_string()).unwrap();
    let system = single(model, Device::named("h100-sxm").unwrap());
    let pass = Pass::prefill(8192.0, 0.0);
    let (bound, expected) = (system.bound_pass(&pass), system.expected_pass(&pass));
    let share = |of: fn(&PassTime) -> Seconds| of(&bound) / of(&expected);
    assert!((0.45..0.5).contains(&share(|pass| pass.matrices)), "{bound:?} {expected:?}");
    assert!((0.46..0.48).contains(&share(|pass| pass.attention)), "{bound:?} {expected:?}");
}

/// A prefix that all begin with can be kept expanded once, so that its pairs take 2 H (n + r + v) in place of 2 H (2 l + r).
#[test]
fn a_shared_prefix_of_latents_is_compared_as_cheaply_as_either_way() {
    let model = KnownModel::named("deepseek-v3").unwrap().model().unwrap();
    let spread = Deployment::SINGLE.with_tensor(8).unwrap();
    let system = System::new(model, Device::named("h200-sxm").unwrap().clone(), spread).unwrap();
    let many = NonZeroU64::new(256).unwrap();
    let load =
        UniformLoad::new(Tokens::new(8192), Tokens::new(3), many).with_cached(Tokens::new(8000));
    let attention = |prefix| {
        let mut serving = *system.serving();
        serving.prefix = prefix;
        let system = system.clone().with_serving(serving);
        let lengths = system.bound_pass(&system.decode_pass(&load, 256.0)).attention;
        let over = Bound::at(&system, &load).unwrap();
        assert!(
            (system.bound_figures(&load).requests_per_s / over.requests_per_s - 1.0).abs() < 1e-9
        );
        lengths
    };
    // Contexts of 8,193 and 8,194.
    let own = 278_528.0 * 8193.5;
    let shared = 81_920.0 * 8000.0 + 278_528.0 * 193.5;
    let ratio = attention(Prefix::Shared) / attention(Prefix::Own);
    assert!((ratio / (shared / own) - 1.0).abs() < 1e-9, "{ratio}");
}

/// Engines expand the cached latents of a prompt anew, or attend to them as they are where few tokens are left to compute.
#[test]
fn latents_behind_a_hit_are_expanded_once_more() {
    let model = KnownModel::named("deepseek-v3").unwrap().model().unwrap();
    let device = Device::named("h200-sxm").unwrap();
    let system = single(model, device);
    let rate = |math| device.usual_rate(math).unwrap().get();
    let attention =
        |input, cached| system.expected_pass(&Pass::prefill(input, cached)).attention.get();
    let pairs = 61.0 * (1000.0 * 99_000.0 + 1000.0 * 1001.0 / 2.0);
    let expansion = 61.0 * 99_000.0 * 2.0 * 512.0 * 128.0 * 256.0;
    let by_hand = pairs * 81_920.0 / rate(MathType::Bf16) + expansion / rate(MathType::Fp8);
    assert!((attention(100_000.0, 99_000.0) / by_hand - 1.0).abs() < 1e-9);
    let absorbed = 61.0 * 100_000.0 * 278_528.0 / rate(MathType::Bf16);
    assert!((attention(100_000.0, 99_999.0) / absorbed - 1.0).abs() < 1e-9);
    let sums = PassSums {
        prompts: 1.0,
        prompt_tokens: 1000.0,
        prompt_context: 100_000.0,
        prompt_pairs: 1000.0 * 99_000.0 + 1000.0 * 1001.0 / 2.0,
        ..PassSums::default()
    };
    assert!((system.overlapped_sums(&sums).attention.get() / by_hand - 1.0).abs() < 1e-9);
}

/// An indexer may choose 2,048 tokens: of no more than that all are chosen, whatever it scores. Their keys are written for later.
#[test]
fn an_indexer_computes_nothing_where_all_is_chosen() {
    let model = KnownModel::named("deepseek-v3.2").unwrap().model().unwrap();
    let system = single(model, Device::named("h200-sxm").unwrap());
    let least = |pass: &Pass| {
        let terms = system.pass_terms(PassPhase::Prefill, pass);
        let is_indexer = |term: &&PassTerm| term.part == TermKind::Operator(OperatorKind::Indexer);
        terms.iter().filter(is_indexer).map(|term| term.bound.get()).sum::<f64>()
    };
    let bandwidth = system.device().memory_bandwidth().get();
    let keys = 61.0 * 7168.0 * 128.0 / bandwidth;
    let short = least(&Pass::decode(1.0, ContextSpan::at(2048.0)));
    let long = least(&Pass::decode(1.0, ContextSpan::at(2049.0)));
    assert!((short / keys - 1.0).abs() < 0.01, "{short} {keys}");
    let read = 61.0 * 2049.0 * 128.0 * 2.0 / bandwidth;
    assert!(((long - short) / read - 1.0).abs() < 0.01, "{long} {short}");
}
