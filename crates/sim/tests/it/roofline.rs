//! The roofline's step time and the scenario built on it.

use std::num::NonZeroU64;

use fizeau_core::{Nanos, Tokens};
use fizeau_roofline::{
    Bound, ContextSpan, Device, KnownModel, Pass, RequestLengths, System, UniformLoad,
};
use fizeau_sim::{
    Engine, EngineConfig, Overheads, RooflineStep, Scenario, Serve, StepLoad, StepTime,
};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use crate::support::{NONE, SYSTEMS, drain, job, ms, of, system};

fn scenario() -> Scenario {
    Scenario::llama_3_1_8b_h100().unwrap()
}

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
    /// Without overheads a decode step is the roofline crate's, matrices and attention one after the other, to a rounding of one
    /// nanosecond.
    #[test]
    fn an_ideal_decode_step_is_the_bound(sequences in 1u64..2_000, context in 0u64..100_000) {
        let pass = Pass::decode(sequences as f64, ContextSpan::at(context as f64));
        let bound = scenario().system().bound_pass(&pass);
        let expected = bound.weights.max(bound.matrices) + bound.cache.max(bound.attention);
        let expected = expected.to_nanos().unwrap().as_nanos();
        let step = ideal().step_time(&decode(sequences, context)).as_nanos();
        prop_assert!(step.abs_diff(expected) <= 1, "{step} against {expected}");
        let least = bound.total.to_nanos().unwrap().as_nanos();
        prop_assert!(step + 1 >= least, "{step} against {least}");
        // As long as the weights take longer than the arithmetic does, both are the same.
        if bound.matrices <= bound.weights && bound.attention <= bound.cache {
            prop_assert!(step.abs_diff(least) <= 1, "{step} against {least}");
        }
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

/// 1.319e14 FLOP at 989.5 TFLOP/s: 133.3 ms; the bound leaves out what is behind the last cache, and has 1.280e14. The prompt's cache is
/// no constraint beside that.
#[test]
fn an_ideal_prompt_computes_all_layers_for_all_tokens() {
    let step = ideal().step_time(&prompt(8_192));
    assert_eq!(format!("{:.1}", step.as_millis_f64()), "133.3");
    let bound = scenario().system().bound_pass(&Pass::prefill(8_192.0, 0.0)).total;
    assert_eq!(format!("{:.1}", bound.to_millis().get()), "129.3");
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
            &UniformLoad::new(
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

/// A request alone takes what its steps take: its prompt's, in chunks of a step's budget that follow each other through the
/// pipeline's stages, and one for each further token, which is a sum in closed form. Other attention groups have nothing to do.
#[test]
fn alone_a_request_takes_the_sum_of_its_steps() {
    for (which, (name, _, deployment)) in SYSTEMS.into_iter().enumerate() {
        let step = RooflineStep::new(system(which), Overheads::default()).unwrap();
        let groups = system(which).deployment().attention_groups().into();
        let config = EngineConfig { groups, ..EngineConfig::new(4, Tokens::new(1_000_000)) };
        let budget = config.max_batched_tokens.get();
        let mut engine = Engine::new(config, step.clone()).unwrap();
        let (input, output) = (budget + 1_000, 300);
        engine.submit(job(0, input, output, ms(0))).unwrap();
        let emissions = drain(&mut engine);

        let chunk = |from: u64, new: u64| StepLoad {
            prefill_tokens: Tokens::new(new),
            prefill_context_tokens: Tokens::new(from + new),
            prefill_pairs: new * from + new * (new + 1) / 2,
            ..prompt(new)
        };
        let (first, last) =
            (step.step_time(&chunk(0, budget)), step.step_time(&chunk(budget, 1_000)));
        let stages = u64::from(step.stages().get());
        let ttft = (first / stages + last).max(first + last / stages);
        assert_eq!(emissions[0].at, ms(0) + ttft, "{name} {deployment}");

        let (mut decoding, mut index) = (Nanos::ZERO, 0);
        while index < output - 1 {
            let pace = step.pace(&decode(1, input + 1 + index)).unwrap();
            let steps = pace.steps.min(output - 1 - index);
            decoding += (0..steps).map(|step| pace.at(step)).sum();
            index += steps;
        }
        assert_eq!(emissions.last().unwrap().at, ms(0) + ttft + decoding, "{name} {deployment}");
    }
}

/// TTFT of a prompt read in one step beside so many like it, and TPOT of one alone, in seconds.
fn ttft_and_tpot(which: usize, input: u64, beside: u64) -> (f64, f64) {
    let step = RooflineStep::new(system(which), NONE).unwrap();
    let groups = system(which).deployment().attention_groups().into();
    let config = EngineConfig { groups, ..EngineConfig::new(64, Tokens::new(1_000_000)) };
    let mut engine = Engine::new(config, step).unwrap();
    (0..=beside).for_each(|id| engine.submit(job(id, input, 33, ms(0))).unwrap());
    let emissions = of(&drain(&mut engine), 0);
    let (first, last) = (emissions[0].at, emissions[32].at);
    let ttft = first.since(ms(0)).unwrap().as_secs_f64();
    (ttft, last.since(first).unwrap().as_secs_f64() / 32.0)
}

/// What the roofline's own account expects of a request alone is what it takes: the account adds up operators, each the longer
/// of memory and arithmetic, where an engine overlaps all of both, and counts activations.
#[test]
fn a_request_alone_is_the_expected_account() {
    for (which, (name, _, deployment)) in SYSTEMS.into_iter().enumerate() {
        for input in [100, 8_000] {
            let (ttft, tpot) = ttft_and_tpot(which, input, 0);
            let system = system(which);
            let of = |pass: &Pass| system.expected_pass(pass).total.get();
            let prefill = of(&Pass::prefill(input as f64, 0.0));
            let decode = of(&Pass::decode(
                1.0,
                ContextSpan::between(input as f64 + 1.0, input as f64 + 32.0),
            ));
            let (ttft, tpot) = (ttft / prefill, tpot / decode);
            // Of 100 tokens activations are a tenth; 8,000 of experts read weights while attention computes.
            assert!((0.74..1.02).contains(&ttft), "{name} {deployment} {input}: {ttft}");
            assert!((0.996..1.0).contains(&tpot), "{name} {deployment} {input}: {tpot}");
            let dense = ["qwen3-0.6b", "llama-3.1-70b", "nemotron-h-56b", "gemma-3-27b"];
            if input == 8_000 && dense.contains(&name) {
                assert!(ttft > 0.99, "{name} {deployment}: {ttft}");
            }
        }
    }
}

/// Company never makes a prompt faster.
#[test]
fn ttft_does_not_fall_with_concurrency() {
    for (which, (name, _, deployment)) in SYSTEMS.into_iter().enumerate() {
        let ttft = [0, 1, 3, 7, 15].map(|beside| ttft_and_tpot(which, 8_000, beside).0);
        assert!(ttft.is_sorted(), "{name} {deployment}: {ttft:?}");
    }
}

#[test]
fn no_engine_is_given_more_than_the_silicon_has() {
    for value in [0.0, -0.5, 1e-300, 1.01, f64::NAN, f64::INFINITY] {
        let overheads = Overheads { compute_efficiency: value, ..Overheads::default() };
        let error = RooflineStep::new(scenario().system().clone(), overheads);
        assert_eq!(error.unwrap_err().field, "compute_efficiency");
    }
}

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
        let name = SYSTEMS[which].0;
        let config = EngineConfig::new(slots as u64, Tokens::ZERO);
        let scenario = Scenario::of(name, system(which), config, NONE).unwrap();
        let mut engine = scenario.engine();
        let mut lengths = RequestLengths::for_model(scenario.model());
        for (id, &(input, output)) in jobs.iter().enumerate() {
            engine.submit(job(id as u64, input, output, ms(0))).unwrap();
            lengths.add(Tokens::new(input), Tokens::new(output));
        }
        let emissions = drain(&mut engine);
        let span = emissions.last().unwrap().at.since(ms(0)).unwrap().as_secs_f64();
        // Each attention group has slots of its own.
        let most = slots as u64 * scenario.config().groups;
        let concurrency = NonZeroU64::new(most.min(jobs.len() as u64)).unwrap();
        let bound = Bound::over(scenario.system(), &lengths, concurrency).unwrap();
        // Steps are whole nanoseconds.
        let rate = emissions.len() as f64 / span;
        prop_assert!(rate <= bound.output_tokens_per_s.get() * (1.0 + 1e-6), "{name}");
        // Not far below: the bound has all slots busy to the end, and all tokens choose the same experts.
        let share = rate / bound.output_tokens_per_s.get();
        prop_assert!(share >= if most == 1 { 0.35 } else { 0.1 }, "{name}: {share}");

        let mut alone = RequestLengths::for_model(scenario.model());
        alone.add(Tokens::new(jobs[0].0), Tokens::new(jobs[0].1));
        let bound = Bound::over(scenario.system(), &alone, NonZeroU64::MIN).unwrap();
        let first = of(&emissions, 0)[0].at.since(ms(0)).unwrap().as_secs_f64();
        prop_assert!(first >= bound.ttft.get() * (1.0 - 1e-6), "{name}");
    }
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
    let pass = system.expected_pass(&Pass::decode(4.0, ContextSpan::at(1000.0)));
    let half = time(|of| of.bandwidth_efficiency = 0.5) - none;
    let memory = (pass.weights + pass.cache).to_nanos().unwrap().as_nanos();
    assert!(half.abs_diff(memory) <= 1, "{half} {memory}");
}
