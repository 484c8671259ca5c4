//! Bounds over requests of different lengths.

use std::num::NonZeroU64;

use fizeau_core::{Bytes, BytesPerSec, FlopsPerSec, Seconds, Tokens};
use fizeau_roofline::{Bound, BoundError, Device, Lengths, Load, Model, prefill};
use proptest::prelude::*;

use crate::{fixed, llama_8b};

fn lengths(requests: &[(u64, u64)]) -> Lengths {
    let tokens = |&(input, output)| (Tokens::new(input), Tokens::new(output));
    requests.iter().map(tokens).collect()
}

fn some(concurrency: u64) -> NonZeroU64 {
    NonZeroU64::new(concurrency).unwrap()
}

fn h100() -> &'static Device {
    Device::named("h100-sxm").unwrap()
}

/// An ideal engine: it takes requests in groups of the concurrency, with all prompts of a group in one pass, and
/// overlaps reading and computing of the whole run perfectly.
fn ideal_time(
    model: &Model,
    device: &Device,
    requests: &[(u64, u64)],
    concurrency: usize,
) -> Seconds {
    let kv = model.kv_bytes_per_token();
    let token = model.linear_flops_per_token() + model.head_flops_per_token();
    let (mut bytes, mut flops) = (Bytes::default(), token * 0.0);
    for group in requests.chunks(concurrency) {
        let passes = group.iter().map(|request| request.1).max().unwrap_or(0);
        bytes = bytes + model.streamed_weight_bytes() * passes as f64;
        for &(input, output) in group {
            let n = input as f64;
            flops = flops
                + model.linear_flops_per_token() * n
                + model.head_flops_per_token()
                + model.attention_flops_per_pair() * (n * (n + 1.0) / 2.0);
            bytes = bytes + kv * n;
            for step in 1..output {
                // It reads what is cached and writes one token more.
                bytes = bytes + kv * (input + step) as f64;
                flops = flops + token + model.attention_flops_per_pair() * (input + step) as f64;
            }
        }
    }
    (bytes / device.memory_bandwidth()).max(flops / device.compute_rate(model))
}

/// Lengths are asked as 250 and 250; of two requests drawn uniform within nine tenths of that, both came out
/// short. An engine at 99 % of the light beats the bound for the lengths that were asked.
#[test]
fn a_bound_for_the_lengths_asked_is_beaten_by_a_short_sample() {
    let drawn = [(250, 180), (250, 227)];
    let engine = 2.0 / ideal_time(&llama_8b(), h100(), &drawn, 1).get() * 0.99;
    let load = Load::new(Tokens::new(250), Tokens::new(250), some(1));
    let asked = Bound::at(&llama_8b(), h100(), load).unwrap();
    assert!(engine > 1.1 * asked.requests_per_s.get());
    let came = Bound::over(&llama_8b(), h100(), &lengths(&drawn), some(1)).unwrap();
    assert!(engine < came.requests_per_s.get());
}

/// Long prompts with short outputs move less cache than their means would.
#[test]
fn a_bound_at_the_means_is_beaten_by_a_mix() {
    let mix = [(60_000, 10), (100, 10_000)].repeat(8);
    let load = Load::new(Tokens::new(30_050), Tokens::new(5_005), some(16));
    let means = Bound::at(&llama_8b(), h100(), load).unwrap();
    let over = Bound::over(&llama_8b(), h100(), &lengths(&mix), some(16)).unwrap();
    let engine = 16.0 / ideal_time(&llama_8b(), h100(), &mix, 16).get();
    assert!(engine > 1.5 * means.requests_per_s.get());
    assert!(engine <= over.requests_per_s.get());
}

#[test]
fn requests_all_alike_are_a_load() {
    let load = Load::new(Tokens::new(2048), Tokens::new(256), some(32));
    let alike = lengths(&[(2048, 256); 8]);
    let over = Bound::over(&llama_8b(), h100(), &alike, some(32)).unwrap();
    assert_eq!(over, Bound::at(&llama_8b(), h100(), load).unwrap());
}

#[test]
fn no_requests_and_empty_ones_are_refused() {
    let refused = |requests: &[(u64, u64)]| {
        let error = Bound::over(&llama_8b(), h100(), &lengths(requests), some(1)).unwrap_err();
        assert!(matches!(error, BoundError::Empty(_)));
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
        let model = llama_8b();
        let (memory, bandwidth) = (Bytes::new(100e9), BytesPerSec::new(bandwidth));
        let device = Device::new("made-up", memory, bandwidth, FlopsPerSec::new(rate)).unwrap();
        let (sums, n) = (lengths(&requests), requests.len() as f64);
        let bound = Bound::over(&model, &device, &sums, some(concurrency as u64)).unwrap();

        let time = ideal_time(&model, &device, &requests, concurrency).get() * (1.0 + 1e-9);
        prop_assert!(n / time <= bound.requests_per_s.get());
        let tokens: u64 = requests.iter().map(|request| request.1).sum();
        prop_assert!(tokens as f64 / time <= bound.output_tokens_per_s.get());

        // Each request alone on the device, one step after the other.
        let prompts = requests.iter().map(|r| prefill(&model, &device, Tokens::new(r.0)).get());
        let ttft = prompts.sum::<f64>() / n;
        prop_assert!(ttft * (1.0 + 1e-9) >= bound.ttft.get());
        let decoding = |&(input, output): &(u64, u64)| -> f64 {
            let step = |i| {
                let context = Tokens::new(input + i);
                fizeau_roofline::decode_step(&model, &device, NonZeroU64::MIN, context).get()
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
