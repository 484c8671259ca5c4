//! Folded samples against exact ones.

use fizeau_core::{Nanos, Tokens};
use proptest::prelude::*;

use super::{Folded, PooledSample, State};
use crate::{Distribution, PercentileResolution};

fn of(gaps: &[(u64, u64)]) -> PooledSample {
    let mut sample = PooledSample::default();
    for &(gap, tokens) in gaps {
        sample.push_shared(Nanos::from_nanos(gap), Tokens::new(tokens));
    }
    sample
}

/// The same sample as it would be if it were too large to keep.
fn folded(sample: &PooledSample) -> PooledSample {
    let mut folded = sample.clone();
    if let State::Exact(exact) = &sample.state {
        folded.state = State::Folded(Box::new(Folded::of(exact)));
    }
    folded
}

fn gaps() -> impl Strategy<Value = Vec<(u64, u64)>> {
    let gap = prop_oneof![Just(0), 1..5_000_u64, 1..1_u64 << 40, 9_990_000..10_010_000_u64];
    prop::collection::vec((gap, 1..5_u64), 2..600)
}

fn close(left: Option<fizeau_core::Millis>, right: Option<fizeau_core::Millis>, within: f64) {
    let pair = left.zip(right).map(|(a, b)| (a.get(), b.get()));
    let close = pair.is_some_and(|(a, b)| (a - b).abs() <= within * b.abs());
    assert!(close || left == right, "{left:?} against {right:?}");
}

/// Quantiles within the stated error, all else the same.
fn assert_folded(folded: &Distribution, exact: &Distribution) {
    assert_eq!(
        (folded.resolution, exact.resolution),
        (PercentileResolution::Folded, PercentileResolution::Exact)
    );
    assert_eq!((folded.n, folded.min, folded.max), (exact.n, exact.min, exact.max));
    close(folded.mean, exact.mean, 1e-12);
    let quantiles = |d: &Distribution| [d.p50, d.p90, d.p95, d.p99, d.p999];
    for (folded, exact) in quantiles(folded).into_iter().zip(quantiles(exact)) {
        close(folded.value(), exact.value(), 1.0 / 2048.0);
    }
}

proptest! {
    #![proptest_config(crate::testing::cases(64))]

    #[test]
    fn folding_keeps_quantiles_within_the_stated_error(gaps in gaps()) {
        let exact = of(&gaps);
        assert_folded(&folded(&exact).summary(), &exact.summary());
        let percents: Vec<f64> = (0..=40).map(|i| f64::from(i) * 2.5).collect();
        let pairs = folded(&exact).percentiles(&percents).into_iter().zip(exact.percentiles(&percents));
        for (folded, exact) in pairs {
            close(folded, exact, 1.0 / 2048.0);
        }
    }

    #[test]
    fn merging_is_pushing_into_one(a in gaps(), b in gaps()) {
        let whole = of(&[&a[..], &b[..]].concat());
        let merged = |mut left: PooledSample, right: PooledSample| {
            left.merge(right);
            left.summary()
        };
        let (exact_a, exact_b) = (of(&a), of(&b));
        let (folded_a, folded_b) = (folded(&exact_a), folded(&exact_b));
        prop_assert_eq!(merged(exact_a.clone(), exact_b.clone()), whole.summary());
        let std = whole.summary().std;
        for merged in [
            merged(folded_a.clone(), exact_b),
            merged(exact_a, folded_b.clone()),
            merged(folded_a, folded_b),
        ] {
            assert_folded(&merged, &whole.summary());
            close(merged.std, std, 1e-6);
        }
    }
}

/// A spread that is small against the mean is where sums of squares lose their digits.
#[test]
fn a_narrow_spread_keeps_its_deviation() {
    let gaps: Vec<(u64, u64)> = (0..1_000).map(|i| (10_000_000 + i % 7, 1)).collect();
    let exact = of(&gaps);
    close(folded(&exact).summary().std, exact.summary().std, 1e-9);
}
