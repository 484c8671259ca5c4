//! One request alone takes as long as the formula says.

use std::num::NonZeroU64;

use fizeau_core::{Nanos, Tokens};
use fizeau_roofline::{MathType, System, UniformLoad};
use fizeau_sim::{Engine, EngineConfig, Overheads, RooflineStep, Scenario};
use proptest::prelude::*;

use crate::support::{NONE, drain, job, ms};

/// Llama-3.1-8B in bf16 on one H100 SXM.
fn system() -> System {
    Scenario::llama_3_1_8b_h100().unwrap().system().clone()
}

/// TTFT, and the time between first and last token, of one job.
fn alone(overheads: Overheads, prompt: u64, output: u64) -> (f64, f64) {
    let step = RooflineStep::new(system(), overheads).unwrap();
    let config = EngineConfig::new(8, Tokens::new(400_000));
    let mut engine = Engine::new(config, step).unwrap();
    fizeau_sim::Serve::submit(&mut engine, job(0, prompt, output, ms(0))).unwrap();
    let emissions = drain(&mut engine);
    let (first, last) = (emissions.first().unwrap().at, emissions.last().unwrap().at);
    (first.since(ms(0)).unwrap().as_secs_f64(), last.since(first).unwrap().as_secs_f64())
}

/// What the published shapes say: 32 layers of hidden size 4,096, 32 heads of 128, 8 of them with keys and
/// values, feed-forward 14,336, vocabulary 128,256.
const LAYERS: f64 = 32.0;
const PER_LAYER: f64 = 4096.0 * (2.0 * 4096.0 + 2.0 * 1024.0) + 3.0 * 4096.0 * 14_336.0;
const HEAD: f64 = 128_256.0 * 4096.0;
const CACHE_PER_TOKEN: f64 = 2.0 * 2.0 * 32.0 * 1024.0;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Decoding streams the weights and the cache: `(2 (32 P_layer + P_head + norms) + 131,072 c) / (e
    /// BW)`, and since that is linear in the context `c`, the mean over an output is that of the mean
    /// context. The norms are 65 times 4,096.
    #[test]
    fn tpot_is_weights_and_cache_over_bandwidth(
        prompt in 1u64..8_000,
        output in 2u64..200,
        efficiency in 0.3f64..1.0,
        per_step in 0u64..2_000_000,
    ) {
        let overheads = Overheads {
            bandwidth_efficiency: efficiency,
            per_step: Nanos::from_nanos(per_step),
            ..Overheads::default()
        };
        let (_, decoding) = alone(overheads, prompt, output);
        let tpot = decoding / (output - 1) as f64;
        // Each token attends to itself: the first decoded one to the prompt, the first token and itself less one.
        let context = prompt as f64 + output as f64 / 2.0;
        let weights = 2.0 * (LAYERS * PER_LAYER + HEAD + 65.0 * 4096.0);
        let bytes = weights + CACHE_PER_TOKEN * context;
        let expected = bytes / (efficiency * system().device().memory_bandwidth().get())
            + (per_step as f64 + 2_000.0) / 1e9;
        prop_assert!((tpot / expected - 1.0).abs() < 1e-3, "{} {}", tpot, expected);
    }

    /// Reading is arithmetic: `2 (32 P_layer n + P_head) + 4 * 32 * 4096 * n (n + 1) / 2` operations over
    /// `e F`, at prompts that are long enough.
    #[test]
    fn ttft_is_arithmetic_over_its_rate(
        prompt in 2_000u64..8_192,
        efficiency in 0.3f64..1.0,
        per_step in 0u64..2_000_000,
    ) {
        let overheads = Overheads {
            compute_efficiency: efficiency,
            per_step: Nanos::from_nanos(per_step),
            ..Overheads::default()
        };
        let (ttft, _) = alone(overheads, prompt, 1);
        let n = prompt as f64;
        let flops = 2.0 * (LAYERS * PER_LAYER * n + HEAD)
            + 4.0 * LAYERS * 4096.0 * n * (n + 1.0) / 2.0;
        let expected = flops / (efficiency * system().device().rate_for(MathType::Bf16).get())
            + (per_step as f64 + 2_000.0) / 1e9;
        prop_assert!((ttft / expected - 1.0).abs() < 1e-3, "{} {}", ttft, expected);
    }

    /// The silicon alone takes what the roofline model expects of one request in flight, which nothing delays.
    #[test]
    fn one_request_takes_what_is_expected_of_it(prompt in 2_000u64..8_000, output in 2u64..200) {
        let (ttft, decoding) = alone(NONE, prompt, output);
        let load = UniformLoad::new(Tokens::new(prompt), Tokens::new(output), NonZeroU64::MIN);
        let expected = system().expected_figures(&load);
        for (took, expected) in [
            (ttft, expected.ttft.get()),
            (decoding / (output - 1) as f64, expected.step.get()),
            (1.0 / (ttft + decoding), expected.requests_per_s.get()),
        ] {
            // Activations are expected, and not simulated: of the shortest prompt they are 1.1 %.
            prop_assert!((took / expected - 1.0).abs() < 1.2e-2, "{took} {expected}");
        }
    }
}
