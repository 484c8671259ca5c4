//! Measurements above the bound, and the expectation below it.

use std::num::NonZeroU64;

use fizeau_core::{PerSec, Seconds, Tokens};
use fizeau_roofline::{
    Bound, BoundInput, BoundViolation, Deployment, Device, InputRemedy, KnownModel, MeasuredFigure,
    MeasuredFigures, Model, RequestLengths, Serving, System, UniformLoad,
};
use proptest::prelude::*;

use crate::{fixed, llama_8b, single};

const CARD: &str = r#"
name = "card"
[memory]
capacity = "80 GB"
bandwidth = BANDWIDTH
[rates]
bf16 = RATE
"#;

/// A device with so many bytes/s and FLOP/s.
fn card(bandwidth: f64, rate: f64) -> Device {
    let text = CARD.replace("BANDWIDTH", &format!("{bandwidth:e}"));
    Device::from_toml(&text.replace("RATE", &format!("{rate:e}"))).unwrap()
}

fn lengths_of(model: &Model, requests: &[(u64, u64, u64)]) -> RequestLengths {
    let mut lengths = RequestLengths::for_model(model);
    for &(input, cached, output) in requests {
        lengths.add_cached(Tokens::new(input), Tokens::new(cached), Tokens::new(output));
    }
    lengths
}

fn some(concurrency: u64) -> NonZeroU64 {
    NonZeroU64::new(concurrency).unwrap()
}

/// What an engine would show that is so many times as fast as light, in all figures.
fn faster(bound: &Bound, times: f64) -> MeasuredFigures {
    MeasuredFigures {
        ttft: Some(bound.ttft * (1.0 / times)),
        tpot: Some(bound.single_tpot * (1.0 / times)),
        e2el: Some(bound.e2el * (1.0 / times)),
        output_tokens_per_s: Some(bound.output_tokens_per_s * times),
        requests_per_s: Some(bound.requests_per_s * times),
    }
}

fn rate(tokens: PerSec) -> MeasuredFigures {
    MeasuredFigures { output_tokens_per_s: Some(tokens), ..MeasuredFigures::default() }
}

fn needed(violation: &BoundViolation, input: BoundInput) -> Option<f64> {
    violation.remedies.iter().find(|remedy| remedy.input == input).map(|remedy| remedy.needed)
}

#[test]
fn what_is_possible_is_no_excess() {
    let system = single(llama_8b(), Device::named("h100-sxm").unwrap());
    let lengths = lengths_of(system.model(), &[(100, 0, 100)]);
    let bound = Bound::over(&system, &lengths, some(8)).unwrap();
    for times in [0.1, 1.0, 1.004] {
        assert_eq!(system.bound_violation(&lengths, some(8), &faster(&bound, times)), Ok(None));
    }
    assert_eq!(system.bound_violation(&lengths, some(8), &MeasuredFigures::default()), Ok(None));
}

/// 70B in 8 bits, said to be in 16: half the bytes would do, or twice the bandwidth or devices.
#[test]
fn the_inputs_that_would_have_to_change_are_named_with_what_they_would_have_to_be() {
    let model = KnownModel::named("llama-3.1-70b").unwrap().model().unwrap();
    let system = single(model, Device::named("h200-sxm").unwrap());
    let lengths = lengths_of(system.model(), &[(64, 0, 400)]);
    let bound = Bound::over(&system, &lengths, some(1)).unwrap();
    let measured = rate(bound.output_tokens_per_s * 1.9);
    let violation = system.bound_violation(&lengths, some(1), &measured).unwrap().unwrap();
    assert_eq!(violation.figure, MeasuredFigure::OutputTokens);
    assert!((violation.times - 1.9).abs() < 1e-9);
    assert_eq!(needed(&violation, BoundInput::Devices), Some(2.0));
    assert!(
        (needed(&violation, BoundInput::Bandwidth).unwrap() / (1.9 * 4.917e12) - 1.0).abs() < 1e-6
    );
    let bytes = needed(&violation, BoundInput::WeightBytes).unwrap();
    assert!((1.04..1.06).contains(&bytes), "{bytes}");
    assert!((1.89..1.91).contains(&needed(&violation, BoundInput::TokensPerStep).unwrap()));
    // Neither the arithmetic nor 26 MB of cache is what limits, nor are prompts.
    for input in [BoundInput::Arithmetic, BoundInput::CacheBytes, BoundInput::CachedShare] {
        assert_eq!(needed(&violation, input), None, "{input:?}");
    }
    let text = violation.to_string();
    for part in [
        "1.90 times what one h200-sxm can do",
        "2 devices (not 1)",
        "memory bandwidth of 9.34 TB/s (not 4.92)",
        "bytes a parameter (not 2.00)",
        "speculative decoding",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

/// Prompts that nobody said were cached: what is beyond light is the prefill alone.
#[test]
fn a_prefill_beyond_light_may_have_been_cached() {
    let system = single(llama_8b(), Device::named("h100-sxm").unwrap());
    let lengths = lengths_of(system.model(), &[(8192, 0, 16)]);
    let bound = Bound::over(&system, &lengths, some(4)).unwrap();
    let measured = MeasuredFigures { ttft: Some(bound.ttft * 0.25), ..MeasuredFigures::default() };
    let violation = system.bound_violation(&lengths, some(4), &measured).unwrap().unwrap();
    assert_eq!(violation.figure, MeasuredFigure::Ttft);
    let share = needed(&violation, BoundInput::CachedShare).unwrap();
    let cached = lengths_of(system.model(), &[(8192, (share * 8192.0).ceil() as u64, 16)]);
    let then = Bound::over(&system, &cached, some(4)).unwrap().ttft;
    assert!((then.get() / measured.ttft.unwrap().get() - 1.0).abs() < 2e-3, "{share}: {then:?}");
    assert_eq!(needed(&violation, BoundInput::TokensPerStep), None);
    assert!(violation.to_string().contains("4.00 times as fast as one h100-sxm"), "{violation}");
}

/// Where arithmetic limits, fewer bytes do not help by themselves, but the arithmetic of 8 bits does.
#[test]
fn a_format_with_faster_arithmetic_explains_what_bytes_cannot() {
    let system = single(llama_8b(), Device::named("h100-sxm").unwrap());
    let lengths = lengths_of(system.model(), &[(4096, 0, 2)]);
    let bound = Bound::over(&system, &lengths, some(64)).unwrap();
    let measured = MeasuredFigures {
        requests_per_s: Some(bound.requests_per_s * 1.5),
        ..MeasuredFigures::default()
    };
    let violation = system.bound_violation(&lengths, some(64), &measured).unwrap().unwrap();
    let bytes = needed(&violation, BoundInput::WeightBytes).unwrap();
    assert!((1.0..1.3).contains(&bytes), "{bytes}");
    assert_eq!(needed(&violation, BoundInput::Bandwidth), None);
}

/// Tokens that are held back and sent at once look faster than they were made.
#[test]
fn a_pace_beyond_light_may_have_come_in_bursts() {
    let system = single(llama_8b(), Device::named("h100-sxm").unwrap());
    let lengths = lengths_of(system.model(), &[(64, 0, 64)]);
    let measured =
        MeasuredFigures { tpot: Some(Seconds::new(0.002)), ..MeasuredFigures::default() };
    let violation = system.bound_violation(&lengths, some(4), &measured).unwrap().unwrap();
    assert_eq!(violation.figure, MeasuredFigure::Tpot);
    assert!(
        violation.to_string().ends_with("or tokens were held back on the way and came in bursts")
    );
}

#[test]
fn what_nothing_explains_is_said_plainly() {
    let system = single(llama_8b(), &card(3.35e12, 9.9e14));
    let lengths = lengths_of(system.model(), &[(512, 0, 64)]);
    let measured = rate(PerSec::new(1e9));
    let violation = system.bound_violation(&lengths, some(4), &measured).unwrap().unwrap();
    assert!(violation.remedies.is_empty(), "{violation:?}");
    assert!(violation.to_string().ends_with("model and device are not those that were given"));
}

fn requests() -> impl Strategy<Value = Vec<(u64, u64, u64)>> {
    prop::collection::vec((1_u64..6000, 0_u64..3000, 1_u64..600), 1..6)
}

/// A step that yields a thousand tokens is limited by arithmetic, which takes half as long in fp8.
#[test]
fn other_weights_yield_as_many_tokens_per_step() {
    let mut serving = Serving::default();
    serving.tokens_per_step = some(1024);
    let system = single(llama_8b(), Device::named("h100-sxm").unwrap()).with_serving(serving);
    let lengths = lengths_of(system.model(), &[(128, 0, 128)]);
    let bound = Bound::over(&system, &lengths, some(1)).unwrap();
    let measured =
        MeasuredFigures { tpot: Some(bound.single_tpot * 0.7), ..MeasuredFigures::default() };
    let violation = system.bound_violation(&lengths, some(1), &measured).unwrap().unwrap();
    let is_weights = |remedy: &InputRemedy| remedy.input == BoundInput::WeightBytes;
    assert!(violation.remedies.iter().any(is_weights), "{violation}");
}

proptest! {
    #![proptest_config(fixed())]

    /// With the bandwidth or the rate that a remedy names, what was measured is the bound itself or below it.
    #[test]
    fn a_remedy_is_just_enough(
        requests in requests(),
        concurrency in 1_u64..300,
        times in 1.01..6.0_f64,
        rate in 1e14..5e15_f64,
    ) {
        let system = single(llama_8b(), &card(2e12, rate));
        let lengths = lengths_of(system.model(), &requests);
        let bound = Bound::over(&system, &lengths, some(concurrency)).unwrap();
        let measured = MeasuredFigures {
            output_tokens_per_s: Some(bound.output_tokens_per_s * times),
            e2el: Some(bound.e2el * (1.0 / times)),
            ..MeasuredFigures::default()
        };
        let violation = system.bound_violation(&lengths, some(concurrency), &measured).unwrap().unwrap();
        for remedy in &violation.remedies {
            let other = match remedy.input {
                BoundInput::Bandwidth => card(remedy.needed, rate),
                BoundInput::Arithmetic => card(2e12, remedy.needed),
                _ => continue,
            };
            let then = Bound::over(&single(llama_8b(), &other), &lengths, some(concurrency)).unwrap();
            let shares = measured.percent_of(&then);
            let most = [shares.output_tokens_per_s, shares.e2el];
            let most = most.iter().flatten().map(|share| share.get()).fold(0.0, f64::max);
            prop_assert!((most - 1.0).abs() < 1e-6, "{remedy:?}: {most}");
        }
        prop_assert!(needed(&violation, BoundInput::Devices).is_some());
    }

    /// The devices that a remedy names are enough, and one fewer is not, where they share the work perfectly.
    #[test]
    fn as_many_devices_as_are_needed(
        requests in requests(),
        concurrency in 1_u64..300,
        times in 1.01..7.0_f64,
    ) {
        let system = single(llama_8b(), Device::named("h100-sxm").unwrap());
        let lengths = lengths_of(system.model(), &requests);
        let bound = Bound::over(&system, &lengths, some(concurrency)).unwrap();
        let measured = rate(bound.output_tokens_per_s * times);
        let violation = system.bound_violation(&lengths, some(concurrency), &measured).unwrap().unwrap();
        let count = needed(&violation, BoundInput::Devices).unwrap() as u32;
        let allows = |count: u32| {
            let deployment = Deployment::SINGLE.with_tensor(count).unwrap();
            let device = Device::named("h100-sxm").unwrap().clone();
            let system = System::new(llama_8b(), device, deployment).unwrap();
            let bound = Bound::over(&system, &lengths, some(concurrency)).unwrap();
            bound.output_tokens_per_s.get() * (1.0 + 1e-9) >= measured.output_tokens_per_s.unwrap().get()
        };
        // Eight heads are cut into powers of two only.
        for power in [1, 2, 4, 8] {
            prop_assert_eq!(allows(power), power >= count, "{} of {}", power, count);
        }
    }

    /// The expectation over lengths is that of a load where all are alike, and never faster than the bound.
    #[test]
    fn the_expectation_is_never_faster_than_the_bound(
        model in 0_usize..5,
        requests in requests(),
        concurrency in 1_u64..2000,
        (tensor, groups, stages, replicas) in (0_u32..4, 0_u32..2, 1_u32..3, 1_u32..3),
    ) {
        let names =
            ["llama-3.1-8b", "gpt-oss-120b", "deepseek-v3", "qwen3-next-80b-a3b", "llama-3.1-70b"];
        let model = KnownModel::named(names[model]).unwrap().model().unwrap();
        let deployment = Deployment::SINGLE
            .with_tensor(1 << tensor).unwrap()
            .with_attention_groups(1 << groups).unwrap()
            .with_pipeline(stages).unwrap()
            .with_replicas(replicas).unwrap();
        let device = Device::named("b300-sxm").unwrap().clone();
        let Ok(system) = System::new(model, device, deployment) else {
            return Ok(());
        };
        let lengths = lengths_of(system.model(), &requests);
        // What does not fit is refused.
        let Ok(expected) = system.expected_over(&lengths, some(concurrency)) else {
            return Ok(());
        };
        let figures = expected.figures;
        let bound = Bound::over(&system, &lengths, some(concurrency)).unwrap();
        let slack = 1.0 + 1e-9;
        prop_assert!(bound.ttft <= figures.ttft * slack);
        prop_assert!(bound.single_tpot <= figures.step * slack);
        prop_assert!(bound.e2el <= figures.e2el * slack);
        prop_assert!(bound.requests_per_s.get() * slack >= figures.requests_per_s.get());
        prop_assert!(bound.output_tokens_per_s.get() * slack >= figures.output_tokens_per_s.get());
        prop_assert!(figures.batch <= bound.batch * slack && figures.batch <= expected.max_batch);

        let (input, cached, output) = requests[0];
        let load = UniformLoad::new(Tokens::new(input), Tokens::new(output), some(concurrency));
        let load = load.with_cached(Tokens::new(cached));
        let one = lengths_of(system.model(), &[requests[0]]);
        let over = system.expected_over(&one, some(concurrency)).unwrap().figures;
        let alike = system.expected_figures(&load);
        let is = |a: Seconds, b: Seconds| (a.get() / b.get() - 1.0).abs() < 1e-6;
        prop_assert!(is(over.ttft, alike.ttft), "{over:?} {alike:?}");
        // A request of one token has no decode step, and a load's span none of length 0.
        if output > 1 {
            prop_assert!(is(over.step, alike.step), "{over:?} {alike:?}");
            prop_assert!((over.requests_per_s.get() / alike.requests_per_s.get() - 1.0).abs() < 1e-6);
        }
    }
}
