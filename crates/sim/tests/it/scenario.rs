//! Scenarios: what follows from memory, what is refused and what would run instead, and what serves.

mod refused;

use std::num::NonZeroU32;

use fizeau_core::{Bytes, Nanos, Tokens, Watts};
use fizeau_roofline::{
    Acceptance, CacheTransfer, Calibration, CalibrationSample, Drafter, KnownModel, System,
    UniformLoad,
};
use fizeau_sim::{
    EngineConfig, EngineDrafts, Overheads, Policy, ReplicaRouting, Scenario, ScenarioError, Serve,
};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use crate::support::{NONE, SYSTEMS, drain, job, ms, of, system};

fn default() -> Scenario {
    Scenario::llama_3_1_8b_h100().unwrap()
}

fn slots(slots: u64) -> EngineConfig {
    EngineConfig::new(slots, Tokens::ZERO)
}

fn count(count: u32) -> NonZeroU32 {
    NonZeroU32::new(count).unwrap()
}

#[test]
fn the_default_is_what_it_says() {
    let scenario = default();
    // (0.9 of the usable memory - 16.06 GB) / 131,072 B, in whole blocks.
    let device: Bytes = scenario.device().usable_memory();
    let expected = (0.9 * device.get() - 2.0 * 8_030_261_248.0) / 131_072.0;
    assert_eq!(scenario.config().kv_capacity().get(), expected as u64 / 16 * 16);
    assert_eq!(scenario.config().longest_job(), Tokens::new(131_072));
    assert_eq!(scenario.engine().longest_job(), Some(Tokens::new(131_072)));
    assert_eq!(
        scenario.describe(),
        "Llama-3.1-8B (bf16) on one NVIDIA H100 SXM 80 GB; 64 slots and 464688 tokens of KV cache, 8192 tokens a step; \
         roofline at 85 % of bandwidth and 70 % of compute, plus 150 us a step, 2 us a sequence"
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, rng_seed: RngSeed::Fixed(1849), ..ProptestConfig::default() })]

    /// However long its sequences are, what an engine admits fits the fullest device: weights, a state and full windows a slot,
    /// and all blocks. And not one block more would.
    #[test]
    fn blocks_fill_what_the_weights_leave(
        which in 0..SYSTEMS.len(),
        max in 1u64..64,
        block in 1u64..256,
        share in 0.85f64..=1.0,
        reserve in 0.0f64..2e9,
    ) {
        let mut serving = *system(which).serving();
        (serving.memory_share, serving.reserve) = (share, Bytes::new(reserve));
        let system = system(which).with_serving(serving);
        let config = EngineConfig { block: Tokens::new(block), ..slots(max) };
        let scenario = Scenario::of(SYSTEMS[which].0, system.clone(), config, NONE).unwrap();
        let far = 16_777_216.0;
        let at = |context| system.cache_bytes_per_device(context).get();
        let each = at(far) - at(far - 1.0);
        let always = (at(far) - each * far) * max as f64;
        let usable = share * system.device().usable_memory().get() - reserve;
        let room = usable - system.weight_bytes_per_device().get() - always;
        let blocks = |blocks: u64| each * (blocks * block) as f64;
        let config = scenario.config();
        prop_assert!(blocks(config.blocks) <= room * (1.0 + 1e-9));
        prop_assert!(blocks(config.blocks + 1) > room * (1.0 - 1e-9));
        prop_assert_eq!(config.groups, u64::from(system.deployment().attention_groups()));
        let most = system.model().max_context.unwrap().min(config.kv_capacity());
        prop_assert_eq!(config.max_context, Some(most));
        prop_assert_eq!(scenario.system().serving().max_sequences.unwrap().get(), max);
    }

    /// Replicas change nothing for one that has a request to itself.
    #[test]
    fn each_replica_is_as_one_alone(
        which in 0..SYSTEMS.len(),
        lengths in (1u64..3_000, 1u64..50),
        replicas in 2u32..5,
    ) {
        let one = Scenario::of("m", system(which), slots(4), Overheads::default()).unwrap();
        let several = one.clone().with_replicas(count(replicas), ReplicaRouting::RoundRobin).unwrap();
        prop_assert_eq!(several.system().deployment().replicas(), replicas);
        prop_assert_eq!(several.config(), one.config());
        let (input, output) = lengths;
        let mut alone = one.serve();
        alone.submit(job(0, input, output, ms(0))).unwrap();
        let alone = drain(&mut alone);
        let mut all = several.serve();
        for id in 0..replicas {
            all.submit(job(id.into(), input, output, ms(0))).unwrap();
        }
        let all = drain(&mut all);
        for id in 0..replicas {
            let mine = of(&all, id.into());
            prop_assert!(mine.iter().zip(&alone).all(|(a, b)| a.at == b.at && a.index == b.index));
            prop_assert_eq!(mine.len(), alone.len());
        }
    }
}

/// 100 Gb/s and so on: the cache of the prompt over the network of its device comes on top of reading it.
#[test]
fn a_prompt_read_apart_crosses_the_link() {
    let one = default();
    let link = one.device().network().unwrap();
    let sending = one.system().cache_bytes_per_device(4_096.0) / link.bandwidth + link.latency;
    let first = |scenario: &Scenario| {
        let mut engine = scenario.serve();
        engine.submit(job(0, 4_096, 3, ms(0))).unwrap();
        let emissions = drain(&mut engine);
        assert_eq!(emissions.iter().map(|emission| emission.count).sum::<u64>(), 3);
        emissions[0].at.since(ms(0)).unwrap().as_secs_f64()
    };
    let apart =
        one.clone().disaggregated(count(2), count(1), CacheTransfer::BeforeFirstToken).unwrap();
    assert_eq!(apart.system().deployment().devices(), 3);
    let more = first(&apart) - first(&one);
    assert!((more - sending.get()).abs() < 2e-9, "{more} {}", sending.get());
    let later =
        one.clone().disaggregated(count(2), count(1), CacheTransfer::BeforeSecondToken).unwrap();
    assert_eq!(first(&later), first(&one));
    // Instances have replicas of their own.
    let twice = one.with_replicas(count(2), ReplicaRouting::default()).unwrap();
    let apart = twice.disaggregated(count(2), count(1), CacheTransfer::LayerWise).unwrap();
    assert_eq!(apart.system().deployment().devices(), 6);
}

#[test]
fn a_drafting_model_takes_from_the_cache() {
    let target = KnownModel::named("llama-3.1-70b").unwrap().model().unwrap();
    let small = KnownModel::named("llama-3.1-8b").unwrap().model().unwrap();
    let plain = system(1);
    let deployment = *plain.deployment();
    let target = System::new(target, plain.device().clone(), deployment).unwrap();
    let drafting = System::new(small, plain.device().clone(), deployment).unwrap();
    let drafts = EngineDrafts { length: 3, acceptance: Acceptance::uniform(0.8).unwrap() };
    let config = EngineConfig { drafts: Some(drafts), ..slots(64) };
    let lookup = Scenario::of("m", target.clone(), config, NONE).unwrap();
    let beside = lookup.clone().with_drafter(Drafter::Model(Box::new(drafting.clone()))).unwrap();
    let room = |scenario: &Scenario, each: f64| scenario.config().kv_capacity().get() as f64 * each;
    let [own, other] = [&target, &drafting].map(|of| of.cache_bytes_per_device(1.0).get());
    let left = room(&lookup, own) - drafting.weight_bytes_per_device().get();
    assert!((room(&beside, own + other) - left).abs() < 16.0 * (own + other));
    assert!(
        beside.describe().contains("drafts of 3 by a model of 4.0 GB, 2.95 tokens a step expected")
    );
    // And it takes time, where a search in the text takes none.
    let end = |scenario: &Scenario| {
        let mut engine = scenario.engine();
        engine.submit(job(0, 100, 100, ms(0))).unwrap();
        drain(&mut engine).last().unwrap().at
    };
    assert!(end(&beside) > end(&lookup));
}

#[test]
fn power_and_calibrations_set_the_pace() {
    let one = default();
    let first = |scenario: &Scenario| {
        let mut engine = scenario.engine();
        engine.submit(job(0, 8_000, 1, ms(0))).unwrap();
        drain(&mut engine)[0].at
    };
    let limited = one.clone().with_power_limit(Watts::new(350.0)).unwrap();
    assert!(first(&limited) > first(&one));
    assert!(
        limited.describe().ends_with("2 us a sequence, at most 350 W"),
        "{}",
        limited.describe()
    );
    let error = one.clone().with_power_limit(Watts::new(10.0)).unwrap_err();
    assert!(matches!(error, ScenarioError::Power(_)), "{error}");

    let calibrated = one.clone().with_calibration(calibration(&one), Some("vllm".into())).unwrap();
    assert_ne!(first(&calibrated), first(&one));
    // Nobody measured that engine: the constants are those of its device.
    let description = calibrated.describe();
    assert!(description.ends_with("; calibrated for the device"), "{description}");
}

/// Whatever comes first: nothing is dropped, and the same is refused.
#[test]
fn the_order_of_what_is_said_does_not_matter() {
    let one = default();
    let error = [
        one.clone()
            .with_calibration(calibration(&one), None)
            .and_then(|both| both.with_power_limit(Watts::new(350.0))),
        one.clone()
            .with_power_limit(Watts::new(350.0))
            .and_then(|both| both.with_calibration(calibration(&one), None)),
    ];
    for error in error {
        assert_eq!(error.unwrap_err(), ScenarioError::PowerOfCalibrated);
    }
    let apart =
        |of: Scenario| of.disaggregated(count(2), count(1), CacheTransfer::LayerWise).unwrap();
    let twice = |of: Scenario| of.with_replicas(count(2), ReplicaRouting::RoundRobin).unwrap();
    let both = [twice(apart(one.clone())), apart(twice(one.clone()))].map(|of| of.describe());
    assert_eq!(both[0], both[1]);
    assert!(both[0].contains("4 for prefill and 2 for decode"), "{}", both[0]);
    let error = one.with_drafter(Drafter::Lookup).unwrap_err();
    assert_eq!(error, ScenarioError::DrafterWithoutDrafts);
}

/// Each group of attention data parallelism has a link of its own, and a drafting model's cache crosses too.
#[test]
fn what_crosses_is_each_groups_own_and_the_drafters() {
    let end = |scenario: &Scenario, jobs: u64| {
        let mut engine = scenario.serve();
        for id in 0..jobs {
            engine.submit(job(id, 2_000, 2, ms(0))).unwrap();
        }
        let first =
            drain(&mut engine).iter().filter(|token| token.index == 0).map(|token| token.at).max();
        first.unwrap().since(ms(0)).unwrap().as_secs_f64()
    };
    // gpt-oss-20b in two groups: two prompts are read at once, and sent at once.
    let groups = Scenario::of("m", system(4), slots(8), NONE).unwrap();
    let sending = |of: &Scenario| {
        let apart = |transfer| of.clone().disaggregated(count(1), count(1), transfer).unwrap();
        let at = |transfer, jobs| end(&apart(transfer), jobs);
        [1, 2].map(|jobs| {
            at(CacheTransfer::BeforeFirstToken, jobs) - at(CacheTransfer::BeforeSecondToken, jobs)
        })
    };
    let [one, two] = sending(&groups);
    assert!(one > 0.0 && (two / one - 1.0).abs() < 1e-6, "{one} {two}");

    let small = KnownModel::named("llama-3.1-8b").unwrap().model().unwrap();
    let plain = system(1);
    let drafting = System::new(small, plain.device().clone(), *plain.deployment()).unwrap();
    let drafts = EngineDrafts { length: 3, acceptance: Acceptance::uniform(0.8).unwrap() };
    let config = EngineConfig { drafts: Some(drafts), ..slots(8) };
    let lookup = Scenario::of("m", plain.clone(), config, NONE).unwrap();
    let [without, _] = sending(&lookup);
    let beside = lookup.with_drafter(Drafter::Model(Box::new(drafting.clone()))).unwrap();
    let [with, _] = sending(&beside);
    let link = plain.device().network().unwrap();
    let more = drafting.cache_bytes_per_device(2_000.0) / link.bandwidth;
    assert!((with - without - more.get()).abs() < 1e-8, "{with} {without} {}", more.get());
}

/// A board is near its limit while it reads prompts, however little of its arithmetic an engine reaches.
#[test]
fn a_limit_of_power_bites_where_prompts_are_read() {
    let first = |scenario: &Scenario| {
        let mut engine = scenario.engine();
        engine.submit(job(0, 8_000, 1, ms(0))).unwrap();
        drain(&mut engine)[0].at.since(ms(0)).unwrap().as_secs_f64()
    };
    let one = default();
    let tdp = one.device().tdp().unwrap();
    let limited = |share: f64| first(&one.clone().with_power_limit(tdp * share).unwrap());
    assert_eq!(limited(1.0), first(&one));
    assert!(limited(0.7) > 1.1 * first(&one), "{} {}", limited(0.7), first(&one));
}

/// Of memory for blocks that an engine does not have nothing is expected.
#[test]
fn what_is_expected_has_the_blocks_that_the_engine_has() {
    let few = EngineConfig { blocks: 1_000, ..slots(64) };
    let few = Scenario::of("m", system(0), few, NONE).unwrap();
    let load = UniformLoad::new(Tokens::new(1_000), Tokens::new(200), count(64).into());
    assert_eq!(few.system().max_batch(&load), 14.0, "16,000 tokens, 1,100 each");
    let all = Scenario::of("m", system(0), slots(64), NONE).unwrap();
    assert_eq!(all.system().max_batch(&load), 64.0);
    assert_eq!(all.system().serving().reserve, Bytes::new(0.0));
}

/// Of an engine that is half as fast as one expects.
fn calibration(of: &Scenario) -> Calibration {
    use fizeau_core::Seconds;
    let samples: Vec<CalibrationSample> = (0..6)
        .map(|power| {
            let concurrency = std::num::NonZeroU64::new(1 << power).unwrap();
            let load = UniformLoad::new(Tokens::new(1_024), Tokens::new(128), concurrency);
            let expected = of.system().expected_figures(&load);
            CalibrationSample::new(of.system(), &load, "m", Seconds::new(2.0 * expected.step.get()))
                .unwrap()
        })
        .collect();
    Calibration::fit(&samples).unwrap().calibration
}

#[test]
fn a_description_says_what_is_not_as_usual() {
    let config = EngineConfig {
        policy: Policy::PrefillFirst,
        block: Tokens::new(64),
        max_waiting: Some(10),
        captured: vec![1, 2, 4, 8],
        ..slots(8)
    };
    let overheads = Overheads { per_layer: Nanos::from_micros(3), ..Overheads::default() };
    let scenario = Scenario::of("m", system(1), config, overheads).unwrap();
    let several = scenario.clone().with_replicas(count(2), ReplicaRouting::PrefixAware).unwrap();
    assert_eq!(
        several.describe(),
        "m (bf16) on 8 NVIDIA H100 SXM 80 GB (TP4 x2), routed prefix-aware; 8 slots and 508864 tokens of KV cache, 8192 \
         tokens a step, blocks of 64, prompts first, at most 10 waiting, batches padded up to 8; roofline at 85 % of \
         bandwidth and 70 % of compute, plus 150 us a step, 2 us a sequence, 3 us a layer"
    );
    let apart = scenario.disaggregated(count(2), count(1), CacheTransfer::LayerWise).unwrap();
    assert!(apart.describe().contains("(TP4 x3), 2 for prefill and 1 for decode; 8 slots"));
    let groups = Scenario::of("m", system(4), slots(8), NONE).unwrap();
    assert!(groups.describe().contains("tokens of KV cache in each of its groups, "));
}
