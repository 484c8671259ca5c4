//! What is expected of a closed loop is what an engine simulated on the silicon alone reaches, as far as the expectation goes.

use std::num::NonZeroU64;

use fizeau_core::{Stamp, Tokens};
use fizeau_roofline::{EstimateKind, Serving, System, UniformLoad};
use fizeau_sim::{Engine, EngineConfig, RooflineStep, Scenario, Serve};

use crate::support::{NONE, job, ms};

/// A mean of so many tokens, from half of it to one and a half times as many. Of one there is no spread.
fn spread(mean: Tokens, index: u64) -> u64 {
    let mean = mean.get();
    if mean > 1 { mean / 2 + (mean * (index % 101) + 50) / 100 } else { mean }
}

/// Requests per second with as many in flight as `load` has, each that ends replaced: from a third of a run on. Their lengths
/// differ, since requests that are alike and start together stay in step, unless each has to itself what it runs on.
fn simulated(system: &System, load: &UniformLoad, budget: Tokens) -> f64 {
    let concurrency = load.concurrency.get();
    let config = EngineConfig {
        groups: system.deployment().attention_groups().into(),
        max_batched_tokens: budget,
        ..EngineConfig::new(concurrency, Tokens::new(1_000_000))
    };
    let step = RooflineStep::new(system.clone(), NONE).unwrap();
    let mut engine = Engine::new(config, step).unwrap();
    let sent = |id: u64, at| {
        let of = |mean, step| if concurrency > 1 { spread(mean, id * step) } else { mean.get() };
        job(id, of(load.input_tokens, 7_919), of(load.output_tokens, 104_729), at)
    };
    (0..concurrency).for_each(|id| engine.submit(sent(id, ms(0))).unwrap());
    let (mut ended, mut from) = (0, None);
    while let Some(at) = engine.next_event() {
        let before = ended;
        engine.advance(at, &mut |emission| ended += u64::from(emission.last));
        (before..ended).for_each(|id| engine.submit(sent(concurrency + id, at)).unwrap());
        if ended >= 4 * concurrency {
            let (counted, began): (u64, Stamp) = *from.get_or_insert((ended, at));
            if ended >= 12 * concurrency {
                return (ended - counted) as f64 / at.since(began).unwrap().as_secs_f64();
            }
        }
    }
    unreachable!("the loop is closed")
}

/// Within 10 % below and 20 % above: prompts are expected to come in evenly, and few that are long compared with the outputs come in bunches.
#[test]
fn what_is_expected_is_what_an_engine_reaches_that_reads_prompts_in_passes_that_decode() {
    let system = Scenario::llama_3_1_8b_h100().unwrap().system().clone();
    let system = system.with_serving(Serving::default());
    for input in [16, 100, 400, 2_000] {
        for (output, concurrency) in
            [1, 20, 200].map(|output| [1, 16, 200, 400].map(|n| (output, n))).concat()
        {
            let requests = NonZeroU64::new(concurrency).unwrap();
            let load = UniformLoad::new(Tokens::new(input), Tokens::new(output), requests);
            let expected = system.expected_figures(&load);
            let share =
                expected.requests_per_s.get() / simulated(&system, &load, Serving::BATCHED_TOKENS);
            assert!((0.9..1.2).contains(&share), "{input} {output} {concurrency}: {share}");
            let in_flight = expected.requests_per_s.get() * expected.e2el.get();
            assert!(in_flight > concurrency as f64 * (1.0 - 1e-9), "Little's law: {in_flight}");
        }
    }
}

/// The same where a pass has few tokens, so that prompts are read in chunks: within 15 % below and 10 % above.
#[test]
fn what_is_expected_of_chunks_is_what_an_engine_reaches_that_reads_them() {
    let system = Scenario::llama_3_1_8b_h100().unwrap().system().clone();
    for budget in [256, 512, 2_048].map(Tokens::new) {
        for (output, concurrency) in
            [20, 200].map(|output| [1, 16, 128].map(|n| (output, n))).concat()
        {
            let requests = NonZeroU64::new(concurrency).unwrap();
            let load = UniformLoad::new(Tokens::new(2_000), Tokens::new(output), requests);
            let batch = concurrency as f64;
            let chunked = system.chunked(EstimateKind::Expected, &load, batch, budget).unwrap();
            let share = chunked.figures.requests_per_s.get() / simulated(&system, &load, budget);
            assert!((0.85..1.1).contains(&share), "{budget} {output} {concurrency}: {share}");
        }
    }
}
