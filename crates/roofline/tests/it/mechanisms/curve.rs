//! Curves over the batch.

use std::num::NonZeroU64;

use fizeau_core::Tokens;
use fizeau_roofline::{CurveEnd, CurveStride, Serving, UniformLoad};
use proptest::prelude::*;

use crate::known::{at_most, device, loads, model, systems};
use crate::{fixed, llama_8b, single};

fn load(concurrency: u64) -> UniformLoad {
    UniformLoad::new(Tokens::new(2048), Tokens::new(256), NonZeroU64::new(concurrency).unwrap())
}

#[test]
fn a_curve_says_why_it_ends() {
    let system = single(llama_8b(), &device("h100-sxm"));
    assert_eq!(system.batch_curve(&load(8), CurveStride::Each).end(), CurveEnd::Requested);
    assert_eq!(system.batch_curve(&load(8), CurveStride::Each).count(), 8);
    let all = system.batch_curve(&load(1_000_000), CurveStride::Doubling);
    assert_eq!(all.end(), CurveEnd::Memory);
    let last = all.last().unwrap().batch;
    assert_eq!(last, system.max_batch(&load(1_000_000)) as u64);
    let mut serving = Serving::default();
    serving.max_sequences = NonZeroU64::new(64);
    let system = system.with_serving(serving);
    assert_eq!(system.batch_curve(&load(1000), CurveStride::Each).end(), CurveEnd::MaxSequences);
}

#[test]
fn nothing_fits_no_point() {
    let system = single(model("llama-3.1-70b"), &device("h100-sxm"));
    let curve = system.batch_curve(&load(8), CurveStride::Each);
    assert_eq!((curve.end(), curve.count()), (CurveEnd::Memory, 0));
}

proptest! {
    #![proptest_config(fixed())]

    #[test]
    fn a_batch_curve_rises(system in systems(), load in loads()) {
        let points: Vec<_> = system.batch_curve(&load, CurveStride::Doubling).collect();
        for point in &points {
            let (bound, expected) = (point.bound, point.expected);
            prop_assert!(at_most(bound.step.get(), expected.step.get()));
            prop_assert!(at_most(expected.requests_per_s.get(), bound.requests_per_s.get()));
        }
        for pair in points.windows(2) {
            let [few, many] = pair else { continue };
            prop_assert!(few.batch < many.batch);
            prop_assert!(at_most(few.bound.step.get(), many.bound.step.get()));
            let rates = (few.bound.requests_per_s.get(), many.bound.requests_per_s.get());
            prop_assert!(at_most(rates.0, rates.1), "{few:?} {many:?}");
        }
        let most = points.last().map_or(0, |point| point.batch);
        prop_assert!(most as f64 <= system.max_batch(&load) && most <= load.concurrency.get());
    }
}

/// The batches of a curve up to `last`, of sequences so short that thousands fit.
fn batches(last: u64, stride: CurveStride) -> Vec<u64> {
    let last = NonZeroU64::new(last).unwrap();
    let load = UniformLoad::new(Tokens::new(16), Tokens::new(16), last);
    let system = single(llama_8b(), &device("h100-sxm"));
    system.batch_curve(&load, stride).map(|point| point.batch).collect()
}

#[test]
fn a_fine_stride_has_all_up_to_64_and_32_for_each_doubling() {
    for last in [1, 2, 64, 65, 215, 5_000] {
        let all = batches(last, CurveStride::Fine);
        assert!(all.windows(2).all(|pair| pair[0] < pair[1]), "{all:?}");
        assert_eq!((all[0], all[all.len() - 1]), (1, last));
        assert!(all.iter().zip(1..=64).all(|(batch, all)| *batch == all));
    }
    assert_eq!(batches(1024, CurveStride::Fine).len(), 64 + 4 * 32);
}

#[test]
fn the_last_is_always_among_them() {
    assert_eq!(batches(6, CurveStride::Doubling), [1, 2, 4, 6]);
    assert_eq!(batches(8, CurveStride::Doubling), [1, 2, 4, 8]);
    assert_eq!(batches(3, CurveStride::Each), [1, 2, 3]);
}
