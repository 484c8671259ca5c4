//! Values at the ends of what there is: all equal, two of them, huge, tiny.

use fizeau_metrics::{Autocorrelation, BatchMeans, Confidence, Distribution, SampleSupport};
use proptest::prelude::*;

use crate::cases;

/// Decimal fractions, whose sums round: the mean of a thousand of them is not quite any of them.
fn equal() -> impl Strategy<Value = Vec<f64>> {
    let value = prop_oneof![
        (1u32..100_000).prop_map(|n| f64::from(n) / 1e3),
        Just(0.1),
        Just(0.0),
        Just(1e100),
        Just(5e-324),
    ];
    (value, 30usize..1_500).prop_map(|(value, n)| vec![value; n])
}

proptest! {
    #![proptest_config(cases(100))]

    #[test]
    fn equal_values_hang_together_in_no_way(values in equal()) {
        prop_assert_eq!(Autocorrelation::of(&values), None);
        let first = values[0];
        let SampleSupport::Known(found) = BatchMeans::of(&values, Confidence::P95).unwrap() else {
            return Err(TestCaseError::fail("not supported"));
        };
        let near = |x: f64| (x - first).abs() <= 1e-12 * first;
        prop_assert!(near(found.mean) && near(found.interval.low) && near(found.interval.high), "{found:?}");
        prop_assert_eq!(found.effective_n, values.len() as f64);
        let series = Distribution::of_series(values.iter().copied().map(fizeau_core::Millis::new));
        prop_assert_eq!(series.std.map(|std| std.get() <= 1e-12 * first), Some(true));
        prop_assert!(matches!(series.mean_interval, Some(SampleSupport::Known(_))), "{series:?}");
    }

    /// Whatever finite values there are, what is told of them is finite.
    #[test]
    fn no_interval_is_infinite(
        values in prop::collection::vec(
            prop_oneof![Just(f64::MAX), Just(-f64::MAX), Just(5e-324), Just(1e200), -1.0..1.0f64],
            2..80,
        ),
    ) {
        if let Ok(SampleSupport::Known(found)) = BatchMeans::of(&values, Confidence::P95) {
            let ends = [found.mean, found.interval.low, found.interval.high, found.effective_n];
            prop_assert!(ends.iter().all(|x| x.is_finite()), "{found:?}");
        }
        if let Some(found) = Autocorrelation::of(&values) {
            let is_finite = found.lag1.is_finite() && found.time.is_finite();
            prop_assert!(is_finite && found.effective_n() > 0.0, "{found:?}");
        }
    }
}

#[test]
fn a_series_that_drifts_has_a_long_time() {
    let ramp: Vec<f64> = (0..6_000).map(f64::from).collect();
    let found = Autocorrelation::of(&ramp).unwrap();
    assert!(found.lag1 > 0.99 && found.effective_n() < 10.0, "{found:?}");
}

#[test]
fn what_does_not_vary_has_none() {
    for none in [&[][..], &[1.0], &[2.0, 2.0], &[1.0, f64::NAN], &[f64::MAX, -f64::MAX]] {
        assert_eq!(Autocorrelation::of(none), None);
    }
}
