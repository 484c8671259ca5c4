//! Bounds over requests of different lengths.

use std::num::NonZeroU64;

use fizeau_core::{Bytes, BytesPerSec, Flops, FlopsPerSec, Seconds, Tokens};
use fizeau_roofline::{
    Bound, ContextSpan, Deployment, Device, ExpertRouting, LoadAnalysisError, Pass, RequestLengths,
    System, UniformLoad,
};
use proptest::prelude::*;

use crate::{fixed, llama_8b, single};

fn lengths(requests: &[(u64, u64)]) -> RequestLengths {
    let tokens = |&(input, output)| (Tokens::new(input), Tokens::new(output));
    requests.iter().map(tokens).collect()
}

fn some(concurrency: u64) -> NonZeroU64 {
    NonZeroU64::new(concurrency).unwrap()
}

fn h100() -> &'static Device {
    Device::named("h100-sxm").unwrap()
}

fn llama() -> System {
    single(llama_8b(), h100())
}

/// An ideal engine: it takes requests in groups of the concurrency, with all prompts of a group in one pass, and
/// overlaps reading and computing of the whole run perfectly. Worked from the model's published dimensions.
fn ideal_time(device: &Device, requests: &[(u64, u64)], concurrency: usize) -> Seconds {
    let model = llama_8b();
    let kv = model.kv_bytes_per_token().get();
    let head = 2.0 * 128_256.0 * 4096.0;
    let linear = 2.0 * model.parameters().streamed as f64 - head;
    // 4 * 32 layers * 32 heads * 128.
    let pair = 524_288.0;
    let (mut bytes, mut flops) = (0.0, 0.0);
    for group in requests.chunks(concurrency) {
        let passes = group.iter().map(|request| request.1).max().unwrap_or(0);
        bytes += model.streamed_weight_bytes().get() * passes as f64;
        for &(input, output) in group {
            let n = input as f64;
            flops += linear * n + head + pair * n * (n + 1.0) / 2.0;
            bytes += kv * n;
            for step in 1..output {
                // It reads what is cached and writes one token more.
                bytes += kv * (input + step) as f64;
                flops += linear + head + pair * (input + step) as f64;
            }
        }
    }
    let rate = device.rate_for(fizeau_roofline::MathType::Bf16);
    (Bytes::new(bytes) / device.memory_bandwidth()).max(Flops::new(flops) / rate)
}

/// Lengths are asked as 250 and 250; of two requests drawn uniform within nine tenths of that, both came out
/// short. An engine at 99 % of the light beats the bound for the lengths that were asked.
#[test]
fn a_bound_for_the_lengths_asked_is_beaten_by_a_short_sample() {
    let drawn = [(250, 180), (250, 227)];
    let engine = 2.0 / ideal_time(h100(), &drawn, 1).get() * 0.99;
    let load = UniformLoad::new(Tokens::new(250), Tokens::new(250), some(1));
    let asked = Bound::at(&llama(), &load).unwrap();
    assert!(engine > 1.1 * asked.requests_per_s.get());
    let came = Bound::over(&llama(), &lengths(&drawn), some(1)).unwrap();
    assert!(engine < came.requests_per_s.get());
}

/// Long prompts with short outputs move less cache than their means would.
#[test]
fn a_bound_at_the_means_is_beaten_by_a_mix() {
    let mix = [(60_000, 10), (100, 10_000)].repeat(8);
    let load = UniformLoad::new(Tokens::new(30_050), Tokens::new(5_005), some(16));
    let means = Bound::at(&llama(), &load).unwrap();
    let over = Bound::over(&llama(), &lengths(&mix), some(16)).unwrap();
    let engine = 16.0 / ideal_time(h100(), &mix, 16).get();
    assert!(engine > 1.5 * means.requests_per_s.get());
    assert!(engine <= over.requests_per_s.get());
}

#[test]
fn requests_all_alike_are_a_load() {
    let load = UniformLoad::new(Tokens::new(2048), Tokens::new(256), some(32));
    let alike = lengths(&[(2048, 256); 8]);
    let over = Bound::over(&llama(), &alike, some(32)).unwrap();
    assert_eq!(over, Bound::at(&llama(), &load).unwrap());
}

#[test]
fn no_requests_and_empty_ones_are_refused() {
    let refused = |requests: &[(u64, u64)]| {
        let error = Bound::over(&llama(), &lengths(requests), some(1)).unwrap_err();
        assert!(matches!(error, LoadAnalysisError::Empty(_)));
        error.to_string()
    };
    assert!(refused(&[]).starts_with("the load has 0 requests"));
    assert!(refused(&[(5, 5), (0, 5)]).starts_with("the load has 0 input tokens"));
    assert!(refused(&[(5, 5), (5, 0)]).starts_with("the load has 0 output tokens"));
}

proptest! {
    #![proptest_config(fixed())]

    #[test]
    fn no_engine_beats_the_bound_over_its_own_requests(
        requests in prop::collection::vec((1_u64..4_000, 1_u64..200), 1..20),
        concurrency in 1_usize..12,
        (bandwidth, rate) in (1e11..1e13, 1e13..1e16),
    ) {
        let (memory, bandwidth) = (Bytes::new(100e9), BytesPerSec::new(bandwidth));
        let device = Device::new("made-up", memory, bandwidth, FlopsPerSec::new(rate)).unwrap();
        let system = single(llama_8b(), &device);
        let (sums, n) = (lengths(&requests), requests.len() as f64);
        let bound = Bound::over(&system, &sums, some(concurrency as u64)).unwrap();

        let time = ideal_time(&device, &requests, concurrency).get() * (1.0 + 1e-9);
        prop_assert!(n / time <= bound.requests_per_s.get());
        let tokens: u64 = requests.iter().map(|request| request.1).sum();
        prop_assert!(tokens as f64 / time <= bound.output_tokens_per_s.get());

        // Each request alone on the device, one step after the other.
        let prompt = |r: &(u64, u64)| system.bound_pass(&Pass::prefill(r.0 as f64, 0.0)).total.get();
        let prompts = requests.iter().map(prompt);
        let ttft = prompts.sum::<f64>() / n;
        prop_assert!(ttft * (1.0 + 1e-9) >= bound.ttft.get());
        let decoding = |&(input, output): &(u64, u64)| -> f64 {
            let step = |i| {
                let context = ContextSpan::at((input + i) as f64);
                system.bound_pass(&Pass::decode(1.0, context)).total.get()
            };
            (1..output).map(step).sum()
        };
        let e2el = ttft + requests.iter().map(decoding).sum::<f64>() / n;
        prop_assert!(e2el * (1.0 + 1e-9) >= bound.e2el.get());
        let decoders: Vec<_> = requests.iter().filter(|request| request.1 > 1).collect();
        let paces = decoders.iter().map(|request| decoding(request) / (request.1 - 1) as f64);
        if !decoders.is_empty() {
            let tpot = paces.sum::<f64>() / decoders.len() as f64;
            prop_assert!(tpot * (1.0 + 1e-9) >= bound.single_tpot.get());
        }
    }
}

/// Sums by brute force, one pass at a time, each as the system computes it.
fn one_by_one(system: &System, requests: &[(u64, u64, u64)], concurrency: f64) -> f64 {
    let (mut cache, mut computing, mut passes) = (0.0, 0.0, 0.0);
    let stages = f64::from(system.deployment().pipeline());
    // What was cached may be the same for all in a pass.
    let among = (concurrency / stages).max(1.0);
    let mut add = |mut pass: Pass, cached: u64| {
        pass.shared = cached as f64;
        let time = system.bound_pass(&pass);
        cache += time.cache.get() - time.shared.get() * (1.0 - 1.0 / among);
        computing += time.arithmetic().get();
    };
    for &(input, cached, output) in requests {
        passes += output as f64;
        add(Pass::prefill(input as f64, cached as f64), cached);
        for step in 1..output {
            add(Pass::decode(1.0, ContextSpan::at((input + step) as f64)), cached);
        }
    }
    let weights = system.bound_pass(&Pass::decode(1.0, ContextSpan::at(1.0))).weights.get();
    let memory = weights * passes / concurrency + cache / stages;
    requests.len() as f64 / memory.max(computing / stages)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..fixed() })]

    /// Windows, indexers, states, cached prompts, several devices: the sums are those of all passes.
    #[test]
    fn the_bound_over_lengths_is_the_sum_of_their_passes(
        model in crate::anything::models(),
        requests in prop::collection::vec((1_u64..3_000, 0_u64..3_000, 1_u64..60), 1..8),
        concurrency in 1_u64..6,
        (tensor, stages) in (1_u32..=2, 1_u32..=2),
        rate in 1e13..1e16,
    ) {
        let deployment = Deployment::SINGLE.with_tensor(tensor).unwrap().with_pipeline(stages).unwrap();
        let device = crate::anything::device(3e12, 1e12, rate);
        let Ok(system) = System::new(model, device, deployment) else {
            return Ok(());
        };
        let mut lengths = RequestLengths::for_model(system.model());
        let requests: Vec<_> = requests.into_iter().map(|(i, g, o)| (i, g.min(i - 1), o)).collect();
        for &(input, cached, output) in &requests {
            lengths.add_cached(Tokens::new(input), Tokens::new(cached), Tokens::new(output));
        }
        let bound = Bound::over(&system, &lengths, some(concurrency)).unwrap();
        let worked = one_by_one(&system, &requests, concurrency as f64);
        prop_assert!((bound.requests_per_s.get() / worked - 1.0).abs() < 1e-9);
    }
}

#[test]
fn a_load_s_figures_are_those_of_its_lengths() {
    for name in ["gpt-oss-20b", "deepseek-v3.2", "qwen3-next-80b-a3b", "nemotron-h-56b"] {
        let model = crate::golden::model(name);
        let deployment = Deployment::SINGLE.with_tensor(8).unwrap();
        let device = Device::named("h200-sxm").unwrap().clone();
        let Ok(system) = System::new(model, device, deployment) else {
            continue;
        };
        let load = UniformLoad::new(Tokens::new(5000), Tokens::new(300), some(64))
            .with_cached(Tokens::new(1000));
        let (bound, figures) = (Bound::at(&system, &load).unwrap(), system.bound_figures(&load));
        for (a, b) in [
            (bound.ttft.get(), figures.ttft.get()),
            (bound.tpot.get(), figures.step.get()),
            (bound.requests_per_s.get(), figures.requests_per_s.get()),
            (bound.output_tokens_per_s.get(), figures.output_tokens_per_s.get()),
        ] {
            assert!((a / b - 1.0).abs() < 1e-9, "{name}: {bound:?} {figures:?}");
        }
    }
}

/// Of a mixture of experts under balanced routing; nothing of a model without.
#[test]
fn a_load_s_figures_at_even_routing_are_those_of_its_lengths() {
    let in_stages = Deployment::SINGLE.with_tensor(4).unwrap().with_pipeline(2).unwrap();
    let deployments = [Deployment::SINGLE.with_tensor(8).unwrap(), in_stages];
    let check = |name: &str, system: &System, many: u64| {
        let load = UniformLoad::new(Tokens::new(1000), Tokens::new(300), some(many));
        let mut lengths = RequestLengths::for_model(system.model());
        lengths.add_cached(load.input_tokens, load.cached_tokens, load.output_tokens);
        let rate = Bound::evenly_routed(system, &lengths, some(many)).unwrap();
        let figures = system.answer(&load).unwrap().evenly_routed;
        assert_eq!(figures.is_some(), name != "qwen3-32b" && many > 1, "{name}: {many}");
        let Some((rate, figures)) = rate.zip(figures) else { return };
        assert!((rate / figures.output_tokens_per_s - 1.0).abs() < 1e-9, "{name}: {many}");
    };
    for name in ["gpt-oss-120b", "deepseek-v3", "qwen3-235b-a22b", "qwen3-32b"] {
        for deployment in deployments {
            let device = Device::named("h200-sxm").unwrap().clone();
            let system = System::new(crate::golden::model(name), device, deployment).unwrap();
            [1, 4, 16, 256].iter().for_each(|many| check(name, &system, *many));
        }
    }
}

/// By hand, of 200 sequences of 1024 and 128 on two H100: all experts of all layers are read in a step, 93.2 GB of weights in 13.9 ms,
/// while the rate is limited by the arithmetic of prompts.
#[test]
fn a_step_reads_all_experts_though_the_rate_is_limited_by_prompts() {
    let model = crate::golden::model("mixtral-8x7b");
    let deployment = Deployment::SINGLE.with_tensor(2).unwrap();
    let system = System::new(model, h100().clone(), deployment).unwrap();
    let load = UniformLoad::new(Tokens::new(1024), Tokens::new(128), some(200));
    let answer = system.answer(&load).unwrap();
    let even = answer.evenly_routed.unwrap();
    assert!((even.output_tokens_per_s / answer.bound.output_tokens_per_s - 1.0).abs() < 1e-9);
    let (even, bound) = (even.step.to_millis().get(), answer.bound.step.to_millis().get());
    assert!(even > 13.9 && bound < 13.9, "{even} {bound}");
    // Tokens that agree are held against no other bound.
    let strict = system.with_routing(ExpertRouting::Strict).answer(&load).unwrap();
    assert_eq!(strict.evenly_routed, None);
}

#[test]
fn lengths_for_other_windows_are_refused() {
    let windows = single(crate::golden::model("gpt-oss-20b"), h100());
    let error = Bound::over(&windows, &lengths(&[(10, 10)]), some(1)).unwrap_err();
    assert_eq!(error, LoadAnalysisError::OtherWindows);
}

proptest! {
    #![proptest_config(fixed())]

    /// Shards of a run know the lengths of the whole. Means over decode steps are exact for these outputs, so that sums are.
    #[test]
    fn lengths_that_are_merged_are_those_of_all(
        requests in prop::collection::vec((1_u64..4_000, 0_u64..4_000, prop::sample::select(vec![0_u64, 1, 2, 3, 5, 9])), 0..20),
        first in 0_usize..20,
    ) {
        let of = |requests: &[(u64, u64, u64)]| {
            let mut lengths = RequestLengths::for_model(&llama_8b());
            for &(input, cached, output) in requests {
                lengths.add_cached(Tokens::new(input), Tokens::new(cached), Tokens::new(output));
            }
            lengths
        };
        let (one, other) = requests.split_at(first.min(requests.len()));
        let mut merged = of(one);
        prop_assert!(merged.merge(&of(other)));
        prop_assert_eq!(&merged, &of(&requests));
        prop_assert!(merged.merge(&of(&[])) && merged == of(&requests));
    }
}

#[test]
fn lengths_for_a_model_with_other_windows_are_not_merged() {
    let windowed = fizeau_roofline::KnownModel::named("gpt-oss-20b").unwrap().model().unwrap();
    let mut lengths = RequestLengths::for_model(&llama_8b());
    assert!(!lengths.merge(&RequestLengths::for_model(&windowed)));
}
