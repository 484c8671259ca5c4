//! Bounds: worked examples, and what must hold for any model, device and load.

use std::num::NonZeroU64;

use fizeau_core::{Bytes, BytesPerSec, FlopsPerSec, Tokens};
use fizeau_roofline::{
    Bound, ContextSpan, Device, LimitedBy, LoadAnalysisError, Model, Pass, UniformLoad,
};
use proptest::prelude::*;

use crate::{config, fixed, llama_8b, single};

fn load(input: u64, output: u64, concurrency: u64) -> UniformLoad {
    UniformLoad::new(Tokens::new(input), Tokens::new(output), NonZeroU64::new(concurrency).unwrap())
}

fn h100() -> &'static Device {
    Device::named("h100-sxm").unwrap()
}

/// Llama-3.1-8B in bf16 on one H100 SXM, prompts of 2,048 and outputs of 256 tokens: worked by hand.
#[test]
fn requests_per_second_of_the_worked_example() {
    for (concurrency, expected) in [(1, "0.86"), (32, "17.35"), (128, "30.06")] {
        let bound = Bound::at(&single(llama_8b(), h100()), &load(2048, 256, concurrency)).unwrap();
        assert_eq!(format!("{:.2}", bound.requests_per_s.get()), expected);
        let tokens = bound.output_tokens_per_s.get();
        assert!((tokens - 256.0 * bound.requests_per_s.get()).abs() < 1e-9 * tokens);
    }
}

#[test]
fn each_resource_can_be_the_limit() {
    let limit = |input, output, concurrency| {
        let bound =
            Bound::at(&single(llama_8b(), h100()), &load(input, output, concurrency)).unwrap();
        bound.limited_by
    };
    assert_eq!(limit(2048, 256, 1), LimitedBy::WeightTraffic);
    assert_eq!(limit(2048, 256, 1024), LimitedBy::Compute);
    assert_eq!(limit(8192, 8192, 64), LimitedBy::KvTraffic);
    assert_eq!(LimitedBy::KvTraffic.to_string(), "KV traffic");
}

/// 80 GiB less 16.06 GB of weights, over 131,072 bytes for each of 2,175.5 tokens: 244 sequences.
#[test]
fn memory_caps_the_batch() {
    let bound = Bound::at(&single(llama_8b(), h100()), &load(2048, 256, 10_000)).unwrap();
    assert_eq!(bound.max_batch, 244);
    assert!((244.0..245.0).contains(&bound.batch));
    let small = Bound::at(&single(llama_8b(), h100()), &load(2048, 256, 7)).unwrap();
    assert_eq!((small.batch, small.max_batch), (7.0, 244));
}

#[test]
fn one_output_token_is_a_prefill_and_nothing_else() {
    let bound = Bound::at(&single(llama_8b(), h100()), &load(2048, 1, 10_000)).unwrap();
    assert_eq!(bound.e2el, bound.ttft);
    assert_eq!(
        bound.ttft,
        single(llama_8b(), h100()).bound_pass(&Pass::prefill(2048.0, 0.0)).total
    );
    assert!((bound.requests_per_s.get() * bound.ttft.get() - 1.0).abs() < 1e-12);
}

#[test]
fn what_does_not_fit_says_by_how_much() {
    let large = Model::from_config_json(config!("llama-3.1-70b")).unwrap();
    let error = Bound::at(&single(large, h100()), &load(1, 1, 1)).unwrap_err();
    assert!(matches!(error, LoadAnalysisError::WeightsDoNotFit { .. }));
    let message = error.to_string();
    assert!(
        message.contains("141.11 GB, 55.21 GB more than the 85.90 GB of h100-sxm"),
        "{message}"
    );

    let error = Bound::at(&single(llama_8b(), h100()), &load(1_000_000, 1000, 1)).unwrap_err();
    let message = error.to_string();
    assert!(message.contains("1001000 tokens"), "{message}");
    assert!(message.contains("131.20 GB of cache, 61.36 GB more"), "{message}");
}

#[test]
fn an_empty_load_is_refused() {
    for (input, output, says) in [(0, 1, "0 input tokens"), (1, 0, "0 output tokens")] {
        let error = Bound::at(&single(llama_8b(), h100()), &load(input, output, 1)).unwrap_err();
        assert!(error.to_string().contains(says), "{error}");
    }
}

fn models() -> impl Strategy<Value = Model> {
    let texts = vec![config!("llama-3.1-8b"), config!("qwen3-0.6b"), config!("qwen3-8b")];
    prop::sample::select(texts).prop_map(|text| Model::from_config_json(text).unwrap())
}

/// Figures of a device: memory from 32 GB so that each of [`models`] fits, then bandwidth and rate.
fn figures() -> impl Strategy<Value = (f64, f64, f64)> {
    (32e9..400e9, 1e11..1e13, 1e13..1e16)
}

fn device((memory, bandwidth, rate): (f64, f64, f64)) -> Device {
    let (memory, bandwidth) = (Bytes::new(memory), BytesPerSec::new(bandwidth));
    Device::new("made-up", memory, bandwidth, FlopsPerSec::new(rate)).unwrap()
}

fn loads() -> impl Strategy<Value = UniformLoad> {
    (1_u64..20_000, 1_u64..5_000, 1_u64..2_000).prop_map(|(i, o, n)| load(i, o, n))
}

fn times(bound: &Bound) -> [f64; 4] {
    [bound.ttft, bound.tpot, bound.single_tpot, bound.e2el].map(fizeau_core::Seconds::get)
}

fn rates(bound: &Bound) -> [f64; 2] {
    [bound.requests_per_s.get(), bound.output_tokens_per_s.get()]
}

/// Greater or equal, but for rounding.
fn at_least(a: f64, b: f64) -> bool {
    a >= b * (1.0 - 1e-12)
}

proptest! {
    #![proptest_config(fixed())]

    #[test]
    fn figures_are_positive_and_finite(model in models(), figures in figures(), load in loads()) {
        let bound = Bound::at(&single(model.clone(), &device(figures)), &load).unwrap();
        for figure in times(&bound).into_iter().chain(rates(&bound)) {
            prop_assert!(figure.is_finite() && figure > 0.0);
        }
        prop_assert!(bound.batch >= 1.0 && bound.max_batch >= 1);
        prop_assert!(bound.batch < bound.max_batch as f64 + 1.0);
    }

    /// A number in flight that rises and falls yields no more than its mean: what a rate is held against.
    #[test]
    fn rates_grow_ever_less_with_the_requests_in_flight(
        model in models(), figures in figures(), of in loads(), low in 1..200_u64, half in 1..200_u64,
    ) {
        let system = single(model, &device(figures));
        let at = |concurrency| {
            let concurrency = NonZeroU64::new(concurrency).unwrap();
            rates(&Bound::at(&system, &UniformLoad { concurrency, ..of }).unwrap())
        };
        let [least, middle, most] = [low, low + half, low + 2 * half].map(at);
        for ((least, middle), most) in least.into_iter().zip(middle).zip(most) {
            prop_assert!(at_least(middle, f64::midpoint(least, most)), "{least} {middle} {most}");
        }
    }

    #[test]
    fn a_better_device_never_has_a_worse_bound(
        model in models(), figures in figures(), load in loads(), bandwidth in 1.0..10.0, rate in 1.0..10.0,
    ) {
        let plain = Bound::at(&single(model.clone(), &device(figures)), &load).unwrap();
        let better = (figures.0, figures.1 * bandwidth, figures.2 * rate);
        let better = Bound::at(&single(model, &device(better)), &load).unwrap();
        for (plain, better) in times(&plain).into_iter().zip(times(&better)) {
            prop_assert!(at_least(plain, better));
        }
        for (plain, better) in rates(&plain).into_iter().zip(rates(&better)) {
            prop_assert!(at_least(better, plain));
        }
    }

    #[test]
    fn twice_the_device_is_twice_as_fast(model in models(), figures in figures(), load in loads()) {
        let plain = Bound::at(&single(model.clone(), &device(figures)), &load).unwrap();
        let double = (figures.0, figures.1 * 2.0, figures.2 * 2.0);
        let double = Bound::at(&single(model, &device(double)), &load).unwrap();
        for (plain, double) in times(&plain).into_iter().zip(times(&double)) {
            prop_assert!((plain / double - 2.0).abs() < 1e-9);
        }
    }

    #[test]
    fn more_concurrency_never_lowers_throughput_nor_the_step(
        model in models(), figures in figures(), load in loads(), more in 1_u64..2_000,
    ) {
        let device = device(figures);
        let system = single(model, &device);
        let few = Bound::at(&system, &load).unwrap();
        let concurrency = load.concurrency.saturating_add(more);
        let many = Bound::at(&system, &UniformLoad { concurrency, ..load }).unwrap();
        prop_assert!(at_least(many.requests_per_s.get(), few.requests_per_s.get()));
        prop_assert!(at_least(many.tpot.get(), few.tpot.get()));
        prop_assert_eq!(many.single_tpot, few.single_tpot);
        prop_assert_eq!(many.e2el, few.e2el);
    }

    /// At `B = 1` and bound by memory, `O` tokens take `O (W + k (I + (O - 1) / 2)) / BW`.
    #[test]
    fn one_at_a_time_equals_the_closed_form(
        model in models(), figures in figures(), input in 1_u64..20_000, output in 2_u64..5_000,
    ) {
        // So much arithmetic that memory is the limit.
        let device = device((figures.0, figures.1, 1e20));
        let bound = Bound::at(&single(model.clone(), &device), &load(input, output, 1)).unwrap();
        let (o, context) = (output as f64, input as f64 + (output as f64 - 1.0) / 2.0);
        let step = model.streamed_weight_bytes().get() + model.kv_bytes_per_token().get() * context;
        let closed = o * step / figures.1;
        prop_assert!((bound.requests_per_s.get() * closed - 1.0).abs() < 1e-12);
        prop_assert!((bound.tpot.get() / bound.single_tpot.get() - 1.0).abs() < 1e-12);
        // Its decode steps alone: the first has the prompt and one token in the cache.
        let decoding = model.streamed_weight_bytes().get()
            + model.kv_bytes_per_token().get() * (input as f64 + o / 2.0);
        prop_assert!((bound.single_tpot.get() * figures.1 / decoding - 1.0).abs() < 1e-12);
    }

    /// An ideal engine that alternates prompts and decode steps, each at the speed of light, at every batch
    /// up to the bound's: it never exceeds the bound.
    #[test]
    fn no_serial_schedule_exceeds_the_bound(model in models(), figures in figures(), load in loads()) {
        let device = device(figures);
        let system = single(model.clone(), &device);
        let bound = Bound::at(&system, &load).unwrap();
        let prompt = system.bound_pass(&system.prefill_pass(&load)).total.get();
        for batch in [1, 2, bound.max_batch.min(load.concurrency.get())] {
            if batch as f64 > bound.batch {
                continue;
            }
            // Step `i` has the prompt and `i` tokens in its cache; it reads all but the one that it writes.
            let decoding: f64 = (1..load.output_tokens.get())
                .map(|step| {
                    let context = ContextSpan::at((load.input_tokens.get() + step) as f64);
                    system.bound_pass(&Pass::decode(batch as f64, context)).total.get()
                })
                .sum();
            // One after the other: the pass over each prompt, with the cache it writes, and all steps together.
            let written = model.kv_bytes_per_token().get() * load.input_tokens.get() as f64 / figures.1;
            let round = batch as f64 * (prompt + written) + decoding;
            prop_assert!(at_least(bound.requests_per_s.get(), batch as f64 / round));
            prop_assert!(at_least(prompt + decoding, bound.e2el.get()));
        }
    }
}
