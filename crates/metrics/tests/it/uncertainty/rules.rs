//! Percentile rules against their definitions.

use fizeau_metrics::{
    Percent, PercentileRule, PercentilesError, RandomBits, ResampleSeed, percentiles,
    weighted_percentile_of_sorted,
};
use proptest::prelude::*;

const RULES: [PercentileRule; 6] = [
    PercentileRule::Linear,
    PercentileRule::NearestRank,
    PercentileRule::NearestIndex,
    PercentileRule::FloorIndex,
    PercentileRule::WeightedCdf,
    PercentileRule::Hdr,
];

fn percent(percent: f64) -> Percent {
    Percent::new(percent).unwrap()
}

/// A hundred values: the p99 of EvalScope is one rank higher than the nearest rank has it.
#[test]
fn rules_differ_where_the_rank_is_whole() {
    let hundred: Vec<f64> = (1..=100).map(f64::from).collect();
    let p99 = RULES.map(|rule| rule.of_sorted(&hundred, Percent::P99).unwrap());
    assert_eq!(p99, [99.01, 99.0, 99.0, 100.0, 99.0, 99.0]);
    let p100 = RULES.map(|rule| rule.of_sorted(&hundred, percent(100.0)).unwrap());
    assert_eq!(p100, [100.0; 6]);
    let p0 = RULES.map(|rule| rule.of_sorted(&hundred, percent(0.0)).unwrap());
    assert_eq!(p0, [1.0; 6]);
    // 0.07 * 100 is 7.000000000000001 in floating point; the seventh value is meant.
    let p7 = RULES.map(|rule| rule.of_sorted(&hundred, percent(7.0)).unwrap());
    assert_eq!(p7[1..], [7.0, 8.0, 8.0, 7.0, 7.0]);
}

/// By `DistributionSummary.from_values` of GuideLLM 0.8.1 over 0, 1, ...: its median of 60 values is the 31st, since 30 times
/// 1/60 is less than a half there, and its p90 of 110 the 100th.
#[test]
fn weights_are_cumulated_as_guidellm_does() {
    let of = |n: u32, p: f64| {
        let sample: Vec<(f64, u64)> = (0..n).map(|value| (f64::from(value), 1)).collect();
        weighted_percentile_of_sorted(&sample, percent(p)).unwrap()
    };
    let found = [of(10, 90.0), of(60, 50.0), of(110, 90.0), of(1000, 99.9)];
    assert_eq!(found, [9.0, 30.0, 99.0, 998.0]);
    // Equal values count together.
    let sample = [(1.0, 1), (1.0, 2), (2.0, 7)];
    assert_eq!(weighted_percentile_of_sorted(&sample, percent(25.0)), Some(1.0));
}

#[test]
fn what_is_no_sample_has_no_percentile() {
    let wanted = [Percent::P50];
    let of = |values: &[f64]| percentiles(values, &wanted, PercentileRule::Linear);
    assert_eq!(of(&[]), Err(PercentilesError::Empty));
    assert_eq!(of(&[1.0, f64::NAN]), Err(PercentilesError::NotFinite { index: 1 }));
    assert_eq!(of(&[f64::INFINITY]), Err(PercentilesError::NotFinite { index: 0 }));
    assert_eq!(percentiles(&[1.0], &[], PercentileRule::Linear), Ok(Vec::new()));
    assert_eq!(PercentileRule::Linear.of_sorted(&[], Percent::P50), None);
    assert_eq!(weighted_percentile_of_sorted(&[], Percent::P50), None);
    assert_eq!(weighted_percentile_of_sorted(&[(1.0, 0)], Percent::P50), None);
    for wrong in [-0.1, 100.1, f64::NAN] {
        let message = Percent::new(wrong).unwrap_err().to_string();
        assert!(message.contains("from 0 to 100"), "{message}");
    }
}

/// Numbers of any size and sign, and such as are close together but for a few.
fn sample() -> impl Strategy<Value = Vec<f64>> {
    let close = prop_oneof![99 => 10.0..10.5f64, 1 => -1e9..1e9f64];
    let rounded = (0..50u32).prop_map(|k| f64::from(k) / 4.0 - 3.0);
    prop_oneof![
        prop::collection::vec(close, 1..30_000),
        prop::collection::vec(rounded, 1..30_000),
        prop::collection::vec(-1e300..1e300f64, 1..30_000),
    ]
}

proptest! {
    #![proptest_config(crate::cases(48))]

    #[test]
    fn selecting_gives_what_sorting_gives(
        values in sample(),
        wanted in prop::collection::vec((0.0..=100f64).prop_map(percent), 0..8),
    ) {
        let mut sorted = values.clone();
        sorted.sort_by(f64::total_cmp);
        for rule in RULES {
            let found = percentiles(&values, &wanted, rule).unwrap();
            let expected = wanted.iter().map(|&p| rule.of_sorted(&sorted, p).unwrap());
            prop_assert_eq!(found, expected.collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_weight_stands_for_so_many_equal_values(
        mut sample in prop::collection::vec((0.0..100f64, 0u64..30), 1..60),
        p in (0u32..=1000).prop_map(|p| percent(f64::from(p) / 10.0)),
    ) {
        sample.sort_by(|a, b| a.0.total_cmp(&b.0));
        let repeat = |&(value, weight): &(f64, u64)| std::iter::repeat_n(value, weight as usize);
        let expanded: Vec<f64> = sample.iter().flat_map(repeat).collect();
        let found = weighted_percentile_of_sorted(&sample, p);
        let exact = PercentileRule::WeightedCdf.of_sorted(&expanded, p);
        // Rounding may take a rank that is met exactly for the one before or behind it.
        let near = |step: f64| {
            let rank = expanded.len() as f64 * p.get() / 100.0;
            let is_whole = (rank - rank.round()).abs() < 1e-9;
            let at = (rank.round() + step).clamp(0.0, expanded.len() as f64 - 1.0) as usize;
            is_whole && found == expanded.get(at).copied()
        };
        prop_assert!(found == exact || near(0.0) || near(-1.0), "{:?} {:?}", found, exact);
    }

    /// The histogram multiplies by a share, which may round the other way where a rank is whole: quarters do not.
    #[test]
    fn the_rule_of_hdr_is_that_of_the_histogram(
        mut values in prop::collection::vec(prop_oneof![0u64..5_000, 0u64..1 << 50], 1..300),
        quarter in 0u32..=4,
    ) {
        values.sort_unstable();
        let mut histogram = hdrhistogram::Histogram::<u64>::new(3).unwrap();
        for &value in &values {
            histogram.record(value).unwrap();
        }
        let floats: Vec<f64> = values.iter().map(|&value| value as f64).collect();
        let share = f64::from(quarter) / 4.0;
        let found = PercentileRule::Hdr.of_sorted(&floats, percent(100.0 * share)).unwrap();
        prop_assert_eq!(found, histogram.value_at_quantile(share) as f64);
    }
}

#[test]
fn numbers_below_a_bound_are_equally_likely() {
    let mut bits = RandomBits::new(ResampleSeed(1));
    let mut counts = [0u32; 6];
    for _ in 0..60_000 {
        counts[bits.below(6) as usize] += 1;
    }
    // Five standard deviations of a binomial of 60,000 and 1/6.
    assert!(counts.iter().all(|count| count.abs_diff(10_000) < 457), "{counts:?}");
    assert_eq!((bits.below(0), bits.below(1)), (0, 0));
}
