//! Cached prefixes in the bound: what all sequences begin with need be read once, and a hit need not be used.

use std::num::NonZeroU64;

use fizeau_core::Tokens;
use fizeau_roofline::{
    Bound, Deployment, Device, KnownModel, Pass, PhaseSchedule, Prefix, RequestLengths, Serving,
    System, UniformLoad,
};
use proptest::prelude::*;

use crate::anything::{at_least, loads, systems};
use crate::fixed;

fn llama() -> System {
    let model = KnownModel::named("llama-3.1-8b").unwrap().model().unwrap();
    System::new(model, Device::named("h100-sxm").unwrap().clone(), Deployment::SINGLE).unwrap()
}

fn load(concurrency: u64) -> UniformLoad {
    let concurrency = NonZeroU64::new(concurrency).unwrap();
    UniformLoad::new(Tokens::new(8192), Tokens::new(256), concurrency)
        .with_cached(Tokens::new(8000))
}

fn with_prefix(system: System, prefix: Prefix) -> System {
    let mut serving: Serving = *system.serving();
    serving.prefix = prefix;
    system.with_serving(serving)
}

/// Linear arithmetic is `2 P (I - g)`, attention `4 H d L (g (I - g) + (I - g) (I - g + 1) / 2)`.
#[test]
fn a_hit_spares_its_own_arithmetic() {
    let system = llama();
    let pass = system.bound_pass(&Pass::prefill(8192.0, 6144.0));
    let pairs = 6144.0 * 2048.0 + 2048.0 * 2049.0 / 2.0;
    // Of the last layer the last position alone.
    let attention = 4.0 * 32.0 * 128.0 * (31.0 * pairs + 8192.0) / 989.5e12;
    assert!((pass.attention.get() / attention - 1.0).abs() < 1e-9);
    let whole = system.bound_pass(&Pass::prefill(2048.0, 0.0));
    assert_eq!(pass.matrices, whole.matrices);
}

/// By hand: W = 15,009,849,344 bytes, 64 contexts of 320 tokens on average beyond the 8,000 and these once, at
/// 131,072 bytes each and 3.35 TB/s. Cascade attention (FlashInfer, vLLM) reads so.
#[test]
fn a_shared_prefix_is_read_once_a_step() {
    let tpot = |system: &System| system.bound_figures(&load(64)).step.to_millis().get();
    let shared = llama();
    assert_eq!(format!("{:.2}", tpot(&shared)), "5.59");
    let own = with_prefix(shared.clone(), Prefix::Own);
    let own = own.bound_at(&load(64), 64.0, PhaseSchedule::Overlapped);
    assert_eq!(format!("{:.1}", own.step.to_millis().get()), "25.3");
    let over = Bound::at(&shared, &load(64)).unwrap();
    assert_eq!(format!("{:.2}", over.tpot.to_millis().get()), "5.59");
    // The expectation reads it for each.
    assert!(shared.expected_figures(&load(64)).step.to_millis().get() > 25.0);
}

#[test]
fn the_two_ways_to_a_bound_agree() {
    let prefixes = [Prefix::Shared, Prefix::Own].map(|prefix| with_prefix(llama(), prefix));
    let all = prefixes.iter().flat_map(|system| [1, 8, 64, 4000].map(|at| (system, at)));
    for (system, concurrency) in all {
        let load = load(concurrency);
        let (one, other) = (system.bound_figures(&load), Bound::at(system, &load).unwrap());
        for (a, b) in [
            (one.ttft.get(), other.ttft.get()),
            (
                system.bound_at(&load, other.batch, PhaseSchedule::Overlapped).step.get(),
                other.tpot.get(),
            ),
            (one.requests_per_s.get(), other.requests_per_s.get()),
        ] {
            assert!((a / b - 1.0).abs() < 1e-9, "{concurrency}: {a} {b}");
        }
    }
}

proptest! {
    #![proptest_config(fixed())]

    #[test]
    fn more_cached_tokens_never_worsen_the_bound(
        system in systems(), load in loads(), batch in 1.0..500.0, few in 0.0..1.0, more in 0.0..1.0,
    ) {
        let cached = |share: f64| Tokens::new((load.input_tokens.get() as f64 * share) as u64);
        let (few, more) = (f64::min(few, more), f64::max(few, more));
        for prefix in [Prefix::Shared, Prefix::Own] {
            let system = with_prefix(system.clone(), prefix);
            let figures = |share| system.bound_at(&load.with_cached(cached(share)), batch, PhaseSchedule::Overlapped);
            let (few, more) = (figures(few), figures(more));
            prop_assert!(at_least(few.ttft.get(), more.ttft.get()), "{few:?} {more:?}");
            prop_assert!(at_least(few.step.get(), more.step.get()), "{few:?} {more:?}");
            prop_assert!(at_least(more.requests_per_s.get(), few.requests_per_s.get()), "{few:?} {more:?}");
        }
    }

    #[test]
    fn a_prefix_of_its_own_is_never_better_than_a_shared_one(
        system in systems(), load in loads(), batch in 1.0..500.0,
    ) {
        let at = |prefix| {
            let system = with_prefix(system.clone(), prefix);
            system.bound_at(&load, batch, PhaseSchedule::Overlapped)
        };
        let (shared, own) = (at(Prefix::Shared), at(Prefix::Own));
        prop_assert!(at_least(own.step.get(), shared.step.get()));
        prop_assert!(at_least(shared.requests_per_s.get(), own.requests_per_s.get()));
    }

    /// What each has of its own takes as much room as if none of it had been computed before.
    #[test]
    fn prefixes_of_their_own_are_kept_by_each(system in systems(), load in loads()) {
        let most = |prefix, load| with_prefix(system.clone(), prefix).ideal_max_batch(load);
        let apart = UniformLoad { cached_tokens: Tokens::ZERO, ..load };
        prop_assert_eq!(most(Prefix::Own, &load), most(Prefix::Own, &apart));
        prop_assert!(at_least(most(Prefix::Shared, &load), most(Prefix::Own, &load)));
    }

    /// What requests share is read and kept once, whoever sends them; no expectation and no engine is faster than either bound.
    #[test]
    fn a_bound_over_lengths_is_sound_with_either_prefix(
        system in systems(), requests in prop::collection::vec((1_u64..9000, 0.0..1.5, 1_u64..900), 1..6),
        concurrency in 1_u64..300,
    ) {
        let concurrency = NonZeroU64::new(concurrency).unwrap();
        let [shared, own] = [Prefix::Shared, Prefix::Own].map(|prefix| with_prefix(system.clone(), prefix));
        // A prefix longer than its prompt is all of it but the last token.
        let lengths = |most: f64| {
            let mut lengths = RequestLengths::for_model(system.model());
            for (input, share, output) in &requests {
                let cached = (*input as f64 * f64::min(*share, most)) as u64;
                lengths.add_cached(Tokens::new(*input), Tokens::new(cached), Tokens::new(*output));
            }
            lengths
        };
        prop_assert_eq!(lengths(1.0), lengths(1.5));
        let lengths = lengths(1.5);
        let of = |system: &System| Bound::over(system, &lengths, concurrency);
        let (Ok(with), Ok(without)) = (of(&shared), of(&own)) else { return Ok(()) };
        prop_assert_eq!(with.ttft, without.ttft);
        prop_assert!(without.max_batch <= with.max_batch && without.batch <= with.batch);
        prop_assert!(at_least(with.requests_per_s.get(), without.requests_per_s.get()), "{with:?} {without:?}");
        prop_assert!(at_least(with.output_tokens_per_s.get(), without.output_tokens_per_s.get()));
        for (system, bound) in [(&shared, with), (&own, without)] {
            let Ok(expected) = system.expected_over(&lengths, concurrency) else { continue };
            let expected = expected.figures;
            prop_assert!(at_least(expected.ttft.get(), bound.ttft.get()), "{expected:?} {bound:?}");
            prop_assert!(at_least(expected.step.get(), bound.single_tpot.get()), "{expected:?} {bound:?}");
            prop_assert!(at_least(bound.requests_per_s.get(), expected.requests_per_s.get()), "{expected:?} {bound:?}");
            prop_assert!(at_least(bound.batch, expected.batch), "{expected:?} {bound:?}");
        }
    }

    /// Of measured requests it is not known whether they share, nor whose cache was hit.
    #[test]
    fn measured_hits_never_worsen_the_bound(
        system in systems(), requests in prop::collection::vec((1_u64..9000, 0.0..1.0, 1_u64..900), 1..6),
        concurrency in 1_u64..300,
    ) {
        let concurrency = NonZeroU64::new(concurrency).unwrap();
        let bound = |hit: bool| {
            let mut lengths = RequestLengths::for_model(system.model());
            for (input, share, output) in &requests {
                let cached = if hit { (*input as f64 * share) as u64 } else { 0 };
                lengths.add_cached(Tokens::new(*input), Tokens::new(cached), Tokens::new(*output));
            }
            Bound::over(&system, &lengths, concurrency)
        };
        let (Ok(with), Ok(without)) = (bound(true), bound(false)) else { return Ok(()) };
        prop_assert!(at_least(without.ttft.get(), with.ttft.get()));
        prop_assert!(at_least(without.e2el.get(), with.e2el.get()));
        prop_assert!(at_least(with.requests_per_s.get(), without.requests_per_s.get()), "{with:?} {without:?}");
    }
}
