//! Systems: what a pass costs, against the closed forms.

use std::num::NonZeroU64;

use fizeau_core::Tokens;
use fizeau_roofline::{Bound, ContextSpan, Deployment, Device, Model, Pass, System, UniformLoad};

const LLAMA_3_1_8B: &str = include_str!("../../data/models/llama-3.1-8b.json");

fn system(deployment: Deployment) -> System {
    let model = Model::from_config_json(LLAMA_3_1_8B).unwrap();
    System::new(model, Device::named("h100-sxm").unwrap().clone(), deployment).unwrap()
}

fn load(concurrency: u64) -> UniformLoad {
    let concurrency = NonZeroU64::new(concurrency).unwrap();
    UniformLoad::new(Tokens::new(2048), Tokens::new(256), concurrency)
}

#[test]
fn a_step_is_the_closed_form() {
    let system = system(Deployment::SINGLE);
    let fresh = system.bound_pass(&Pass::decode(1.0, ContextSpan::at(0.0)));
    assert_eq!(format!("{:.3}", fresh.total.to_millis().get()), "4.480");
    let prefill = system.bound_pass(&Pass::prefill(8192.0, 0.0));
    assert_eq!(format!("{:.1}", prefill.total.to_millis().get()), "129.3");
}

#[test]
fn figures_are_those_of_the_bound() {
    let system = system(Deployment::SINGLE);
    for concurrency in [1, 32, 128] {
        let load = load(concurrency);
        let bound = Bound::at(&system, &load).unwrap();
        let figures = system.bound_figures(&load);
        let ratio = figures.requests_per_s.get() / bound.requests_per_s.get();
        assert!((ratio - 1.0).abs() < 0.005, "{concurrency}: {figures:?} {bound:?}");
    }
}

/// Operator by operator, with what goes in and out of each, in passes that decode as they read prompts: more than
/// `1 / (Cp + (O - 1) td / B)` of the totals, which are 0.84, 11.6 and 16.7, and less than the overlapped 17.4 and 30.1.
#[test]
fn expected_passes_read_prompts_while_they_decode() {
    let system = system(Deployment::SINGLE);
    let at = |concurrency| system.expected_figures(&load(concurrency)).requests_per_s.get();
    assert_eq!(format!("{:.2}", at(1)), "0.84");
    assert_eq!(format!("{:.1}", at(32)), "12.0");
    assert_eq!(format!("{:.1}", at(128)), "17.3");
}

/// The bound computes as fast as anybody says that a device does, the expectation as slowly.
#[test]
fn disputed_rates_part_bound_and_expectation() {
    let tokens = Pass::decode(8192.0, ContextSpan::at(1.0));
    let on = |device: &str, weights: &str| {
        let model = Model::from_config_json(LLAMA_3_1_8B).unwrap();
        let model = model.with_weights(&weights.parse().unwrap());
        let device = Device::named(device).unwrap().clone();
        System::new(model, device, Deployment::SINGLE).unwrap()
    };
    let matrices = |device, weights| {
        let system = on(device, weights);
        (system.bound_pass(&tokens).matrices.get(), system.expected_pass(&tokens).matrices.get())
    };
    let (bound, expected) = matrices("rtx-4090", "bf16");
    assert!((expected / bound - 330.3 / 165.2).abs() < 1e-9, "{bound} {expected}");
    // The few integer units of a B300 are slower than its 16-bit ones, in which an engine can compute.
    let (bound, expected) = matrices("b300", "int8");
    let (_, wide) = matrices("b300", "bf16");
    assert!((expected / wide - 1.0).abs() < 1e-9, "{bound} {expected} {wide}");
    assert!((wide / bound - 2464.0 / 2250.0).abs() < 1e-9, "{bound} {wide}");
    let (bound, _) = matrices("gaudi2", "int8");
    assert!(bound < 0.6 * matrices("gaudi2", "bf16").0, "{bound}");

    let says = |system: &System, words: &str| system.notes().iter().any(|n| n.contains(words));
    assert!(says(&on("rtx-4090", "bf16"), "its bf16 rate is 165.2 to 330.3 TFLOP/s"));
    assert!(!says(&on("h100", "bf16"), "TFLOP/s"));
    assert!(says(&on("mi250x", "bf16"), "a card counts as 2"));
    // Twice the arithmetic is twice both.
    let twice = on("rtx-4090", "bf16").with_arithmetic(2.0).unwrap();
    let expected = on("rtx-4090", "bf16").expected_pass(&tokens).matrices;
    assert!((expected / twice.expected_pass(&tokens).matrices - 2.0).abs() < 1e-9);
}
