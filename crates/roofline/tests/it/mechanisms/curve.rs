//! Curves over the batch.

use std::num::NonZeroU64;

use fizeau_core::Tokens;
use fizeau_roofline::{CurveEnd, Load, Serving, Stride};
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
}

#[test]
fn nothing_fits_no_point() {
    let system = single(model("llama-3.1-70b"), &device("h100-sxm"));
    let curve = system.batch_curve(&load(8), Stride::Each);
    assert_eq!((curve.end(), curve.count()), (CurveEnd::Memory, 0));
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
}
