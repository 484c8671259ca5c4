//! From values to percentiles and intervals.

use std::hint::black_box;

use criterion::{Criterion, Throughput};
use fizeau::metrics::{
    BlockLength, Bootstrap, Percent, PercentileRule, RandomBits, ResampleSeed, percentiles,
};

const USUAL: [Percent; 5] = [Percent::P50, Percent::P90, Percent::P95, Percent::P99, Percent::P999];

/// All five usual ones at once, of values in random order; beside them, what sorting a copy costs.
pub(crate) fn exact_percentiles(c: &mut Criterion) {
    let values = latencies(10_000_000, 0.0);
    let mut group = c.benchmark_group("percentiles of 10 million values");
    group.sample_size(10);
    group.throughput(Throughput::Elements(values.len() as u64));
    group.bench_function("five, by selection", |b| {
        b.iter(|| percentiles(black_box(&values), &USUAL, PercentileRule::Linear));
    });
    group.bench_function("sorting a copy", |b| {
        b.iter(|| {
            let mut sorted = black_box(&values).clone();
            sorted.sort_unstable_by(f64::total_cmp);
            sorted
        });
    });
    group.finish();
}

/// A p99 with its interval: 100,000 requests, 1,000 resamples.
pub(crate) fn bootstrap(c: &mut Criterion) {
    let mut group = c.benchmark_group("bootstrap of a p99, 100,000 requests x 1,000");
    group.sample_size(10);
    let default = Bootstrap::new(ResampleSeed(1));
    let independent = Bootstrap { length: BlockLength::Requests(1), ..default };
    for (name, phi, bootstrap) in
        [("blocks, length found", 0.8, default), ("independent", 0.0, independent)]
    {
        let values = latencies(100_000, phi);
        group.bench_function(name, |b| {
            b.iter(|| {
                bootstrap.percentile(black_box(&values), Percent::P99, PercentileRule::Linear)
            });
        });
    }
    group.finish();
}

/// Milliseconds with a tail to the right, each hanging on the one before by `phi`.
fn latencies(n: usize, phi: f64) -> Vec<f64> {
    let mut bits = RandomBits::new(ResampleSeed(1849));
    let mut uniform = move || (bits.next_u64() >> 11) as f64 / (1u64 << 53) as f64 - 0.5;
    let mut last = 0.0;
    let step = |_| {
        last = phi * last + uniform() + uniform() + uniform() + uniform();
        50.0 * (0.5 * last).exp()
    };
    (0..n).map(step).collect()
}
