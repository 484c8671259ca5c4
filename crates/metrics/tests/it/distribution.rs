//! Summaries of samples.

use fizeau_core::{Millis, Tokens};
use fizeau_metrics::{Distribution, Quantile, percentile_of_sorted};
use proptest::prelude::*;

fn of(values: &[f64]) -> Distribution {
    Distribution::of(values.iter().copied().map(Millis::new))
}

fn weighted(values: &[(f64, u64)]) -> Distribution {
    let pairs = values.iter().map(|&(value, weight)| (Millis::new(value), Tokens::new(weight)));
    Distribution::from_weighted(pairs)
}

/// mean, std, min, p50, p90, p95, p99, p999, max, as far as known.
fn figures(distribution: &Distribution) -> Vec<f64> {
    let percentiles = percentiles(distribution).map(Quantile::value);
    let [p50, p90, p95, p99, p999] = percentiles;
    let d = distribution;
    let all = [d.mean, d.std, d.min, p50, p90, p95, p99, p999, d.max];
    all.into_iter().flatten().map(Millis::get).collect()
}

fn percentiles(d: &Distribution) -> [Quantile; 5] {
    [d.p50, d.p90, d.p95, d.p99, d.p999]
}

fn assert_close(left: &[f64], right: &[f64]) {
    assert_eq!(left.len(), right.len(), "{left:?} against {right:?}");
    for (a, b) in left.iter().zip(right) {
        assert!((a - b).abs() <= 1e-12 * (1.0 + b.abs()), "{left:?} against {right:?}");
    }
}

/// Golden values: numpy 2.4.6, `mean`, `std` (ddof 0) and `quantile` (method `linear`).
#[test]
fn figures_are_those_of_numpy() {
    let thousand: Vec<f64> = (1..=1000).map(|i| f64::from(i * 7919 % 1009) / 8.0).collect();
    let golden = [
        63.13075,
        36.36919066239308,
        0.125,
        63.1875,
        113.3875,
        119.75625,
        124.75125,
        125.875125,
        126.0,
    ];
    assert_close(&figures(&of(&thousand)), &golden);

    let eleven = [12.5, 3.25, 8.0, 41.75, 9.5, 10.25, 7.75, 100.0, 6.5, 11.0, 5.125];
    let golden = [19.602272727272727, 27.28973428063084, 3.25, 9.5, 41.75, 100.0];
    assert_close(&figures(&of(&eleven)), &golden);
    let mut sorted = eleven.map(Millis::new);
    sorted.sort_by(|a, b| a.get().total_cmp(&b.get()));
    let plain = [95.0, 99.0, 99.9].map(|p| percentile_of_sorted(&sorted, p).unwrap().get());
    assert_close(&plain, &[70.875, 94.17500000000003, 99.41750000000002]);
}

/// Golden values: numpy 2.4.6 on `repeat(values, weights)`.
#[test]
fn weighted_figures_are_those_of_numpy_on_the_multiset() {
    let sample = [(4.0, 3), (1.5, 1), (2.25, 5), (10.0, 2), (0.5, 120)];
    let golden =
        [0.799618320610687, 1.3012104784709795, 0.5, 0.5, 0.5, 2.25, 8.199999999999932, 10.0];
    assert_close(&figures(&weighted(&sample)), &golden);
    assert_eq!(weighted(&sample).n, 131);
    assert_eq!(weighted(&sample).p999, Quantile::Withheld { needs: 1000 });
}

#[test]
fn a_percentile_needs_a_value_beyond_it() {
    let needs = [(10, 1), (20, 2), (100, 3), (1000, 4)];
    for (n, index) in needs {
        let enough: Vec<f64> = (0..n).map(f64::from).collect();
        let known = percentiles(&of(&enough))[index];
        assert!(known.value().is_some(), "n {n}");
        let withheld = percentiles(&of(&enough[1..]))[index];
        assert_eq!(withheld, Quantile::Withheld { needs: n as u64 });
    }
    assert_eq!(of(&[7.0]).p50.value(), Some(Millis::new(7.0)));
}

#[test]
fn an_empty_sample_has_no_figures() {
    assert_eq!(of(&[]), Distribution::default());
    assert_eq!(weighted(&[(3.0, 0)]), Distribution::default());
    assert_eq!(percentile_of_sorted(&[], 50.0), None);
    assert_eq!(percentile_of_sorted(&[Millis::new(1.0)], 101.0), None);
    assert_eq!(percentile_of_sorted(&[Millis::new(1.0)], f64::NAN), None);
}

#[test]
fn what_is_no_latency_is_left_out() {
    let distribution = of(&[f64::NAN, f64::INFINITY, -1.0, 2.0]);
    assert_eq!(distribution, of(&[2.0]));
    let huge = of(&[f64::MAX, f64::MAX]);
    assert_eq!((huge.mean, huge.std), (None, None), "neither infinite nor NaN");
    assert_eq!(huge.p50.value(), Some(Millis::new(f64::MAX)));
}

/// Ranks 39 and 60 from 0 of 100 values: exact binomial sums, as in the interval's own test.
#[test]
fn the_interval_is_made_of_two_order_statistics() {
    let hundred: Vec<f64> = (0..100).map(f64::from).collect();
    let interval = of(&hundred).p50.interval().unwrap();
    assert_eq!((interval.low.get(), interval.high.get()), (39.0, 60.0));
    assert_eq!(of(&hundred).p99.interval(), None, "no value lies far enough above");
    let pooled = Distribution::of_pooled(hundred.iter().copied().map(Millis::new));
    assert_eq!(pooled.p50.value(), of(&hundred).p50.value());
    assert_eq!(pooled.p50.interval(), None);
}

#[test]
fn json_is_flat_and_says_why_a_figure_is_null() {
    let eighteen: Vec<f64> = (1..=18).map(f64::from).collect();
    let json = serde_json::to_string(&of(&eighteen)).unwrap();
    let expected = concat!(
        r#"{"n":18,"mean":9.5,"std":5.188127472091127,"min":1.0,"p50":9.5,"p50_ci":[5.0,14.0],"p90":16.3,"#,
        r#""p90_ci":null,"p90_ci_reason":"needs about 36 values, has 18","#,
        r#""p95":null,"p95_reason":"needs 20 values, has 18","p99":null,"p99_reason":"needs 100 values, has 18","#,
        r#""p999":null,"p999_reason":"needs 1000 values, has 18","max":18.0,"resolution":"exact"}"#
    );
    assert_eq!(json, expected);
    let empty = serde_json::to_value(Distribution::default()).unwrap();
    assert_eq!(empty["mean"], serde_json::Value::Null);
    assert_eq!(empty["mean_reason"], "no values");
    assert_eq!(empty["p50_reason"], "no values");
}

fn latencies() -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(0.0..1e5f64, 1..1500)
}

proptest! {
    #![proptest_config(crate::cases(64))]

    #[test]
    fn figures_are_in_order_and_within_the_sample(values in latencies()) {
        let distribution = of(&values);
        let figures = figures(&distribution);
        let ordered = &figures[2..];
        prop_assert!(ordered.windows(2).all(|pair| pair[0] <= pair[1]), "{ordered:?}");
        let mean = distribution.mean.unwrap().get();
        prop_assert!(mean >= ordered[0] - 1e-9 && mean <= ordered[ordered.len() - 1] + 1e-9);
        for quantile in percentiles(&distribution) {
            if let (Some(value), Some(interval)) = (quantile.value(), quantile.interval()) {
                prop_assert!(interval.low <= value && value <= interval.high);
            }
        }
    }

    #[test]
    fn the_order_of_values_does_not_matter(values in latencies()) {
        let reversed: Vec<f64> = values.iter().rev().copied().collect();
        prop_assert_eq!(of(&values), of(&reversed));
    }

    #[test]
    fn weighted_equals_expanded(sample in prop::collection::vec((0.0..100f64, 0u64..30), 1..100)) {
        let expand = |&(value, weight): &(f64, u64)| std::iter::repeat_n(value, weight as usize);
        let expanded: Vec<f64> = sample.iter().flat_map(expand).collect();
        let (weighted, expanded) = (weighted(&sample), of(&expanded));
        prop_assert_eq!(weighted.n, expanded.n);
        assert_close(&figures(&weighted), &figures(&expanded));
    }

    #[test]
    fn a_plain_percentile_grows_with_its_share(values in latencies(), p in 0.0..100f64, q in 0.0..100f64) {
        let mut sorted: Vec<Millis> = values.into_iter().map(Millis::new).collect();
        sorted.sort_by(|a, b| a.get().total_cmp(&b.get()));
        let at = |p| percentile_of_sorted(&sorted, p).unwrap().get();
        prop_assert!(at(p.min(q)) <= at(p.max(q)) + 1e-9);
        prop_assert_eq!(at(0.0), sorted[0].get());
        prop_assert_eq!(at(100.0), sorted[sorted.len() - 1].get());
    }
}
