//! What the key-value cache does to latency, when it is full and when it remembers.

use fizeau_core::{Nanos, Tokens};
use fizeau_roofline::Admission;
use fizeau_sim::{EngineConfig, PrefixCaching, Serve};

use super::observe::{Seen, engine, most, of_family, roomy, run, stream};
use crate::support::{job, ms};

/// Sixteen jobs of 512 and 256 tokens, which end at 48 blocks of 16 each: 768 for all. The p99 of TPOT (of
/// sixteen, the most), and how often somebody lost its place.
fn tpot_and_preemptions(blocks: u64, admission: Admission) -> (f64, u64) {
    let mut engine = engine(EngineConfig { blocks, admission, ..roomy() });
    let seen = run(&mut engine, &stream(0, 16, (512, 256), ms(0), Nanos::ZERO));
    (most(seen.iter().map(Seen::tpot)), engine.gauges().preemptions)
}

/// vLLM (Kwon et al., SOSP 2023, arXiv 2309.06180) admits as long as there is room for the prompt, and
/// recomputes whoever has to go when there is none for the next token: TPOT does not feel the cache at all
/// until demand exceeds it, and then falls off a cliff.
#[test]
fn kv_exhaustion_is_a_cliff_in_tpot() {
    let (flat, none) = tpot_and_preemptions(768, Admission::AsItGrows);
    assert_eq!(none, 0);
    for blocks in [769, 1_000, 10_000] {
        assert_eq!(
            tpot_and_preemptions(blocks, Admission::AsItGrows),
            (flat, 0),
            "{blocks} blocks"
        );
    }
    for blocks in [767, 740, 700, 640, 560] {
        let (tpot, preemptions) = tpot_and_preemptions(blocks, Admission::AsItGrows);
        assert!(preemptions > 0, "{blocks} blocks");
        assert!(tpot > 1.04 * flat, "{blocks} blocks: {tpot} {flat}");
    }
    let (deep, _) = tpot_and_preemptions(640, Admission::AsItGrows);
    assert!(deep > 1.4 * flat, "{deep} {flat}");
}

/// An engine that sets all room aside beforehand (TensorRT-LLM's guaranteed no-evict) never comes to that
/// cliff: its queue is longer instead.
#[test]
fn room_set_aside_is_never_lost() {
    let (flat, _) = tpot_and_preemptions(10_000, Admission::Whole);
    for blocks in [767, 640, 560] {
        let (tpot, preemptions) = tpot_and_preemptions(blocks, Admission::Whole);
        assert_eq!(preemptions, 0);
        assert!(tpot < 1.1 * flat, "{blocks} blocks: {tpot} {flat}");
    }
}

/// The TTFT of a prompt of 2,048 tokens of which `shared` blocks of 16 have been read before, and how many
/// tokens it found.
fn ttft_and_found(shared: u64, prefix_caching: PrefixCaching) -> (f64, u64) {
    let mut engine = engine(EngineConfig { prefix_caching, ..roomy() });
    let jobs = [
        of_family(1, 128, &job(0, 2_048, 2, ms(0))),
        of_family(1, shared, &job(1, 2_048, 2, ms(500))),
    ];
    let seen = run(&mut engine, &jobs);
    (seen[1].ttft, seen[1].timing.cached_tokens.get())
}

/// RadixAttention (Zheng et al., SGLang, arXiv 2312.07104) and vLLM's automatic prefix caching: what is
/// found is not read, and where reading is arithmetic TTFT falls on a line. Attention bends it by a few per
/// cent: what is left to read attends to more.
#[test]
fn prefix_caching_cuts_ttft_in_proportion_to_hits() {
    let (whole, none) = ttft_and_found(0, PrefixCaching::On);
    assert_eq!(none, 0);
    // What does not depend on the tokens read: 152 us a step.
    let fixed = 152e-6;
    for shared in [16, 32, 48, 64, 80, 96] {
        let (ttft, found) = ttft_and_found(shared, PrefixCaching::On);
        assert_eq!(found, 16 * shared);
        let left = 1.0 - found as f64 / 2_048.0;
        let line = fixed + left * (whole - fixed);
        assert!((ttft - line).abs() < 0.02 * whole, "{shared} blocks: {ttft} {line}");
    }
    assert_eq!(ttft_and_found(96, PrefixCaching::Off), (whole, 0));
}

/// The last token of a prompt is always read, or there would be nothing to go on from.
#[test]
fn a_prompt_found_whole_is_read_a_little() {
    let (ttft, found) = ttft_and_found(128, PrefixCaching::On);
    assert!((2_032..2_048).contains(&found), "{found}");
    let (whole, _) = ttft_and_found(0, PrefixCaching::On);
    assert!(ttft < 0.25 * whole, "{ttft} {whole}");
}

/// A cache too small for what comes between forgets what was there before.
#[test]
fn what_is_not_kept_is_not_found() {
    let found = |blocks| {
        let config = EngineConfig { blocks, prefix_caching: PrefixCaching::On, ..roomy() };
        let mut engine = engine(EngineConfig { max_context: Some(Tokens::new(2_100)), ..config });
        let jobs = [
            of_family(1, 128, &job(0, 2_000, 2, ms(0))),
            of_family(2, 128, &job(1, 2_000, 2, ms(500))),
            of_family(1, 128, &job(2, 2_000, 2, ms(1_000))),
        ];
        run(&mut engine, &jobs)[2].timing.cached_tokens.get()
    };
    assert!(found(300) >= 1_984);
    assert!(found(140) < 1_000, "{}", found(140));
}
