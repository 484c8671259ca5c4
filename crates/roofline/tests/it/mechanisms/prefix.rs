//! Prefix hits and tiers.

use std::num::NonZeroU64;

use fizeau_core::{BytesPerSec, Seconds, Tokens};
use fizeau_roofline::{Hits, Load, Pass, Reckoning, Tier};
use proptest::prelude::*;

use crate::known::{accounts, at_most, device, loads, systems};
use crate::{fixed, llama_8b, single};

fn tier(bandwidth: f64) -> Tier {
    Tier { bandwidth: BytesPerSec::new(bandwidth), latency: Seconds::new(1e-4) }
}

fn load(input: u64, cached: u64) -> Load {
    Load::new(Tokens::new(input), Tokens::new(256), NonZeroU64::new(8).unwrap())
        .with_cached(Tokens::new(cached))
}

/// Linear arithmetic is `2 P (I - g)`, attention `4 H d L (g (I - g) + (I - g) (I - g + 1) / 2)`.
#[test]
fn a_hit_spares_its_own_arithmetic() {
    let system = single(llama_8b(), &device("h100-sxm"));
    let pass = system.bound_pass(&Pass::prefill(8192.0, 6144.0));
    let pairs = 6144.0 * 2048.0 + 2048.0 * 2049.0 / 2.0;
    let attention = 4.0 * 32.0 * 128.0 * 32.0 * pairs / 989.5e12;
    assert!((pass.attention.get() / attention - 1.0).abs() < 1e-9);
    let whole = system.bound_pass(&Pass::prefill(2048.0, 0.0));
    assert_eq!(pass.matrices, whole.matrices);
}

/// 131,072 bytes a token over 25 GB/s are 5.2 us; computing one takes 14 us and more: fetching wins once the latency
/// of 0.1 ms is made up for.
#[test]
fn fetching_wins_from_a_number_of_tokens_on() {
    let system = single(llama_8b(), &device("h100-sxm"));
    let from =
        |bandwidth| system.fetch_crossover(Reckoning::Bound, Tokens::new(16_384), tier(bandwidth));
    let tokens = from(25e9).unwrap();
    let by_hand = 1e-4 / (2.0 * 6.979e9 / 989.5e12 - 131_072.0 / 25e9);
    assert!((tokens.get() as f64 / by_hand - 1.0).abs() < 0.2, "{tokens} {by_hand}");
    // A slow disk never pays.
    assert_eq!(from(2e9), None);
    let fetched = |tokens| {
        let load = load(16_384, tokens);
        system.fetch_or_recompute(Reckoning::Bound, &load, tier(25e9)).is_faster()
    };
    assert!(fetched(tokens.get()) && !fetched(tokens.get() - 1));
}

#[test]
fn a_fetch_is_waited_for() {
    let system = single(llama_8b(), &device("h100-sxm"));
    let load = load(8192, 6144);
    let at = |hits| system.figures_with_hits(Reckoning::Expected, &load, 8.0, hits);
    let (memory, host) = (at(Hits::in_memory(0.5)), at(Hits::in_tier(0.5, tier(50e9))));
    let fetch = system.fetch_or_recompute(Reckoning::Expected, &load, tier(50e9)).fetch;
    assert!((host.ttft.get() - memory.ttft.get() - fetch.get() / 2.0).abs() < 1e-12);
    assert_eq!(host.requests_per_s, memory.requests_per_s);
}

proptest! {
    #![proptest_config(fixed())]

    #[test]
    fn more_hits_never_hurt(
        system in systems(), load in loads(), by in accounts(), less in 0.0..=1.0, more in 0.0..=1.0,
        batch in 1.0..256.0,
    ) {
        // Where memory binds, a hit may lose: it spares arithmetic, and has caches and states read.
        let pass = system.bound_pass(&system.prefill_pass(&load));
        prop_assume!(pass.arithmetic() >= pass.memory());
        let (less, more) = if less < more { (less, more) } else { (more, less) };
        let at = |share| system.figures_with_hits(by, &load, batch, Hits::in_memory(share));
        let (less, more) = (at(less), at(more));
        prop_assert!(at_most(more.ttft.get(), less.ttft.get()));
        prop_assert!(at_most(more.tpot.get(), less.tpot.get()));
        let all = at(f64::INFINITY);
        prop_assert!(at_most(all.ttft.get(), system.figures_at(by, &load, batch).ttft.get()));
    }

    #[test]
    fn a_faster_tier_wins_sooner(
        system in systems(), input in 2_u64..100_000, slow in 9.0..12.0, faster in 1.0..10.0,
    ) {
        let slow: f64 = 10.0_f64.powf(slow);
        let from = |bandwidth| {
            let crossover =
                system.fetch_crossover(Reckoning::Expected, Tokens::new(input), tier(bandwidth));
            crossover.map_or(u64::MAX, Tokens::get)
        };
        prop_assert!(from(slow * faster) <= from(slow));
    }
}
