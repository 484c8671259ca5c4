//! What cannot run, and what would.

use fizeau_core::Tokens;
use fizeau_roofline::{Acceptance, Device, Drafter, KnownModel, System, WeightChoice};
use fizeau_sim::{EngineConfig, EngineDrafts, Remedies, Scenario, ScenarioError};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use super::{default, slots};
use crate::support::NONE;

fn made(model: &str, device: &str, deployment: &str) -> System {
    let model = KnownModel::named(model).unwrap().model().unwrap();
    let device = Device::named(device).unwrap().clone();
    System::new(model, device, deployment.parse().unwrap()).unwrap()
}

fn refused(model: &str, device: &str, deployment: &str, config: EngineConfig) -> ScenarioError {
    Scenario::of(model, made(model, device, deployment), config, NONE).unwrap_err()
}

#[test]
fn each_refusal_says_what_would_run() {
    let with = |set: fn(&mut EngineConfig)| {
        let mut config = slots(16);
        set(&mut config);
        refused("llama-3.1-8b", "h100-sxm", "1 device", config).to_string()
    };
    assert_eq!(
        with(|of| of.block = Tokens::ZERO),
        "a block of 0 tokens holds nothing: give at least 1; 16 is usual"
    );
    assert_eq!(
        with(|of| of.max_batched_tokens = Tokens::new(15)),
        "a budget of 15 tokens a step is below one block of 16: give at least 16"
    );
    assert_eq!(
        with(|of| of.blocks = 1_000_000),
        "1000000 blocks of 16 tokens do not fit beside the weights: at most 29043 do"
    );
    assert_eq!(
        with(|of| (of.block, of.max_batched_tokens) = (Tokens::new(500_000), Tokens::new(500_000))),
        "one block of 500000 tokens does not fit beside the weights: there is room for 464692 tokens"
    );
    assert_eq!(
        with(|of| (of.blocks, of.max_context) = (10, Some(Tokens::new(161)))),
        "a key-value cache of 10 blocks of 16 tokens cannot hold one request of 161: it takes 11 blocks, or a context of \
         at most 160"
    );
    let error = default().with_max_context(Tokens::new(131_073)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "a context of 131073 tokens is more than the 131072 that Llama-3.1-8B is made for"
    );
}

#[test]
fn a_model_that_does_not_fit_says_where_it_does() {
    assert_eq!(
        refused("llama-3.1-70b", "h100-sxm", "1 device", slots(8)).to_string(),
        "llama-3.1-70b leaves no memory for requests on one NVIDIA H100 SXM 80 GB: its weights take 141.1 GB of the 77.0 GB \
         that an engine may use; it runs with TP2 (39136 tokens of cache), with weights in fp8 (13152) or on b200-sxm \
         (97440)"
    );
    let error = refused("deepseek-v3", "rtx-4090", "1 device", slots(8)).to_string();
    assert!(error.ends_with("it runs with TP32 (14832 tokens of cache)"), "{error}");
}

/// What takes the memory is named, and what is spread or left out goes along.
#[test]
fn a_drafter_that_does_not_fit_is_named_and_spread_along() {
    let drafts = EngineDrafts { length: 3, acceptance: Acceptance::uniform(0.8).unwrap() };
    let config = EngineConfig { drafts: Some(drafts), ..slots(8) };
    let system = made("llama-3.1-70b", "h100-sxm", "TP2");
    let drafter = Drafter::Model(Box::new(made("llama-3.1-8b", "h100-sxm", "TP2")));
    let lookup = Scenario::of("llama-3.1-70b", system, config.clone(), NONE).unwrap();
    let error = lookup.with_drafter(drafter).unwrap_err();
    let ScenarioError::TooLarge { model, remedies, .. } = error else { panic!("{error}") };
    assert_eq!(model, "llama-3.1-70b with its drafter");
    let (ranks, holds) = remedies.tensor.unwrap();
    let deployment = format!("TP{ranks}");
    let system = made("llama-3.1-70b", "h100-sxm", &deployment);
    let drafter = Drafter::Model(Box::new(made("llama-3.1-8b", "h100-sxm", &deployment)));
    let spread = Scenario::of("m", system, config, NONE).unwrap().with_drafter(drafter).unwrap();
    assert_eq!((ranks, spread.config().kv_capacity()), (4, holds));
    assert_eq!(remedies.look_up, Some(Tokens::new(39_136)));
    assert!(remedies.to_string().contains("without its drafter (39136)"), "{remedies}");
}

#[test]
fn a_context_beyond_the_cache_says_the_longest_that_fits() {
    let config = EngineConfig { max_context: Some(Tokens::new(100_000)), ..slots(8) };
    assert_eq!(
        refused("llama-3.1-70b", "h100-sxm", "TP2", config).to_string(),
        "a context of 100000 tokens does not fit into the cache of llama-3.1-70b on 2 NVIDIA H100 SXM 80 GB (TP2): the \
         longest that does is 39136; it runs with TP4 (508896 tokens of cache), with weights in fp8 (248032) or on h100-nvl \
         (121344)"
    );
}

#[test]
fn sequences_that_keep_too_much_say_how_many_fit() {
    let error = refused("nemotron-h-56b", "h200-sxm", "1 device", slots(4_000));
    let ScenarioError::TooManySequences { most, .. } = error else { panic!("{error}") };
    let system = made("nemotron-h-56b", "h200-sxm", "1 device");
    assert!(Scenario::of("m", system.clone(), slots(most), NONE).is_ok());
    assert!(Scenario::of("m", system.clone(), slots(most + 1), NONE).is_err());
    // And nobody has to guess.
    let usual = Scenario::usual_sequences(&system, &slots(1));
    assert!(usual <= most / 2 + 1 && Scenario::of("m", system, slots(usual), NONE).is_ok());
    let dense = made("llama-3.1-8b", "h100-sxm", "1 device");
    assert_eq!(Scenario::usual_sequences(&dense, &slots(1)), 1_024);
    let config = EngineConfig { max_batched_tokens: Tokens::new(256), ..slots(1) };
    assert_eq!(Scenario::usual_sequences(&dense, &config), 256);
}

const MODELS: [&str; 5] =
    ["llama-3.1-8b", "llama-3.1-70b", "gpt-oss-120b", "deepseek-v3", "nemotron-h-56b"];
const DEVICES: [&str; 4] = ["h100-sxm", "l4", "rtx-4090", "b200-sxm"];

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, rng_seed: RngSeed::Fixed(1849), ..ProptestConfig::default() })]

    /// What a refusal names runs, with as much cache as it says; and of tensor parallelism nothing less does.
    #[test]
    fn remedies_work(
        model in prop::sample::select(&MODELS),
        device in prop::sample::select(&DEVICES),
        context in prop::option::of(1_000u64..100_000),
    ) {
        let of = made(model, device, "1 device");
        let config = EngineConfig { max_context: context.map(Tokens::new), ..slots(4) };
        let runs = |system: System| {
            let scenario = Scenario::of(model, system, config.clone(), NONE).ok()?;
            Some(scenario.config().kv_capacity())
        };
        let error = Scenario::of(model, of.clone(), config.clone(), NONE).err();
        let remedies: Box<Remedies> = match error {
            None => return Ok(()),
            Some(ScenarioError::TooLarge { remedies, .. }) => remedies,
            Some(ScenarioError::ContextTooLong { remedies, .. }) => remedies,
            // More than the model is made for, or than its device has room for states.
            Some(_) => return Ok(()),
        };
        let spread = |ranks: u32| {
            let deployment = of.deployment().with_tensor(ranks).unwrap();
            System::new(of.model().clone(), of.device().clone(), deployment).ok()
        };
        if let Some((ranks, holds)) = remedies.tensor {
            prop_assert_eq!(spread(ranks).and_then(runs), Some(holds));
        }
        let most = remedies.tensor.map_or(64, |(ranks, _)| ranks - 1);
        prop_assert!((1..=most).filter_map(spread).all(|system| runs(system).is_none()));
        if let Some((format, holds)) = remedies.weights {
            let model = of.model().clone().with_weights(&WeightChoice::all(format));
            let other = System::new(model, of.device().clone(), *of.deployment()).unwrap();
            prop_assert_eq!(runs(other), Some(holds));
        }
        if let Some((format, holds)) = remedies.cache {
            let model = of.model().clone().with_kv_cache(format);
            let other = System::new(model, of.device().clone(), *of.deployment()).unwrap();
            prop_assert_eq!(runs(other), Some(holds));
        }
        if let Some((name, holds)) = remedies.device {
            let other = of.with_device(Device::named(&name).unwrap().clone());
            prop_assert_eq!(runs(other), Some(holds));
        }
    }
}
