//! Prefill and decode on separate devices.

use std::num::{NonZeroU32, NonZeroU64};

use fizeau_core::{BytesPerSec, Seconds, Tokens};
use fizeau_roofline::{
    Bottleneck, Bound, CacheTransfer, Deployment, Disaggregation, EstimateKind, InstanceCounts,
    Link, ReductionSite, System, Topology, UniformLoad,
};
use proptest::prelude::*;

use crate::known::{at_most, device, loads, model, systems};
use crate::{fixed, llama_8b, single};

fn link(bandwidth: f64) -> Link {
    Link {
        bandwidth: BytesPerSec::new(bandwidth),
        latency: Seconds::new(5e-6),
        topology: Topology::Switch { domain: u32::MAX, reduces: ReductionSite::AtEndpoints },
    }
}

fn apart(
    one: &System,
    (prefill, decode): (u32, u32),
    transfer: CacheTransfer,
) -> Disaggregation<'_> {
    Disaggregation {
        prefill: one,
        prefill_instances: NonZeroU32::new(prefill).unwrap(),
        decode: one,
        decode_instances: NonZeroU32::new(decode).unwrap(),
        link: link(50e9),
        transfer,
    }
}

fn load(concurrency: u64) -> UniformLoad {
    UniformLoad::new(Tokens::new(2048), Tokens::new(256), NonZeroU64::new(concurrency).unwrap())
}

/// 131,072 bytes for each of 2,048 tokens over 50 GB/s: 5.4 ms.
#[test]
fn where_the_transfer_lands() {
    let one = single(llama_8b(), &device("h100-sxm"));
    let at = |transfer| apart(&one, (1, 1), transfer).answer(&load(1));
    let first = at(CacheTransfer::BeforeFirstToken);
    assert_eq!(format!("{:.1}", first.transfer.to_millis().get()), "5.4");
    let second = at(CacheTransfer::BeforeSecondToken);
    let layers = at(CacheTransfer::LayerWise);
    let prompt = one.expected_figures(&load(1)).ttft;
    let is = |one: f64, other: f64| (one - other).abs() < 1e-9;
    assert!(is(first.expected.ttft.get(), prompt.get() + first.transfer.get()));
    assert!(is(second.expected.ttft.get(), prompt.get()));
    // All tokens but the first share it.
    let extra = (second.expected.step.get() - first.expected.step.get()) * 255.0;
    assert!(is(extra, first.transfer.get()));
    assert!(is(second.expected.e2el.get(), first.expected.e2el.get()));
    // Of 32 layers, the last one's.
    assert!(is(layers.expected.ttft.get(), prompt.get() + first.transfer.get() / 32.0));
}

/// With `n_p = 1`, `r_p = 1 / Cp` = 33 requests/s at best; a decode step no longer waits for prompts.
#[test]
fn what_limits() {
    let one = single(llama_8b(), &device("h100-sxm"));
    let limit = |split, concurrency, bandwidth| {
        let service = Disaggregation {
            link: link(bandwidth),
            ..apart(&one, split, CacheTransfer::BeforeFirstToken)
        };
        service.answer(&load(concurrency)).limited_by
    };
    assert_eq!(limit((1, 1), 1, 50e9), Bottleneck::Concurrency);
    assert_eq!(limit((1, 4), 10_000, 50e9), Bottleneck::Prefill);
    assert_eq!(limit((4, 1), 10_000, 50e9), Bottleneck::Decode);
    assert_eq!(limit((4, 4), 10_000, 1e9), Bottleneck::Transfer);
}

#[test]
fn steps_no_longer_wait_for_prompts() {
    let one = single(llama_8b(), &device("h100-sxm"));
    let service = apart(&one, (1, 1), CacheTransfer::LayerWise);
    let answer = service.answer(&load(64));
    let step = one.expected_decode(&load(64), answer.expected.batch).total;
    assert!((answer.expected.step.get() / step.get() - 1.0).abs() < 1e-9);
    // Little's law: those that decode and those on the way to it are all that were offered.
    let rate = answer.expected.requests_per_s.get();
    let under_way = answer.expected.batch + rate * answer.expected.ttft.get();
    assert!(under_way <= 64.0 + 1e-6, "{under_way}");
}

/// One request at a time decodes for a part of its time only, in steps of one sequence.
#[test]
fn a_request_alone_decodes_in_steps_of_one_sequence() {
    let one = single(llama_8b(), &device("h100-sxm"));
    let long = UniformLoad::new(Tokens::new(32_768), Tokens::new(16), NonZeroU64::MIN);
    let answer = apart(&one, (1, 4), CacheTransfer::BeforeFirstToken).answer(&long);
    assert!(answer.expected.batch < 0.1, "{answer:?}");
    let pass = one.decode_pass(&long, 1.0);
    assert_eq!(answer.expected.step, one.expected_pass(&pass).total);
    assert_eq!(answer.bound.step, one.bound_pass(&pass).total);
}

#[test]
fn the_best_split_is_the_best_of_all() {
    let one = single(llama_8b(), &device("h100-sxm"));
    let service = apart(&one, (1, 1), CacheTransfer::BeforeFirstToken);
    let split = service.best_split(&load(512), 8).unwrap();
    let rate = split.answer.expected.requests_per_s.get();
    for prefill in 1..8 {
        let other = apart(&one, (prefill, 8 - prefill), CacheTransfer::BeforeFirstToken);
        assert!(at_most(other.answer(&load(512)).expected.requests_per_s.get(), rate));
    }
    assert_eq!(split.prefill_instances.get() + split.decode_instances.get(), 8);
    // Where prompts dominate, most instances read them.
    let long = UniformLoad::new(Tokens::new(16_384), Tokens::new(64), NonZeroU64::new(64).unwrap());
    let long = service.best_split(&long, 8).unwrap();
    assert!(long.prefill_instances > split.prefill_instances);
    assert!(service.best_split(&load(1), 1).is_none());
}

/// 576 elements of 16 bits in each of 61 layers for a token: a latent goes whole to each of the ranks that decode, each over
/// its own link; at best it goes once, over all of them.
#[test]
fn each_rank_gets_what_it_keeps() {
    let eight = Deployment::SINGLE.with_tensor(8).unwrap();
    let sixteen = Deployment::SINGLE.with_tensor(16).unwrap();
    let on = |way| System::new(model("deepseek-v3"), device("h200-sxm"), way).unwrap();
    let (prefill, decode) = (on(eight), on(sixteen));
    let one = NonZeroU32::MIN;
    let service = Disaggregation {
        prefill: &prefill,
        prefill_instances: one,
        decode: &decode,
        decode_instances: one,
        link: link(50e9),
        transfer: CacheTransfer::BeforeFirstToken,
    };
    assert_eq!(service.devices(), 24);
    let answer = service.answer(&load(16));
    let latents = 2048.0 * 576.0 * 61.0 * 2.0 / 50e9;
    assert!((answer.transfer.get() - latents - 5e-6).abs() < 1e-9, "{answer:?}");
    let prompt = prefill.bound_figures(&load(16)).ttft.get();
    assert!((answer.bound.ttft.get() - prompt - latents / 8.0).abs() < 1e-9);
}

proptest! {
    #![proptest_config(fixed())]

    #[test]
    fn the_bound_is_never_beaten(
        system in systems(), load in loads(), prefill in 1_u32..8, decode in 1_u32..8,
        transfer in prop::sample::select(vec![
            CacheTransfer::BeforeFirstToken, CacheTransfer::BeforeSecondToken, CacheTransfer::LayerWise,
        ]),
    ) {
        prop_assume!(system.max_batch(&load) >= 1.0);
        let service = apart(&system, (prefill, decode), transfer);
        let answer = service.answer(&load);
        let (bound, expected) = (answer.bound, answer.expected);
        prop_assert!(at_most(bound.ttft.get(), expected.ttft.get()), "{answer:?}");
        prop_assert!(at_most(bound.step.get(), expected.step.get()), "{answer:?}");
        prop_assert!(at_most(expected.requests_per_s.get(), bound.requests_per_s.get()), "{answer:?}");
        prop_assert!(at_most(expected.batch, load.concurrency.get() as f64));

        // No more than the arithmetic of all devices as one, each request's spread over all of them.
        let prompt = system.bound_pass(&system.prefill_pass(&load)).arithmetic();
        let many = system.decode_pass(&load, 1e6);
        let step = system.bound_pass(&many).arithmetic() * (1.0 / many.decoding);
        let steps = load.output_tokens.get() as f64 - 1.0;
        let busy = (prompt + step * steps) * system.deployment().devices_per_stage() as f64;
        let pooled = service.devices() as f64 / busy.get();
        prop_assert!(at_most(bound.requests_per_s.get(), pooled), "{answer:?} {pooled}");
    }

    /// What instances do apart is held against all of them doing both.
    #[test]
    fn nothing_apart_beats_the_bound_of_all_together(
        system in systems(), load in loads(), prefill in 1_u32..8, decode in 1_u32..8,
    ) {
        let service = apart(&system, (prefill, decode), CacheTransfer::BeforeFirstToken);
        let instances =
            InstanceCounts { prefill: service.prefill_instances, decode: service.decode_instances };
        let all = instances.together(&system).unwrap();
        prop_assert_eq!(all.deployment().devices(), service.devices());
        let Ok(bound) = Bound::at(&all, &load) else { return Ok(()) };
        let answer = service.answer(&load);
        let apart = answer.bound;
        prop_assert!(at_most(bound.ttft.get(), apart.ttft.get()));
        // A mean of less than a sequence on a replica reads less cache than one.
        let replicas = decode * system.deployment().replicas();
        prop_assume!(answer.bound_rate_batch >= f64::from(replicas));
        let (apart, bound) = (apart.requests_per_s.get(), bound.requests_per_s.get());
        prop_assert!(at_most(apart, bound), "{apart} {bound}");
    }

    #[test]
    fn a_faster_link_and_more_instances_never_hurt(
        system in systems(), load in loads(), prefill in 1_u32..8, decode in 1_u32..8, faster in 1.0..10.0,
    ) {
        prop_assume!(system.max_batch(&load) >= 1.0);
        let service = apart(&system, (prefill, decode), CacheTransfer::BeforeFirstToken);
        let rate = |service: &Disaggregation<'_>| service.answer(&load).expected.requests_per_s.get();
        let before = rate(&service);
        let quick = Disaggregation { link: link(50e9 * faster), ..service };
        prop_assert!(at_most(before, rate(&quick)));
        let more = |count: NonZeroU32| count.checked_add(1).unwrap();
        let readers = Disaggregation { prefill_instances: more(service.prefill_instances), ..service };
        prop_assert!(at_most(before, rate(&readers)));
        let decoders = Disaggregation { decode_instances: more(service.decode_instances), ..service };
        prop_assert!(at_most(before, rate(&decoders)));
    }
}

/// `system` answers alone what it answers with both roles on it, but for the waiting.
#[test]
fn an_aggregated_step_is_longer() {
    let one = single(llama_8b(), &device("h100-sxm"));
    let together = one.figures_at(EstimateKind::Expected, &load(64), 64.0);
    let answer = apart(&one, (4, 1), CacheTransfer::LayerWise).answer(&load(64));
    assert!(answer.expected.step < together.step);
    assert!(answer.output_tokens_per_s_per_device.get() < together.output_tokens_per_s.get());
}
