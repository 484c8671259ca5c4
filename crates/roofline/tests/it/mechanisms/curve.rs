//! Curves over the batch and over the context.

use std::num::NonZeroU64;

use fizeau_core::Tokens;
use fizeau_roofline::{CurveEnd, Load, MILLION_TOKENS, Serving, Stride};
use proptest::prelude::*;

use crate::known::{at_most, device, loads, model, systems};
use crate::{fixed, llama_8b, single};

fn load(concurrency: u64) -> Load {
    Load::new(Tokens::new(2048), Tokens::new(256), NonZeroU64::new(concurrency).unwrap())
}

#[test]
fn a_curve_says_why_it_ends() {
    let system = single(llama_8b(), &device("h100-sxm"));
    assert_eq!(system.batch_curve(&load(8), Stride::Each).end(), CurveEnd::Asked);
    assert_eq!(system.batch_curve(&load(8), Stride::Each).count(), 8);
    let all = system.batch_curve(&load(1_000_000), Stride::Doubling);
    assert_eq!(all.end(), CurveEnd::Memory);
    let last = all.last().unwrap().batch;
    assert_eq!(last, system.max_batch(&load(1_000_000)) as u64);
    let mut serving = Serving::default();
    serving.max_sequences = NonZeroU64::new(64);
    let system = system.with_serving(serving);
    assert_eq!(system.batch_curve(&load(1000), Stride::Each).end(), CurveEnd::MaxSequences);
    let contexts = |batch| system.context_curve(batch, Tokens::new(128), MILLION_TOKENS);
    assert_eq!((contexts(65.0).end(), contexts(65.0).count()), (CurveEnd::MaxSequences, 0));
    assert_eq!(contexts(64.0).end(), CurveEnd::Memory);
}

#[test]
fn nothing_fits_no_point() {
    let system = single(model("llama-3.1-70b"), &device("h100-sxm"));
    let curve = system.batch_curve(&load(8), Stride::Each);
    assert_eq!((curve.end(), curve.count()), (CurveEnd::Memory, 0));
    let curve = system.context_curve(1.0, Tokens::new(1), MILLION_TOKENS);
    assert_eq!((curve.end(), curve.count()), (CurveEnd::Memory, 0));
}

#[test]
fn memory_ends_a_curve_over_the_context() {
    let system = single(llama_8b(), &device("h100-sxm"));
    let curve = system.context_curve(16.0, Tokens::new(1000), MILLION_TOKENS);
    assert_eq!(curve.end(), CurveEnd::Memory);
    let last = curve.last().unwrap();
    // What fits is rounded to blocks of 16.
    assert!(last.max_batch >= 16.0 && last.max_batch < 16.1, "{last:?}");
}

proptest! {
    #![proptest_config(fixed())]

    #[test]
    fn a_batch_curve_rises(system in systems(), load in loads()) {
        let points: Vec<_> = system.batch_curve(&load, Stride::Doubling).collect();
        for point in &points {
            let (bound, expected) = (point.bound, point.expected);
            prop_assert!(at_most(bound.tpot.get(), expected.tpot.get()));
            prop_assert!(at_most(expected.requests_per_s.get(), bound.requests_per_s.get()));
        }
        for pair in points.windows(2) {
            let [few, many] = pair else { continue };
            prop_assert!(few.batch < many.batch);
            prop_assert!(at_most(few.bound.tpot.get(), many.bound.tpot.get()));
            let rates = (few.bound.requests_per_s.get(), many.bound.requests_per_s.get());
            prop_assert!(at_most(rates.0, rates.1), "{few:?} {many:?}");
        }
        let most = points.last().map_or(0, |point| point.batch);
        prop_assert!(most as f64 <= system.max_batch(&load) && most <= load.concurrency.get());
    }

    #[test]
    fn a_context_curve_slows_down(system in systems(), batch in 1.0..64.0) {
        let points: Vec<_> = system.context_curve(batch, Tokens::new(1), MILLION_TOKENS).collect();
        for point in &points {
            prop_assert!(at_most(point.bound_step.get(), point.expected_step.get()));
            prop_assert!(at_most(point.bound_prefill.get(), point.expected_prefill.get()));
            prop_assert!(point.max_batch >= batch);
        }
        for pair in points.windows(2) {
            let [short, long] = pair else { continue };
            prop_assert!(at_most(short.bound_step.get(), long.bound_step.get()));
            prop_assert!(at_most(short.expected_step.get(), long.expected_step.get()));
            prop_assert!(at_most(short.expected_prefill.get(), long.expected_prefill.get()));
            prop_assert!(at_most(short.cache.get(), long.cache.get()));
        }
    }
}
