//! From values to percentiles.

use std::hint::black_box;

use criterion::{Criterion, Throughput};
use fizeau::metrics::{Percent, PercentileRule, RandomBits, ResampleSeed, percentiles};

const USUAL: [Percent; 5] = [Percent::P50, Percent::P90, Percent::P95, Percent::P99, Percent::P999];

/// All five usual ones at once, of values in random order; beside them, what sorting a copy costs.
pub(crate) fn exact_percentiles(c: &mut Criterion) {
    let values = latencies(10_000_000);
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

/// Milliseconds with a tail to the right.
fn latencies(n: usize) -> Vec<f64> {
    let mut bits = RandomBits::new(ResampleSeed(1849));
    let mut uniform = move || (bits.next_u64() >> 11) as f64 / (1u64 << 53) as f64 - 0.5;
    let step = |_| 50.0 * (0.5 * (uniform() + uniform() + uniform() + uniform())).exp();
    (0..n).map(step).collect()
}
