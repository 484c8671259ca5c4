//! Samples that may become too large to keep.

use fizeau_core::{Millis, Nanos, Tokens};
use fizeau_metrics::{Distribution, PercentileResolution, PooledSample};

fn gap(i: u64) -> Nanos {
    Nanos::from_nanos(5_000_000 + i * 7_919 % 1_000_003)
}

#[test]
fn a_sample_is_exact_to_its_limit_and_says_so_beyond() {
    let mut sample = PooledSample::default();
    let most = PooledSample::EXACT as u64;
    sample.extend((0..most).map(gap));
    let exact = sample.summary();
    let all = Distribution::of_pooled((0..most).map(|i| gap(i).to_millis()));
    assert_eq!(exact, all);
    assert_eq!(exact.resolution, PercentileResolution::Exact);

    sample.push(gap(0));
    let folded = sample.summary();
    assert_eq!((folded.n, folded.resolution), (most + 1, PercentileResolution::Folded));
    assert_eq!((folded.min, folded.max), (exact.min, exact.max));
    let (p99, exact_p99) = (folded.p99.value().unwrap(), exact.p99.value().unwrap());
    assert!((p99 / exact_p99 - 1.0).abs() <= 1.0 / 2048.0, "{p99:?} {exact_p99:?}");
}

#[test]
fn a_share_counts_once_for_each_token_and_not_without_one() {
    let mut sample = PooledSample::default();
    assert!(sample.is_empty());
    assert_eq!(sample.summary(), Distribution::default());
    sample.push_shared(Nanos::from_millis(9), Tokens::ZERO);
    assert!(sample.is_empty());
    sample.push_shared(Nanos::from_millis(9), Tokens::new(3));
    sample.push_shared(Nanos::from_secs(5), Tokens::new(1));
    assert_eq!(sample.len(), 4);
    assert_eq!(sample.summary().p50.value().map(Millis::get), Some(3.0));
    assert_eq!(sample.percentiles(&[100.0, 101.0])[1], None);
    assert_eq!(sample.summary().max.map(Millis::get), Some(5_000.0));
}
