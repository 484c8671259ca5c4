//! Chunked prefill.

use std::num::NonZeroU64;

use fizeau_core::Tokens;
use fizeau_roofline::{EstimateKind, PhaseSchedule, UniformLoad};
use proptest::prelude::*;

use crate::known::{accounts, at_most, device, loads, systems};
use crate::{fixed, llama_8b, single};

fn load() -> UniformLoad {
    UniformLoad::new(Tokens::new(2048), Tokens::new(256), NonZeroU64::new(32).unwrap())
}

/// Beside a prompt 31 decode, so a budget of 543 leaves 512: four passes.
#[test]
fn passes_of_a_prompt() {
    let system = single(llama_8b(), &device("h100-sxm"));
    let chunked = system.chunked(EstimateKind::Expected, &load(), 32.0, Tokens::new(543)).unwrap();
    assert_eq!((chunked.passes, chunked.chunk), (4.0, 512.0));
    // While one of 32 sequences has its prompt read and 255 further tokens, 128 passes carry a chunk, 124 of them of others.
    assert!((chunked.share - 128.0 / 259.0).abs() < 1e-12);
    let others = 124.0 / 255.0;
    let mean = chunked.plain.get() * (1.0 - others) + chunked.mixed.get() * others;
    assert!((chunked.figures.step.get() - mean).abs() < 1e-12);
    assert!((chunked.figures.ttft.get() - 4.0 * chunked.mixed.get()).abs() < 1e-12);
}

/// A request alone has passes over its prompt, and then decode steps that nothing comes between.
#[test]
fn a_request_alone_is_not_delayed_by_its_own_chunks() {
    let system = single(llama_8b(), &device("h100-sxm"));
    for by in EstimateKind::ALL {
        let chunked = system.chunked(by, &load(), 1.0, Tokens::new(512)).unwrap();
        assert_eq!(chunked.figures.step, chunked.plain);
        let life = chunked.figures.e2el.get() * chunked.figures.requests_per_s.get();
        assert!((life - 1.0).abs() < 1e-9, "{by:?} {life}");
    }
}

/// A pass over all of the prompt at once takes its arithmetic under the traffic of decode.
#[test]
fn chunks_come_near_the_overlap() {
    let system = single(llama_8b(), &device("h100-sxm"));
    let at = |schedule| system.expected_at(&load(), 32.0, schedule).requests_per_s.get();
    let (serial, overlapped) = (at(PhaseSchedule::Serial), at(PhaseSchedule::Overlapped));
    let chunked = |budget| {
        let budget = Tokens::new(budget);
        system.chunked(EstimateKind::Expected, &load(), 32.0, budget).unwrap()
    };
    let rate = chunked(544).figures.requests_per_s.get();
    assert!(serial < rate && rate < overlapped, "{serial} {rate} {overlapped}");
}

/// Prompts come in at one chunk a pass: with 17 tokens a pass, one is read while two decode, and not 15.
#[test]
fn a_small_budget_starves_decode() {
    let system = single(llama_8b(), &device("h100-sxm"));
    let chunked = system.chunked(EstimateKind::Expected, &load(), 16.0, Tokens::new(17)).unwrap();
    assert!(chunked.figures.batch < 3.0, "{chunked:?}");
    assert!((chunked.share - 1.0).abs() < 0.2);
    assert!(chunked.gain < 1.0);
}

/// 512 sequences of 16 tokens end at 32 a pass: as many prompts of 128 come in with each.
#[test]
fn short_prompts_share_passes() {
    let system = single(llama_8b(), &device("h100-sxm"));
    let load = UniformLoad::new(Tokens::new(128), Tokens::new(16), NonZeroU64::new(512).unwrap());
    for by in EstimateKind::ALL {
        let at = |budget| system.chunked(by, &load, 512.0, Tokens::new(budget)).unwrap();
        let (small, large) = (at(1024), at(8192));
        assert_eq!((large.figures.batch, large.chunk, large.share), (512.0, 4096.0, 1.0));
        assert!((small.figures.batch - 16.0 * 1024.0 / 143.0).abs() < 1e-9, "{small:?}");
        // Arithmetic binds both: the number of sequences changes little.
        let ratio = large.figures.requests_per_s / small.figures.requests_per_s;
        assert!(ratio > 0.95, "{by:?} {ratio}");
    }
    let bound = system.chunked(EstimateKind::Bound, &load, 512.0, Tokens::new(8192)).unwrap();
    let best = system.bound_at(&load, 512.0, PhaseSchedule::Overlapped);
    let ratio = bound.figures.requests_per_s / best.requests_per_s;
    assert!((0.9..=1.0 + 1e-9).contains(&ratio), "{ratio}");
}

#[test]
fn a_balanced_budget_is_past_the_ridge() {
    let system = single(llama_8b(), &device("h100-sxm"));
    // The ridge of an H100 in bf16 is 295 FLOPs a byte; with caches to read it takes more tokens.
    let balanced = system.balanced_budget(&load(), 32.0).unwrap();
    assert!((400..800).contains(&balanced.get()), "{balanced}");
}

proptest! {
    #![proptest_config(fixed())]

    #[test]
    fn nothing_beats_perfect_overlap(
        system in systems(), load in loads(), batch in 1_u32..256, room in 64_u64..4096,
    ) {
        let (batch, room) = (f64::from(batch), u64::from(batch) + room);
        let at = |by| system.chunked(by, &load, batch, Tokens::new(room));
        let (Some(bound), Some(expected)) = (at(EstimateKind::Bound), at(EstimateKind::Expected)) else {
            return Ok(());
        };
        prop_assert!(at_most(bound.mixed.get(), expected.mixed.get()));
        prop_assert!(at_most(bound.figures.ttft.get(), expected.figures.ttft.get()));
        prop_assert!(at_most(bound.figures.step.get(), expected.figures.step.get()));
        prop_assert!(at_most(expected.plain.get(), expected.longest.get()));
        prop_assert!(at_most(bound.plain.get(), bound.longest.get()));
        prop_assert!(at_most(bound.share, 1.0));
        prop_assert!(at_most(bound.figures.batch, batch));
        let best = system.bound_at(&load, bound.figures.batch.max(1.0), PhaseSchedule::Overlapped);
        if bound.figures.batch >= 1.0 {
            prop_assert!(at_most(expected.figures.requests_per_s.get(), best.requests_per_s.get()));
        }
    }

    #[test]
    fn a_larger_budget_takes_longer_passes_and_fewer(
        system in systems(), load in loads(), by in accounts(), batch in 1_u32..256,
        room in 64_u64..4096, more in 1_u64..4096,
    ) {
        let (batch, room) = (f64::from(batch), u64::from(batch) + room);
        let at = |room| system.chunked(by, &load, batch, Tokens::new(room));
        if let (Some(small), Some(large)) = (at(room), at(room + more)) {
            // Where the small one starves decode, its passes carry other batches.
            prop_assume!(small.figures.batch >= batch);
            prop_assert!(at_most(large.passes, small.passes));
            prop_assert!(at_most(small.longest.get(), large.longest.get()));
        }
    }
}
