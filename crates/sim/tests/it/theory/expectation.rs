//! What is expected of a closed loop is what an engine simulated on the silicon alone reaches, as far as the expectation goes.

use std::num::NonZeroU64;

use fizeau_core::{Stamp, Tokens};
use fizeau_roofline::{Serving, System, UniformLoad};
use fizeau_sim::{Engine, EngineConfig, RooflineStep, Scenario, Serve};

use crate::support::{NONE, job, ms};

/// Requests per second with as many in flight as `load` has, each that ends replaced: from a third of a run on.
fn simulated(system: &System, load: &UniformLoad) -> f64 {
    let concurrency = load.concurrency.get();
    let config = EngineConfig {
        groups: system.deployment().attention_groups().into(),
        ..EngineConfig::new(concurrency, Tokens::new(1_000_000))
    };
    let step = RooflineStep::new(system.clone(), NONE).unwrap();
    let mut engine = Engine::new(config, step).unwrap();
    let sent = |id, at| job(id, load.input_tokens.get(), load.output_tokens.get(), at);
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

/// Never faster than what is simulated, and as fast but for 10 % where requests have one token, or a pass has enough of prompts to
/// be arithmetic. Else it reads the weights for prompts and for decoding apart, which the engine does once: half as fast at worst.
#[test]
fn what_is_expected_of_prompts_is_what_passes_of_a_budget_take() {
    /// Tokens of prompts from which on arithmetic takes longest.
    const RIDGE: f64 = 400.0;
    let system = Scenario::llama_3_1_8b_h100().unwrap().system().clone();
    let system = system.with_serving(Serving::default());
    for input in [16, 100, 400, 2_000] {
        for (output, concurrency) in
            [1, 20, 200].map(|output| [1, 16, 200, 400].map(|n| (output, n))).concat()
        {
            let requests = NonZeroU64::new(concurrency).unwrap();
            let load = UniformLoad::new(Tokens::new(input), Tokens::new(output), requests);
            let together = input as f64 * system.prompts_of_pass(&load, concurrency as f64);
            let share =
                system.expected_figures(&load).requests_per_s.get() / simulated(&system, &load);
            let least =
                if output == 1 || concurrency == 1 || together >= RIDGE { 0.9 } else { 0.5 };
            assert!((least..1.01).contains(&share), "{input} {output} {concurrency}: {share}");
        }
    }
}
