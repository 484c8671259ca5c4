//! The roofline's step time and the scenario built on it.

use std::num::NonZeroU64;

use fizeau_core::{Bytes, Nanos, Tokens};
use fizeau_roofline::{Bound, Deployment, Device, KnownModel, Lengths, Load, Pass, Span, System};
use fizeau_sim::{
    EngineConfig, Overheads, RooflineStep, Scenario, ScenarioError, Serve, StepLoad, StepTime,
};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use crate::support::{drain, job, ms, of};

fn scenario() -> Scenario {
    Scenario::llama_3_1_8b_h100().unwrap()
}

/// The silicon alone.
const NONE: Overheads = Overheads {
    bandwidth_efficiency: 1.0,
    compute_efficiency: 1.0,
    per_step: Nanos::ZERO,
    per_sequence: Nanos::ZERO,
    per_layer: Nanos::ZERO,
    per_collective: Nanos::ZERO,
};

/// The roofline itself, with nothing added.
fn ideal() -> RooflineStep {
    RooflineStep::new(scenario().system().clone(), NONE).unwrap()
}

fn decode(sequences: u64, context: u64) -> StepLoad {
    StepLoad {
        decode_sequences: sequences,
        decode_context_tokens: Tokens::new(sequences * context),
        sampled_sequences: sequences,
        ..StepLoad::default()
    }
}

fn prompt(tokens: u64) -> StepLoad {
    StepLoad {
        prefill_sequences: 1,
        prefill_tokens: Tokens::new(tokens),
        prefill_context_tokens: Tokens::new(tokens),
        prefill_pairs: tokens * (tokens + 1) / 2,
        sampled_sequences: 1,
        ..StepLoad::default()
    }
}

proptest! {
    /// Without overheads a decode step is the roofline crate's, to a rounding of one nanosecond.
    #[test]
    fn an_ideal_decode_step_is_the_bound(sequences in 1u64..2_000, context in 0u64..100_000) {
        let pass = Pass::decode(sequences as f64, Span::at(context as f64));
        let bound = scenario().system().bound_pass(&pass).total;
        let bound = bound.to_nanos().unwrap().as_nanos();
        let step = ideal().step_time(&decode(sequences, context)).as_nanos();
        prop_assert!(step.abs_diff(bound) <= 1, "{step} against {bound}");
    }

    /// Overheads only ever add.
    #[test]
    fn a_real_step_is_never_below_the_ideal(sequences in 0u64..500, context in 0u64..50_000, new in 1u64..50_000) {
        let mut load = decode(sequences, context);
        let chunk = prompt(new);
        load.prefill_sequences = 1;
        load.prefill_tokens = chunk.prefill_tokens;
        load.prefill_context_tokens = chunk.prefill_context_tokens;
        load.prefill_pairs = chunk.prefill_pairs;
        prop_assert!(scenario().engine().config().max_num_seqs == 64);
        let real = RooflineStep::new(scenario().system().clone(), Overheads::default()).unwrap();
        prop_assert!(real.step_time(&load) > ideal().step_time(&load));
    }
}

/// 1.319e14 FLOP at 989.5 TFLOP/s: 133.3 ms. The prompt's cache is no constraint beside that.
#[test]
fn an_ideal_prompt_is_the_bound() {
    let step = ideal().step_time(&prompt(8_192));
    assert_eq!(format!("{:.1}", step.as_millis_f64()), "133.3");
    let bound = scenario().system().bound_pass(&Pass::prefill(8_192.0, 0.0)).total;
    assert!(step.as_nanos().abs_diff(bound.to_nanos().unwrap().as_nanos()) <= 1);
}

/// The whole engine stays below the whole bound, and not far below it.
#[test]
fn the_engine_stays_below_the_speed_of_light() {
    for concurrency in [1, 8, 64, 128] {
        let (input, output, rounds) = (250, 250, 4);
        let mut engine = scenario().engine();
        for id in 0..concurrency * rounds {
            engine.submit(job(id, input, output, ms(0))).unwrap();
        }
        let emissions = drain(&mut engine);
        let span = emissions.last().unwrap().at.since(ms(0)).unwrap().as_secs_f64();
        let bound = Bound::at(
            scenario().system(),
            // All jobs are offered at once; the slots limit what runs.
            &Load::new(
                Tokens::new(input),
                Tokens::new(output),
                NonZeroU64::new((concurrency * rounds).min(64)).unwrap(),
            ),
        )
        .unwrap();
        let share = emissions.len() as f64 / span / bound.output_tokens_per_s.get();
        assert!((0.3..1.0).contains(&share), "{share} at {concurrency}");

        let first = of(&emissions, 0);
        let ttft = first[0].at.since(ms(0)).unwrap().as_secs_f64();
        assert!(ttft > bound.ttft.get());
        let whole = first.last().unwrap().at.since(ms(0)).unwrap().as_secs_f64();
        assert!(whole > bound.e2el.get());
    }
}

#[test]
fn the_scenario_is_what_it_says() {
    let scenario = scenario();
    // (0.9 of the usable memory - 16.06 GB) / 131,072 B.
    let device: Bytes = scenario.device().usable_memory();
    let expected = (0.9 * device.get() - 2.0 * 8_030_261_248.0) / 131_072.0;
    assert_eq!(scenario.config().kv_capacity().get(), expected as u64);
    assert_eq!(scenario.config().longest_job(), Tokens::new(131_072));
    assert_eq!(scenario.engine().longest_job(), Some(Tokens::new(131_072)));
    let line = scenario.describe();
    assert!(line.starts_with("Llama-3.1-8B (bf16) on one"), "{line}");
    assert!(line.contains("64 slots") && line.contains("85 % of bandwidth"), "{line}");
    assert!(!line.contains('\n'));
}

#[test]
fn a_model_that_does_not_fit_is_refused() {
    let model = scenario().model().clone();
    let device = Device::named("l4").unwrap();
    assert!(Scenario::new("Llama-3.1-8B", model.clone(), device.clone(), 8).is_ok());
    let small = Device::new(
        "half an L4",
        device.memory() * 0.5,
        device.memory_bandwidth(),
        device.rate_for(fizeau_roofline::MathType::Bf16),
    );
    let error = Scenario::new("Llama-3.1-8B", model, small.unwrap(), 8).unwrap_err();
    assert!(matches!(error, ScenarioError::TooLarge { .. }), "{error}");
    assert!(error.to_string().contains("16.1 GB of the"), "{error}");
}

#[test]
fn no_engine_is_given_more_than_the_silicon_has() {
    for value in [0.0, -0.5, 1.01, f64::NAN, f64::INFINITY] {
        let overheads = Overheads { compute_efficiency: value, ..Overheads::default() };
        let error = RooflineStep::new(scenario().system().clone(), overheads);
        assert_eq!(error.unwrap_err().field, "compute_efficiency");
    }
}

/// Models of every kind, in deployments of every kind.
const SYSTEMS: [(&str, &str, &str); 9] = [
    ("qwen3-0.6b", "h100-sxm", "1 device"),
    ("llama-3.1-70b", "h100-sxm", "TP4"),
    ("llama-3.1-70b", "h200-sxm", "TP2 PP2"),
    ("gpt-oss-120b", "h200-sxm", "1 device"),
    ("gpt-oss-20b", "h100-sxm", "DP2 EP2"),
    ("deepseek-v3", "b200-sxm", "TP8"),
    ("deepseek-v3.2", "b200-sxm", "DP8 EP8"),
    ("qwen3-next-80b-a3b", "h200-sxm", "TP2"),
    ("nemotron-h-56b", "h200-sxm", "TP4"),
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, rng_seed: RngSeed::Fixed(1849), ..ProptestConfig::default() })]

    /// With nothing added, any engine stays below the bound over its own requests, and the first token of one alone
    /// comes no sooner.
    #[test]
    fn no_engine_beats_the_bound(
        which in 0..SYSTEMS.len(),
        jobs in prop::collection::vec((1u64..3_000, 1u64..40), 1..12),
        slots in 1usize..6,
    ) {
        let (name, device, deployment) = SYSTEMS[which];
        let model = KnownModel::named(name).unwrap().model().unwrap();
        let device = Device::named(device).unwrap().clone();
        let deployment: Deployment = deployment.parse().unwrap();
        let system = System::new(model, device, deployment).unwrap();
        let scenario = Scenario::of(name, system, EngineConfig::new(slots as u64, Tokens::ZERO), NONE).unwrap();
        let mut engine = scenario.engine();
        let mut lengths = Lengths::for_model(scenario.model());
        for (id, &(input, output)) in jobs.iter().enumerate() {
            engine.submit(job(id as u64, input, output, ms(0))).unwrap();
            lengths.add(Tokens::new(input), Tokens::new(output));
        }
        let emissions = drain(&mut engine);
        let span = emissions.last().unwrap().at.since(ms(0)).unwrap().as_secs_f64();
        let concurrency = NonZeroU64::new(slots as u64).unwrap();
        let bound = Bound::over(scenario.system(), &lengths, concurrency).unwrap();
        // Steps are whole nanoseconds.
        let rate = emissions.len() as f64 / span;
        prop_assert!(rate <= bound.output_tokens_per_s.get() * (1.0 + 1e-6), "{name}");
        prop_assert!(rate >= bound.output_tokens_per_s.get() * 0.005, "{name}");

        let mut alone = Lengths::for_model(scenario.model());
        alone.add(Tokens::new(jobs[0].0), Tokens::new(jobs[0].1));
        let bound = Bound::over(scenario.system(), &alone, NonZeroU64::MIN).unwrap();
        let first = of(&emissions, 0)[0].at.since(ms(0)).unwrap().as_secs_f64();
        prop_assert!(first >= bound.ttft.get() * (1.0 - 1e-6), "{name}");
    }
}

/// What grows with sequences and what does not: a state a slot, and windows.
#[test]
fn caches_of_every_kind_have_room() {
    for (name, device, deployment) in SYSTEMS {
        let model = KnownModel::named(name).unwrap().model().unwrap();
        let device = Device::named(device).unwrap().clone();
        let deployment: Deployment = deployment.parse().unwrap();
        let system = System::new(model, device, deployment).unwrap();
        let scenario =
            Scenario::of(name, system, EngineConfig::new(16, Tokens::ZERO), NONE).unwrap();
        let tokens = scenario.config().kv_capacity().get() as f64;
        // As many tokens in each slot as all of them together are promised fit the fullest device.
        let groups = f64::from(deployment.attention_groups());
        let each = scenario.system().cache_bytes_per_device(tokens / 16.0).get() * 16.0 / groups;
        let room = 0.9 * scenario.device().usable_memory().get()
            - scenario.system().weight_bytes_per_device().get();
        assert!(each <= room * (1.0 + 1e-6), "{name}: {each} of {room}");
        assert!(each > room * 0.5, "{name}: {each} of {room}");
    }
}

#[test]
fn several_devices_are_said() {
    let model = KnownModel::named("llama-3.1-70b").unwrap().model().unwrap();
    let device = Device::named("h100-sxm").unwrap().clone();
    let system = System::new(model, device, "TP4".parse().unwrap()).unwrap();
    let config = EngineConfig::new(8, Tokens::ZERO);
    let scenario = Scenario::of("Llama-3.1-70B", system, config, Overheads::default()).unwrap();
    let line = scenario.describe();
    assert!(line.starts_with("Llama-3.1-70B (bf16) on 4 ") && line.contains("(TP4)"), "{line}");
}

/// Each overhead adds what it says.
#[test]
fn overheads_add_up() {
    let model = KnownModel::named("llama-3.1-70b").unwrap().model().unwrap();
    let device = Device::named("h100-sxm").unwrap().clone();
    let system = System::new(model, device, "TP4".parse().unwrap()).unwrap();
    let time = |set: fn(&mut Overheads)| {
        let mut overheads = NONE;
        set(&mut overheads);
        let step = RooflineStep::new(system.clone(), overheads).unwrap();
        step.step_time(&decode(4, 1000)).as_nanos()
    };
    let none = time(|_| {});
    assert_eq!(time(|of| of.per_step = Nanos::from_nanos(1000)) - none, 1000);
    assert_eq!(time(|of| of.per_sequence = Nanos::from_nanos(1000)) - none, 4000);
    assert_eq!(time(|of| of.per_layer = Nanos::from_nanos(1000)) - none, 80_000);
    // Two a layer, the embedding's and the logits'.
    assert_eq!(time(|of| of.per_collective = Nanos::from_nanos(1000)) - none, 162_000);
    let pass = system.expected_pass(&Pass::decode(4.0, Span::at(1000.0)));
    let half = time(|of| of.bandwidth_efficiency = 0.5) - none;
    let memory = (pass.weights + pass.cache).to_nanos().unwrap().as_nanos();
    assert!(half.abs_diff(memory) <= 1, "{half} {memory}");
}
